"""Importance on held-out rows: what a model loses without a feature, or with its values in random order."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mfbench_learners.selectors import NumberSelector, are_numbers, fitted

Floats = NDArray[np.float64]


class HeldOutImportance(NumberSelector):
    r"""Importance of a feature as the loss on held-out rows that its absence or its permutation adds, with an interval.

    The rows are split into `n_folds` parts. A model is fitted to all parts but one, and the loss :math:`\ell_i` of each
    row of that part is compared with its loss :math:`\ell_i^{(j)}` without feature *j*: by a model fitted without it
    (leave one covariate out), or by the same model with the values of *j* in random order within the part
    (permutation). With the mean :math:`\bar \Delta_j` and the standard deviation :math:`s_j` of
    :math:`\ell_i^{(j)} - \ell_i` over the *n* rows, the importance is the lower end of a one-sided interval,

    .. math:: \bar \Delta_j - z_{1 - \alpha} \, s_j / \sqrt n.

    The loss is the squared error; for classes, that of the predicted probabilities (Brier's score).

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    kind : {"permutation", "leave-one-out"}, default="permutation"
        How a feature is taken away.
    model : estimator or None, default=None
        Classifier with ``predict_proba``, or regressor; None: a random forest.
    n_estimators : int, default=100
        Number of trees of that forest.
    n_folds : int, default=5
        At least 2.
    n_repeats : int, default=5
        Number of permutations whose losses are averaged; "permutation" alone has them.
    level : float, default=0.05
        :math:`\alpha`.
    random_state : int, RandomState or None, default=None
        Seed of folds, permutations, and the model if it has one.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        The lower ends; positive if the feature is needed at that level.
    means_ : ndarray of shape (n_features,)
        :math:`\bar \Delta_j`.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, there are fewer than two classes, fewer samples than folds, no class with a sample
        for each fold, or a parameter is out of range.

    Notes
    -----
    "permutation" takes `n_folds` fits and `n_folds` · `n_repeats` · p predictions, "leave-one-out" `n_folds` · (p + 1)
    fits. Of two equal features neither is needed, so "leave-one-out" selects none of them. Models of different folds
    share rows, which the interval ignores: it describes these models rather than new ones. A model that uses an
    irrelevant feature a little loses a little by its permutation, so that more than a share :math:`\alpha` of
    irrelevant features may be selected.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45(1), 2001 (permutation).

    J. Lei, M. G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman, "Distribution-free predictive inference for
    regression", Journal of the American Statistical Association 113(523), 2018 (leave one covariate out).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from mfbench_controlled.held_out import HeldOutImportance
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> y = X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=200)
    >>> int(HeldOutImportance(model=Ridge(), random_state=0).fit(X, y).feature_importances_.argmax())
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumberSelector._parameter_constraints,
        "kind": [StrOptions({"permutation", "leave-one-out"})],
        "model": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "level": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        kind: str = "permutation",
        model: Any = None,
        n_estimators: int = 100,
        n_folds: int = 5,
        n_repeats: int = 5,
        level: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.kind = kind
        self.model = model
        self.n_estimators = n_estimators
        self.n_folds = n_folds
        self.n_repeats = n_repeats
        self.level = level
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        smallest = len(y)
        if not are_numbers(y):
            self._check_classes(y)
            smallest = int(np.bincount(y).max())
        if smallest < self.n_folds:
            raise ValueError(f"HeldOutImportance needs as many samples as folds ({self.n_folds}); got {smallest}")
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31))
        splitter = (KFold if are_numbers(y) else StratifiedKFold)(self.n_folds, shuffle=True, random_state=seed)
        added = np.zeros(X.shape)
        for train, test in _quiet_splits(splitter, X, y):
            added[test] = self._added_losses(X, y, train, test, rng, seed)
        self.means_ = added.mean(axis=0)
        errors = added.std(axis=0, ddof=1) / np.sqrt(len(X))
        return np.asarray(self.means_ - float(ndtri(1.0 - self.level)) * errors)

    def _added_losses(
        self,
        X: Floats,
        y: NDArray[Any],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        rng: np.random.RandomState,
        seed: int,
    ) -> Floats:
        """Return the loss that is added without each feature, on each held-out row."""
        rows, targets = X[test], y[test]
        whole = self._fitted(X[train], y[train], seed)
        before = _losses(whole, rows, targets)
        added = np.zeros(rows.shape)
        for j in np.flatnonzero(np.ptp(X, axis=0) > 0):  # a constant column adds nothing
            if X.shape[1] > 1 and self.kind == "leave-one-out":
                others = np.delete(np.arange(X.shape[1]), j)
                reduced = self._fitted(X[np.ix_(train, others)], y[train], seed)
                added[:, j] = _losses(reduced, rows[:, others], targets) - before
            elif np.ptp(rows[:, j]) > 0:
                # All permutations are predicted at once.
                changed = np.tile(rows, (self.n_repeats, 1))
                changed[:, j] = np.concatenate([rng.permutation(rows[:, j]) for _ in range(self.n_repeats)])
                losses = _losses(whole, changed, np.tile(targets, self.n_repeats))
                added[:, j] = losses.reshape(self.n_repeats, -1).mean(axis=0) - before
        return added

    def _fitted(self, X: Floats, y: NDArray[Any], seed: int) -> Any:
        if self.model is not None:
            return fitted(self.model, X, y, seed)
        kind = RandomForestRegressor if are_numbers(y) else RandomForestClassifier
        return kind(n_estimators=self.n_estimators, random_state=seed, n_jobs=1).fit(X, y)


def _losses(model: Any, rows: Floats, targets: NDArray[Any]) -> Floats:
    if are_numbers(targets):
        return np.asarray((model.predict(rows) - targets) ** 2)
    probabilities = model.predict_proba(rows)
    # A class that the training rows lack has probability 0.
    truth = targets[:, None] == np.asarray(model.classes_)
    return np.asarray(((probabilities - truth) ** 2).sum(axis=1) + ~truth.any(axis=1))


def _quiet_splits(splitter: Any, X: Floats, y: NDArray[Any]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the folds, also if a class has fewer rows than there are folds."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(X, y))
