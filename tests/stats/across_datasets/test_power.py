"""Detectable differences across datasets: Wilcoxon's test finds them as often as promised, by simulation."""

import numpy as np
import pytest
from scipy import stats

from mfbench.stats.across_datasets import datasets_needed, detectable_across

DRAWS = 4000


@pytest.mark.parametrize("n", [6, 8, 10, 13, 20, 50, 60])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 17])
def test_wilcoxons_test_finds_the_detectable_difference_with_80_percent_power(n, alpha):
    difference = detectable_across(0.03, n, alpha)
    if n < 10 and alpha < 0.01:
        assert np.isnan(difference), "not even differences of one sign are significant"
        return
    draws = np.random.default_rng(n).normal(difference, 0.03, (DRAWS, n))
    p_values = stats.wilcoxon(draws, axis=1, method="exact" if n <= 50 else "asymptotic").pvalue
    # Four standard errors, and the error of the asymptotic efficiency with few datasets.
    assert (p_values < alpha).mean() == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / DRAWS) + (0.02 if n < 20 else 0.0))


def test_the_datasets_needed_suffice_and_one_fewer_does_not():
    for difference in [0.1, 0.03, 0.01, 0.001]:
        n = datasets_needed(0.02, difference, 0.01)
        assert detectable_across(0.02, n, 0.01) <= difference
        assert not detectable_across(0.02, n - 1, 0.01) <= difference


def test_without_spread_nothing_is_known():
    assert np.isnan([detectable_across(sd, 20) for sd in (0.0, np.nan)]).all()
    assert datasets_needed(0.0, 0.01) is None and datasets_needed(np.nan, 0.01) is None
    assert datasets_needed(1.0, 1e-9) is None
