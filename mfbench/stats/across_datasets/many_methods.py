"""Many methods on many datasets: Friedman's test, Nemenyi's critical difference, Holm's adjustment, win probabilities.

Every function takes one value per dataset and method, because folds of one dataset carry no information about others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special, stats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Friedman:
    """Friedman's test and the correction of Iman and Davenport."""

    n_datasets: int
    n_methods: int
    # chi2, p_value: friedman's statistic, corrected for ties, and its p-value from the chi-squared distribution.
    chi2: float
    p_value: float
    f: float  # f, f_p_value: the statistic of Iman and Davenport, which is less conservative
    f_p_value: float


def friedman_test(ranks: ArrayLike) -> Friedman:
    """Test whether all methods are equally good, by their ranks on each dataset."""
    # With R_j the mean rank of method j over N datasets, k methods and no ties,
    #
    #     χ² = 12 N / (k (k+1)) [Σ_j R_j² - k (k+1)² / 4],   F = (N-1) χ² / (N (k-1) - χ²),
    #
    # with k-1 and with k-1, (k-1)(N-1) degrees of freedom. With ties, the variance of the
    # actual ranks replaces that of 1 … k.
    # Reference: M. Friedman, "The use of ranks to avoid the assumption of normality", JASA 32:675-701, 1937. R. L.
    # Iman, J. M. Davenport, "Approximations of the critical region of the Friedman statistic", Communications in
    # Statistics A9:571-595, 1980.
    table = np.asarray(ranks, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(f"at least two datasets and two methods are required; got ranks of shape {table.shape}")
    n, k = table.shape
    spread = float(np.sum((table - (k + 1) / 2.0) ** 2))
    if spread == 0.0:
        return Friedman(n, k, 0.0, 1.0, 0.0, 1.0)
    between = float(np.sum((table.mean(axis=0) - (k + 1) / 2.0) ** 2))
    chi2 = n * n * (k - 1) * between / spread
    rest = n * (k - 1) - chi2
    # All datasets have the same ranks: there is no residual variance.
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n * k else np.inf
    f_p_value = float(special.fdtrc(k - 1, (k - 1) * (n - 1), f)) if np.isfinite(f) else 0.0
    return Friedman(n, k, chi2, float(special.chdtrc(k - 1, chi2)), f, f_p_value)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks."""
    #     CD = q_α √(k (k+1) / (6N)),
    #
    # with √2 q_α the upper point of the studentized range of k means. It uses the ranks of
    # all methods, so the verdict on two methods depends on the others: use it for the diagram, and decide by Wilcoxon's
    # test with Holm's adjustment.
    # Reference: P. Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton 1963. A. Benavoli, G.
    # Corani, F. Mangili, "Should we really use post-hoc tests based on mean-ranks?", JMLR 17(5):1-10, 2016.
    point = float(stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return float(point * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def not_separated(ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Return the largest groups of methods whose average ranks lie within a difference of each other."""
    values = np.asarray(ranks, dtype=float)
    last = np.searchsorted(values, values + difference + 1e-12, side="right") - 1
    return [
        (first, int(end)) for first, end in enumerate(last) if end > first and (first == 0 or end > last[first - 1])
    ]


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Holm's method, in the order of the input."""
    # Sorted p-values are multiplied by m, m - 1, …, 1, and none may be smaller than the one before it. Rejecting those
    # below a level bounds the probability of any false rejection by that level. NaN stays NaN and is not counted.
    # Reference: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
    # 6:65-70, 1979.
    values = np.asarray(p_values, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    present = np.flatnonzero(~np.isnan(values))
    order = present[np.argsort(values[present], kind="stable")]
    steps = np.minimum(1.0, np.arange(len(order), 0, -1) * values[order])
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def win_probabilities(means: pd.DataFrame, *, greater_is_better: bool = True) -> pd.DataFrame:
    """Return how often the row's method is better than the column's, over datasets; ties count half."""
    values = np.round(means.to_numpy(dtype=float) * (1 if greater_is_better else -1), 12)
    better = (values[:, :, None] > values[:, None, :]) + 0.5 * (values[:, :, None] == values[:, None, :])
    return pd.DataFrame(better.mean(axis=0), index=means.columns, columns=means.columns)
