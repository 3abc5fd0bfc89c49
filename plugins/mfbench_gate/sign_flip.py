"""Exact sign-flip tests of paired log ratios: whether one side costs more, and by how much at least and at most."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

# More pairs hardly change a verdict.
MOST_PAIRS = 64
# Differences count up to this multiple of their median size: a pair that something else disturbed decides nothing.
CLIP = 1.5
# Sizes are rounded to so many parts of the largest, so that sums of different signs meet and can be counted.
_PARTS = 1000
_STEPS = 12


def p_greater(differences: ArrayLike, shift: float = 0.0) -> float:
    """Return the p-value of the hypothesis that differences are not centred above a shift."""
    # With residuals r_i = d_i - \text{shift}, clipped at 1.5 times the median of |r_i| and rounded to
    # thousandths of the largest, the statistic is T = \sum r_i, and the p-value the share of the 2^n
    # patterns of signs whose sum is at least T. Clipping and rounding depend on sizes alone, which flips leave
    # as they are, so the test is exact whatever the distribution, as long as it is symmetric around the shift and the
    # signs are independent.
    #
    # Takes O(n^2) time and O(n) memory: the distribution of the sum, one difference after the other (M.
    # Pagano, D. Tritchler, Journal of the American Statistical Association 78(382):435-440, 1983).
    residuals = _clipped(np.asarray(differences, dtype=np.float64) - shift)
    largest = float(np.abs(residuals).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    signed = np.rint(residuals / largest * _PARTS).astype(np.int64)
    # A pattern has the sum T if its positive differences sum to half of T plus the sum of all sizes.
    positive = int(signed[signed > 0].sum())
    return float(_distribution(np.abs(signed))[positive:].sum())


def p_two_sided(differences: ArrayLike) -> float:
    """Return the p-value of the hypothesis that differences are centred at zero: twice the smaller of both sides."""
    values = np.asarray(differences, dtype=np.float64)
    return min(1.0, 2.0 * min(p_greater(values), p_greater(-values)))


def interval(differences: ArrayLike, level: float) -> tuple[float, float]:
    """Return the shifts that a test at half the level rejects on neither side: a confidence interval for the centre."""
    values = np.asarray(differences, dtype=np.float64)
    if 2.0 ** -len(values) > level / 2:
        return -math.inf, math.inf
    return _lower_bound(values, level / 2), -_lower_bound(-values, level / 2)


def minimum_pairs(n_tests: int, level: float) -> int:
    """Return the smallest number of pairs with which any of several two-sided tests can reject."""
    # The smallest p-value is 2 / 2^n, and Holm compares the first with `level` / `n_tests`.
    return max(1, math.ceil(1 + math.log2(n_tests / level) - 1e-9))


def _clipped(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(residuals):
        return residuals
    bound = CLIP * float(np.median(np.abs(residuals)))
    # Most differences are exactly zero, as those of memory often are: then the others are all there is.
    return residuals if bound == 0.0 else np.clip(residuals, -bound, bound)


def _distribution(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probabilities of the sums 0, 1, 2 … of sizes that are positive with probability one half each."""
    shares = np.zeros(int(sizes.sum()) + 1)
    shares[0] = 1.0
    for size in sizes:
        if size:
            shares *= 0.5
            shares[size:] += shares[:-size].copy()
    return shares


def _lower_bound(values: NDArray[np.float64], level: float) -> float:
    """Return the largest shift that is rejected, by bisection: below all differences any shift is."""
    spread = float(np.ptp(values)) or abs(float(values[0])) or 1.0
    low, high = float(values.min()) - 1e-9 * spread, float(values.max())
    if p_greater(values, low) > level:
        return -math.inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_greater(values, middle) <= level else (low, middle)
    return low
