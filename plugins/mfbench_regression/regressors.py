"""Regressors whose parameters refer to a target of mean 0 and variance 1, to which they scale it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import linear_model, svm
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

MOST_ROWS = 2_000
"""Training rows up to which a Gaussian process is fitted: it takes O(n²) memory and O(n³) time."""
_STEPS = 10_000  # of a solver, at most
_LARGEST = 1e75  # liblinear computes fourth powers, and does not end if they are infinite


class _OnScaledTarget(RegressorMixin, BaseEstimator, ABC):
    """A regressor that fits a model of `_model` to the target minus its mean, divided by its standard deviation."""

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self._validate_params()
        table, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, table, dtype=np.float64)
        self.mean_ = float(np.average(target, weights=weights))
        variance = float(np.average((target - self.mean_) ** 2, weights=weights))
        self.scale_ = variance**0.5 or 1.0
        options = {} if weights is None else {"sample_weight": weights}
        self.model_ = self._model(table).fit(table, (target - self.mean_) / self.scale_, **options)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the predicted numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.mean_ + self.scale_ * self.model_.predict(table))

    @abstractmethod
    def _model(self, X: NDArray[np.float64]) -> Any:
        """Return the model to fit to rows."""


class _Weighted(_OnScaledTarget):
    """A regressor on a scaled target whose rows may have weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, of similar scale in all columns.
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How much each row counts; None for 1 each.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If `X`, `y` or a parameter is invalid.
        """
        return self._fit(X, y, sample_weight)


class _Linear(_Weighted):
    """A linear regressor on a scaled target: its weights are in units of the target."""

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features."""
        check_is_fitted(self)
        return np.asarray(self.scale_ * np.ravel(self.model_.coef_))


class ElasticNet(_Linear):
    """Linear regression with an L1 and an L2 penalty, for a target scaled to unit variance.

    Parameters
    ----------
    alpha : float, default=0.03
        Penalty.
    l1_ratio : float, default=0.5
        Share of the L1 penalty; 1 is the lasso, for which no standardised feature has a weight from ``alpha=1`` on.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    model_ : sklearn.linear_model.ElasticNet
        The model of the scaled target.
    mean_, scale_ : float
        Mean and standard deviation of the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    O(n p) time for each round of coordinate descent.

    References
    ----------
    H. Zou, T. Hastie, "Regularization and variable selection via the elastic net", Journal of the Royal Statistical
    Society B 67(2), 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_regression.regressors import ElasticNet
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> ElasticNet(alpha=0.1).fit(X, X[:, 1]).coef_.nonzero()[0].tolist()
    [1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, alpha: float = 0.03, l1_ratio: float = 0.5) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio

    def _model(self, X: NDArray[np.float64]) -> Any:
        return linear_model.ElasticNet(alpha=self.alpha, l1_ratio=self.l1_ratio, max_iter=_STEPS, random_state=0)


class LinearSVR(_Linear):
    """Linear support vector regression with a squared loss beyond `epsilon`, for a target scaled to unit variance.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularisation.
    epsilon : float, default=0.1
        Errors up to this share of the target's standard deviation cost nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features.
    model_ : sklearn.svm.LinearSVR
        The model of the scaled target.
    mean_, scale_ : float
        Mean and standard deviation of the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    liblinear solves the primal problem: O(n p) time for an iteration.

    References
    ----------
    C.-H. Ho, C.-J. Lin, "Large-scale linear support vector regression", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_regression.regressors import LinearSVR
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> LinearSVR(C=100.0, epsilon=0.01).fit(X, 1e6 * X[:, 1]).score(X, 1e6 * X[:, 1]) > 0.99
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, C: float = 1.0, epsilon: float = 0.1) -> None:
        self.C = C
        self.epsilon = epsilon

    def _model(self, X: NDArray[np.float64]) -> Any:
        if (size := float(np.abs(X).max())) > _LARGEST:
            raise ValueError(f"LinearSVR takes values up to {_LARGEST:g}, and X has {size:g}: scale the columns")
        how = {"loss": "squared_epsilon_insensitive", "dual": False, "max_iter": _STEPS, "random_state": 0}
        return svm.LinearSVR(C=self.C, epsilon=self.epsilon, **how)


class SVR(_Weighted):
    """Support vector regression with a Gaussian kernel, for a target scaled to unit variance.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularisation.
    epsilon : float, default=0.1
        Errors up to this share of the target's standard deviation cost nothing.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel.

    Attributes
    ----------
    model_ : sklearn.svm.SVR
        The model of the scaled target.
    mean_, scale_ : float
        Mean and standard deviation of the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Between O(n² p) and O(n³ p) time.

    References
    ----------
    H. Drucker, C. J. C. Burges, L. Kaufman, A. Smola, V. Vapnik, "Support vector regression machines", NIPS 9, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_regression.regressors import SVR
    >>> X = np.linspace(0.0, 3.0, 60)[:, None]
    >>> (SVR(C=10.0).fit(X, 1e6 * np.sin(X[:, 0])).predict([[1.5]]) / 1e6).round(1).tolist()
    [1.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, C: float = 1.0, epsilon: float = 0.1, gamma: str | float = "scale") -> None:
        self.C = C
        self.epsilon = epsilon
        self.gamma = gamma

    def _model(self, X: NDArray[np.float64]) -> Any:
        model = svm.SVR(C=self.C, epsilon=self.epsilon, gamma=self.gamma)
        model.random_state = 0  # libsvm needs no random numbers here, but a seed is drawn if there is none
        return model


class GaussianProcess(_OnScaledTarget):
    """Gaussian process with a Gaussian kernel and noise, whose parameters maximise the marginal likelihood.

    Parameters
    ----------
    length_scale : float, default=1.0
        Length scale of the kernel from which the search starts, times the square root of the number of features.
    noise : float, default=0.1
        Variance of the noise from which the search starts, as a share of the target's.

    Attributes
    ----------
    model_ : sklearn.gaussian_process.GaussianProcessRegressor
        The fitted process.
    mean_, scale_ : float
        Mean and standard deviation of the target.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If there are more than 2,000 rows, or `X` or `y` is malformed.

    Notes
    -----
    O(n³) time for each of some dozens of steps, and O(n²) memory.

    References
    ----------
    C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, MIT Press, 2006, chapters 2 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_regression.regressors import GaussianProcess
    >>> X = np.linspace(0.0, 3.0, 30)[:, None]
    >>> GaussianProcess().fit(X, np.sin(X[:, 0])).predict([[1.5]]).round(2).tolist()
    [1.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "length_scale": [Interval(Real, 0, None, closed="neither")],
        "noise": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, length_scale: float = 1.0, noise: float = 0.1) -> None:
        self.length_scale = length_scale
        self.noise = noise

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the process.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, of similar scale in all columns.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self : GaussianProcess
            The fitted regressor.
        """
        with warnings.catch_warnings():  # a parameter at the end of its range is a fit like any other
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self._fit(X, y)

    def _model(self, X: NDArray[np.float64]) -> Any:
        if len(X) > MOST_ROWS:
            rows = f"at most {MOST_ROWS:,} rows, got {len(X):,}"
            raise ValueError(f"GaussianProcess is for {rows}: sample some, in a suite with max_rows")
        scale = self.length_scale * np.sqrt(X.shape[1])
        kernel = ConstantKernel() * RBF(scale, (1e-2 * scale, 1e3 * scale)) + WhiteKernel(self.noise, (1e-6, 10.0))
        return GaussianProcessRegressor(kernel)
