"""Detectable differences across datasets: what Wilcoxon's signed-rank test finds with a stated probability."""

from __future__ import annotations

import numpy as np
from scipy import special

from mfbench.stats.one_dataset.power import POWER, noncentrality
from mfbench.stats.one_dataset.signed import MOST_EXACT, attained_level

EFFICIENCY = 3.0 / np.pi
"""Asymptotic efficiency of Wilcoxon's test relative to the t-test for normal differences."""
MOST_DATASETS = 10**9


def detectable_across(sd: float, n_datasets: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the smallest mean difference that Wilcoxon's signed-rank test over datasets finds."""
    # Differences between datasets are taken as normal with the observed standard deviation. Wilcoxon's test then needs
    # π/3 times as many of them as the t-test, so with the noncentrality δ of the t-test at the
    # level that Wilcoxon's test attains with N datasets,
    #
    #     Δ = δ s √(π / (3N)).
    #
    # Where only differences of one sign are significant, the condition Φ(Δ/s)^N = power is exact.
    # Reference: E. L. Lehmann, "Nonparametrics: statistical methods based on ranks", 1975, section 4.2.
    if n_datasets < 2 or not sd > 0.0:
        return np.nan
    level = attained_level(n_datasets, alpha)
    if np.isnan(level):
        return np.nan
    if level == 2.0 ** (1 - n_datasets):
        return float(special.ndtri(power ** (1.0 / n_datasets)) * sd)
    return float(noncentrality(n_datasets - 1, level, power) * sd / np.sqrt(n_datasets * EFFICIENCY))


def datasets_needed(sd: float, difference: float, alpha: float = 0.05, power: float = POWER) -> int | None:
    """Return the number of datasets with which Wilcoxon's signed-rank test finds a difference."""
    if not sd > 0.0:
        return None
    for n in range(2, MOST_EXACT + 1):
        if detectable_across(sd, n, alpha, power) <= difference:
            return n
    # With the normal approximation more datasets always detect less.
    low, high = MOST_EXACT, MOST_DATASETS
    if detectable_across(sd, high, alpha, power) > difference:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if detectable_across(sd, middle, alpha, power) <= difference else (middle, high)
    return high
