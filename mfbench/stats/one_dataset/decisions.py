"""Tests of paired decisions: on which test rows of one dataset each of two methods was right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mfbench.stats.one_dataset.power import detectable_by_mcnemar

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

S_TEST_LEVELS = (0.01, 0.05)
"""One-sided levels of the marks >> and >."""


@dataclass(frozen=True)
class DecisionTest:
    """Two methods on the same rows: how often only one of them was right, and the p-value of that imbalance."""

    first_only: int  # first_only, second_only: rows on which only the first, or only the second, method was right
    second_only: int
    n_rows: int  # all rows
    # One-sided in favour of the method that was right more often (`s_test`), or two-sided (`mcnemar_test`).
    p_value: float
    # low, high: interval of the difference of the accuracies at level 1 - alpha: the exact (Clopper-Pearson) interval
    # of the share of `first_only` among the rows on which they differ, conditional on the number of those rows.
    low: float
    high: float
    # Smallest true difference that McNemar's test finds with 80 % power, if the methods differ as often as they do
    # here; NaN for the s-test, and if they differ too rarely for any difference to be significant.
    detectable: float = np.nan
    reason: str = ""

    @property
    def difference(self) -> float:
        """Accuracy of the first minus that of the second."""
        return (self.first_only - self.second_only) / self.n_rows if self.n_rows else 0.0

    @property
    def mark(self) -> str:
        """The s-test's mark: ">>" (p at most 0.01), ">" (at most 0.05), "=", and reversed "<" and "<<"."""
        if self.first_only == self.second_only:
            return "="
        better, level = (">", "<")[self.difference < 0], np.searchsorted(S_TEST_LEVELS, self.p_value)
        return (2 * better, better, "=")[level]

    def verdict(self, alpha: float = 0.05) -> int:
        """Return 1 if the first was right significantly more often, -1 if less, 0 for a tie (p above `alpha`)."""
        return int(np.sign(self.difference)) if self.p_value <= alpha else 0


def s_test(first: ArrayLike, second: ArrayLike, *, exact: bool = True, alpha: float = 0.05) -> DecisionTest:
    """Micro sign test of Yang and Liu, one-sided in favour of the method that is right more often."""
    # Of n rows on which the methods differ, the better one is right on k ≥ n/2. One-sided,
    #
    #     p = Σ_{j=k}^n C(n, j) / 2^n,   or   p = 1 - Φ((k - n/2) / (√n / 2)) for n > 12 in the normal form.
    #
    # The data choose the direction, so the true level is twice that of the mark. The normal form has no continuity
    # correction and a true one-sided level of up to 0.072 at 0.05; it is available because published marks use it.
    # Folds share training rows, which neither form of the test accounts for.
    # Reference: Y. Yang, X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49, section 4.1.
    first_only, second_only, n_rows = _discordant(first, second)
    n, k = first_only + second_only, max(first_only, second_only)
    if 2 * k == n:
        p_value = 1.0
    elif exact or n <= 12:
        p_value = float(special.bdtrc(k - 1, n, 0.5))
    else:
        p_value = float(special.ndtr(-(k - n / 2.0) / (np.sqrt(n) / 2.0)))
    return DecisionTest(first_only, second_only, n_rows, p_value, *_interval(first_only, n, n_rows, alpha))


def mcnemar_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> DecisionTest:
    """McNemar's test on one test set, exact: two-sided binomial test of the rows on which the methods differ."""
    # Reference: T. G. Dietterich, "Approximate statistical tests for comparing supervised classification learning
    # algorithms", Neural Computation 10:1895-1923, 1998.
    first_only, second_only, n_rows = _discordant(first, second)
    n, k = first_only + second_only, max(first_only, second_only)
    p_value = 1.0 if 2 * k == n else min(1.0, 2.0 * float(special.bdtrc(k - 1, n, 0.5)))
    interval = _interval(first_only, n, n_rows, alpha)
    detectable = detectable_by_mcnemar(n, n_rows, alpha)
    return DecisionTest(first_only, second_only, n_rows, p_value, *interval, detectable)


def _discordant(first: ArrayLike, second: ArrayLike) -> tuple[int, int, int]:
    a: NDArray[np.bool_] = np.asarray(first, dtype=bool)
    b: NDArray[np.bool_] = np.asarray(second, dtype=bool)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of decisions of equal length are required; got shapes {a.shape} and {b.shape}")
    return int(np.sum(a & ~b)), int(np.sum(b & ~a)), len(a)


def _interval(first_only: int, n: int, n_rows: int, alpha: float) -> tuple[float, float]:
    """Return the exact interval of a share, as that of a difference of accuracies."""
    if n == 0:
        return 0.0, 0.0
    low = float(special.betaincinv(first_only, n - first_only + 1, alpha / 2.0)) if first_only else 0.0
    high = float(special.betaincinv(first_only + 1, n - first_only, 1.0 - alpha / 2.0)) if first_only < n else 1.0
    return (2.0 * low - 1.0) * n / n_rows, (2.0 * high - 1.0) * n / n_rows
