"""Model-X knockoffs: selection with a bound on the false discovery rate."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mfbench_controlled._gaussian import CONSTRUCTIONS, differences, draw
from mfbench_learners.selectors import NumberSelector, are_numbers, fitted, responses_of, standardised

Floats = NDArray[np.float64]
_FOLDS = 5


class Knockoffs(NumberSelector):
    r"""Select features that beat their knockoff: a copy that is as correlated with the others, but independent of y.

    Features, standardised, are taken for Gaussian with the shrunken correlation :math:`\Sigma` of the data. Knockoffs
    have covariance :math:`\Sigma`, and with the features :math:`\Sigma - \mathrm{diag}(s)`. A statistic weighs all
    features and knockoffs together, :math:`W_j = Z_j - \tilde Z_j`, and a feature is selected if :math:`W_j \ge T`,

    .. math:: T = \min \{t > 0 : (c + \#\{j : W_j \le -t\}) / \max(1, \#\{j : W_j \ge t\}) \le q\}.

    If the features are Gaussian with this correlation, the expected share of irrelevant features among the selected is
    at most *q*, whatever the distribution of y.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, those of the largest *W* first; None keeps the selected features,
        and the promise with them.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    q : float, default=0.1
        Largest false discovery rate. At least 1/q features must be selected, or none are.
    construction : {"minimum-correlation", "equicorrelated"}, default="minimum-correlation"
        How *s* is chosen: features and their knockoffs as little correlated as possible on average, or all alike.
    statistic : {"lasso", "forest", "margin"} or estimator, default="lasso"
        *Z*: absolute coefficients of a lasso whose penalty is chosen by 5-fold cross-validation, summed over classes;
        decrease of the impurity in 200 trees; for classes, the mean distance to the nearest misses minus that to the
        nearest hits; or the `feature_importances_` of an estimator, or else its largest absolute `coef_`.
    offset : {0, 1}, default=1
        *c*. With 0 the modified rate E(V / (R + 1/q)) is bounded instead, for V false among R selected features.
    random_state : int, RandomState or None, default=None
        Seed of knockoffs, folds and trees, and of `statistic` if it has one.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        *W* minus a number just below *T*: positive if selected.
    statistics_ : ndarray of shape (n_features,)
        *W*; a constant column has 0.
    threshold_ : float
        *T*; infinite if no feature can be selected.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, there are fewer than five samples, a parameter is out of
        range, or "margin" is asked for numbers or without two samples in a class.

    Notes
    -----
    Takes O(n p² + p³) time for the knockoffs, some fifty times p³ for "minimum-correlation", which Newton's method on a
    barrier finds; memory is O(n p + p²).

    References
    ----------
    E. Candès, Y. Fan, L. Janson, J. Lv, "Panning for gold: model-X knockoffs for high dimensional controlled variable
    selection", Journal of the Royal Statistical Society B 80(3), 2018.

    R. F. Barber, E. J. Candès, "Controlling the false discovery rate via knockoffs", Annals of Statistics 43(5), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_controlled.knockoffs import Knockoffs
    >>> X = np.random.default_rng(0).normal(size=(300, 30))
    >>> y = X[:, :12].sum(axis=1) + np.random.default_rng(1).normal(size=300)
    >>> Knockoffs(q=0.2, random_state=0).fit(X, y).get_support(indices=True)[:12].tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "q": [Interval(Real, 0, 1, closed="neither")],
        "construction": [StrOptions(set(CONSTRUCTIONS))],
        "statistic": [StrOptions({"lasso", "forest", "margin"}), HasMethods(["fit"])],
        "offset": [Interval(Integral, 0, 1, closed="both")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        q: float = 0.1,
        construction: str = "minimum-correlation",
        statistic: Any = "lasso",
        offset: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.q = q
        self.construction = construction
        self.statistic = statistic
        self.offset = offset
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if len(X) < _FOLDS:
            raise ValueError(f"Knockoffs needs at least {_FOLDS} samples; n_samples = {len(X)}")
        margin = isinstance(self.statistic, str) and self.statistic == "margin"
        if margin and (are_numbers(y) or np.bincount(y).min() < 2):
            raise ValueError('statistic="margin" needs classes of at least two samples each')
        rng = check_random_state(self.random_state)
        Z, varies = standardised(X)
        self.statistics_ = np.zeros(X.shape[1])
        if varies.any():
            self.statistics_[varies] = self._contrasts(Z, y, rng)
        self.threshold_ = threshold_of(self.statistics_, self.q, self.offset)
        return above(self.statistics_, self.threshold_)

    def _contrasts(self, Z: Floats, y: NDArray[Any], rng: np.random.RandomState) -> Floats:
        correlation = ledoit_wolf(Z, assume_centered=True)[0]
        scale = np.sqrt(np.diag(correlation))
        correlation /= np.outer(scale, scale)
        copies = draw(Z, correlation, differences(correlation, self.construction), rng)
        # Each pair changes places at random, so that no statistic can prefer what comes first.
        changes = rng.random_sample(Z.shape[1]) < 0.5
        both = np.hstack([np.where(changes, copies, Z), np.where(changes, Z, copies)])
        seed = int(rng.randint(2**31))
        if isinstance(self.statistic, str):
            weights = _STATISTICS[self.statistic](both, y, seed)
        else:
            model = fitted(self.statistic, both, y, seed)
            has_importances = hasattr(model, "feature_importances_")
            weights = model.feature_importances_ if has_importances else np.abs(np.atleast_2d(model.coef_)).max(axis=0)
        first, second = np.split(weights, 2)
        return np.asarray(np.where(changes, second - first, first - second))


def threshold_of(contrasts: Floats, q: float, offset: int) -> float:
    """Return the smallest threshold whose estimated false discovery rate is at most q; infinite if there is none."""
    for threshold in np.unique(np.abs(contrasts[contrasts != 0])):
        negative = int(np.count_nonzero(contrasts <= -threshold))
        positive = int(np.count_nonzero(contrasts >= threshold))
        if (offset + negative) / max(1, positive) <= q:
            return float(threshold)
    return float("inf")


def above(scores: Floats, threshold: float) -> Floats:
    """Return scores minus a number just below the threshold: positive if they reach it, in the same order."""
    if not np.isfinite(threshold):
        return np.asarray(scores - (scores.max(initial=0.0) + 1.0))
    below = scores[scores < threshold]
    return np.asarray(scores - (threshold + below.max(initial=min(0.0, threshold - 1.0))) / 2)


def _lasso(Z: Floats, y: NDArray[Any], seed: int) -> Floats:
    total = np.zeros(Z.shape[1])
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # At the weakest penalties the solver may stop early; they are hardly ever selected.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for response in responses_of(y).T:
            total += np.abs(LassoCV(cv=folds, random_state=seed).fit(Z, response).coef_)
    return total


def _forest(Z: Floats, y: NDArray[Any], seed: int) -> Floats:
    kind = RandomForestRegressor if are_numbers(y) else RandomForestClassifier
    model = kind(n_estimators=200, max_features="sqrt", random_state=seed, n_jobs=1)
    return np.asarray(model.fit(Z, y).feature_importances_)


def _margin(Z: Floats, y: NDArray[Any], seed: int) -> Floats:
    """Return the mean distance to the five nearest misses minus that to the five nearest hits, feature by feature."""
    weights = np.zeros(Z.shape[1])
    for k in range(int(y.max()) + 1):
        own, others = Z[y == k], Z[y != k]
        for rows, sign, skipped in ((own, -1.0, 1), (others, 1.0, 0)):
            count = min(5, len(rows) - skipped)
            near = NearestNeighbors(n_neighbors=count + skipped, metric="manhattan").fit(rows)
            places = near.kneighbors(own, return_distance=False)[:, skipped:]
            for rank in range(count):
                weights += sign * np.abs(own - rows[places[:, rank]]).sum(axis=0) / count
    return weights / len(Z)


_STATISTICS: dict[str, Callable[[Floats, NDArray[Any], int], Floats]] = {
    "lasso": _lasso,
    "forest": _forest,
    "margin": _margin,
}
