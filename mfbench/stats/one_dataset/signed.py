"""Sign and signed-rank tests of paired differences, over folds or over datasets, with estimates and intervals."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mfbench.stats.one_dataset.paired import PairedTest

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST_EXACT = 50
MOST_EXACT_TIED = 13
"""Differences up to which the signed-rank distribution is computed in full, without and with ties or zeros."""


def differences_of(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return first minus second, rounded so that equal differences of decimal scores are equal."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(f"two score arrays of equal length are required; got shapes {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a score is missing or not finite; compare only results that both methods completed")
    differences: NDArray[np.float64] = np.round(a - b, 12)
    return differences


def wilcoxon_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Wilcoxon's signed-rank test, with the p-value of `scipy.stats.wilcoxon` and the matching estimate."""
    # Zero differences are left out. The others are ranked by size, equal ones sharing the mean of their ranks;
    # T is the sum of the ranks of the positive ones. Under the null hypothesis each rank has either sign with
    # probability 1/2. For few differences that distribution is computed exactly; for more than `MOST_EXACT` (or
    # `MOST_EXACT_TIED`, if some are equal or zero) a normal distribution with its mean and variance approximates it.
    #
    # Folds that share training rows are not independent, so over folds the p-value is far too small. Time O(n^3),
    # memory O(n^2).
    # Reference: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1:80-83, 1945. J. Demšar,
    # "Statistical comparisons of classifiers over multiple data sets", JMLR 7:1-30, 2006.
    differences = differences_of(first, second)
    nonzero = differences[differences != 0]
    p_value = 1.0
    if len(nonzero):
        # Twice the ranks are whole numbers even where ties share them.
        ranks = np.round(2.0 * _midranks(np.abs(nonzero))).astype(np.int64)
        simple = len(nonzero) == len(differences) and len(np.unique(ranks)) == len(ranks)
        exact = len(differences) <= (MOST_EXACT if simple else MOST_EXACT_TIED)
        p_value = _two_sided(int(ranks[nonzero > 0].sum()), ranks, exact)
    means = _pair_means(differences)
    middle = float(np.median(means))
    if 0.5 ** len(differences) > alpha / 2.0:  # not even the extremes hold the level
        return PairedTest(middle, p_value, -np.inf, np.inf)
    cut = _critical_rank(len(differences), alpha)
    return PairedTest(middle, p_value, float(means[cut - 1]), float(means[len(means) - cut]))


def rank_biserial(first: ArrayLike, second: ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation: (rank sum won - rank sum lost) / sum of all ranks."""
    # The effect size of Wilcoxon's test: 1 if the first is larger wherever they differ, -1 if it is smaller, 0 without
    # a difference.
    differences = differences_of(first, second)
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 0.0
    ranks = _midranks(np.abs(nonzero))
    return float(np.sum(np.sign(nonzero) * ranks) / ranks.sum())


def sign_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Sign test: the two-sided binomial test of how often the first is larger where they differ."""
    differences = np.sort(differences_of(first, second))
    n, k = int(np.sum(differences != 0)), int(np.sum(differences > 0))
    extreme = max(k, n - k)
    p_value = 1.0 if 2 * extreme == n else min(1.0, 2.0 * float(special.bdtrc(extreme - 1, n, 0.5)))
    count = len(differences)
    # The most order statistics that can be left out on each side: P(at most cut - 1 below the median) <= alpha / 2.
    below = special.bdtr(np.arange(count), count, 0.5)
    cut = int(np.searchsorted(below, alpha / 2.0, side="right"))
    low, high = (differences[cut - 1], differences[count - cut]) if cut else (-np.inf, np.inf)
    return PairedTest(float(np.median(differences)), p_value, float(low), float(high))


def _midranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle: NDArray[np.float64] = (last - (counts - 1) / 2.0)[inverse]
    return middle


def _two_sided(total: int, ranks: NDArray[np.int64], exact: bool) -> float:
    """Return the two-sided p-value of a sum of (doubled) ranks with random signs; its distribution is symmetric."""
    whole = int(ranks.sum())
    extreme = max(total, whole - total)
    if 2 * extreme == whole:
        return 1.0
    if not exact:
        z = (extreme - whole / 2.0) / np.sqrt(np.sum(ranks.astype(float) ** 2) / 4.0)
        return float(2.0 * special.ndtr(-z))
    return float(min(1.0, 2.0 * _distribution(tuple(np.sort(ranks).tolist()))[extreme:].sum()))


@lru_cache(maxsize=512)
def _distribution(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the probability of each sum of the ranks whose sign is positive, all signs equally likely."""
    density = np.zeros(sum(ranks) + 1)
    density[0] = 1.0
    top = 0
    for rank in ranks:
        top += rank
        density[rank : top + 1] = 0.5 * (density[rank : top + 1] + density[: top - rank + 1])
        density[:rank] *= 0.5
    return density


def _pair_means(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sorted means of all pairs of differences, each with itself too."""
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2.0)


@lru_cache(maxsize=4096)
def attained_level(n: int, alpha: float) -> float:
    """Return the largest p-value below a level that Wilcoxon's test of n unequal differences can have."""
    if n > MOST_EXACT:
        return alpha
    p_values = 2.0 * np.cumsum(_distribution(tuple(range(1, n + 1))))
    below = p_values[p_values < alpha]
    return float(below[-1]) if len(below) else np.nan


@lru_cache(maxsize=64)
def _critical_rank(n: int, alpha: float) -> int:
    """Return the rank of the interval's limits among the pair means: the least q with P(T <= q) >= alpha / 2."""
    if n > MOST_EXACT:
        deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(1, int(np.ceil(n * (n + 1) / 4.0 + deviation * special.ndtri(alpha / 2.0))))
    cumulative = np.cumsum(_distribution(tuple(range(1, n + 1))))
    return max(1, int(np.searchsorted(cumulative, alpha / 2.0)))
