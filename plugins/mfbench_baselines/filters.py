"""Univariate filters and two controls, as scikit-learn selectors.

Each scores every column on its own; a larger value in ``feature_importances_`` means more relevant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.utils import check_random_state

from mfbench_baselines._columns import dense_columns
from mfbench_learners.selectors import ImportanceSelector, NumberSelector, are_numbers

LARGEST = float(np.finfo(np.float64).max)


class VarianceFilter(ImportanceSelector):
    r"""Variance of each range-scaled column.

    With :math:`z_{ij} = (x_{ij} - \min_i x_{ij}) / (\max_i x_{ij} - \min_i x_{ij})`, the importance of column *j* is
    :math:`\frac1n \sum_i (z_{ij} - \bar z_j)^2`, between 0 and 1/4; a constant column gets 0. Plain variance would be
    1 for every column of standardised data. After range scaling, the variance does not depend on unit or offset: it is
    large for a column whose values cluster at both ends of its range and small for one with a few outliers.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The variances.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Takes O(n_samples · n_features) time. Labels are ignored.

    References
    ----------
    X. He, D. Cai, P. Niyogi, "Laplacian score for feature selection", NIPS 18, 2005, where the unscaled variance is a
    baseline.

    Examples
    --------
    >>> from mfbench_baselines.filters import VarianceFilter
    >>> X = [[0, 5, 1], [0, 5, 2], [10, 5, 3], [10, 5, 4]]
    >>> VarianceFilter().fit(X).feature_importances_.round(3).tolist()
    [0.25, 0.0, 0.139]
    """

    _takes_sparse = True

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        return np.concatenate([_range_scaled(columns).var(axis=0) for columns in dense_columns(X)])


class AnovaFFilter(NumberSelector):
    r"""F statistic of a one-way analysis of variance between the classes, or of a linear regression on each column.

    With :math:`n_k` samples of mean :math:`\bar x_k` in class *k* out of *K*,

    .. math::
        F = \frac{\sum_k n_k (\bar x_k - \bar x)^2 / (K - 1)}{\sum_k \sum_{i \in k} (x_i - \bar x_k)^2 / (n - K)}.

    For numbers to predict, whose correlation with the column is *r*, it is :math:`F = (n - 2) \, r^2 / (1 - r^2)`.

    A constant column gets 0 (and p-value 1). A column that differs between classes but not within any of them gets
    the largest finite double (and p-value 0), so that it comes first and importances stay finite.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.

    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The F statistics.
    p_values_ : ndarray of shape (n_features,)
        Upper tail probabilities of F(K - 1, n - K) at these statistics, or of F(1, n - 2).
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If there are fewer than two classes, no more samples than classes, or fewer than three samples for numbers.

    Notes
    -----
    Takes O(n_samples · n_features) time. Equals `sklearn.feature_selection.f_classif` where that is accurate. That
    function subtracts sums of squares, which cancel in a column that is constant within each class: it can return a
    large *negative* F for a column that separates the classes perfectly. Sums of squared deviations, as here, cannot.

    References
    ----------
    R. A. Fisher, *Statistical Methods for Research Workers*, Oliver and Boyd, 1925.

    Examples
    --------
    >>> from mfbench_baselines.filters import AnovaFFilter
    >>> X = [[1, 7, 0.1], [2, 7, 0.1], [3, 7, 0.7], [4, 7, 0.7]]
    >>> anova = AnovaFFilter().fit(X, ["a", "a", "b", "b"])
    >>> [f"{F:.3g}" for F in anova.feature_importances_]
    ['8', '0', '1.8e+308']
    >>> anova.p_values_.round(3).tolist()
    [0.106, 1.0, 0.0]
    """

    _takes_sparse = True

    def __init__(self, *, n_features_to_select: int | None = None, target: str = "auto") -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if are_numbers(y):
            return self._of_numbers(X, y)
        self._check_classes(y)
        n_samples, n_classes = len(y), int(y.max()) + 1
        if n_samples <= n_classes:
            raise ValueError(
                f"AnovaFFilter needs more samples than classes: n_samples = {n_samples}, {n_classes} classes"
            )
        F = np.concatenate([_f_statistics(columns, y) for columns in dense_columns(X)])
        self.p_values_ = fdtrc(n_classes - 1, n_samples - n_classes, F)
        return np.asarray(np.minimum(F, LARGEST))

    def _of_numbers(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(y) < 3:
            raise ValueError(f"AnovaFFilter needs at least three samples for numbers, got {len(y)}")
        F = np.concatenate([_regression_f(columns, y) for columns in dense_columns(X)])
        self.p_values_ = fdtrc(1, len(y) - 2, F)
        return np.asarray(np.minimum(F, LARGEST))


def _regression_f(X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the F statistic of the regression of numbers on each column; infinite if the fit leaves nothing."""
    Z, t = _range_scaled(X), _range_scaled(y[:, None])[:, 0]
    Z, t = Z - Z.mean(axis=0), t - t.mean()
    sizes = (Z**2).sum(axis=0)
    slopes = np.divide(t @ Z, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    rest = ((t[:, None] - Z * slopes) ** 2).sum(axis=0)  # 1 - r² would cancel where the fit is nearly exact
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        F = slopes**2 * sizes / (rest / (len(t) - 2))
    F[np.ptp(X, axis=0) == 0] = 0.0
    return np.asarray(F)


def _f_statistics(X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the F statistic of each column; infinite if the column differs between classes only."""
    sizes = np.bincount(y)
    n_samples, n_classes = len(y), len(sizes)
    Z = _range_scaled(X)  # F does not depend on unit and offset; rounding and overflow do
    groups = [Z[y == k] for k in range(n_classes)]
    means = np.array([group.mean(axis=0) for group in groups])
    between = sizes @ (means - Z.mean(axis=0)) ** 2 / (n_classes - 1)
    within = sum(((group - mean) ** 2).sum(axis=0) for group, mean in zip(groups, means, strict=True))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        F = between / (within / (n_samples - n_classes))
    # Rounding can shift the mean of equal values, so this compares the values themselves.
    F[np.all([np.ptp(group, axis=0) == 0 for group in groups], axis=0)] = np.inf
    F[np.ptp(Z, axis=0) == 0] = 0.0
    return np.asarray(F)


class MutualInfoFilter(NumberSelector):
    r"""Mutual information between each column and the target, estimated from nearest neighbours.

    Estimates :math:`I(x_j; y) = \iint p(x_j, y) \log \frac{p(x_j, y)}{p(x_j) p(y)}` in nats by
    `sklearn.feature_selection.mutual_info_classif`: for a sample of class *k* it finds the distance to its
    `n_neighbors`-th neighbour within the class and counts the samples of any class within that distance. Negative
    estimates become 0. In columns declared discrete, values are counted instead. For a target of type "continuous", the
    estimator is `sklearn.feature_selection.mutual_info_regression`.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_neighbors : int, default=3
        Number of neighbours per sample; more neighbours lower the variance and raise the bias.
    discrete_features : "auto", bool, or array-like of shape (n_features,) or of indices, default="auto"
        Columns with discrete values; "auto" treats all columns as continuous.
    random_state : int, RandomState or None, default=None
        Seed of the slight noise that breaks ties in continuous columns.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The estimates, at least 0.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If no class has two samples.

    Notes
    -----
    Takes O(n_features · n_samples · log n_samples) time.

    References
    ----------
    R. Battiti, "Using mutual information for selecting features in supervised neural net learning", IEEE Transactions
    on Neural Networks 5(4), 1994.

    B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9(2), 2014 (the estimator).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.filters import MutualInfoFilter
    >>> information = MutualInfoFilter(n_features_to_select=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> information.get_support(indices=True).tolist()
    [2, 3]
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_neighbors: int = 3,
        discrete_features: str | bool | ArrayLike = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.n_neighbors = n_neighbors
        self.discrete_features = discrete_features
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        numbers = are_numbers(y)
        if not numbers and np.bincount(y).max() < 2:
            raise ValueError(
                f"MutualInfoFilter needs a class of at least two samples; each class has one, n_samples = {len(y)}"
            )
        estimate = mutual_info_regression if numbers else mutual_info_classif
        return np.asarray(
            estimate(
                X,
                y,
                discrete_features=self.discrete_features,
                n_neighbors=self.n_neighbors,
                random_state=self.random_state,
            )
        )


class RandomFilter(ImportanceSelector):
    r"""Random importances: the control that a selector has to beat.

    Draws :math:`w_j \sim U(0, 1]` regardless of the data.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps them all.
    random_state : int, RandomState or None, default=None
        Seed of the draw.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The draw.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Takes O(n_features) time. Labels are ignored.

    Examples
    --------
    >>> from mfbench_baselines.filters import RandomFilter
    >>> RandomFilter(n_features_to_select=2, random_state=0).fit_transform([[1, 2, 3], [4, 5, 6]]).shape
    (2, 2)
    """

    _takes_sparse = True

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(1.0 - check_random_state(self.random_state).random_sample(X.shape[1]))


def _range_scaled(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map each column linearly onto [0, 1], or to exactly 0 if it is constant, without overflow."""
    peak = np.abs(X).max(axis=0)
    Z = X / np.where(peak > 0, peak, 1.0)  # max - min of the raw values can overflow
    Z -= Z.min(axis=0)
    spread = Z.max(axis=0)
    Z /= np.where(spread > 0, spread, 1.0)
    return Z


class FixedColumns(ImportanceSelector):
    """Select a fixed range of columns, regardless of the data: their importance is 1, that of all others is 0.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    first : int, default=0
        Position of the first column.
    count : int or None, default=None
        Number of columns; None selects all from `first` on.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Ones and zeros.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If the range is empty or extends beyond the last column.

    Notes
    -----
    Takes O(n_features) time. Labels are ignored.

    Examples
    --------
    >>> from mfbench_baselines.filters import FixedColumns
    >>> FixedColumns(first=1, count=2).fit([[1, 2, 3, 4], [5, 6, 7, 8]]).feature_importances_.tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    _takes_sparse = True

    def __init__(self, *, n_features_to_select: int | None = None, first: int = 0, count: int | None = None) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.first = first
        self.count = count

    def _importances(self, X: NDArray[np.float64], y: NDArray[np.intp] | None) -> NDArray[np.float64]:
        n_features = X.shape[1]
        end = n_features if self.count is None else self.first + self.count
        if not 0 <= self.first < end <= n_features:
            raise ValueError(
                f"first={self.first!r} and count={self.count!r} are not a range of the {n_features} features of X"
            )
        importances = np.zeros(n_features)
        importances[self.first : end] = 1.0
        return importances
