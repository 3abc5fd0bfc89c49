"""Detectable differences: tests find them as often as promised, by simulation and by SciPy's noncentral t."""

import numpy as np
import pytest
from scipy import special, stats

from mfbench.stats.paired import corrected_t_test, detectable_by_mcnemar, mcnemar_test, noncentrality

DRAWS = 8000
ERROR = 4 * np.sqrt(0.8 * 0.2 / DRAWS)
"""Four standard errors of a simulated power of 0.8."""


def test_the_noncentrality_gives_the_power():
    for df in [1, 4, 9, 99, 10_000]:
        for alpha, power in [(0.05, 0.8), (0.01, 0.9), (0.2, 0.5)]:
            critical = stats.t.ppf(1 - alpha / 2, df)
            distribution = stats.nct(df, noncentrality(df, alpha, power))
            assert distribution.sf(critical) == pytest.approx(power, abs=2e-6)


def test_with_many_pairs_it_is_the_normal_formula():
    assert noncentrality(10**6) == pytest.approx(stats.norm.ppf(0.975) + stats.norm.ppf(0.8), abs=1e-4)


@pytest.mark.parametrize("power", [0.05, 1.0, 1.5])
def test_a_power_lies_above_the_level_and_below_one(power):
    with pytest.raises(ValueError, match="lies between the level"):
        noncentrality(9, 0.05, power)


@pytest.mark.parametrize("pairs", [5, 10, 100])
@pytest.mark.parametrize("ratio", [0.0, 1 / 9, 1.0])
def test_the_corrected_test_finds_the_detectable_difference_with_80_percent_power(pairs, ratio):
    """Differences with the covariance that the correction assumes: rho = ratio / (1 + ratio) between each two folds."""
    rng = np.random.default_rng(pairs)
    rho = ratio / (1 + ratio)
    spread = rng.normal(size=(DRAWS, pairs))
    shared = rng.normal(size=(DRAWS, 1))
    noise = np.sqrt(1 - rho) * spread + np.sqrt(rho) * shared
    # The variance within a draw is 1 - rho; (1/J + ratio) times it is the variance of the mean, 1/J + (1 - 1/J) rho.
    error = np.sqrt((1 / pairs + ratio) * (1 - rho))
    assert error**2 == pytest.approx(1 / pairs + (1 - 1 / pairs) * rho)
    differences = noise + noncentrality(pairs - 1) * error
    t = differences.mean(axis=1) / np.sqrt((1 / pairs + ratio) * differences.var(axis=1, ddof=1))
    found = 2 * special.stdtr(pairs - 1, -np.abs(t)) < 0.05
    assert found.mean() == pytest.approx(0.8, abs=ERROR)
    for row in differences[:5]:
        test = corrected_t_test(row, np.zeros(pairs), ratio)
        scale = np.sqrt((1 / pairs + ratio) * row.var(ddof=1))
        assert test.detectable == pytest.approx(noncentrality(pairs - 1) * scale)


@pytest.mark.parametrize("n_discordant", [8, 20, 60])
def test_mcnemars_test_finds_its_detectable_difference(n_discordant):
    n_rows = 300
    difference = detectable_by_mcnemar(n_discordant, n_rows)
    share = (1 + difference * n_rows / n_discordant) / 2
    right = np.random.default_rng(1).binomial(n_discordant, share, DRAWS)
    p_values = np.array([stats.binomtest(k, n_discordant).pvalue for k in range(n_discordant + 1)])
    assert (p_values <= 0.05)[right].mean() == pytest.approx(0.8, abs=ERROR)
    first = np.arange(n_rows) < 100
    assert mcnemar_test(first, np.arange(n_rows) < 100 + n_discordant).detectable == pytest.approx(difference)


def test_so_few_rows_differ_that_no_difference_is_significant():
    assert np.isnan([detectable_by_mcnemar(n, 100) for n in range(6)]).all()
    assert np.isfinite(detectable_by_mcnemar(6, 100))
