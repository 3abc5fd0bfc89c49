"""Boosting of packages that are not installed with this one; each is imported when a model is fitted."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.utils import check_random_state

from mfbench_baselines._classifier import ModelClassifier, pair_matrix


class _Boosting(ModelClassifier):
    """A model that needs a column that varies; of none, the classes' shares are the probabilities."""

    random_state: Any

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        with np.errstate(over="ignore", under="ignore"):
            single = X.astype(np.float32)  # as CatBoost sees it
        varies = bool((single != single[0]).any())
        self.model_ = (self._make_model() if varies else DummyClassifier(strategy="prior")).fit(X, codes)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column, as a share of 1."""
        weights = np.zeros(self.n_features_in_)
        if not isinstance(self.model_, DummyClassifier):
            weights = np.asarray(self._model_importances(), dtype=np.float64)
        return np.asarray(weights / max(weights.sum(), np.finfo(np.float64).tiny))

    @abstractmethod
    def _model_importances(self) -> NDArray[np.floating]:
        """Return the importances of the fitted model."""

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


class LightGBM(_Boosting):
    """LightGBM's gradient-boosted trees, which grow by the leaf of the largest gain [1]_.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds of boosting; each grows one tree per class (one in all for two classes).
    num_leaves : int, default=31
        Maximum number of leaves of a tree.
    learning_rate : float, default=0.1
        Shrinkage of each tree.
    min_child_samples : int, default=20
        Minimum number of samples in a leaf.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_importances_ : ndarray of shape (n_features,)
        Sum of the gains of the splits on each column, as a share of 1.
    model_ : lightgbm.LGBMClassifier
        The trained model.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Needs the package ``lightgbm``. O(n_samples · n_features) per level of a tree, on histograms of 255 bins.

    References
    ----------
    .. [1] G. Ke et al., "LightGBM: A highly efficient gradient boosting decision tree", NIPS 30, 2017.

    Examples
    --------
    >>> from mfbench_baselines.boosting import LightGBM
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 20, ["low", "low", "high", "high"] * 20
    >>> LightGBM(random_state=0).fit(X, y).predict([[0.2], [2.8]]).tolist()  # doctest: +SKIP
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        num_leaves: int = 31,
        learning_rate: float = 0.1,
        min_child_samples: int = 20,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.min_child_samples = min_child_samples
        self.random_state = random_state

    def _make_model(self) -> BaseEstimator:
        from lightgbm import LGBMClassifier

        fixed = {"n_jobs": 1, "verbose": -1, "importance_type": "gain", "deterministic": True}
        return LGBMClassifier(**fixed, **{**self.get_params(), "random_state": self._seed()})

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.floating]:
        if isinstance(self.model_, DummyClassifier):
            return super()._probabilities(X)
        # The booster itself does not warn that an array has no names.
        second = np.asarray(self.model_.booster_.predict(X))
        return second if second.ndim == 2 else np.column_stack([1.0 - second, second])

    def _model_importances(self) -> NDArray[np.floating]:
        return np.asarray(self.model_.feature_importances_)


class CatBoost(_Boosting):
    """CatBoost's ordered boosting of symmetric trees [1]_.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds of boosting.
    depth : int, default=6
        Depth of a tree; all nodes of one depth have the same split.
    learning_rate : float, default=0.1
        Shrinkage of each tree.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_importances_ : ndarray of shape (n_features,)
        How much the output changes with each column, as a share of 1.
    model_ : catboost.CatBoostClassifier
        The trained model.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Needs the package ``catboost``. O(n_samples · n_features · depth) per round.

    References
    ----------
    .. [1] L. Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", NeurIPS 31, 2018.

    Examples
    --------
    >>> from mfbench_baselines.boosting import CatBoost
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 20, ["low", "low", "high", "high"] * 20
    >>> CatBoost(n_estimators=50, random_state=0).fit(X, y).predict([[0.2], [2.8]]).tolist()  # doctest: +SKIP
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        n_estimators: int = 300,
        depth: int = 6,
        learning_rate: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.depth = depth
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _make_model(self) -> BaseEstimator:
        from catboost import CatBoostClassifier

        fixed = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
        model: BaseEstimator = CatBoostClassifier(**fixed, **{**self.get_params(), "random_state": self._seed()})
        return model

    def _model_importances(self) -> NDArray[np.floating]:
        return np.asarray(self.model_.feature_importances_)


class ExplainableBoosting(_Boosting):
    """Explainable boosting machine: a sum of functions of single columns and of the strongest pairs [1]_.

    Parameters
    ----------
    n_pairs : int, default=10
        Number of pairs in the model; with more than two classes there are none.
    outer_bags : int, default=8
        Number of models on random parts of the samples, which are averaged.
    max_rounds : int, default=5000
        Maximum number of rounds over the columns.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_importances_ : ndarray of shape (n_features,)
        Mean absolute contribution of each column to the output, with that of its pairs, as a share of 1.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Mean absolute contribution of each pair, 0 for pairs outside the model; symmetric, 0 on the diagonal.
    model_ : interpret.glassbox.ExplainableBoostingClassifier
        The trained model.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Needs the package ``interpret-core``. Takes O(n_samples · n_features) per round, and O(n_samples · n_features²) to
    choose the pairs.

    References
    ----------
    .. [1] Y. Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise interactions", KDD
       2013.

    Examples
    --------
    >>> from mfbench_baselines.boosting import ExplainableBoosting
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 20, ["low", "low", "high", "high"] * 20
    >>> model = ExplainableBoosting(outer_bags=2, random_state=0)
    >>> model.fit(X, y).predict([[0.2], [2.8]]).tolist()  # doctest: +SKIP
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        n_pairs: int = 10,
        outer_bags: int = 8,
        max_rounds: int = 5000,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_pairs = n_pairs
        self.outer_bags = outer_bags
        self.max_rounds = max_rounds
        self.random_state = random_state

    def _make_model(self) -> BaseEstimator:
        from interpret.glassbox import ExplainableBoostingClassifier

        model: BaseEstimator = ExplainableBoostingClassifier(
            interactions=self.n_pairs if len(self.classes_) == 2 else 0,
            outer_bags=self.outer_bags,
            max_rounds=self.max_rounds,
            random_state=self._seed(),
            n_jobs=1,
        )
        return model

    def _terms(self) -> list[tuple[tuple[int, ...], float]]:
        """Return the columns of each term, and its mean absolute contribution."""
        if isinstance(self.model_, DummyClassifier):
            return []
        return list(zip(self.model_.term_features_, map(float, self.model_.term_importances()), strict=True))

    def _model_importances(self) -> NDArray[np.floating]:
        weights = np.zeros(self.n_features_in_)
        for columns, size in self._terms():
            weights[list(columns)] += size
        return weights

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """Mean absolute contribution of each pair, 0 for pairs outside the model; symmetric, 0 on the diagonal."""
        return pair_matrix(self, {columns: size for columns, size in self._terms() if len(columns) == 2})
