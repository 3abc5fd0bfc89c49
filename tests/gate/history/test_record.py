"""From a stored run to an entry: medians, means, sizes, and the cells that are left out."""

import numpy as np
import pytest
from toy_protocols import completed

from mfbench.errors import UsageError
from mfbench.model.trials import Status
from mfbench.suite.protocols import Split
from mfbench_gate.history.record import Commit, entry_of

NOW = "2026-06-01T00:00:00+00:00"
COMMIT = Commit("a" * 40, "2026-05-01T00:00:00+00:00")


def entry(run):
    return entry_of(run, COMMIT, None, NOW)


def test_medians_of_costs_and_means_of_scores(timed_run, timed):
    folds = [timed(1.0, 0.8), timed(9.0, 0.9, select_cpu=1.0, select_wall=2.0, peak_memory=3000), timed(3.0, 1.0)]
    recorded, left_out = entry(timed_run({("iris", "A"): folds}))
    (one,) = recorded.measurements
    assert (one.method, one.dataset, one.size, one.n_trials, one.n_failed) == ("A", "iris", "", 3, 0)
    assert (one.fit_cpu, one.fit_wall, one.predict_cpu, one.predict_wall) == (3.0, 6.0, 0.25, 0.0)
    assert one.memory == 1000
    assert one.scores == {"accuracy": pytest.approx(0.9)}
    assert left_out == []


def test_the_head_of_an_entry(timed_run, timed):
    recorded, _ = entry(timed_run({("iris", "A"): [timed(1.0)]}, command=["mfbench", "suite", "my/own.toml"]))
    assert (recorded.suite, recorded.profile, recorded.source) == ("own", "quick", "my/own.toml")
    assert (recorded.commit, recorded.commit_time, recorded.added) == (COMMIT.name, COMMIT.time, NOW)
    assert recorded.machine.cpu == "a processor"
    assert recorded.versions == {"mfbench": "0.1.0", "scikit-learn": "1.7"}


def test_cells_without_a_complete_measurement_are_left_out(timed_run, timed, failed):
    cells = {
        ("iris", "A"): [timed(1.0), failed()],
        ("iris", "B"): [timed(1.0), None],
        ("iris", "C"): [failed(), failed()],
    }
    recorded, left_out = entry(timed_run(cells))
    (one,) = recorded.measurements
    assert (one.method, one.n_trials, one.n_failed) == ("A", 1, 1)
    assert left_out == ["B/iris: 1 of 2 trials have not run yet", "C/iris: every trial failed"]


def test_a_run_without_any(timed_run, failed):
    with pytest.raises(UsageError, match=r"has no complete cell to add: C/iris: every trial failed"):
        entry(timed_run({("iris", "C"): [failed()]}))


def test_memory_that_the_system_does_not_report(timed_run, timed):
    recorded, _ = entry(timed_run({("iris", "A"): [timed(1.0, peak_memory=0)]}))
    assert recorded.measurements[0].memory is None


def test_each_size_of_a_timing_run_is_a_measurement(timed_run, timed):
    test, rows = np.array([3]), np.array([0, 1, 2])
    splits = [Split(rows[:1], test), Split(rows, test), Split(rows, test, feature_share=0.5, feature_seed=0)]
    protocol = completed(kind="timing", repeats=1, steps=2)
    run = timed_run({("iris", "A"): [timed(1.0), timed(2.0), timed(3.0)]}, protocol=protocol, splits=splits)
    recorded, _ = entry(run)
    assert [(one.size, one.fit_cpu) for one in recorded.measurements] == [
        ("n=1, p=2", 1.0),
        ("n=3, p=2", 2.0),
        ("n=3, p=1", 3.0),
    ]


def test_the_digest_is_that_of_the_single_results(timed_run, timed):
    def digest(name, *seconds):
        run = timed_run({("iris", "A"): [timed(value) for value in seconds]}, name)
        return entry(run)[0].measurements[0].digest

    assert digest("a", 1.0, 2.0, 3.0) == digest("b", 1.0, 2.0, 3.0)
    assert digest("a", 1.0, 2.0, 3.0) != digest("c", 0.9, 2.0, 3.0)  # the medians are equal


@pytest.fixture
def failed():
    from mfbench.model.trials import TrialResult

    return lambda: TrialResult(key="", status=Status.ERROR, error_type="ValueError", error_message="no way")
