"""The remote pool over a simulated cluster: everything once, workers busy, the window full, and nothing left behind."""

import sys
from pathlib import Path

import pytest
from small_runs import results_of, started

sys.path.insert(0, str(Path(__file__).parent))
from fake import FINGERPRINT, METHODS, FakeEngine, fabricated, job_of, trials_of

from mfbench.errors import RunError
from mfbench_cluster.pool.remote import WINDOW, RemotePool


def run(tmp_path, engine, trials, **options):
    pool = RemotePool(engine, FINGERPRINT, notify=lambda _: None, clock=engine.clock, **options)
    with started(pool, job_of(tmp_path)):
        rows = results_of(pool, trials)
    assert sorted(trial.key for trial, _ in rows) == sorted(trial.key for trial in trials)
    assert all(result.scores == fabricated(trial).scores for trial, result in rows)
    return pool


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_every_trial_has_one_row_and_workers_are_busy(tmp_path, loss):
    engine = FakeEngine(20, 1.0, loss=loss, absence=1.0)
    pool = run(tmp_path, engine, trials_of(600, methods=tuple(METHODS)))
    assert (engine.n_lost > 0) == (loss > 0)
    assert len(pool.machines) == 20
    assert engine.busy >= 600


def test_the_window_is_full_and_not_more(tmp_path):
    engine = FakeEngine(4, 1.0)
    pool = RemotePool(engine, FINGERPRINT, notify=lambda _: None, clock=engine.clock)
    with started(pool, job_of(tmp_path)):
        pool.submit(trials_of(200))
        under_way = [pool._n_calls for _ in pool.collect()]
    assert max(under_way) == WINDOW * 4 - 1  # the one whose result is yielded has ended
    assert min(under_way[:150]) == WINDOW * 4 - 1


def test_tiny_trials_travel_together(tmp_path):
    engine = FakeEngine(2, 0.001)
    pool = run(tmp_path, engine, trials_of(2000))
    assert pool._ticket < 200


def test_what_is_under_way_is_withdrawn_when_the_pool_is_left(tmp_path):
    engine = FakeEngine(2, 1.0)
    withdrawn = []
    engine.withdraw = withdrawn.extend
    pool = RemotePool(engine, FINGERPRINT, notify=lambda _: None, clock=engine.clock)
    with started(pool, job_of(tmp_path)):
        pool.submit(trials_of(100))
        next(pool.collect())
    assert len(withdrawn) >= WINDOW


def test_an_engine_that_fails_is_one_sentence(tmp_path):
    engine = FakeEngine(2, 1.0)

    def fail(seconds):
        raise ConnectionError("the scheduler is gone")

    engine.wait = fail
    with pytest.raises(RunError, match=r"^the executor failed with ConnectionError: the scheduler is gone; the"):
        run(tmp_path, engine, trials_of(10))
