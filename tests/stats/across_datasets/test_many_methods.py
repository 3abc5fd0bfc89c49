"""Many methods on many datasets: against SciPy, published critical values, and brute force."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import stats

from mfbench.stats.across_datasets import (
    critical_difference,
    friedman_test,
    holm,
    not_separated,
    rank_table,
    win_probabilities,
)

SCORES = npst.arrays(
    float, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9])
)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def friedman_of(values):
    return friedman_test(rank_table(pd.DataFrame(values)))


class TestFriedman:
    @given(SCORES)
    def test_it_is_scipys_with_ties(self, values):
        ranks = stats.rankdata(values, axis=1)
        assume((ranks != ranks[0, 0]).any())
        oracle = stats.friedmanchisquare(*values.T)
        found = friedman_of(values)
        assert found.chi2 == pytest.approx(oracle.statistic, rel=1e-9, abs=1e-9)
        assert found.p_value == pytest.approx(oracle.pvalue, rel=1e-6, abs=1e-12)

    @given(SCORES)
    def test_a_monotone_change_of_a_dataset_changes_nothing(self, values):
        changed = values.copy()
        changed[0] = np.exp(3 * changed[0]) - 7
        assert friedman_of(changed) == friedman_of(values)

    def test_without_ties_it_is_the_formula(self):
        ranks = np.array([np.random.default_rng(seed).permutation(5) + 1 for seed in range(9)])
        n, k = ranks.shape
        chi2 = 12 * n / (k * (k + 1)) * (np.sum(ranks.mean(axis=0) ** 2) - k * (k + 1) ** 2 / 4)
        f = (n - 1) * chi2 / (n * (k - 1) - chi2)
        found = friedman_test(ranks)
        assert (found.chi2, found.f) == pytest.approx((chi2, f))
        assert found.p_value == pytest.approx(stats.chi2.sf(chi2, k - 1))
        assert found.f_p_value == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))

    def test_everything_equal_and_everything_alike(self):
        assert friedman_test(np.full((4, 3), 2.0)).p_value == 1.0
        alike = friedman_test([[1, 2, 3]] * 4)
        assert (alike.chi2, alike.f, alike.f_p_value) == (pytest.approx(8.0), np.inf, 0.0)

    @pytest.mark.parametrize("shape", [(1, 3), (3, 1)])
    def test_refusals(self, shape):
        with pytest.raises(ValueError, match="at least two"):
            friedman_test(np.ones(shape))


class TestNemenyi:
    def test_critical_values_are_the_published_ones(self):
        for k, q in [(2, 1.960), (5, 2.728), (10, 3.164), (18, 3.489)]:
            assert critical_difference(k, 6 * 10) == pytest.approx(q * np.sqrt(k * (k + 1) / 360), rel=3e-4)

    @given(st.lists(st.floats(1, 9), min_size=1, max_size=8), st.floats(0.1, 4))
    def test_groups_are_the_largest_that_fit(self, ranks, difference):
        ordered = sorted(ranks)
        close = [
            (i, j)
            for i, j in itertools.combinations(range(len(ordered)), 2)
            if ordered[j] - ordered[i] <= difference + 1e-12
        ]
        expected = [(i, j) for i, j in close if not any((a, b) != (i, j) and a <= i and j <= b for a, b in close)]
        assert not_separated(ordered, difference) == expected


class TestHolm:
    @given(P_VALUES)
    def test_never_smaller_never_above_one_and_in_order(self, values):
        adjusted = holm(values)
        assert (adjusted >= np.array(values) - 1e-15).all()
        assert (adjusted <= 1).all()
        order = np.argsort(values, kind="stable")
        assert (np.diff(adjusted[order]) >= 0).all()

    @given(P_VALUES)
    def test_it_rejects_what_the_steps_reject(self, values):
        rejected = set()
        for step, position in enumerate(np.argsort(values, kind="stable")):
            if values[position] * (len(values) - step) >= 0.05:
                break
            rejected.add(int(position))
        assert set(np.flatnonzero(holm(values) < 0.05).tolist()) == rejected

    def test_by_hand(self):
        assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_missing_ones_do_not_count(self):
        assert holm([np.nan, 0.02, 0.04]).tolist()[1:] == pytest.approx([0.04, 0.04])
        assert np.isnan(holm([np.nan, 0.02])[0])
        assert len(holm([])) == 0


@given(SCORES, st.booleans())
def test_win_probabilities_by_counting(values, greater):
    found = win_probabilities(pd.DataFrame(values), greater_is_better=greater)
    for i, j in itertools.product(range(values.shape[1]), repeat=2):
        better = values[:, i] > values[:, j] if greater else values[:, i] < values[:, j]
        assert found.loc[i, j] == pytest.approx(np.mean(better + 0.5 * (values[:, i] == values[:, j])))
    np.testing.assert_allclose(found + found.T, 1.0)
