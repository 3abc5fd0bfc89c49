"""Subsets of features that tell much about the classes and little about each other: FCBF and CFS."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_information._counts import Counter
from mfbench_information._levels import BINNINGS, classes_of, levels_of
from mfbench_learners.selectors import GreedySelector, NumberSelector

_Floats = NDArray[np.float64]


class _Uncertainties:
    """Symmetric uncertainties of features with the classes and with each other."""

    def __init__(self, X: _Floats, y: NDArray[Any], binning: str, bins: int) -> None:
        classes = classes_of(y, bins)
        self._counter = Counter(*levels_of(X, classes, binning, bins), classes)
        self._rows: dict[int, _Floats] = {}
        entropies, relevance = self._counter.entropies, self._counter.relevance
        shares = 2.0 * relevance / (entropies + self._counter.class_entropy)
        self.with_classes = np.where(relevance < 1e-12, 0.0, shares)

    def with_feature(self, index: int) -> _Floats:
        """Return those of all features with one of them."""
        if index not in self._rows:
            entropies = self._counter.entropies
            total = entropies + entropies[index]
            shared = 2.0 * self._counter.with_feature(index)[2]
            self._rows[index] = np.divide(shared, total, out=np.zeros_like(total), where=total > 0)
        return self._rows[index]


class FCBF(NumberSelector):
    r"""Fast correlation-based filter: keep a feature unless a better one tells more about it than it does about y.

    Features whose symmetric uncertainty with the classes is above `threshold` are visited in its descending order. Each
    that is still there removes the later ones whose symmetric uncertainty with it is at least that with the classes.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the features that remain.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole. Numbers are cut into `bins` classes of
        equal frequency.
    threshold : float, default=0.0
        From 0 to 1.
    binning : {"frequency", "width", "mdl"}, default="mdl"
        Bins of equal frequency, where a value that fills one is on its own; of equal width; or cuts by the minimum
        description length of the classes.
    bins : int, default=5
        Number of bins, from 2 to 256. A column of at most as many values keeps them; with "mdl", one of two values.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Symmetric uncertainty with the classes; 0 for features that were removed.
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
    Takes O(n p) time for each feature that remains, after O(n p log n) for the bins.

    References
    ----------
    L. Yu, H. Liu, "Feature selection for high-dimensional data: a fast correlation-based filter solution", ICML 2003.

    Examples
    --------
    The second column repeats the first; the third is independent of both.

    >>> from mfbench_information.subsets import FCBF
    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]]
    >>> FCBF().fit(X, [0, 0, 1, 1, 0, 1]).feature_importances_.round(3).tolist()
    [1.0, 0.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "binning": [StrOptions(set(BINNINGS))],
        "bins": [Interval(Integral, 2, 256, closed="both")],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        threshold: float = 0.0,
        binning: str = "mdl",
        bins: int = 5,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.threshold = threshold
        self.binning = binning
        self.bins = bins

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        uncertainties = _Uncertainties(X, y, self.binning, self.bins)
        relevance = np.round(uncertainties.with_classes, 12)
        is_left = relevance > self.threshold
        order = np.argsort(-relevance, kind="stable")
        for place, index in enumerate(order):
            if is_left[index]:
                later = order[place + 1 :]
                shared = np.round(uncertainties.with_feature(int(index))[later], 12)
                is_left[later] &= shared < relevance[later]
        return np.where(is_left, relevance, 0.0)


class _Node(NamedTuple):
    """A subset in the search of CFS."""

    merit: float
    members: tuple[int, ...]
    relevance: float  # sum over the members
    redundancy: float  # sum over pairs of members
    with_members: _Floats  # of each feature, its sum over the members


class CFS(GreedySelector):
    r"""Correlation-based feature selection: the subset of the largest merit that best-first search finds.

    The merit of a subset of *k* features is

    .. math:: \frac{k \bar r_{cf}}{\sqrt{k + k (k - 1) \bar r_{ff}}}

    with the mean symmetric uncertainty of its features with the classes, :math:`\bar r_{cf}`, and with each other,
    :math:`\bar r_{ff}`. The search starts with no feature, extends the best subset that has not been extended by each
    feature, remembers the best five subsets, and ends after five extensions that improve nothing.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the first selected first; None keeps the subset.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole. Numbers are cut into `bins` classes of
        equal frequency.
    binning : {"frequency", "width", "mdl"}, default="mdl"
        Bins of equal frequency, where a value that fills one is on its own; of equal width; or cuts by the minimum
        description length of the classes.
    bins : int, default=5
        Number of bins, from 2 to 256. A column of at most as many values keeps them; with "mdl", one of two values.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        1 for the first feature of the subset, decreasing evenly; 0 for features outside.
    order_ : ndarray of shape (n_taken,)
        The subset, in the order in which the search added its features.
    merit_ : float
        Its merit, from 0 to 1; 0 if no feature tells anything about the classes.
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
    Takes O(n p) time for each feature of an extended subset, after O(n p log n) for the bins.

    References
    ----------
    M. A. Hall, "Correlation-based feature selection for machine learning", thesis, University of Waikato, 1999.

    Examples
    --------
    >>> from mfbench_information.subsets import CFS
    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]]
    >>> cfs = CFS().fit(X, [0, 0, 1, 1, 0, 1])
    >>> cfs.order_.tolist(), cfs.merit_
    ([0], 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "binning": [StrOptions(set(BINNINGS))],
        "bins": [Interval(Integral, 2, 256, closed="both")],
    }
    n_ranked = 1  # of the base class; the search decides
    _WIDTH = 5

    def __init__(
        self, *, n_features_to_select: int | None = None, target: str = "auto", binning: str = "mdl", bins: int = 5
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.binning = binning
        self.bins = bins

    def _order(self, X: NDArray[np.float64], y: NDArray[Any]) -> list[int]:
        uncertainties = _Uncertainties(X, y, self.binning, self.bins)
        relevance = uncertainties.with_classes
        best = _Node(0.0, (), 0.0, 0.0, np.zeros(len(relevance)))
        waiting, seen, n_stale = [best], {frozenset[int]()}, 0
        while waiting and n_stale < self._WIDTH:
            node = waiting.pop(0)
            children = self._extended(node, relevance, uncertainties, seen)
            seen |= {frozenset(child.members) for child in children}
            waiting = sorted([*waiting, *children], key=lambda child: -child.merit)[: self._WIDTH]
            improved = bool(children) and children[0].merit > best.merit
            best, n_stale = (children[0], 0) if improved else (best, n_stale + 1)
        self.merit_ = best.merit
        return list(best.members)

    def _extended(
        self, node: _Node, relevance: _Floats, uncertainties: _Uncertainties, seen: set[frozenset[int]]
    ) -> list[_Node]:
        """Return the best extensions of a subset that are new, best first."""
        k = len(node.members) + 1
        sums, pairs = node.relevance + relevance, node.redundancy + node.with_members
        merits = np.round(sums / np.sqrt(k + 2.0 * pairs), 12)
        is_open = relevance > 0
        is_open[list(node.members)] = False
        children: list[_Node] = []
        for index in map(int, np.argsort(np.where(is_open, -merits, np.inf), kind="stable")):
            if not is_open[index] or len(children) == self._WIDTH:
                break
            members = (*node.members, index)
            if frozenset(members) not in seen:
                rows = node.with_members + uncertainties.with_feature(index)
                children.append(_Node(float(merits[index]), members, float(sums[index]), float(pairs[index]), rows))
        return children
