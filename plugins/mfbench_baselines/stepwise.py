"""Stepwise selectors: recursive elimination, forward selection, and mRMR."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold

from mfbench_baselines._columns import strongest
from mfbench_baselines.classifiers import LinearSVM
from mfbench_learners.compiled import njit
from mfbench_learners.selectors import GreedySelector, NumberSelector, are_numbers


class RecursiveElimination(NumberSelector):
    r"""Recursive feature elimination with a linear support vector machine (SVM-RFE).

    A linear machine (squared hinge loss, one class against the rest; for numbers squared loss, on a target of unit
    variance) is trained and the features with the smallest
    :math:`\sum_k w_{kj}^2` are dropped, again and again until one feature is left. The importance of a feature is its
    position in the order of elimination, from :math:`1/p` for the first one dropped to 1 for the last one left.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps all, because
        the method only ranks features.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    step : float, default=0.1
        Share of the remaining features that is dropped in a round, from 0 to below 1; at least one is dropped.
    C : float, default=1.0
        Inverse strength of the machine's penalty.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Positions divided by p. Of features dropped together, one with a larger weight ranks higher.
    n_iter_ : int
        Number of machines trained.
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
    Trains p machines with ``step=0``, about log(p) / step otherwise. `step` is a share of the remaining features, not
    of all, so that the last ones are ranked as finely as the first.

    References
    ----------
    I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using support vector
    machines", Machine Learning 46, 2002, pages 389-422.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.stepwise import RecursiveElimination
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> RecursiveElimination().fit(StandardScaler().fit_transform(X), y).feature_importances_.tolist()
    [0.25, 0.5, 1.0, 0.75]
    """

    def __init__(
        self, *, n_features_to_select: int | None = None, target: str = "auto", step: float = 0.1, C: float = 1.0
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.step = step
        self.C = C

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if not 0 <= self.step < 1:
            raise ValueError(f"step must be at least 0 and below 1; got {self.step!r}")
        left = np.arange(X.shape[1])
        dropped: list[int] = []
        self.n_iter_ = 0
        while len(left) > 1:
            weights = self._weights(X[:, left], y)
            self.n_iter_ += 1
            # Of columns with equal weights, the last is dropped first.
            order = np.lexsort((-left, (weights**2).sum(axis=0)))
            count = min(len(left) - 1, max(1, int(self.step * len(left))))
            dropped.extend(left[order[:count]])
            left = np.delete(left, order[:count])
        importances = np.empty(X.shape[1])
        importances[np.append(dropped, left).astype(np.intp)] = np.arange(1, X.shape[1] + 1) / X.shape[1]
        return importances

    def _weights(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if are_numbers(y):
            ridge = Ridge(alpha=1.0 / (2.0 * self.C)).fit(X, (y - y.mean()) / y.std())
            return np.atleast_2d(ridge.coef_)
        # With more columns than rows the dual has fewer variables; both reach the same minimum.
        machine = LinearSVM(C=self.C, dual=X.shape[1] > len(X), max_iter=100_000, random_state=0).fit(X, y)
        return np.asarray(machine.coef_)


class SequentialForward(GreedySelector):
    r"""Forward selection by the cross-validated accuracy of nearest neighbours.

    Starting with no feature, it adds the one that most raises the accuracy of a k-nearest-neighbour classifier, until
    `n_ranked` features are selected or none raises it.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the selected features.
    n_ranked : int, default=10
        Maximum number of features to select.
    n_neighbors : int, default=3
        Number of neighbours that vote.
    cv : int, default=5
        Number of folds; fewer if a class has fewer rows.
    max_features : int, default=100
        With more features than this, only those that individually differ most between the classes are searched.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        1 for the first selected feature, decreasing evenly; 0 for features not selected.
    order_ : ndarray of shape (n_taken,)
        The selected features, in order.
    scores_ : ndarray of shape (n_taken,)
        Accuracy after adding each of them.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Time O(n² s) for each candidate for position s. All candidates are compared on the same folds. Ties between
    accuracies go to the first feature, ties between distances to the first row. Two features that are useful
    only together are not selected.

    References
    ----------
    A. W. Whitney, "A direct method of nonparametric measurement selection", IEEE Transactions on Computers C-20(9),
    1971.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.stepwise import SequentialForward
    >>> SequentialForward(random_state=0).fit(*load_iris(return_X_y=True)).order_.tolist()[0]
    3
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        n_ranked: int = 10,
        n_neighbors: int = 3,
        cv: int = 5,
        max_features: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.n_ranked = n_ranked
        self.n_neighbors = n_neighbors
        self.cv = cv
        self.max_features = max_features
        self.random_state = random_state

    def _order(self, X: NDArray[np.float64], y: NDArray[np.intp]) -> list[int]:
        if self.cv < 2 or self.n_neighbors < 1 or self.max_features < 1:
            raise ValueError(
                "cv must be at least 2, n_neighbors and max_features at least 1; "
                f"got {self.cv!r}, {self.n_neighbors!r} and {self.max_features!r}"
            )
        smallest = int(np.bincount(y).min())
        stratified = smallest >= 2
        count = min(self.cv, smallest if stratified else len(y))
        folds = (StratifiedKFold if stratified else KFold)(count, shuffle=True, random_state=self.random_state)
        fold_of = np.empty(len(y), dtype=np.int64)
        for number, (_, test) in enumerate(folds.split(X, y)):
            fold_of[test] = number
        candidates = [int(j) for j in strongest(X, y, self.max_features)]
        taken: list[int] = []
        scores = [0.0]
        while candidates and len(taken) < self.n_ranked:
            reached = [fold_accuracy(X[:, [*taken, j]], y, fold_of, self.n_neighbors) for j in candidates]
            best = int(np.argmax(np.round(reached, 12)))
            if reached[best] <= scores[-1] + 1e-12:
                break
            scores.append(float(reached[best]))
            taken.append(candidates.pop(best))
        self.scores_ = np.array(scores[1:])
        return taken


