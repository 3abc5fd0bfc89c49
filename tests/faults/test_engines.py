"""Faults of engines and workers: after each, every trial has exactly one result, the one of an undisturbed run."""

import random
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "run"))
sys.path.insert(0, str(Path(__file__).parents[1] / "run" / "executors"))

from fake import FINGERPRINT, METHODS, FakeWorker, StubPool, ThreadEngine, fabricated, job_of, trials_of
from small_runs import results_of, started

from mfbench.errors import RunError
from mfbench_cluster import array_cache, service
from mfbench_cluster.array_cache import ArrayCache
from mfbench_cluster.pool.remote import RemotePool, Workers
from mfbench_cluster.service import WorkerService

DATASETS = ("a", "b", "c")


@pytest.fixture(autouse=True)
def _stub(monkeypatch):
    monkeypatch.setattr(service, "LocalPool", StubPool)


@pytest.fixture
def work(tmp_path):
    return job_of(tmp_path / "data", DATASETS), trials_of(120, DATASETS, tuple(METHODS))


def worker(tmp_path, machine, slots=1, **options):
    return FakeWorker(WorkerService(ArrayCache(tmp_path / machine, **options)), slots)


def carry_out(work, engine, notices=None, **options):
    """Run the trials; check that there is one row for each, and that it is the right one."""
    job, trials = work
    notify = (notices if notices is not None else []).append
    with started(RemotePool(engine, FINGERPRINT, notify=notify, **options), job) as pool:
        rows = results_of(pool, trials)
    assert Counter(trial.key for trial, _ in rows) == Counter(trial.key for trial in trials)
    for trial, result in rows:
        assert result == fabricated(trial)
    return pool


@pytest.fixture
def hidden(monkeypatch):
    """No worker can read the driver's folder."""
    monkeypatch.setattr(ArrayCache, "fetch", lambda self, name, shared: self.lease(name))


def test_undisturbed(work, tmp_path):
    engine = ThreadEngine({"p": worker(tmp_path, "m"), "q": worker(tmp_path, "n", slots=2)})
    pool = carry_out(work, engine)
    assert len(pool.machines) == 1
    batches = [message for _, message, _ in engine.submitted if type(message).__name__ == "RunBatch"]
    assert 1 < len(batches) < len(work[1])


def test_workers_are_lost_at_random_and_new_ones_come(work, tmp_path):
    dice = random.Random(0)

    def disturb(engine):
        if engine.n_waits % 3 == 2 and engine.n_waits < 60:  # the slowest machine ends the run in peace
            engine.lose(dice.choice(sorted(engine.workers())))
            engine.add(f"p{engine.n_waits}", worker(tmp_path, "m"))

    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m"), "q": worker(tmp_path, "m")}, disturb))


def test_all_workers_are_lost_and_new_ones_come(work, tmp_path):
    def disturb(engine):
        if engine.n_waits == 4:
            for name in list(engine.workers()):
                engine.lose(name)
        elif engine.n_waits == 8:
            engine.add("new", worker(tmp_path, "other"))

    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m"), "q": worker(tmp_path, "m")}, disturb))


def test_every_answer_comes_twice(work, tmp_path):
    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m"), "q": worker(tmp_path, "m")}, repeats=True))


def test_workers_that_were_lost_answer_all_the_same(work, tmp_path):
    def disturb(engine):
        if engine.n_waits in (3, 6, 9):
            engine.lose(min(engine.workers()))
            engine.add(f"p{engine.n_waits}", worker(tmp_path, "m"))

    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m"), "q": worker(tmp_path, "m")}, disturb, late=True))


def test_the_network_is_cut_for_a_while(work, tmp_path):
    def disturb(engine):
        engine.is_cut = 5 <= engine.n_waits < 10

    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m")}, disturb))


def test_a_worker_with_other_code_runs_nothing_and_is_named_once(work, tmp_path, monkeypatch):
    other = worker(tmp_path, "m")
    monkeypatch.setattr(other.service, "_differences", lambda _: ("mfbench 0.0.1 instead of 0.1.0",))
    notices = []
    engine = ThreadEngine({"old": other, "p": worker(tmp_path, "n")})
    carry_out(work, engine, notices)
    assert notices == ["old is not used: mfbench 0.0.1 instead of 0.1.0"]


def test_if_all_workers_have_other_code_the_error_names_each_with_its_reasons(work, tmp_path, monkeypatch):
    workers = {name: worker(tmp_path, "m") for name in "pq"}
    for one in workers.values():
        monkeypatch.setattr(
            one.service, "_differences", lambda _: ("numpy 1.0 instead of 2.0", "plugin x with other code")
        )
    with pytest.raises(RunError, match=r"no worker can run(?s:.*)\np: numpy 1.0 instead of 2.0; plugin x") as raised:
        carry_out(work, ThreadEngine(workers))
    assert "\nq: numpy" in str(raised.value)


