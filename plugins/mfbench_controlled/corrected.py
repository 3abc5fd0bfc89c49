"""Corrected tests of single features: for false discoveries, for any false selection, or for the rate of them."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control
from sklearn.feature_selection import f_classif, f_regression
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_learners.selectors import NumberSelector, are_numbers, standardised

RATES = ("fdr", "fdr-dependent", "fwer", "fpr")
_LEAST = 1e-300


class CorrectedTests(NumberSelector):
    r"""Select the features whose F test is significant after a correction for their number.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, those of the smallest p-values first; None keeps the significant
        ones, and the promise with them.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    rate : {"fdr", "fdr-dependent", "fwer", "fpr"}, default="fdr"
        What is at most `level`: the expected share of irrelevant features among the selected, for independent features
        [1]_ or any [2]_; the probability of any false selection [3]_; or the share of the irrelevant features that are
        selected, without a correction.
    level : float, default=0.05
        Above 0 and below 1.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        :math:`\log_{10}(\text{level} / p)` of the corrected p-value: positive if it is below the level.
    p_values_ : ndarray of shape (n_features,)
        Of the F tests; a constant column has 1.
    corrected_p_values_ : ndarray of shape (n_features,)
        After the correction.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, there are fewer than two classes, no more samples than classes, fewer than three
        samples for numbers, or a parameter is out of range.

    Notes
    -----
    Takes O(n p + p log p) time. The tests hold for features that are normal with equal variance in all classes, or
    whose relation to the numbers has normal errors.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B
       57(1), 1995.
    .. [2] Y. Benjamini, D. Yekutieli, "The control of the false discovery rate in multiple testing under dependency",
       Annals of Statistics 29(4), 2001.
    .. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2),
       1979.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_controlled.corrected import CorrectedTests
    >>> CorrectedTests(rate="fwer").fit(*load_iris(return_X_y=True)).get_support(indices=True).tolist()
    [0, 1, 2, 3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "rate": [StrOptions(set(RATES))],
        "level": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        rate: str = "fdr",
        level: float = 0.05,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.rate = rate
        self.level = level

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        needed = 3
        if not are_numbers(y):
            self._check_classes(y)
            needed = int(y.max()) + 2
        if len(X) < needed:
            raise ValueError(f"CorrectedTests needs at least {needed} samples here; n_samples = {len(X)}")
        Z, varies = standardised(X)
        self.p_values_ = np.ones(X.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Features .* are constant")  # within the classes
            test = f_regression if are_numbers(y) else f_classif
            statistics, p_values = test(Z, y) if varies.any() else (np.ones(0), np.ones(0))
        # Sums of squares cancel where nothing varies within the classes: the statistic is then negative, or not finite.
        self.p_values_[varies] = np.where(np.isfinite(statistics) & (statistics >= 0), p_values, 0.0)
        self.corrected_p_values_ = corrected(self.p_values_, self.rate)
        return evidence(self.corrected_p_values_, self.level)


def evidence(p_values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the logarithm of level / p: positive if p is below the level."""
    return np.asarray(np.log10(level) - np.log10(np.maximum(p_values, _LEAST)))


def corrected(p_values: NDArray[np.float64], rate: str) -> NDArray[np.float64]:
    """Return p-values corrected for their number; see `CorrectedTests` for the rates."""
    if rate == "fpr":
        return p_values.copy()
    if rate != "fwer":
        return np.asarray(false_discovery_control(p_values, method="bh" if rate == "fdr" else "by"))
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected
