"""The engine over Dask: calls of small functions on a cluster in threads of this process."""

import json
import logging
import threading
import time

import pytest

engine_module = pytest.importorskip("mfbench_cluster.dask.engine", reason="Dask is not installed")

from mfbench.errors import RunError, UsageError  # noqa: E402
from mfbench_cluster.dask import session  # noqa: E402
from mfbench_cluster.dask.engine import DaskEngine  # noqa: E402

LONG = 60.0


def collect(engine, number):
    """Return the outcomes of that many calls, by ticket; each ends once."""
    outcomes = {}
    end = time.monotonic() + LONG
    while len(outcomes) < number:
        assert time.monotonic() < end, f"{len(outcomes)} of {number} calls have ended"
        for outcome in engine.wait(1.0):
            assert outcome.ticket not in outcomes
            outcomes[outcome.ticket] = outcome
    return outcomes


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(session, "_INTERVAL", 0.05)


@pytest.fixture
def engine(cluster, target, fast):
    """Return a function that opens an engine whose workers call a function."""
    opened = []

    def start(function, scheduler=""):
        engine = DaskEngine(scheduler or cluster.scheduler_address, 1, target(function))
        opened.append(engine)
        return engine.__enter__()

    yield start
    for one in opened:
        one.__exit__(None, None, None)


def test_answers_come_back_with_their_tickets_and_workers(engine):
    one = engine(lambda payload: b"re: " + payload)
    assert sorted(one.workers().values()) == [1, 1]
    for ticket in range(40):
        one.submit(ticket, str(ticket).encode())
    outcomes = collect(one, 40)
    assert all(outcomes[ticket].answer == f"re: {ticket}".encode() for ticket in range(40))
    assert {outcome.worker for outcome in outcomes.values()} <= set(one.workers())
    assert one.wait(0.01) == []


def test_calls_start_in_the_order_of_their_tickets(engine):
    started, lock = [], threading.Lock()

    def note(payload):
        with lock:
            started.append(int(payload))
        time.sleep(0.005)
        return payload

    one = engine(note)
    for ticket in range(60):
        one.submit(ticket, str(ticket).encode())
        if ticket == 30:
            time.sleep(0.05)  # so that there are several messages
    collect(one, 60)
    assert max(abs(place - ticket) for place, ticket in enumerate(started)) <= 4  # two workers hold one more each


def test_a_call_runs_where_it_has_to_and_not_where_it_must_not(engine):
    one = engine(lambda payload: payload)
    first, second = one.workers()
    for ticket in range(6):
        one.submit(ticket, b"", worker=second)
        one.submit(100 + ticket, b"", avoid={second})
    outcomes = collect(one, 12)
    assert {outcomes[ticket].worker for ticket in range(6)} == {second}
    assert {outcomes[100 + ticket].worker for ticket in range(6)} == {first}


def test_a_call_that_may_run_nowhere_is_lost(engine):
    one = engine(lambda payload: payload)
    one.submit(1, b"", worker="tcp://127.0.0.1:1")
    one.submit(2, b"", avoid=one.workers())
    outcomes = collect(one, 2)
    assert (outcomes[1].answer, outcomes[1].worker) == (None, "tcp://127.0.0.1:1")
    assert outcomes[1].reason == "worker tcp://127.0.0.1:1 was lost"
    assert outcomes[2].reason == "no other worker is left"


def test_an_error_is_a_reason_that_names_the_worker(engine, cluster):
    def fail(payload):
        raise ValueError("no way")

    one = engine(fail)
    one.submit(1, b"")
    outcome = collect(one, 1)[1]
    assert outcome.worker in one.workers()
    assert outcome.reason == f"worker {outcome.worker} failed (ValueError: no way)"
    with DaskEngine(cluster.scheduler_address, 1, "no_such_package:answer") as two:
        two.submit(1, b"")
        outcome = collect(two, 1)[1]
    reason = "cannot import mfbench (ModuleNotFoundError: No module named 'no_such_package')"
    assert outcome.reason == f"worker {outcome.worker} {reason}"


def test_calls_that_are_withdrawn_stop_and_never_end(engine):
    from distributed import get_worker

    from mfbench_cluster.dask.session import is_wanted

    started, stopped = threading.Event(), threading.Event()
    ran = []

    def work(payload):
        ran.append(payload)
        if payload == b"long":
            worker = get_worker()
            key = worker.get_current_task()
            assert is_wanted(worker, key)
            started.set()
            while is_wanted(worker, key):
                time.sleep(0.005)
            stopped.set()
        return payload

    one = engine(work)
    first, _ = one.workers()
    one.submit(1, b"long", worker=first)
    assert started.wait(LONG)
    one.submit(2, b"behind it", worker=first)
    one.withdraw([1, 2])
    assert stopped.wait(LONG)
    one.submit(3, b"next", worker=first)
    assert set(collect(one, 1)) == {3}
    assert b"behind it" not in ran


def test_leaving_gives_up_what_runs(engine, cluster, target):
    from distributed import get_worker

    from mfbench_cluster.dask.session import is_wanted

    started, stopped = threading.Event(), threading.Event()

    def work(payload):
        worker = get_worker()
        key = worker.get_current_task()
        started.set()
        while is_wanted(worker, key):
            time.sleep(0.005)
        stopped.set()

    with DaskEngine(cluster.scheduler_address, 1, target(work)) as one:
        one.submit(1, b"")
        assert started.wait(LONG)
    assert stopped.wait(LONG)
    assert not [thread for thread in threading.enumerate() if thread.name == "mfbench-dask"]


def test_a_scheduler_file_names_the_scheduler(cluster, tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text(json.dumps({"address": cluster.scheduler_address}))
    with DaskEngine(str(path), 1, "builtins:bytes") as one:
        one.submit(1, b"x")
        assert collect(one, 1)[1].answer == b"x"


def test_levels_of_log_messages_are_put_back(cluster):
    before = logging.getLogger("distributed").level
    with DaskEngine(cluster.scheduler_address):
        assert logging.getLogger("distributed").level == logging.CRITICAL
    assert logging.getLogger("distributed").level == before


def test_a_wrong_scheduler_is_refused_at_once():
    with pytest.raises(UsageError, match="is not an address of a Dask scheduler"):
        DaskEngine("somewhere")


def test_nobody_at_the_address(monkeypatch):
    from mfbench_cluster.dask import cluster as cluster_module

    monkeypatch.setattr(cluster_module, "_CONNECT", 0.2)
    with pytest.raises(RunError, match="cannot reach the Dask scheduler tcp://127"), DaskEngine("tcp://127.0.0.1:1"):
        pass
