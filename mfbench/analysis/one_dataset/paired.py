"""Paired t-tests of the scores of two methods on the folds of one dataset, with and without a correction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mfbench.analysis.one_dataset.power import noncentrality

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST_PAIRS = 5
"""Pairs of scores below which no test of fold scores gives a verdict."""
TOO_FEW = f"fewer than {LEAST_PAIRS} pairs"
NO_SPREAD = "all differences are equal"
IDENTICAL = "identical scores"


@dataclass(frozen=True)
class PairedTest:
    """The difference between two methods, its p-value and its confidence interval.

    Attributes
    ----------
    difference : float
        Mean of first minus second.
    p_value : float
        Two-sided; NaN if the test is undefined.
    low, high : float
        Confidence interval of the difference at level 1 - alpha; NaN if the test is undefined.
    detectable : float, default=NaN
        Smallest true difference that the test finds with 80 % power, if the differences vary as they do here.
    reason : str, default=""
        Why there is no verdict, or none that rests on a spread: `TOO_FEW`, `NO_SPREAD` or `IDENTICAL`.
    """

    difference: float
    p_value: float
    low: float
    high: float
    detectable: float = np.nan
    reason: str = ""

    def verdict(self, alpha: float = 0.05) -> int | None:
        """Return 1 if the first is significantly larger, -1 if smaller, 0 for a tie, None without a p-value.

        A p-value of exactly `alpha` is a tie.
        """
        if np.isnan(self.p_value):
            return None
        return int(np.sign(self.difference)) if self.p_value < alpha else 0


def corrected_t_test(first: ArrayLike, second: ArrayLike, ratio: float, alpha: float = 0.05) -> PairedTest:
    r"""Corrected resampled t-test (Nadeau and Bengio).

    With :math:`J` paired differences of mean :math:`m` and variance :math:`s^2` (divisor :math:`J-1`),

    .. math:: t = \frac{m}{\sqrt{(1/J + n_{test}/n_{train})\, s^2}}, \qquad J - 1 \text{ degrees of freedom.}

    The term :math:`n_{test}/n_{train}` accounts for the correlation between folds that share training rows. Without it
    (``ratio=0``, the plain paired t-test) two equally good methods differ significantly in more than half of all
    10x10-fold cross-validations.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Scores of the two methods on the same folds.
    ratio : float
        Ratio of test rows to training rows, 1/9 for 10-fold cross-validation; 0 gives the plain paired t-test.
    alpha : float, default=0.05
        The confidence interval has level 1 - alpha.

    Returns
    -------
    PairedTest
        Without spread there is no test: if all differences are equal but not zero, or if there are fewer than
        `LEAST_PAIRS` pairs, p is NaN. If all scores are identical, p is 1, a tie without evidence.

    Raises
    ------
    ValueError
        If the shapes differ, a score is missing, or there are fewer than two pairs.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52:239-281, 2003.
    .. [2] R. Bouckaert, E. Frank, "Evaluating the replicability of significance tests for comparing learning
       algorithms", PAKDD 2004, 3-12.

    Examples
    --------
    >>> test = corrected_t_test([0.9, 0.8, 0.85, 0.95, 0.9], [0.8, 0.75, 0.85, 0.9, 0.9], ratio=1 / 4)
    >>> round(test.difference, 3), round(test.p_value, 3), round(test.detectable, 3)
    (0.04, 0.227, 0.106)
    """
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
    if np.ptp(differences) <= 1e-12:
        if abs(mean) <= 1e-12:
            return PairedTest(0.0, 1.0, 0.0, 0.0, reason=IDENTICAL)
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=NO_SPREAD)
    error = float(np.sqrt((1.0 / count + ratio) * differences.var(ddof=1)))
    # The functions behind scipy.stats.t, without its hundred microseconds per call: a report makes thousands.
    p_value = float(2.0 * special.stdtr(count - 1, -abs(mean) / error))
    half = float(special.stdtrit(count - 1, 1.0 - alpha / 2.0)) * error
    return PairedTest(mean, p_value, mean - half, mean + half, noncentrality(count - 1, alpha) * error)


def paired_t_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Plain paired t-test: `corrected_t_test` without the correction.

    It treats overlapping folds as independent and is available because published tables use it.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Scores of the two methods on the same folds.
    alpha : float, default=0.05
        The confidence interval has level 1 - alpha.

    Returns
    -------
    PairedTest

    Examples
    --------
    >>> round(paired_t_test([0.9, 0.8, 0.85, 0.95, 0.9], [0.8, 0.75, 0.85, 0.9, 0.9]).p_value, 3)
    0.099
    """
    return corrected_t_test(first, second, 0.0, alpha)
