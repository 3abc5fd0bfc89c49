"""Change points: exact minimisation, few false alarms, and the steps that a history exists for.

`tests/benchmarks/history_study.py` measures the same rates with thousands of series; docs/gate.md has its table.
"""

from itertools import combinations

import numpy as np
import pytest

from mfbench_gate.history import trends
from mfbench_gate.history.trends import FACTOR, SHORTEST, change_points, correlation, penalty


def total(values, starts, cost):
    """Return the squared residuals plus a cost for each change."""
    return sum(((part - part.mean()) ** 2).sum() for part in np.split(values, starts)) + cost * len(starts)


def series(rng, length):
    """Return noise, now and then with heavy tails or in whole numbers, around levels of a few values each."""
    levels = np.repeat(rng.normal(0.0, 2.0, length), rng.integers(3, 20))[:length]
    values = levels + rng.choice([rng.normal(size=length), rng.standard_t(3, size=length)])
    return np.round(values) if rng.random() < 0.2 else values


def test_no_segmentation_is_better():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values, cost = series(rng, 6 + seed % 9), rng.choice([1.0, 3.0, 9.0])
        possible = [
            total(values, list(starts), cost)
            for n_changes in range(len(values) // SHORTEST)
            for starts in combinations(range(SHORTEST, len(values)), n_changes)
            if np.diff([*starts, len(values)], prepend=0).min() >= SHORTEST
        ]
        starts = trends._segment_starts(values, cost)
        assert np.diff([*starts, len(values)], prepend=0).min() >= SHORTEST, seed
        assert total(values, starts, cost) == pytest.approx(min(possible), abs=1e-9), seed


def test_the_changes_are_those_of_ruptures():
    """But for few series, in which its pruning loses the minimum."""
    ruptures = pytest.importorskip("ruptures")
    equal = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values, cost = series(rng, rng.integers(20, 150)), penalty(50, 1.0)
        ours = trends._segment_starts(values, cost)
        search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST, jump=1).fit(values[:, None])
        theirs = [int(end) for end in search.predict(pen=cost)[:-1]]
        equal += ours == theirs
        assert total(values, ours, cost) <= total(values, theirs, cost) + 1e-9, seed
    assert equal >= 195


def test_false_alarms_of_stationary_series():
    rng = np.random.default_rng(1)
    noises = {
        "normal": lambda n: rng.normal(size=n),
        "heavy tails": lambda n: rng.standard_t(3, size=n),
        "outliers": lambda n: rng.normal(size=n) + (rng.random(n) < 0.1) * rng.exponential(5.0, size=n),
        "two values": lambda n: 2.5 * (rng.random(n) < 0.125),
    }
    for name, draw in noises.items():
        for n in (20, 50, 100):
            alarms = sum(bool(change_points(0.02 * draw(n), 0.005)) for _ in range(200))
            # 5 % of 200 are 10; more than 19 have a probability of less than 0.3 % then.
            assert alarms <= 19, f"{name}, {n} values: {alarms} of 200"


@pytest.mark.parametrize(("step", "least"), [(0.05, 75), (0.10, 97), (0.30, 99)])
def test_steps_at_two_percent_of_noise(step, least):
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(100):
        values = np.log1p(step) * (np.arange(30) >= 20) + rng.normal(0.0, 0.02, 30)
        hits += any(abs(position - 20) <= 2 for position in change_points(values, 0.005))
    assert hits >= least


def test_one_disturbed_run_is_not_a_change_and_three_are():
    quiet = np.random.default_rng(3).normal(0.0, 0.01, 20)
    for position in (0, 10, 19):
        disturbed = quiet.copy()
        disturbed[position] += 1.0
        assert change_points(disturbed, 0.005) == [], position
    assert change_points(quiet + 0.3 * (np.arange(20) >= 17), 0.005) == [17]


def test_a_series_without_noise():
    assert change_points(np.full(20, 0.9), 1e-6) == []
    assert change_points(np.repeat([0.9, 0.91, 0.9], 5), 1e-6) == [5, 10]
    assert change_points(np.repeat([1e6, 1e6 + 0.001], 10), 1e-6) == [10]


def test_a_short_series_has_no_change():
    assert change_points(np.repeat([0.0, 5.0], [2, 3]), 0.1) == []
    assert change_points(np.array([]), 0.1) == []


def test_the_penalty():
    assert penalty(100, 2.0) == pytest.approx(FACTOR * 4.0 * np.log(100))
    assert penalty(10, 1.0) == penalty(50, 1.0)
    assert penalty(50, 1.0, 0.5) == pytest.approx(6.0 * penalty(50, 1.0))


def test_correlated_noise_raises_few_alarms():
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(200):
        independent = rng.normal(size=51)
        alarms += bool(change_points(independent[1:] + 0.35 * independent[:-1], 0.005))
    assert alarms <= 30  # without the correction they are 60


def test_the_correlation_ignores_a_change_of_level():
    values = np.random.default_rng(5).normal(size=200)
    assert correlation(values + 20.0 * (np.arange(200) >= 100)) == pytest.approx(correlation(values), abs=0.1)
    assert correlation(values[:9]) == 0.0
    assert correlation(np.zeros(20)) == 0.0
