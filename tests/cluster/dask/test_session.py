"""What becomes of calls when workers, the scheduler or the network between fail; all in threads of this process."""

import threading
import time

import pytest

session = pytest.importorskip("mfbench_cluster.dask.session", reason="Dask is not installed")

from dask_clusters import Network, threaded_cluster, until  # noqa: E402

from mfbench.errors import RunError  # noqa: E402
from mfbench_cluster.dask.engine import DaskEngine  # noqa: E402

LONG = 60.0


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(session, "_INTERVAL", 0.05)


def outcomes_of(engine, number):
    outcomes = []
    end = time.monotonic() + LONG
    while len(outcomes) < number:
        assert time.monotonic() < end, f"{len(outcomes)} of {number} calls have ended"
        outcomes += engine.wait(1.0)
    assert len({outcome.ticket for outcome in outcomes}) == number
    return {outcome.ticket: outcome for outcome in outcomes}


def close_worker(cluster, address):
    worker = next(worker for worker in cluster.workers.values() if worker.address == address)
    cluster.sync(worker.close, executor_wait=False)


def test_a_call_of_a_lost_worker_runs_again_and_one_bound_to_it_is_lost(target):
    gone = threading.Event()

    def work(payload):
        if not gone.is_set():
            gone.wait(LONG)
        return payload

    with threaded_cluster() as cluster, DaskEngine(cluster.scheduler_address, 1, target(work)) as engine:
        first, second = engine.workers()
        engine.submit(1, b"", worker=first)
        engine.submit(2, b"free", avoid=[second])
        engine.submit(3, b"free")
        engine.submit(4, b"free")
        until(lambda: any(state.processing for state in cluster.scheduler.workers.values()))
        close_worker(cluster, first)
        until(lambda: first not in engine.workers())
        gone.set()
        outcomes = outcomes_of(engine, 4)
    assert (outcomes[1].worker, outcomes[1].reason) == (first, f"worker {first} was lost")
    assert outcomes[2].reason == f"worker {first} was lost"
    assert [(outcomes[n].answer, outcomes[n].worker) for n in (3, 4)] == [(b"free", second)] * 2


def test_a_call_that_was_running_on_too_many_lost_workers_is_lost(target):
    gone = threading.Event()

    with (
        threaded_cluster(1) as cluster,
        DaskEngine(cluster.scheduler_address, 1, target(lambda payload: gone.wait(LONG))) as engine,
    ):
        cluster.scheduler.allowed_failures = 0
        engine.submit(1, b"")
        (worker,) = engine.workers()
        until(lambda: any(state.processing for state in cluster.scheduler.workers.values()))
        cluster.sync(cluster.scheduler.remove_worker, worker, stimulus_id="test")
        outcome = outcomes_of(engine, 1)[1]
        gone.set()
    assert outcome.answer is None
    assert outcome.reason == f"the worker that ran it was lost 1 times, at last {worker}"


def test_after_a_cut_the_calls_are_sent_again(cluster, target):
    counts = {}

    def work(payload):
        counts[payload] = counts.get(payload, 0) + 1
        time.sleep(0.02)
        return payload

    with (
        Network(int(cluster.scheduler_address.rsplit(":", 1)[1])) as network,
        DaskEngine(network.address, 1, target(work)) as engine,
    ):
        for ticket in range(30):
            engine.submit(ticket, str(ticket).encode())
        outcomes = {outcome.ticket: outcome for outcome in engine.wait(LONG)}
        network.cut()
        time.sleep(0.3)
        network.mend()
        outcomes |= outcomes_of(engine, 30 - len(outcomes))
    assert [outcomes[ticket].reason for ticket in range(30)] == [""] * 30
    assert [outcomes[ticket].answer for ticket in range(30)] == [str(ticket).encode() for ticket in range(30)]
    assert len(counts) == 30


@pytest.mark.parametrize("how", ["cut", "freeze"])
def test_a_scheduler_that_stays_away_ends_the_run_in_one_sentence(cluster, monkeypatch, how):
    from mfbench_cluster.dask import cluster as cluster_module

    monkeypatch.setattr(session, "_PATIENCE", 0.5)
    monkeypatch.setattr(session, "_LOOK", 0.2)
    monkeypatch.setattr(cluster_module, "_CONNECT", 0.2)
    monkeypatch.setattr(cluster_module, "_END", 0.5)
    with (
        Network(int(cluster.scheduler_address.rsplit(":", 1)[1])) as network,
        DaskEngine(network.address, 1, "time:sleep") as engine,
    ):
        getattr(network, how)()
        engine.submit(1, b"")
        with pytest.raises(
            RunError, match=f"the Dask scheduler {network.address} has not answered for 0.5 s; the results"
        ):
            outcomes_of(engine, 1)
        with pytest.raises(RunError):  # and it stays so
            engine.wait(0.1)
        engine.submit(2, b"")
        engine.withdraw([2])
