"""Scores of single features, from a table of their levels and the classes, or from the means of the classes."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_information._counts import Counter, class_counts
from mfbench_information._levels import BINNINGS, classes_of, levels_of
from mfbench_learners.selectors import NumberSelector, SupervisedSelector

_COLUMNS_AT_ONCE = 1024


class InformationFilter(NumberSelector):
    r"""Score each feature by the table of its levels and the classes.

    With :math:`p_{bk}` the share of samples in level *b* and class *k*, and :math:`p_b`, :math:`p_k` its sums,

    =======================  ==========================================================================================
    measure                  definition
    =======================  ==========================================================================================
    "gain"                   :math:`I(x; y) = \sum p_{bk} \log_2 \frac{p_{bk}}{p_b p_k}`, information gain, in bits [1]_
    "gain-ratio"             :math:`I(x; y) / H(x)` [1]_
    "symmetric-uncertainty"  :math:`2 I(x; y) / (H(x) + H(y))` [2]_
    "chi2"                   :math:`n \sum (p_{bk} - p_b p_k)^2 / (p_b p_k)`, Pearson's statistic [3]_
    "gini"                   :math:`\sum_{bk} p_{bk}^2 / p_b - \sum_k p_k^2`, decrease of the Gini impurity [4]_
    =======================  ==========================================================================================

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole. Numbers are cut into `bins` classes of
        equal frequency.
    measure : str, default="gain"
        One of the table.
    binning : {"frequency", "width", "mdl"}, default="frequency"
        Bins of equal frequency, where a value that fills one is on its own; of equal width; or cuts by the minimum
        description length of the classes.
    bins : int, default=5
        Number of bins, from 2 to 256. A column of at most as many values keeps them; with "mdl", one of two values.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The scores, at least 0; a feature of a single level has 0.
    p_values_ : ndarray of shape (n_features,)
        With "chi2" only: the upper tail of the chi-squared distribution with (levels - 1) (classes - 1) degrees of
        freedom. It does not hold for cuts that were chosen by the classes ("mdl").
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    Takes O(n p log n) time for "frequency" and "mdl", and O(n p) for "width"; memory is O(n p) bytes.

    References
    ----------
    .. [1] J. R. Quinlan, *C4.5: Programs for Machine Learning*, Morgan Kaufmann, 1993.
    .. [2] W. H. Press, S. A. Teukolsky, W. T. Vetterling, B. P. Flannery, *Numerical Recipes in C*, Cambridge, 1992.
    .. [3] H. Liu, R. Setiono, "Chi2: feature selection and discretization of numeric attributes", ICTAI 1995.
    .. [4] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, *Classification and Regression Trees*, Wadsworth,
       1984.

    Examples
    --------
    >>> from mfbench_information.filters import InformationFilter
    >>> X = [[0, 0, 5], [0, 1, 5], [1, 0, 5], [1, 1, 5]]
    >>> InformationFilter().fit(X, ["a", "a", "b", "b"]).feature_importances_.tolist()
    [1.0, 0.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "measure": [StrOptions({"gain", "gain-ratio", "symmetric-uncertainty", "chi2", "gini"})],
        "binning": [StrOptions(set(BINNINGS))],
        "bins": [Interval(Integral, 2, 256, closed="both")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        measure: str = "gain",
        binning: str = "frequency",
        bins: int = 5,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.measure = measure
        self.binning = binning
        self.bins = bins

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        classes = classes_of(y, self.bins)
        codes, sizes = levels_of(X, classes, self.binning, self.bins)
        counter = Counter(codes, sizes, classes)
        gain = np.where(counter.relevance < 1e-12, 0.0, counter.relevance)
        if self.measure == "gain":
            return gain
        if self.measure == "gain-ratio":
            return np.divide(gain, counter.entropies, out=np.zeros_like(gain), where=gain > 0)
        if self.measure == "symmetric-uncertainty":
            return np.asarray(2.0 * gain / (counter.entropies + counter.class_entropy))
        blocks = (slice(first, first + _COLUMNS_AT_ONCE) for first in range(0, len(codes), _COLUMNS_AT_ONCE))
        counts = [class_counts(codes[own], sizes[own].max(), classes, counter.n_classes) for own in blocks]
        if self.measure == "gini":
            return np.concatenate([_gini_gains(part) for part in counts])
        statistics = np.concatenate([_chi_squared(part) for part in counts])
        # Of a single level, the statistic is 0 whatever its degrees of freedom.
        n_levels = np.concatenate([(part.sum(axis=2) > 0).sum(axis=1) for part in counts])
        freedom = np.maximum(n_levels - 1, 1) * (counter.n_classes - 1)
        self.p_values_ = chdtrc(freedom, statistics)
        return statistics


def _gini_gains(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    n = counts[0].sum()
    levels, classes = counts.sum(axis=2), counts[0].sum(axis=0)
    within = ((counts**2).sum(axis=2) / np.maximum(levels, 1)).sum(axis=1) / n
    return np.asarray(np.maximum(np.round(within - (classes**2).sum() / n**2, 15), 0.0))


def _chi_squared(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    n = counts[0].sum()
    expected = counts.sum(axis=2)[:, :, None] * (counts[0].sum(axis=0) / n)
    squares = np.divide((counts - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)
    return np.asarray(squares.sum(axis=(1, 2)))


class FisherScore(SupervisedSelector):
    r"""Fisher score: spread of the class means over the spread within the classes.

    With :math:`n_k` samples of mean :math:`\mu_k` and variance :math:`\sigma_k^2` in class *k*, it is

    .. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k \sigma_k^2}.

    It equals the F statistic times (K - 1) / (n - K) for *K* classes, and ranks features as that does.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The scores. A constant column has 0; one that differs between classes but not within any of them has the largest
        finite double.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, or y has a single class.

    Notes
    -----
    Takes O(n_samples · n_features) time.

    References
    ----------
    R. O. Duda, P. E. Hart, D. G. Stork, *Pattern Classification*, 2nd edition, Wiley, 2001.

    Q. Gu, Z. Li, J. Han, "Generalized Fisher score for feature selection", UAI 2011.

    Examples
    --------
    >>> from mfbench_information.filters import FisherScore
    >>> FisherScore().fit([[1, 7], [3, 7], [5, 7], [7, 7]], ["a", "a", "b", "b"]).feature_importances_.round(9).tolist()
    [4.0, 0.0]
    """

    def _importances(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> NDArray[np.float64]:
        self._check_classes(y)
        # Halves of a range of 1: neither a difference nor a square can overflow.
        low, high = X.min(axis=0), X.max(axis=0)
        spread = high / 2 - low / 2
        Z = (X / 2 - low / 2) / np.where(spread > 0, spread, 1.0)
        groups = [Z[y == k] for k in range(int(y.max()) + 1)]
        means = [group.mean(axis=0) for group in groups]
        between = sum(len(group) * (mean - Z.mean(axis=0)) ** 2 for group, mean in zip(groups, means, strict=True))
        within = sum(((group - mean) ** 2).sum(axis=0) for group, mean in zip(groups, means, strict=True))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            scores = np.asarray(between / within)
        # Rounding can shift the mean of equal values, so this compares the values themselves.
        scores[np.all([np.ptp(group, axis=0) == 0 for group in groups], axis=0)] = np.inf
        scores[spread == 0] = 0.0
        return np.asarray(np.minimum(scores, np.finfo(np.float64).max))
