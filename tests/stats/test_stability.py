"""Nogueira's stability: a case by hand, its limits, and its interval against the jackknife and its own coverage."""

import numpy as np
import pytest

from mfbench.stats.selection import nogueira_stability


def test_case_by_hand():
    # shares 1, 2/3, 1/3, 0; s² = 3/2 p (1 - p) = 0, 1/3, 1/3, 0, mean 1/6; k/d = 1/2, spread 1/4: 1 - (1/6)/(1/4)
    found = nogueira_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    assert found.value == pytest.approx(1 / 3)


def test_equal_sets_are_stable():
    found = nogueira_stability(np.tile([True, False, True], (5, 1)))
    assert (found.value, found.low, found.high) == (pytest.approx(1), pytest.approx(1), pytest.approx(1))


def test_one_feature_of_its_own_in_each_round():
    # shares 1/3 each: s² = 3/2 · 2/9 = 1/3; spread 2/9: 1 - 3/2
    assert nogueira_stability(np.eye(3)).value == pytest.approx(-0.5)


@pytest.mark.parametrize("table", [np.zeros((4, 3)), np.ones((4, 3)), np.eye(3)[:1]])
def test_where_it_is_not_defined(table):
    assert np.isnan(nogueira_stability(table).value)
    assert np.isnan(nogueira_stability(table).low)


def test_random_sets_are_not_stable():
    rng = np.random.default_rng(0)
    values = [nogueira_stability(rng.random((30, 40)) < 0.2).value for _ in range(200)]
    assert abs(np.mean(values)) < 0.003


def test_order_does_not_matter():
    rng = np.random.default_rng(1)
    Z = rng.random((12, 9)) < rng.random(9)
    one, other = nogueira_stability(Z), nogueira_stability(Z[rng.permutation(12)][:, rng.permutation(9)])
    assert (one.value, one.low) == (pytest.approx(other.value), pytest.approx(other.low))


def test_interval_agrees_with_the_jackknife():
    rng = np.random.default_rng(2)
    Z = rng.random((400, 20)) < np.repeat([0.9, 0.3, 0.05], [4, 4, 12])
    found = nogueira_stability(Z)
    left = np.array([nogueira_stability(np.delete(Z, i, axis=0)).value for i in range(len(Z))])
    error = np.sqrt((len(Z) - 1) * np.mean((left - left.mean()) ** 2))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.03)


def test_interval_covers_the_truth():
    rng = np.random.default_rng(3)
    p = np.repeat([0.9, 0.3, 0.05], [4, 4, 12])
    mean = p.mean()
    truth = 1 - np.mean(p * (1 - p)) / (mean * (1 - mean))
    founds = [nogueira_stability(rng.random((60, 20)) < p) for _ in range(500)]
    covered = np.mean([found.low <= truth <= found.high for found in founds])
    assert 0.9 < covered < 0.99


def test_table_of_other_values_is_refused():
    with pytest.raises(ValueError, match="rounds by features"):
        nogueira_stability([[0, 2], [1, 0]])
