"""The time left of a run, from predicted and from measured durations."""

import math
from types import SimpleNamespace

import pytest

from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.progress import Remaining, in_words
from mfbench.suite.plan import Cost, Forecast

TRIALS = tuple(Trial(str(i), "d", "m", 0, i, 0) for i in range(100))


def remaining(seconds=1.0, jobs=1, startup=0.0, trials=TRIALS, limit=math.inf):
    costs = SimpleNamespace(of=lambda trial: Cost(seconds, 0))
    return Remaining(Forecast(costs, jobs, startup), trials, limit)


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


def test_a_trial_that_runs_as_predicted_leaves_the_rest_of_it():
    left = remaining(10.0, trials=TRIALS[:5])
    left.running([(TRIALS[0], 4.0)])
    assert left.seconds == 46.0
    left.finished(TRIALS[0], ended(10.0))
    assert left.seconds == 40.0


def test_a_trial_that_is_late_lets_the_time_left_grow_with_it_up_to_its_limit():
    left = remaining(10.0, trials=TRIALS[:1], limit=600.0)
    forecasts = []
    for seconds in (10.0, 50.0, 300.0, 500.0, 600.0):
        left.running([(TRIALS[0], seconds)])
        forecasts.append(left.seconds)
    assert forecasts == [0.0, 50.0, 300.0, 100.0, 0.0]


def test_a_trial_that_is_late_counts_for_those_that_wait_as_if_it_ended_now():
    late, over = remaining(10.0, trials=TRIALS[:3]), remaining(10.0, trials=TRIALS[:3])
    late.running([(TRIALS[0], 300.0)])
    over.finished(TRIALS[0], ended(300.0))
    assert late.correction == over.correction > 20.0
    assert late.seconds == pytest.approx(over.seconds + 300.0)


def test_the_longest_rest_is_left_whatever_other_workers_do():
    left = remaining(10.0, jobs=8, trials=TRIALS[:8])
    left.running([(TRIALS[0], 400.0), (TRIALS[1], 1.0)])
    assert left.seconds >= 400.0


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
