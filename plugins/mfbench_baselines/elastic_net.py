"""Sparse logistic regression: the elastic net, and the order in which features enter the lasso path."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mfbench_baselines._classifier import CodedClassifier, one_against_rest, shares
from mfbench_learners.estimators import ImportanceSelectorMixin
from mfbench_learners.selectors import SupervisedSelector


class ElasticNet(ImportanceSelectorMixin, CodedClassifier):
    r"""Logistic regression with an L1 and an L2 penalty, one against the rest.

    For each class (for the second one only, if there are two), with :math:`t_i = \pm 1`, it minimises [1]_

    .. math::
        \rho \lVert w \rVert_1 + \tfrac{1 - \rho}{2} \lVert w \rVert^2 + C \sum_i \log(1 + e^{-t_i (w^\top x_i + b)}).

    The intercept *b* is not penalised. Identical features share their weight; the lasso would select one of them.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty: the smaller, the fewer features.
    l1_ratio : float, default=0.5
        The share ρ of the L1 penalty, from 0 (ridge) to 1 (lasso).
    tol : float, default=1e-4
        Largest entry of the generalised gradient at the end, relative to the slope of the penalty.
    max_iter : int, default=10000
        Maximum number of steps per class.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights: one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    feature_importances_ : ndarray of shape (n_features,)
        The largest absolute weight over the classes; 0 for a feature that is not used.
    n_iter_ : int
        Number of steps, for the class that needed most.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` steps do not suffice.

    Notes
    -----
    Uses accelerated proximal gradient descent with backtracking and restarts, O(n p) per step, because scikit-learn's
    only solver for this penalty, "saga", may take thousands of sweeps. Columns should share a scale, since the penalty
    treats them alike.

    References
    ----------
    .. [1] H. Zou, T. Hastie, "Regularization and variable selection via the elastic net", Journal of the Royal
       Statistical Society B 67(2), 2005, pages 301-320.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.elastic_net import ElasticNet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 4))
    >>> X[:, 1] = X[:, 0]
    >>> w = ElasticNet(C=0.05).fit(X, X[:, 0] + X[:, 2] > 0).coef_[0].round(3)
    >>> bool(w[0] == w[1] > 0), float(w[3])
    (True, 0.0)
    """

    def __init__(self, *, C: float = 1.0, l1_ratio: float = 0.5, tol: float = 1e-4, max_iter: int = 10000) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.max_iter = max_iter

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if self.C <= 0 or not 0 <= self.l1_ratio <= 1 or self.tol <= 0 or self.max_iter < 1:
            raise ValueError(
                "C and tol must be above 0, l1_ratio from 0 to 1, max_iter at least 1; "
                f"got {self.C!r}, {self.tol!r}, {self.l1_ratio!r} and {self.max_iter!r}"
            )
        targets = one_against_rest(codes, len(self.classes_)).astype(np.float64)
        fits = [_descend(X, target, self.C, self.l1_ratio, self.tol, self.max_iter) for target in targets]
        self.coef_ = np.array([weights for weights, _, _ in fits])
        self.intercept_ = np.array([intercept for _, intercept, _ in fits])
        self.n_iter_ = max(steps for _, _, steps in fits)
        self.feature_importances_ = np.abs(self.coef_).max(axis=0)
        if self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"ElasticNet has not converged after {self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return shares(expit(X @ self.coef_.T + self.intercept_))


def _descend(
    X: NDArray[np.float64],
    target: NDArray[np.float64],
    C: float,
    l1_ratio: float,
    tol: float,
    max_iter: int,
    start: tuple[NDArray[np.float64], float] | None = None,
) -> tuple[NDArray[np.float64], float, int]:
    """Return weights, intercept and steps for a target of 0 and 1; start from weights and an intercept, or from 0."""
    # Centring the columns changes only the intercept, and makes the steps of weights and intercept independent.
    centre = X.mean(axis=0)
    Z = np.column_stack([X - centre, np.ones(len(X))])
    ridge = np.append(np.full(X.shape[1], (1.0 - l1_ratio) / C), 0.0)
    threshold = np.append(np.full(X.shape[1], l1_ratio / C), 0.0)

    def smooth(v: NDArray[np.float64], eta: NDArray[np.float64]) -> float:
        return float((np.logaddexp(0.0, eta) - target * eta).sum() + 0.5 * ridge @ v**2)

    weights, intercept = (np.zeros(X.shape[1]), 0.0) if start is None else start
    current = ahead = np.append(weights, intercept + weights @ centre)
    eta = ahead_eta = Z @ current
    step, momentum, best, steps = 4.0 / max(len(X), 1), 1.0, np.inf, 0
    while steps < max_iter:
        steps += 1
        gradient = Z.T @ (expit(ahead_eta) - target) + ridge * ahead
        value = smooth(ahead, ahead_eta)
        while True:
            point = ahead - step * gradient
            moved = np.sign(point) * np.maximum(np.abs(point) - step * threshold, 0.0)
            change = moved - ahead
            moved_eta = Z @ moved
            reached = smooth(moved, moved_eta)
            bound = value + gradient @ change + change @ change / (2.0 * step)
            if reached <= bound + 1e-12 * abs(bound):
                break
            step /= 2.0
        total = reached + float(threshold @ np.abs(moved))
        if total > best and momentum > 1.0:  # momentum overshot: continue from the last point without it
            momentum, ahead, ahead_eta = 1.0, current, eta
            continue
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        share = (momentum - 1.0) / following
        ahead, ahead_eta = moved + share * (moved - current), moved_eta + share * (moved_eta - eta)
        current, eta, best, momentum = moved, moved_eta, total, following
        if float(np.abs(change).max()) <= tol * step / C:
            break
    return current[:-1], float(current[-1] - current[:-1] @ centre), steps


class LassoPath(SupervisedSelector):
    r"""Rank features by the penalty at which they enter the lasso path.

    Logistic regression with an L1 penalty, one class against the rest, is fitted for decreasing penalties λ, starting
    at :math:`\lambda_0`, the smallest one that keeps all weights at 0. The importance of a feature is
    :math:`\lambda / \lambda_0` for the largest λ at which it has a non-zero weight in any class, or 0 if it never
    enters.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the most important first; None keeps those that enter.
    n_penalties : int, default=40
        Number of penalties, evenly spaced on a logarithmic scale.
    smallest : float, default=0.01
        The last penalty as a share of the first.
    tol : float, default=1e-3
        As in `ElasticNet`.
    max_iter : int, default=10000
        Maximum number of steps per penalty and class.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        From 0 to 1.
    penalties_ : ndarray of shape (n_penalties,)
        The penalties λ, in decreasing order.
    active_ : ndarray of bool, shape (n_penalties, n_features)
        Which features have a non-zero weight.
    n_iter_ : int
        Number of steps, for the penalty and class that needed most.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Raises
    ------
    ValueError
        If `X` or `y` is malformed, y has a single class, or a parameter is out of range.

    Notes
    -----
    O(n p) per step. The path ends early once a class has as many weights as there are rows. If several features
    enter between the same two penalties, one with a larger weight there ranks slightly higher. Standardise the features
    first.

    References
    ----------
    R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal Statistical Society B 58(1),
    1996.

    J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via coordinate descent",
    Journal of Statistical Software 33(1), 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mfbench_baselines.elastic_net import LassoPath
    >>> X, y = load_iris(return_X_y=True)
    >>> LassoPath(n_features_to_select=2).fit(StandardScaler().fit_transform(X), y).get_support(indices=True).tolist()
    [2, 3]
    """

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        n_penalties: int = 40,
        smallest: float = 0.01,
        tol: float = 1e-3,
        max_iter: int = 10000,
    ) -> None:
        super().__init__(n_features_to_select=n_features_to_select)
        self.n_penalties = n_penalties
        self.smallest = smallest
        self.tol = tol
        self.max_iter = max_iter

    def _importances(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        self._check_classes(y)
        if self.n_penalties < 2 or not 0 < self.smallest < 1:
            raise ValueError(
                "n_penalties must be at least 2 and smallest between 0 and 1; "
                f"got {self.n_penalties!r} and {self.smallest!r}"
            )
        targets = one_against_rest(y, int(y.max()) + 1).astype(np.float64)
        centred = targets - targets.mean(axis=1, keepdims=True)
        largest = float(np.abs(centred @ (X - X.mean(axis=0))).max())
        self.penalties_ = largest * np.geomspace(1.0, self.smallest, self.n_penalties)
        self.active_ = np.zeros((self.n_penalties, X.shape[1]), dtype=bool)
        importances, self.n_iter_ = np.zeros(X.shape[1]), 0
        if largest <= 0:
            return importances
        states = [(np.zeros(X.shape[1]), 0.0) for _ in targets]
        for at in range(1, self.n_penalties):
            penalty = self.penalties_[at]
            for k, target in enumerate(targets):
                weights, intercept, steps = _descend(X, target, 1.0 / penalty, 1.0, self.tol, self.max_iter, states[k])
                states[k], self.n_iter_ = (weights, intercept), max(self.n_iter_, steps)
            weights = np.array([weights for weights, _ in states])
            size = np.abs(weights).max(axis=0)
            self.active_[at] = size > 0
            new = self.active_[at] & (importances == 0)
            ratio = self.penalties_[at] / largest
            # Between this penalty and the previous one, in order of size.
            importances[new] = ratio * (1.0 + (1.0 / self._ratio() - 1.0) * 0.5 * size[new] / size.max(initial=1e-300))
            if (np.count_nonzero(weights, axis=1) >= len(X)).any():
                self.active_[at + 1 :] = self.active_[at]
                break
        return np.minimum(importances, 1.0)

    def _ratio(self) -> float:
        return float(self.smallest ** (1.0 / (self.n_penalties - 1)))
