"""Detectable differences on one dataset: the true difference that a test finds with a stated probability."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special
from scipy.optimize import brentq

POWER = 0.8
"""The probability with which a test finds a detectable difference."""
_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(200) + np.array([[1.0], [0.0]])) / 2.0


@lru_cache(maxsize=1024)
def noncentrality(df: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return how many standard errors a difference must be for the two-sided t-test to find it."""
    # It solves P(T > t_{1-\alpha/2,\,df}) = power for the noncentrality of the noncentral T with
    # df degrees of freedom; a significant difference in the wrong direction does not count. For large
    # df it approaches z_{1-\alpha/2} + z_{power}.
    # Reference: J. Cohen, "Statistical power analysis for the behavioral sciences", 2nd edition, 1988, chapter 2.
    if not alpha < power < 1.0:
        raise ValueError(f"power is {power:g}; it lies between the level, {alpha:g}, and 1")
    # P(T > c) is the mean of Phi(shift - c S) over the distribution of the scale S, here by Gaussian quadrature over
    # its quantiles: SciPy's noncentral distribution is undefined for some of these arguments.
    limits = float(special.stdtrit(df, 1.0 - alpha / 2.0)) * np.sqrt(special.chdtri(df, _NODES) / df)

    def missing(shift: float) -> float:
        return power - float(_WEIGHTS @ special.ndtr(shift - limits))

    return float(brentq(missing, 0.0, limits.max() + 10.0, xtol=1e-10))


@lru_cache(maxsize=4096)
def detectable_by_mcnemar(n_discordant: int, n_rows: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the difference of accuracies that the exact McNemar test finds, given how often the methods differ."""
    # Of n rows on which exactly one method is right, the better one is right on a share \pi; the
    # difference of the accuracies is (2\pi - 1)\,n/N. The number of rows n is treated as fixed, as the
    # test does.
    # The least number of rows on one side that is significant: two-sided p = 2 P(X >= k) at most alpha.
    tails = 2.0 * special.bdtrc(np.arange(n_discordant + 1) - 1.0, n_discordant, 0.5)
    significant = np.flatnonzero(tails <= alpha)
    if not len(significant):
        return np.nan
    least = int(significant[0])

    def missing(share: float) -> float:
        above, below = least - 1, n_discordant - least
        return power - float(special.bdtrc(above, n_discordant, share) + special.bdtr(below, n_discordant, share))

    return float(2.0 * brentq(missing, 0.5, 1.0, xtol=1e-12) - 1.0) * n_discordant / n_rows
