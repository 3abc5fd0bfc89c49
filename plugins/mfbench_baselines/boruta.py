"""Boruta: a feature is relevant if a forest finds it more important than shuffled copies of features."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_baselines._forest import LARGEST_SEED, RankedColumns, enlarged, forest_importances
from mfbench_learners.selectors import NumberSelector, are_numbers

TREATMENTS = ("exclude", "median", "include")
STATUSES = np.array(["tentative", "confirmed", "rejected"])  # by the codes of `decide`: 0, 1, -1


class Boruta(NumberSelector):
    r"""Compare each feature with the best of the shuffled copies in a series of random forests.

    In each round, every feature not yet rejected gets a shadow, which is a shuffled copy of its column, and a forest is
    grown on features and shadows. A feature scores a hit if its importance exceeds that of the best shadow. After *t*
    rounds the number of hits is tested against the binomial distribution with *t* trials and probability 1/2: a feature
    is confirmed if the upper tail probability, times the number of features (Bonferroni), is below `alpha`, and
    rejected if the lower one is. A feature still undecided at the end is tentative. By default only confirmed features
    are selected.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps the features that Boruta
        selects.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    tentative : {"exclude", "median", "include"}, default="exclude"
        Which tentative features are selected besides the confirmed ones: none; those whose median importance exceeds
        the median importance of the best shadows; or all.
    max_iter : int, default=50
        Maximum number of rounds.
    n_estimators : int, default=100
        Number of trees in each forest.
    max_depth : int or None, default=5
        Maximum depth of a tree.
    alpha : float, default=0.05
        Significance level of the tests.
    random_state : int, RandomState or None, default=None
        Seed of the shadows and forests.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The share of rounds with a hit for a selected feature; that share minus 1, so at most 0, for any other.
    hits_ : ndarray of shape (n_features,)
        Number of rounds with a hit.
    status_ : ndarray of str, shape (n_features,)
        "confirmed", "tentative" or "rejected", whatever `tentative` selects.
    n_iter_ : int
        Number of rounds.
    converged_ : bool
        Whether every feature is confirmed or rejected.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Warns
    -----
    ConvergenceWarning
        If features remain tentative after `max_iter` rounds.

    Notes
    -----
    Each round grows a forest on up to twice as many columns as `X` has. Its trees are those that scikit-learn's
    `RandomForestClassifier` grows for the same seed, or for numbers those of its `RandomForestRegressor`. Importance
    is the forest's mean decrease in impurity; the original uses permutation importance, divided by its spread over the
    trees. There are at least five shadows: with fewer
    features, some columns are shuffled more than once. A constant feature never scores a hit.

    References
    ----------
    M. B. Kursa, W. R. Rudnicki, "Feature selection with the Boruta package", Journal of Statistical Software 36(11),
    2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.boruta import Boruta
    >>> X = np.random.default_rng(0).normal(size=(100, 6))
    >>> Boruta(max_iter=20, n_estimators=30, random_state=0).fit(X, X[:, 2] > 0).get_support(indices=True).tolist()
    [2]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "tentative": [StrOptions(set(TREATMENTS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        tentative: str = "exclude",
        max_iter: int = 50,
        n_estimators: int = 100,
        max_depth: int | None = 5,
        alpha: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.tentative = tentative
        self.max_iter = max_iter
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.alpha = alpha
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        random = check_random_state(self.random_state)
        p = X.shape[1]
        table = enlarged(X)
        columns = table if are_numbers(y) else RankedColumns.of(table)
        self.hits_, decision = np.zeros(p, dtype=int), np.zeros(p, dtype=int)
        rounds, best_shadows = [], []
        for number in range(1, self.max_iter + 1):
            importances, shadow = self._round(columns, y, random, np.flatnonzero(decision >= 0))
            rounds.append(importances)
            best_shadows.append(shadow)
            self.hits_ += importances > shadow
            decision = decide(self.hits_, decision, number, self.alpha)
            if decision.all():
                break
        self.n_iter_ = number
        self.status_ = STATUSES[decision]
        undecided = decision == 0
        self.converged_ = not undecided.any()
        if not self.converged_:
            warnings.warn(
                f"Boruta: {np.count_nonzero(undecided)} of {p} features are tentative after {number} rounds; raise "
                "max_iter to decide on them",
                ConvergenceWarning,
                stacklevel=3,
            )
        selected = decision > 0
        if self.tentative == "include":
            selected |= undecided
        elif self.tentative == "median":
            selected |= undecided & (np.median(rounds, axis=0) > np.median(best_shadows))
        share = self.hits_ / self.n_iter_
        # A tentative feature may have scored no hit; if selected, it still ranks above those that are not.
        return np.where(selected, np.maximum(share, 0.5 / self.n_iter_), share - 1.0)

    def _round(
        self,
        columns: Any,
        y: NDArray[Any],
        random: np.random.RandomState,
        running: NDArray[np.intp],
    ) -> tuple[NDArray[np.float64], float]:
        """Return the importances of the features, -1 for those no longer running, and that of the best shadow."""
        sources = np.resize(np.arange(len(running)), max(5, len(running)))
        if are_numbers(y):
            shadows = np.column_stack([random.permutation(columns[:, running[j]]) for j in sources])
            shape = {"n_estimators": self.n_estimators, "max_depth": self.max_depth, "max_features": "sqrt"}
            forest = RandomForestRegressor(**shape, random_state=random.randint(LARGEST_SEED))
            measured = forest.fit(np.hstack([columns[:, running], shadows]), y).feature_importances_
        else:
            both = columns[running].with_shadows(sources, random)
            seed = random.randint(LARGEST_SEED)
            measured = forest_importances(both, y, self.n_estimators, self.max_depth, seed)
        importances = np.full(self.n_features_in_, -1.0)
        importances[running] = measured[: len(running)]
        return importances, float(measured[len(running) :].max())


def decide(hits: NDArray[np.intp], decision: NDArray[np.intp], rounds: int, alpha: float) -> NDArray[np.intp]:
    """Return the decisions after a round: earlier decisions stand, and undecided features are tested.

    Parameters
    ----------
    hits : ndarray of shape (n_features,)
        Number of rounds in which each feature beat the best shadow.
    decision : ndarray of shape (n_features,)
        1 for confirmed, -1 for rejected, 0 for undecided.
    rounds : int
        Number of rounds so far.
    alpha : float
        Significance level; this function divides it by the number of features.

    Returns
    -------
    decision : ndarray of shape (n_features,)
        Coded like the input.
    """
    level = alpha / len(hits)
    many = binom.sf(hits - 1, rounds, 0.5) < level
    few = binom.cdf(hits, rounds, 0.5) < level
    return np.where(decision != 0, decision, many.astype(int) - few)
