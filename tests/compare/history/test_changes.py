"""Change points: exact minimisation, few false alarms, and the steps that a history exists for.

`tests/benchmarks/history_study.py` measures the same rates with thousands of series; docs/track.md has its table.
"""

import sys

import numpy as np
import pytest

from mfbench.compare.history import changes
from mfbench.compare.history.changes import FACTOR, SHORTEST, change_points, correlation, noise, penalty
from mfbench.errors import MfbenchError

pytest.importorskip("ruptures")


def best_segmentation(values, cost_of_change):
    """Minimise squared residuals plus a cost for each change by dynamic programming over all segmentations."""
    n = len(values)
    sums, squares = np.r_[0.0, values.cumsum()], np.r_[0.0, (values**2).cumsum()]

    def residuals(start, end):
        return squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)

    best = {0: (-cost_of_change, [])}
    for end in range(SHORTEST, n + 1):
        best[end] = min(
            (best[start][0] + cost_of_change + residuals(start, end), [*best[start][1], start])
            for start in best
            if end - start >= SHORTEST
        )
    return best[n][1][1:]


def test_the_search_is_exact(monkeypatch):
    monkeypatch.setattr(changes, "CLIP", np.inf)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = rng.normal(0.0, 1.0, 24) + np.repeat(rng.normal(0.0, 2.0, 4), 6)
        cost = penalty(24, noise(values), correlation(values), 1.0)
        assert change_points(values, 0.0, factor=1.0) == best_segmentation(values, cost), seed


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


def test_without_ruptures_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ruptures", None)
    with pytest.raises(MfbenchError, match=r"pip install 'mfbench\[track\]'"):
        change_points(np.zeros(6), 0.1)
