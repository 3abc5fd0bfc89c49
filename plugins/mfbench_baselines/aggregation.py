"""Ensembles of selectors: one ranking from many, of several selectors and of random parts of the data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif, mutual_info_regression
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_learners.selectors import NumberSelector, are_numbers, fitted_strength

Floats = NDArray[np.float64]
MOST_FOR_KEMENY = 30
"""Largest number of features whose Kemeny ranking is computed: it takes a constraint for each triple."""


class RankEnsemble(NumberSelector):
    r"""Rank features by many rankings together.

    Each selector is fitted to `n_samples` random samples of the rows, with replacement, and ranks the features by
    importance, equal ones alike. Rankings are aggregated to their mean, which orders features as Borda's count does, to
    their median, or to Kemeny's ranking, for which the number of pairs :math:`(j, k)` and rankings that order *j* and
    *k* the other way is smallest [1]_.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps; None keeps those above the mean rank.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    selectors : sequence of estimators or None, default=None
        Each has ``feature_importances_`` or ``coef_`` after ``fit(X, y)``; the parameter ``random_state`` is set if
        there is one. None: the F statistic, mutual information, and a random forest of 100 trees.
    aggregation : {"mean", "median", "kemeny"}, default="mean"
        How ranks become one; "kemeny" for at most 30 features.
    n_samples : int, default=10
        Number of samples of the rows; with 1, all rows are used as they are.
    random_state : int, RandomState or None, default=None
        Seed of the samples and the selectors.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Mean rank of all features minus the aggregated one: positive for the better half.
    ranks_ : ndarray of shape (n_rankings, n_features)
        Of each ranking; 1 is the most important, and equal features share their mean.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are more than 30 features for "kemeny", or a parameter
        is out of range.

    Notes
    -----
    Takes `n_samples` fits of each selector. Kemeny's ranking is found by integer programming with p (p - 1) / 2
    variables; of several such rankings, the solver picks one.

    References
    ----------
    .. [1] C. Dwork, R. Kumar, M. Naor, D. Sivakumar, "Rank aggregation methods for the Web", WWW 2001.
    .. [2] Y. Saeys, T. Abeel, Y. Van de Peer, "Robust feature selection using ensemble feature selection techniques",
       ECML PKDD 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.aggregation import RankEnsemble
    >>> ensemble = RankEnsemble(n_samples=3, random_state=0).fit(*load_iris(return_X_y=True))
    >>> ensemble.get_support(indices=True).tolist()
    [2, 3]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "selectors": [list, tuple, None],
        "aggregation": [StrOptions({"mean", "median", "kemeny"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        selectors: Sequence[Any] | None = None,
        aggregation: str = "mean",
        n_samples: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.selectors = selectors
        self.aggregation = aggregation
        self.n_samples = n_samples
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if self.selectors is not None and not len(self.selectors):
            raise ValueError("selectors must name at least one selector, or be None")
        if self.aggregation == "kemeny" and X.shape[1] > MOST_FOR_KEMENY:
            raise ValueError(f'aggregation="kemeny" takes at most {MOST_FOR_KEMENY} features; X has {X.shape[1]}')
        rng = check_random_state(self.random_state)
        rankings: list[Floats] = []
        for _ in range(self.n_samples):
            rows = np.arange(len(y)) if self.n_samples == 1 else _sample(y, rng)
            seed = int(rng.randint(2**31))
            if self.selectors is None:
                weights = _default(X[rows], y[rows], seed)
            else:
                weights = [fitted_strength(selector, X[rows], y[rows], seed) for selector in self.selectors]
            rankings.extend(rankdata(-strength) for strength in weights)
        self.ranks_ = np.array(rankings)
        return np.asarray((X.shape[1] + 1) / 2 - aggregated(self.ranks_, self.aggregation))


def aggregated(ranks: Floats, aggregation: str) -> Floats:
    """Return one rank for each feature from rankings, which are rows."""
    if aggregation == "kemeny":
        return kemeny(ranks)
    return np.asarray((np.median if aggregation == "median" else np.mean)(ranks, axis=0))


def kemeny(ranks: Floats) -> Floats:
    """Return the ranks 1 … p whose order disagrees least with rankings, by integer programming."""
    p = ranks.shape[1]
    if p == 1:
        return np.ones(1)
    pairs = list(combinations(range(p), 2))
    # x_jk = 1 if j comes before k, for j < k.
    place = {pair: number for number, pair in enumerate(pairs)}
    first, second = np.array(pairs).T
    before = (ranks[:, first] < ranks[:, second]).sum(axis=0)
    after = (ranks[:, first] > ranks[:, second]).sum(axis=0)
    triples = list(combinations(range(p), 3))
    constraints = []
    if triples:
        # No cycle: 0 <= x_ij + x_jk - x_ik <= 1.
        columns = [place[pair] for i, j, k in triples for pair in ((i, j), (j, k), (i, k))]
        rows = np.repeat(np.arange(len(triples)), 3)
        signs = np.tile([1.0, 1.0, -1.0], len(triples))
        matrix = coo_array((signs, (rows, columns)), shape=(len(triples), len(pairs))).tocsr()
        constraints = [LinearConstraint(matrix, 0.0, 1.0)]
    solution = milp(
        (after - before).astype(float),
        integrality=np.ones(len(pairs), dtype=np.int64),
        bounds=Bounds(0, 1),
        constraints=constraints,
    )
    is_before = np.round(np.asarray(solution.x))
    return np.asarray(1.0 + np.bincount(second, is_before, p) + np.bincount(first, 1.0 - is_before, p))


def _sample(y: NDArray[Any], rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw as many rows as there are, with replacement; of classes, as many of each."""
    if are_numbers(y):
        rows: NDArray[np.intp] = rng.randint(len(y), size=len(y))
        return rows if np.ptp(y[rows]) > 0 else np.arange(len(y))
    order = rng.permutation(len(y))
    # In the order in which classes are met, so that their names do not matter.
    return np.concatenate([rng.choice(order[y[order] == k], (y == k).sum()) for k in dict.fromkeys(y[order].tolist())])


def _default(X: Floats, y: NDArray[Any], seed: int) -> list[Floats]:
    if are_numbers(y):
        test, information, kind = f_regression, mutual_info_regression, RandomForestRegressor
    else:
        test, information, kind = f_classif, mutual_info_classif, RandomForestClassifier
    varies = np.ptp(X, axis=0) > 0
    statistics, shared = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if varies.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(test(X[:, varies], y)[0], nan=0.0, posinf=np.finfo(float).max)
        statistics[varies] = np.maximum(ratios, 0.0)
        shared[varies] = information(X[:, varies], y, n_neighbors=min(3, len(y) - 1), random_state=seed)
    forest = kind(n_estimators=100, random_state=seed, n_jobs=1).fit(X, y)
    return [statistics, shared, forest.feature_importances_]