class MRMR(GreedySelector):
    r"""Minimum redundancy, maximum relevance (mRMR).

    The next feature has the largest

    .. math:: I(x_j; y) - \frac{1}{|S|} \sum_{k \in S} I(x_j; x_k) \quad\text{or}\quad
       \frac{I(x_j; y)}{\frac{1}{|S|} \sum_{k \in S} I(x_j; x_k)}

    among those not yet in the set *S*; the first has the largest :math:`I(x_j; y)`. The mutual information *I*, in
    nats, is computed after cutting each column into three levels: below, within and above mean ± `width` standard
    deviations. Numbers to predict are cut in the same way.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the selected features.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_ranked : int, default=50
        Maximum number of features to select.
    scheme : {"difference", "quotient"}, default="difference"
        How relevance and redundancy are combined.
    width : float, default=0.5
        Half the width of the middle level, in standard deviations.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        1 for the first selected feature, decreasing evenly; 0 for features not selected.
    order_ : ndarray of shape (n_taken,)
        The selected features, in order.
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
    O(n p) for each selected feature, by counting with matrix products; memory O(n p). A column with two or three
    distinct values keeps them. Constant features are never selected. In the quotient, redundancy is at least 1e-12.

    References
    ----------
    H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of max-dependency,
    max-relevance, and min-redundancy", IEEE Transactions on Pattern Analysis and Machine Intelligence 27(8), 2005,
    pages 1226-1238, equation 6.

    C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene expression data", Journal of
    Bioinformatics and Computational Biology 3(2), 2005.

    Examples
    --------
    The second column repeats the first; the third is less informative, but not redundant.

    >>> from mfbench_baselines.stepwise import MRMR
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> X = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    >>> MRMR(n_ranked=2).fit(X, y).order_.tolist()
    [0, 2]
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_ranked: int = 50,
        scheme: str = "difference",
        width: float = 0.5,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.n_ranked = n_ranked
        self.scheme = scheme
        self.width = width

    def _order(self, X: NDArray[np.float64], y: NDArray[Any]) -> list[int]:
        if self.scheme not in ("difference", "quotient"):
            raise ValueError(f"scheme must be 'difference' or 'quotient'; got {self.scheme!r}")
        if self.width <= 0:
            raise ValueError(f"width must be above 0; got {self.width!r}")
        levels = three_levels(X, self.width)
        relevance = information(levels, three_levels(y[:, None], self.width)[:, 0] if are_numbers(y) else y)
        open_ = np.ptp(X, axis=0) > 0
        redundancy = np.zeros(X.shape[1])
        taken: list[int] = []
        while len(taken) < min(self.n_ranked, int(np.count_nonzero(open_)) + len(taken)):
            mean = redundancy / max(len(taken), 1)
            if not taken:
                score = relevance
            elif self.scheme == "difference":
                score = relevance - mean
            else:
                score = relevance / np.maximum(mean, 1e-12)
            best = int(np.argmax(np.where(open_, np.round(score, 12), -np.inf)))
            taken.append(best)
            open_[best] = False
            redundancy += information(levels, levels[:, best])
        return taken


def three_levels(X: NDArray[np.float64], width: float) -> NDArray[np.int8]:
    """Cut columns into 0, 1 and 2: below, within and above mean ± width standard deviations; keep up to three values.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Columns.
    width : float
        In standard deviations.

    Returns
    -------
    levels : ndarray of int8, shape (n_samples, n_features)
        A column with at most three distinct values has them numbered in ascending order.
    """
    mean, half = X.mean(axis=0), width * X.std(axis=0)
    lower, upper = mean - half, mean + half
    levels: NDArray[np.int8] = np.greater(X, lower).astype(np.int8) + np.greater(X, upper)
    ordered = np.sort(X, axis=0)
    steps = np.diff(ordered, axis=0) > 0
    for j in np.flatnonzero(steps.sum(axis=0) <= 2):
        levels[:, j] = np.unique(X[:, j], return_inverse=True)[1]
    return levels


def information(levels: NDArray[np.int8], codes: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the mutual information, in nats, between each column of three levels and the codes.

    Parameters
    ----------
    levels : ndarray of int8, shape (n_samples, n_features)
        0, 1 and 2.
    codes : ndarray of shape (n_samples,)
        0, 1, ….

    Returns
    -------
    information : ndarray of shape (n_features,)
        At least 0.
    """
    n = len(codes)
    members = (codes == np.arange(int(codes.max()) + 1)[:, None]).astype(np.float64)
    joint = np.array([members @ (levels == level) for level in range(3)]) / n
    outer = joint.sum(axis=1)[:, None] * joint.sum(axis=0)
    ratio = np.divide(joint, outer, out=np.ones_like(joint), where=joint > 0)
    information: NDArray[np.float64] = np.maximum((joint * np.log(ratio)).sum(axis=(0, 1)), 0.0)
    return information


