"""The time left of a run, from predicted and from measured durations."""

from types import SimpleNamespace

import pytest

from mfbench.report.remaining import Remaining, in_words
from mfbench.suite.costs import Cost, Forecast
from mfbench.trials import Status, Trial, TrialResult

TRIALS = tuple(Trial(str(i), "d", "m", 0, i, 0) for i in range(100))


def remaining(seconds=1.0, jobs=1, startup=0.0):
    costs = SimpleNamespace(of=lambda trial: Cost(seconds, 0))
    return Remaining(Forecast(costs, jobs, startup), TRIALS)


def ended(seconds, status=Status.OK):
    return TrialResult(key="", status=status, duration=seconds)


def test_before_the_first_trial_ends_it_is_the_prediction():
    left = remaining(jobs=2, startup=3.0)
    assert (left.total, left.seconds, left.correction) == (53.0, 50.0, 1.0)


def test_the_correction_begins_at_one_and_becomes_the_measured_ratio():
    left = remaining()
    corrections = []
    for trial in TRIALS:
        left.finished(trial, ended(3.0))
        corrections.append(left.correction)
    assert corrections[0] == pytest.approx((5 + 3) / 6)
    assert corrections[-1] == pytest.approx(3.0, rel=0.05)
    assert corrections == sorted(corrections)


def test_nothing_is_left_at_the_end():
    left = remaining(0.1)
    for trial in TRIALS:
        left.finished(trial, ended(0.1))
    assert left.seconds == 0.0


def test_tiny_trials_do_not_dominate_the_start():
    left = remaining(1e-6)
    left.finished(TRIALS[0], ended(0.5))
    assert left.correction < 1.3


def test_a_duration_is_written_in_the_units_that_matter():
    for seconds, text in [
        (0.0, "0 s"),
        (119.5, "120 s"),
        (121.0, "2 min"),
        (3599.0, "1 h"),
        (7200.0, "2 h"),
        (36100.0, "10 h"),
    ]:
        assert in_words(seconds) == text
