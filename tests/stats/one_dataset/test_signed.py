"""Signed ranks and signs: against SciPy, against all sign patterns, and intervals against the tests they invert."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from mfbench.stats.paired import rank_biserial, sign_test, wilcoxon_test

TIED = st.lists(st.integers(-6, 6), min_size=1, max_size=30).map(lambda values: np.array(values) / 100)


@settings(deadline=None)
@given(TIED)
@pytest.mark.slow(reason="exact tests by enumeration")
def test_p_values_are_scipys_with_ties_and_zeros(differences):
    assume((differences != 0).any())
    zero = np.zeros(len(differences))
    assert wilcoxon_test(differences, zero).p_value == pytest.approx(stats.wilcoxon(differences).pvalue, rel=1e-9)


def test_p_values_are_scipys_without_ties():
    for n in [1, 2, 5, 13, 14, 30, 50, 51, 90]:
        for seed in range(5):
            a, b = np.random.default_rng(seed).normal(size=(2, n)) + np.array([[0.2], [0.0]])
            assert wilcoxon_test(a, b).p_value == pytest.approx(stats.wilcoxon(a, b).pvalue, rel=1e-9)


def test_a_few_differences_against_all_sign_patterns():
    for differences in [[1, 2, 2, 3], [1, 1, 1], [4, -1, 2, 2, 5], [3, -3, 1]]:
        ranks = stats.rankdata(np.abs(differences))
        total = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
        sums = [
            sum(r for r, sign in zip(ranks, signs, strict=True) if sign) for signs in product([0, 1], repeat=len(ranks))
        ]
        upper, lower = np.mean(np.array(sums) >= total), np.mean(np.array(sums) <= total)
        found = wilcoxon_test(differences, np.zeros(len(differences)))
        assert found.p_value == pytest.approx(min(1.0, 2 * min(upper, lower)))


def test_rounding_makes_no_rank():
    """0.3 - 0.2 and 0.1 are equal differences, although their last bits differ."""
    first = np.array([0.3, 0.1, 0.5, 0.9])
    second = np.array([0.2, 0.0, 0.7, 0.9])
    assert wilcoxon_test(first, second).p_value == wilcoxon_test([1, 1, -2, 0], [0, 0, 0, 0]).p_value


def test_the_interval_holds_the_shifts_that_are_not_rejected():
    for n in [6, 9, 20, 40]:
        differences = np.random.default_rng(n).normal(size=n).round(6)
        found = wilcoxon_test(differences, np.zeros(n))
        assert found.low <= found.difference <= found.high
        for shift, rejected in ((found.low - 1e-7, True), (found.low + 1e-7, False), (found.high + 1e-7, True)):
            assert (stats.wilcoxon(differences - shift).pvalue < 0.05) == rejected
        assert stats.wilcoxon(differences - (found.high - 1e-7)).pvalue >= 0.05


@given(TIED)
def test_exchanging_the_methods_turns_everything(differences):
    zero = np.zeros(len(differences))
    for test in (wilcoxon_test, sign_test):
        one, other = test(differences, zero), test(zero, differences)
        assert one.p_value == other.p_value
        assert one.difference == pytest.approx(-other.difference, abs=1e-12)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)
    assert rank_biserial(differences, zero) == pytest.approx(-rank_biserial(zero, differences))


def test_a_method_against_itself():
    scores = [0.5, 0.7, 0.9]
    for test in (wilcoxon_test, sign_test):
        assert test(scores, scores).p_value == 1.0
        assert test(scores, scores).verdict() == 0
    assert rank_biserial(scores, scores) == 0.0


@given(TIED)
def test_signs_are_scipys_binomial_test_of_those_that_differ(differences):
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(differences, np.zeros(len(differences))).p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "cut"), [(5, 0), (6, 1), (9, 2), (20, 6)])
def test_the_interval_of_the_median_leaves_out_as_many_as_the_binomial_allows(n, cut):
    """Tables of the sign test: 0, 1, 2 and 6 order statistics on each side at 5 %."""
    values = np.arange(n, dtype=float)
    found = sign_test(values, np.zeros(n))
    expected = (values[cut - 1], values[n - cut]) if cut else (-np.inf, np.inf)
    assert (found.low, found.high) == expected


@pytest.mark.parametrize(("n", "finite"), [(1, False), (5, False), (6, True)])
def test_few_differences_have_no_interval(n, finite):
    found = wilcoxon_test(np.arange(1.0, n + 1), np.zeros(n))
    assert np.isfinite([found.low, found.high]).all() == finite
    if finite:
        assert (found.low, found.high) == (1.0, 6.0)


def test_effect_of_all_wins_and_by_hand():
    assert rank_biserial([3, 4, 5], [1, 1, 1]) == 1.0
    # Differences 1, -2, 3 have the ranks 1, 2, 3: (1 + 3 - 2) / 6.
    assert rank_biserial([1, 0, 3], [0, 2, 0]) == pytest.approx(2 / 6)


@pytest.mark.parametrize("test", [wilcoxon_test, sign_test, rank_biserial])
def test_refusals(test):
    with pytest.raises(ValueError, match="equal length"):
        test([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="equal length"):
        test([], [])
    with pytest.raises(ValueError, match="missing"):
        test([np.nan], [1.0])