def fold_accuracy(Z: NDArray[np.float64], codes: NDArray[np.intp], fold_of: NDArray[np.int64], k: int) -> float:
    """Return the accuracy of k nearest neighbours, averaged over folds.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Rows; distances are Euclidean.
    codes : ndarray of shape (n_samples,)
        Class codes.
    fold_of : ndarray of int64, shape (n_samples,)
        Each row's fold, 0, 1, …; at least two. A row's neighbours are from other folds.
    k : int
        Number of neighbours that vote; all if there are fewer. Ties go to the class that comes first.

    Returns
    -------
    accuracy : float
        From 0 to 1.
    """
    sizes = np.bincount(fold_of)
    k = min(k, int(len(codes) - sizes.max()))
    correct = _count_correct(np.ascontiguousarray(Z), codes, fold_of, k, int(codes.max()) + 1, len(sizes))
    return float((correct / sizes).mean())


@njit(cache=True)
def _count_correct(Z, codes, fold_of, k, n_classes, n_folds):  # pragma: no cover
    """Return the number of correctly classified rows in each fold."""
    correct = np.zeros(n_folds)
    near, labels = np.empty(k), np.empty(k, dtype=np.int64)
    votes = np.empty(n_classes, dtype=np.int64)
    for i in range(len(Z)):
        near[:] = np.inf
        for j in range(len(Z)):
            if fold_of[j] == fold_of[i]:
                continue
            d = 0.0
            for a in range(Z.shape[1]):
                d += (Z[i, a] - Z[j, a]) ** 2
            if d >= near[k - 1]:
                continue
            rank = k - 1
            while rank > 0 and near[rank - 1] > d:
                near[rank], labels[rank] = near[rank - 1], labels[rank - 1]
                rank -= 1
            near[rank], labels[rank] = d, codes[j]
        votes[:] = 0
        for label in labels:
            votes[label] += 1
        correct[fold_of[i]] += np.argmax(votes) == codes[i]
    return correct
