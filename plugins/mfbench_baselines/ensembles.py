"""Tree ensembles as feature selectors, for class labels and numeric targets."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import check_random_state

from mfbench_baselines._forest import enlarged
from mfbench_learners.selectors import NumberSelector, are_numbers


class _EnsembleSelector(NumberSelector):
    """A selector whose importances are those of an ensemble fitted to all columns."""

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        self.model_ = self._model(numbers=are_numbers(y)).fit(X, y)
        return np.asarray(self.model_.feature_importances_, dtype=np.float64)

    @abstractmethod
    def _model(self, *, numbers: bool) -> Any:
        """Return the ensemble for classes, or for numbers."""


class RandomForestSelector(_EnsembleSelector):
    r"""Mean decrease in impurity over the trees of a random forest.

    The importance of a column is its share of the total decrease in impurity (Gini impurity for classes, variance for
    numbers), averaged over trees. In a deep forest nearly every column has a positive share, so this ranks columns
    rather than selecting them.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_estimators : int, default=300
        Number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Columns considered for each split: a number or a share; None considers all.
    min_samples_leaf : int, default=1
        Minimum number of samples in a leaf.
    n_jobs : int, default=1
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of the forest.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Shares of 1; all 0 if no tree has a split.
    model_ : sklearn.ensemble.RandomForestClassifier or RandomForestRegressor
        The forest; the latter for a target of type "continuous". It is fitted to columns in larger units where their
        range is below 1e-3: its trees do not see differences of 1e-7.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If there are fewer than two classes.

    Notes
    -----
    Takes O(n_estimators · max_features · n_samples · log² n_samples) time. Columns with many
    distinct values are favoured.

    References
    ----------
    L. Breiman, "Random forests", Machine Learning 45(1), 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.ensembles import RandomForestSelector
    >>> forest = RandomForestSelector(n_features_to_select=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> forest.get_support(indices=True).tolist()
    [2, 3]
    """

    _takes_sparse = True

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_estimators: int = 300,
        max_features: str | int | float | None = "sqrt",
        min_samples_leaf: int = 1,
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        return super()._importances(enlarged(X), y)

    def _model(self, *, numbers: bool) -> Any:
        return (RandomForestRegressor if numbers else RandomForestClassifier)(
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )


class XGBoostSelector(_EnsembleSelector):
    r"""Mean gain of the splits on each column in gradient-boosted trees, or mean contribution to their output.

    A column that no tree splits on gets 0, so this selects columns as well as ranking them; fewer and shallower trees
    keep fewer columns.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those of positive importance.
    target : {"auto", "classes", "numbers"}, default="auto"
        What y holds; "auto" takes y for numbers if any of them is not whole.
    n_estimators : int, default=100
        Number of trees (per class, if there are more than two).
    max_depth : int, default=3
        Maximum depth of a tree.
    learning_rate : float, default=0.3
        Shrinkage of each tree.
    importance : {"gain", "shap"}, default="gain"
        Mean gain over the splits on a column, or the mean over the training rows of the absolute Shapley value of the
        column, summed over classes: XGBoost computes it exactly for trees, given the rows that reach each leaf.
    n_jobs : int, default=1
        Threads.
    random_state : int, RandomState or None, default=None
        Seed passed to XGBoost; with these parameters nothing is random.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Shares of 1; all 0 if no tree has a split.
    model_ : xgboost.XGBClassifier or xgboost.XGBRegressor
        The trees; the latter for a target of type "continuous".
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If there are fewer than two classes, or `importance` is neither of the two.

    Notes
    -----
    Takes O(n_estimators · n_samples · n_features · max_depth) time, using histograms of at most 256 bins per column,
    and for Shapley values O(n_estimators · n_samples · 2^max_depth · max_depth²) more.

    References
    ----------
    T. Chen, C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    S. M. Lundberg et al., "From local explanations to global understanding with explainable AI for trees", Nature
    Machine Intelligence 2, 2020 (Shapley values).

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.ensembles import XGBoostSelector
    >>> X = np.random.default_rng(0).random((200, 4))
    >>> trees = XGBoostSelector(n_features_to_select=1, random_state=0).fit(X, 3 * X[:, 1])
    >>> trees.get_support(indices=True).tolist()
    [1]
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        target: str = "auto",
        n_estimators: int = 100,
        max_depth: int = 3,
        learning_rate: float = 0.3,
        importance: str = "gain",
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.target = target
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.importance = importance
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if self.importance not in ("gain", "shap"):
            raise ValueError(f"importance must be 'gain' or 'shap'; got {self.importance!r}")
        gains = super()._importances(X, y)
        if self.importance == "gain":
            return gains
        from xgboost import DMatrix

        values = self.model_.get_booster().predict(DMatrix(X), pred_contribs=True)
        # Of each class, the last contribution is the mean of the output.
        sizes = np.abs(values.reshape(len(X), -1, X.shape[1] + 1)[:, :, :-1]).sum(axis=1).mean(axis=0, dtype=np.float64)
        return np.asarray(sizes / max(sizes.sum(), np.finfo(np.float64).tiny))

    def _model(self, *, numbers: bool) -> Any:
        from xgboost import XGBClassifier, XGBRegressor

        return (XGBRegressor if numbers else XGBClassifier)(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            n_jobs=self.n_jobs,
            random_state=int(check_random_state(self.random_state).randint(2**31)),
        )
