"""Regressors whose parameters refer to a target of unit variance, which is scaled for them."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

MOST_ROWS = 2_000
"""Training rows up to which a Gaussian process is fitted: it takes O(n²) memory and O(n³) time."""


def _on_scaled_target(regressor: Any) -> TransformedTargetRegressor:
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


class _SeededSVR(SVR):  # type: ignore[misc]
    """Support vector regression that leaves NumPy's global random state alone; libsvm needs no random numbers here."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self.random_state = 0
        super().fit(X, y, sample_weight)
        return self


def svr_rbf(C: float = 1.0, epsilon: float = 0.1, gamma: str | float = "scale") -> TransformedTargetRegressor:
    """Return support vector regression with a Gaussian kernel on a target scaled to unit variance.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularisation.
    epsilon : float, default=0.1
        Errors up to this share of the target's standard deviation cost nothing.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernel.

    Returns
    -------
    sklearn.compose.TransformedTargetRegressor

    Examples
    --------
    >>> svr_rbf(C=10.0).regressor.C
    10.0
    """
    return _on_scaled_target(_SeededSVR(C=C, epsilon=epsilon, gamma=gamma))


def svr_linear(C: float = 1.0, epsilon: float = 0.1) -> TransformedTargetRegressor:
    """Return linear support vector regression on a target scaled to unit variance.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the regularisation.
    epsilon : float, default=0.1
        Errors up to this share of the target's standard deviation cost nothing.

    Returns
    -------
    sklearn.compose.TransformedTargetRegressor

    Notes
    -----
    The loss is squared beyond `epsilon`, which liblinear solves in the primal form: O(np) time for an iteration.

    Examples
    --------
    >>> svr_linear(epsilon=0.2).regressor.epsilon
    0.2
    """
    loss = "squared_epsilon_insensitive"
    return _on_scaled_target(LinearSVR(C=C, epsilon=epsilon, loss=loss, dual=False, max_iter=10_000, random_state=0))


def lasso(alpha: float = 0.03) -> TransformedTargetRegressor:
    """Return the lasso on a target scaled to unit variance.

    Parameters
    ----------
    alpha : float, default=0.03
        Penalty; at 1 and above, standardised features have no weight.

    Returns
    -------
    sklearn.compose.TransformedTargetRegressor

    Examples
    --------
    >>> lasso(alpha=0.1).regressor.alpha
    0.1
    """
    return _on_scaled_target(Lasso(alpha=alpha, max_iter=10_000))


def elastic_net(alpha: float = 0.03, l1_ratio: float = 0.5) -> TransformedTargetRegressor:
    """Return the elastic net on a target scaled to unit variance.

    Parameters
    ----------
    alpha : float, default=0.03
        Penalty.
    l1_ratio : float, default=0.5
        Share of the L1 penalty.

    Returns
    -------
    sklearn.compose.TransformedTargetRegressor

    Examples
    --------
    >>> elastic_net(l1_ratio=0.2).regressor.l1_ratio
    0.2
    """
    return _on_scaled_target(ElasticNet(alpha=alpha, l1_ratio=l1_ratio, max_iter=10_000))


class GaussianProcess(RegressorMixin, BaseEstimator):
    """Gaussian process with a Gaussian kernel and noise, whose parameters maximise the marginal likelihood.

    Parameters
    ----------
    length_scale : float, default=1.0
        Length scale of the kernel from which the search starts, times the square root of the number of features.
    noise : float, default=0.1
        Variance of the noise from which the search starts, as a share of the target's.
    random_state : int, RandomState or None, default=None
        Unused by the search, which starts once; kept for scikit-learn's interface.

    Attributes
    ----------
    model_ : sklearn.gaussian_process.GaussianProcessRegressor
        The fitted process.
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
        "random_state": ["random_state"],
    }

    def __init__(self, length_scale: float = 1.0, noise: float = 0.1, random_state: Any = None) -> None:
        self.length_scale = length_scale
        self.noise = noise
        self.random_state = random_state

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
        self._validate_params()
        table, target = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if len(table) > MOST_ROWS:
            rows = f"at most {MOST_ROWS:,} rows, got {len(table):,}"
            raise ValueError(f"GaussianProcess is for {rows}: sample some, in a suite with max_rows")
        scale = self.length_scale * np.sqrt(table.shape[1])
        kernel = ConstantKernel() * RBF(scale, (1e-2 * scale, 1e3 * scale)) + WhiteKernel(self.noise, (1e-6, 10.0))
        with warnings.catch_warnings():  # a parameter at the end of its range is a fit like any other
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = GaussianProcessRegressor(kernel, normalize_y=True).fit(table, target)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the mean of the process at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.model_.predict(X))
