"""Paired t-tests of the scores of two methods on the folds of one dataset, with and without a correction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from mfbench.stats.one_dataset.power import noncentrality

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LEAST_PAIRS = 5
"""Pairs of scores below which no test of fold scores gives a verdict."""
ROUNDING = 1e-12
"""Differences of scores that differ by no more than this are equal."""
TOO_FEW = f"fewer than {LEAST_PAIRS} pairs"
NO_SPREAD = "all differences are equal"
IDENTICAL = "identical scores"


@dataclass(frozen=True)
class PairedTest:
    """The difference between two methods, its p-value and its confidence interval."""

    difference: float  # mean of first minus second
    p_value: float  # two-sided; NaN if the test is undefined
    low: float  # low, high: confidence interval of the difference at level 1 - alpha; NaN if the test is undefined
    high: float
    # Smallest true difference that the test finds with 80 % power, if the differences vary as they do here.
    detectable: float = np.nan
    reason: str = ""  # why there is no verdict, or none that rests on a spread: `TOO_FEW`, `NO_SPREAD` or `IDENTICAL`

    def verdict(self, alpha: float = 0.05) -> int | None:
        """Return 1 if the first is significantly larger, -1 if smaller, 0 for a tie, None without a p-value."""
        # A p-value of exactly `alpha` is a tie.
        if np.isnan(self.p_value):
            return None
        return int(np.sign(self.difference)) if self.p_value < alpha else 0


def corrected_error(variance: Any, count: Any, ratio: float) -> Any:
    """Return the standard error of a mean over folds that share training rows."""
    return np.sqrt((1.0 / count + ratio) * variance)


def corrected_t_test(first: ArrayLike, second: ArrayLike, ratio: float, alpha: float = 0.05) -> PairedTest:
    """Corrected resampled t-test (Nadeau and Bengio)."""
    # With J paired differences of mean m and variance s² (divisor J-1),
    #
    #     t = m / √((1/J + n_test/n_train) s²) with J - 1 degrees of freedom.
    #
    # The term n_test/n_train accounts for the correlation between folds that share training rows. Without
    # it (`ratio=0`, the plain paired t-test) two equally good methods differ significantly in more than half of all
    # 10x10-fold cross-validations.
    # Reference: C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52:239-281, 2003. R.
    # Bouckaert, E. Frank, "Evaluating the replicability of significance tests for comparing learning algorithms", PAKDD
    # 2004, 3-12.
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise ValueError(
            f"two score arrays of equal length, at least 2, are required; got shapes {a.shape} and {b.shape}"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a score is missing or not finite; compare only folds that both methods completed")
    differences = a - b
    count = len(differences)
    mean = float(differences.mean())
    if count < LEAST_PAIRS:
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=TOO_FEW)
    # Differences that are equal up to rounding have no spread; their variance must not come out as 1e-34.
    if np.ptp(differences) <= ROUNDING:
        if abs(mean) <= ROUNDING:
            return PairedTest(0.0, 1.0, 0.0, 0.0, reason=IDENTICAL)
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=NO_SPREAD)
    error = float(corrected_error(differences.var(ddof=1), count, ratio))
    # The functions behind scipy.stats.t, without its hundred microseconds per call: a report makes thousands.
    p_value = float(2.0 * special.stdtr(count - 1, -abs(mean) / error))
    half = float(special.stdtrit(count - 1, 1.0 - alpha / 2.0)) * error
    return PairedTest(mean, p_value, mean - half, mean + half, noncentrality(count - 1, alpha) * error)


def corrected_p_values(
    scores: NDArray[np.float64], pairs: NDArray[np.intp], ratio: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the differences and p-values of `corrected_t_test` for many pairs of methods at once."""
    apart = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    count = apart.shape[1]
    means = apart.mean(axis=1)
    is_flat = np.ptp(apart, axis=1) <= ROUNDING
    is_equal = is_flat & (np.abs(means) <= ROUNDING)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt((1.0 / count + ratio) * apart.var(axis=1, ddof=1))
        p_values = 2.0 * special.stdtr(count - 1, -np.abs(means) / errors)
    p_values[is_flat] = np.nan
    p_values[is_equal] = 1.0
    return np.where(is_equal, 0.0, means), p_values


def paired_t_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Plain paired t-test: `corrected_t_test` without the correction."""
    # It treats overlapping folds as independent and is available because published tables use it.
    return corrected_t_test(first, second, 0.0, alpha)
