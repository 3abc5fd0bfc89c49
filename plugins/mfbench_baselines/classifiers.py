"""Thin wrappers of other packages' classifiers: the lasso by liblinear, and XGBoost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils import check_random_state

from mfbench_baselines._classifier import ModelClassifier, SelectingMixin


class LassoClassifier(SelectingMixin, ModelClassifier):
    r"""Logistic regression with an L1 penalty, one against the rest.

    For each class (for the second one only, if there are two) it minimises

    .. math::
        \lVert w \rVert_1 + |b| / s + C \sum_i \log(1 + e^{-t_i (w^\top x_i + b)}),

    where :math:`t_i = \pm 1` states whether sample *i* is of that class and *s* is `intercept_scaling`. Many weights
    become exactly 0, so this selects features while it learns.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty: the smaller, the fewer features.
    tol : float, default=1e-4
        Relative accuracy at which the solver stops.
    max_iter : int, default=1000
        Maximum number of iterations of the solver per class.
    intercept_scaling : float, default=10.0
        Factor by which the intercept is penalised less than a weight; the solver cannot exempt it from the penalty.
    random_state : int, RandomState or None, default=None
        Seed of the order in which the solver visits the coordinates.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights: one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    feature_importances_ : ndarray of shape (n_features,)
        The largest absolute weight over the classes; 0 for a feature that is not used.
    n_iter_ : int
        Iterations of the solver, for the class that needed most.
    model_ : sklearn.multiclass.OneVsRestClassifier
        The trained models.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Uses coordinate descent (liblinear), O(n_samples · n_features) per sweep and class. For a multinomial model
    scikit-learn offers only "saga", which on standardised breast cancer data with C = 1 has not converged after 3000
    sweeps, whereas liblinear takes milliseconds. Columns should share a scale, since the penalty treats them alike.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B
    58(1), 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mfbench_baselines.classifiers import LassoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> lasso = LassoClassifier(C=0.1, random_state=0).fit(X, y)
    >>> lasso.coef_.shape
    (3, 4)
    >>> bool((lasso.coef_ == 0).any())
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1000,
        intercept_scaling: float = 10.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state

    def _make_model(self) -> OneVsRestClassifier:
        # scikit-learn 1.8 deprecated `penalty` in favour of `l1_ratio`, which older versions ignore with a warning.
        by_ratio = getattr(LogisticRegression(), "penalty", "deprecated") == "deprecated"
        binary = LogisticRegression(
            **({"l1_ratio": 1.0} if by_ratio else {"penalty": "l1"}),
            solver="liblinear",
            C=self.C,
            tol=self.tol,
            max_iter=self.max_iter,
            intercept_scaling=self.intercept_scaling,
            random_state=self.random_state,
        )
        return OneVsRestClassifier(binary, n_jobs=1)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of shape (1, n_features) for two classes, otherwise (n_classes, n_features)."""
        return np.vstack([binary.coef_ for binary in self.model_.estimators_])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts of shape (1,) for two classes, otherwise (n_classes,)."""
        return np.concatenate([binary.intercept_ for binary in self.model_.estimators_])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The largest absolute weight of each feature over the classes."""
        return np.asarray(np.abs(self.coef_).max(axis=0))

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver, for the class that needed most."""
        return int(max(binary.n_iter_.max() for binary in self.model_.estimators_))


class XGBoostClassifier(ModelClassifier):
    r"""XGBoost's gradient-boosted trees, for labels of any type.

    Adds trees :math:`f_t` one after another, each minimising a second-order expansion of

    .. math::
        \sum_i \ell(y_i, \hat y_i + f_t(x_i)) + \tfrac12 \lambda \lVert w_t \rVert^2,

    with the log loss :math:`\ell` and leaf values :math:`w_t`, scaled by `learning_rate`. ``xgboost.XGBClassifier``
    requires codes 0 … n_classes - 1 without gaps, so it fails on a fold that lacks a class; this wrapper encodes the
    labels.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds of boosting; each grows one tree per class (one in all for two classes).
    max_depth : int, default=6
        Maximum depth of a tree.
    learning_rate : float, default=0.3
        Shrinkage of each tree.
    min_child_weight : float, default=1.0
        Minimum sum of second derivatives in a leaf.
    subsample : float, default=1.0
        Share of the samples that each round uses, at random.
    colsample_bytree : float, default=1.0
        Share of the columns that each tree uses, at random.
    reg_lambda : float, default=1.0
        Strength λ of the L2 penalty on leaf values.
    n_jobs : int, default=1
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    feature_importances_ : ndarray of shape (n_features,)
        Mean gain of the splits on each column, as shares of 1.
    model_ : xgboost.XGBClassifier
        The trained model.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Uses histograms of at most 256 bins per column: O(n_samples · n_features · max_depth) per tree. XGBoost stores
    single precision, so it cannot distinguish values whose relative difference is below 1e-7.

    References
    ----------
    T. Chen, C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> from mfbench_baselines.classifiers import XGBoostClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 5, ["low", "low", "high", "high"] * 5
    >>> XGBoostClassifier(n_estimators=10, random_state=0).fit(X, y).predict([[0.2], [2.8]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.3,
        min_child_weight: float = 1.0,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        reg_lambda: float = 1.0,
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.min_child_weight = min_child_weight
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_lambda = reg_lambda
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_model(self) -> BaseEstimator:
        # Imported here, so that the lasso works where XGBoost's shared library does not load.
        from xgboost import XGBClassifier

        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return XGBClassifier(tree_method="hist", **{**self.get_params(), "random_state": seed})

    @property
    def feature_importances_(self) -> NDArray[np.float32]:
        """Mean gain of the splits on each column, as shares of 1."""
        return np.asarray(self.model_.feature_importances_)