def test_without_any_worker_the_run_waits_and_then_ends(work):
    notices = []
    now = iter(range(1000))
    with pytest.raises(RunError, match="no worker has come within 20s; the results so far are stored"):
        carry_out(work, ThreadEngine({}), notices, patience=20.0, clock=lambda: 2.0 * next(now))
    assert notices == ["there is no worker; waiting for 20s at most"]


def test_patience_begins_again_with_each_worker_that_is_accepted():
    workers = Workers(notify=list, patience=20.0)
    workers.update({}, now=0.0)
    workers.update({"p": 1}, now=15.0)
    workers.accept("p", ticket=1)
    workers.update({}, now=30.0)  # it came and went between two looks
    workers.update({}, now=49.0)
    with pytest.raises(RunError, match="no worker has come within 20s"):
        workers.update({}, now=50.0)


def test_the_arrays_are_sent_once_to_each_machine_if_workers_cannot_read_the_folder(
    work, tmp_path, hidden, monkeypatch
):
    monkeypatch.setattr("mfbench_cluster.pool.batches.PIECE", 100)
    engine = ThreadEngine({name: worker(tmp_path, name[0]) for name in ("m1", "m2", "n1")})
    carry_out(work, engine)
    pieces = [(m.name, m.offset, w[0]) for _, m, w in engine.submitted if type(m).__name__ == "Piece"]
    assert len(set(pieces)) == len(pieces)
    assert {name for name, _, _ in pieces} == {name for names in work[0].files.values() for name in names}


def test_the_shared_folder_goes_away(work, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    fetch, n_fetched = ArrayCache.fetch, []

    def vanishing(cache, name, shared):
        n_fetched.append(name)
        return fetch(cache, name, shared if len(n_fetched) < 3 else gone)

    monkeypatch.setattr(ArrayCache, "fetch", vanishing)
    engine = ThreadEngine({"p": worker(tmp_path, "m")})
    carry_out(work, engine)
    assert any(type(message).__name__ == "Piece" for _, message, _ in engine.submitted)


def test_the_disk_of_a_worker_is_full(work, tmp_path, hidden, monkeypatch):
    full = worker(tmp_path, "full")

    def append(*_):
        raise array_cache.ArrayCacheError("arrays cannot be stored in X: No space left on device; free some space")

    monkeypatch.setattr(full.service._own_cache, "append", append)
    notices = []
    carry_out(work, ThreadEngine({"full": full, "p": worker(tmp_path, "m")}), notices)
    assert [text.partition(";")[0] for text in notices] in (
        [],  # the other worker was faster
        ["full is not used: arrays cannot be stored in X: No space left on device"],
    )


def test_if_every_disk_is_full_the_run_ends_with_a_sentence(work, tmp_path, hidden, monkeypatch):
    full = worker(tmp_path, "full")

    def append(*_):
        raise array_cache.ArrayCacheError("arrays cannot be stored in X: No space left on device")

    monkeypatch.setattr(full.service._own_cache, "append", append)
    with pytest.raises(RunError, match=r"(?s)no worker can run.*full: arrays cannot be stored in X: No space"):
        carry_out(work, ThreadEngine({"full": full}))


@pytest.mark.parametrize("shared", [True, False])
def test_a_damaged_entry_of_the_cache_is_fetched_again(work, tmp_path, shared, request):
    if not shared:
        request.getfixturevalue("hidden")
    folder = tmp_path / "m"
    folder.mkdir()
    for names in work[0].files.values():
        (folder / names[0]).write_bytes(b"damaged")
    carry_out(work, ThreadEngine({"p": worker(tmp_path, "m")}))
    for names in work[0].files.values():
        assert (folder / names[0]).read_bytes() == (work[0].data_folder / names[0]).read_bytes()


def test_a_trial_that_kills_its_workers_becomes_a_failure_and_harms_no_other(work, tmp_path, monkeypatch):
    job, trials = work
    deadly = trials[7].key
    engine = None

    class Deadly(StubPool):
        def collect(self):
            for trial in self.trials:
                if trial.key == deadly:
                    name = next(name for name, one in engine._workers.items() if one.service._jobs)
                    engine.lose(name)
                    engine.add(f"after-{name}", worker(tmp_path, "m"))
                    raise OSError("this worker is gone")
                yield trial, fabricated(trial)

    monkeypatch.setattr(service, "LocalPool", Deadly)
    engine = ThreadEngine({"p": worker(tmp_path, "m")})
    with started(RemotePool(engine, FINGERPRINT, notify=lambda _: None), job) as pool:
        rows = {trial.key: result for trial, result in results_of(pool, trials)}
    assert len(rows) == len(trials)
    assert {key for key, result in rows.items() if result.status != "ok"} == {deadly}
    assert rows[deadly].status == "crash"
    assert "was lost 5 times, at last because" in rows[deadly].error_message
