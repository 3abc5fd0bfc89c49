"""Bounds of error rates: exact for events, of stated coverage for numbers, and verdicts of a stated level."""

import numpy as np
import pytest
from scipy.stats import binomtest

from mfbench_audit.rates import LEVEL, judge, lower_bound, overall, upper_bound


def test_events_have_clopper_and_pearsons_bounds():
    for events, n in ((0, 20), (3, 20), (20, 20)):
        values = np.repeat([1.0, 0.0], [events, n - events])
        interval = binomtest(events, n).proportion_ci(0.9, method="exact")
        assert lower_bound(values, 0.05, 1.0, are_events=True) == pytest.approx(interval.low)
        assert upper_bound(values, 0.05, 1.0, are_events=True) == pytest.approx(interval.high)


def test_bounds_follow_the_unit():
    values = np.random.default_rng(0).uniform(size=60)
    for bound in (lower_bound, upper_bound):
        assert bound(7 * values, 0.05, 7.0, are_events=False) == pytest.approx(
            7 * bound(values, 0.05, 1.0, are_events=False)
        )
    assert (
        lower_bound(values, 0.05, 1.0, are_events=False)
        < values.mean()
        < upper_bound(values, 0.05, 1.0, are_events=False)
    )


@pytest.mark.parametrize("shape", [(0.1, 0.9), (1.0, 9.0), (8.0, 2.0)])
def test_bounds_by_betting_are_rarely_wrong(shape):
    rng = np.random.default_rng(1)
    mean = shape[0] / sum(shape)
    draws = [rng.beta(*shape, size=80) for _ in range(300)]
    for guess in (0.5, mean, 0.02):
        low = np.mean([lower_bound(x, 0.05, 1.0, are_events=False, guess=guess) > mean for x in draws])
        high = np.mean([upper_bound(x, 0.05, 1.0, are_events=False, guess=guess) < mean for x in draws])
        assert max(low, high) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_verdicts():
    rng = np.random.default_rng(2)
    always = judge(np.ones(30), 0.1, 1.0, 10, are_events=True)
    assert (always.verdict, always.mean, always.high, always.needed) == ("breaks", 1.0, 1.0, None)
    assert judge(np.zeros(30), 0.1, 1.0, 10, are_events=True).verdict == "holds"
    assert judge(np.zeros(60), 0.1, 1.0, 10, are_events=False).verdict == "holds"
    few = judge(np.zeros(5), 0.1, 1.0, 10, are_events=True)
    assert few.verdict == "undecided"
    assert 5 < few.needed < 100
    numbers = judge(rng.poisson(5.0, size=60).astype(float), 1.0, 35.0, 10, are_events=False)
    assert numbers.verdict == "breaks"
    # A little above the promise, sixty times as many rounds would not decide.
    assert judge(np.repeat([1.0, 0.0], [3, 22]), 0.1, 1.0, 10, are_events=True).needed is None


def test_a_promise_holds_on_all_designs_or_breaks_on_one():
    assert overall(["holds", "holds"]) == "holds"
    assert overall(["holds", "undecided"]) == "undecided"
    assert overall(["holds", "undecided", "breaks"]) == "breaks"
    assert overall([]) == "undecided"


@pytest.mark.slow(reason="a thousand replays of an audit take a minute")
def test_sound_selectors_are_hardly_ever_said_to_break():
    rng, breaks, holds = np.random.default_rng(3), 0, 0
    for _ in range(1000):
        verdicts = []
        for design in range(10):
            if design == 0:  # exactly as promised: under the global null the errors are events
                values, are_events = (rng.random(100) < 0.1).astype(float), True
            else:  # exactly as promised, in a third of the rounds
                values, are_events = np.where(rng.random(100) < 0.3, rng.beta(1, 2, size=100), 0.0), False
            verdicts.append(judge(values, 0.1, 1.0, 10, are_events=are_events).verdict)
        breaks += overall(verdicts) == "breaks"
        holds += overall(verdicts) == "holds"
    assert breaks <= 1000 * LEVEL
    assert holds < 100
