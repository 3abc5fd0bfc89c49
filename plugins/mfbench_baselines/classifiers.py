"""Thin wrappers of other packages' classifiers: lasso and support vector machine by liblinear, and XGBoost."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mfbench_baselines._classifier import ModelClassifier, pair_matrix
from mfbench_learners.estimators import ImportanceSelectorMixin

LARGEST = 1e75


class LassoClassifier(ImportanceSelectorMixin, ModelClassifier):
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


class LinearSVM(LinearSVC):
    r"""scikit-learn's `LinearSVC`, but values whose squares overflow are an error.

    liblinear does not return from such values: every step of its Newton solver is then infinite. Everything else,
    parameters and attributes included, is as in `sklearn.svm.LinearSVC`.

    Raises
    ------
    ValueError
        By `fit`, if a value of X is larger than :math:`10^{75}` in magnitude.

    Notes
    -----
    O(n_samples · n_features) per step of the solver. R.-E. Fan et al., LIBLINEAR: A library for large linear
    classification, Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> LinearSVM(dual=False).fit(np.array([[0.0], [1.0]]), [0, 1]).predict([[0.9]])
    array([1])
    >>> LinearSVM().fit(np.array([[0.0], [1e150]]), [0, 1])
    Traceback (most recent call last):
    ...
    ValueError: X has values up to 1e+150, whose squares overflow: scale the features first
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine; see `sklearn.svm.LinearSVC.fit`."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False)
        largest = float(abs(X).max())
        if largest > LARGEST:
            raise ValueError(f"X has values up to {largest:.3g}, whose squares overflow: scale the features first")
        super().fit(X, y, sample_weight)
        return self


class XGBoostPairs(XGBoostClassifier):
    """XGBoost, with the gain that its trees owe to each pair of features.

    If a split on one feature directly follows a split on another feature and has the larger gain, that gain is added to
    the pair: the first split made the second worthwhile. A split with a smaller gain counts for no pair, since features
    that act independently also follow each other in trees, the weaker after the stronger.

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
        Strength of the L2 penalty on leaf values.
    n_jobs : int, default=1
        Threads.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    interaction_importances_ : ndarray of shape (n_features, n_features)
        Gains of pairs, as shares of the gain of all splits; symmetric, 0 on the diagonal. Not available with more than
        5000 features, because of its size.
    classes_, feature_importances_, model_, n_features_in_, feature_names_in_
        As in `XGBoostClassifier`.

    See Also
    --------
    mfbench_baselines.classifiers.XGBoostClassifier : The same trees, without the pairs.

    Notes
    -----
    Reading the trees takes time proportional to their size. A share does not measure significance: without any
    interaction, shares are small but not 0.

    References
    ----------
    T. Chen, C. Guestrin, "XGBoost: A scalable tree boosting system", KDD 2016.

    S. Karbowiak, P. Biecek, "EIX: Explain interactions in XGBoost", R package, 2018, where such pairs are called
    interactions.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.classifiers import XGBoostPairs
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> pairs = XGBoostPairs(n_estimators=30, random_state=0).fit(X, X[:, 0] * X[:, 2] > 0).interaction_importances_
    >>> [int(j) for j in np.unravel_index(pairs.argmax(), pairs.shape)]
    [0, 2]
    """

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        super()._fit_codes(X, codes)
        trees = self.model_.get_booster().get_dump(dump_format="json", with_stats=True)
        self._pair_gains = pair_gains([json.loads(tree) for tree in trees])

    @property
    def interaction_importances_(self) -> NDArray[np.float64]:
        """Gains of pairs, as shares of the gain of all splits, of shape (n_features, n_features)."""
        return pair_matrix(self, self._pair_gains)


def pair_gains(trees: list[Mapping[str, Any]]) -> dict[tuple[int, int], float]:
    """Return the gain of each pair of features as a share of the gain of all splits.

    Parameters
    ----------
    trees : list of mapping
        XGBoost's trees from its JSON dump with statistics; features are named f0, f1, ….

    Returns
    -------
    gains : dict from (int, int) to float
        The smaller index of each pair comes first.
    """
    total = 0.0
    gains: defaultdict[tuple[int, int], float] = defaultdict(float)
    for tree in trees:
        for split, parent in _splits(tree):
            total += split["gain"]
            if parent is None or parent["split"] == split["split"] or split["gain"] <= parent["gain"]:
                continue
            first, second = sorted(int(node["split"].removeprefix("f")) for node in (split, parent))
            gains[first, second] += split["gain"]
    return {pair: gain / total for pair, gain in gains.items()} if total > 0 else {}


def _splits(tree: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """Yield each split of a tree with the split above it."""
    waiting: list[tuple[Mapping[str, Any], Mapping[str, Any] | None]] = [(tree, None)]
    while waiting:
        node, parent = waiting.pop()
        if "children" in node:
            yield node, parent
            waiting.extend((child, node) for child in node["children"])
