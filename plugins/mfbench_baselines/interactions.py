"""Logistic regression with all pairwise products: the classical test of whether two features interact."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, ndtr
from sklearn.exceptions import ConvergenceWarning

from mfbench_baselines._classifier import CodedClassifier, one_against_rest, shares

MAX_FEATURES = 30


class LogisticInteractions(CodedClassifier):
    r"""Logistic regression on the features and all their pairwise products, without a penalty.

    With :math:`\eta(x) = b + \sum_j \beta_j x_j + \sum_{j<k} \gamma_{jk} x_j x_k` it maximises the likelihood of

    .. math:: P(y = 1 \mid x) = 1 / (1 + e^{-\eta(x)}),

    and tests each coefficient against 0 by Wald's :math:`z = \hat\gamma / \mathrm{se}(\hat\gamma)`. More than two
    classes are fitted one against the rest.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of Newton steps per class.
    tol : float, default=1e-8
        The fit has converged when the next Newton step would raise the log-likelihood by less than this.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    terms_ : ndarray of shape (n_products, 2)
        The features j < k of each product.
    coef_ : ndarray of shape (1, n_terms) or (n_classes, n_terms)
        Coefficients of the features, then of the products in the order of `terms_`: one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    z_ : ndarray like `coef_`
        Wald statistics.
    pvalues_ : ndarray like `coef_`
        Their two-sided p-values under the normal distribution.
    feature_importances_ : ndarray of shape (n_features,)
        The largest :math:`|z|` among a feature and its products, over the classes.
    interaction_importances_ : ndarray of shape (n_features, n_features)
        :math:`|z|` of each product, the largest over the classes; symmetric, 0 on the diagonal.
    interaction_pvalues_ : ndarray of shape (n_features, n_features)
        The p-value of each product; with more than two classes, the smallest times their number (Bonferroni).
        Symmetric, NaN on the diagonal.
    separated_ : bool
        Whether the training samples are completely separated, for any class: see Notes.
    n_iter_ : int
        Newton steps, for the class that needed most.
    n_features_in_ : int
        Number of columns seen by `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if `X` had names that are strings.

    Notes
    -----
    Newton's method on standardised columns, with steps halved until the likelihood rises; results refer to the original
    columns. Shifting or rescaling columns does not change z and p of a product, but does change those of a feature.

    The likelihood has no maximum if a combination of terms separates the classes, and no unique one if terms are
    collinear (constant or equal columns, columns of one category, more terms than samples). A ridge of 1e-8 on the
    standardised terms keeps the coefficients finite in either case and hardly changes other fits. Under complete
    separation, which `separated_` reports, coefficients are large and meaningless, standard errors are even larger, and
    z is near 0: there is no evidence where the effect is strongest (Hauck and Donner's paradox). A term that is
    determined by others has z near 0 too.

    There are p (p + 1) / 2 + 1 coefficients, so at most 30 features are allowed. Time O(n_samples · p^4) and memory
    O(n_samples · p^2) per step.

    References
    ----------
    D. R. Cox, "The regression analysis of binary sequences", Journal of the Royal Statistical Society B 20(2), 1958.

    W. W. Hauck, A. Donner, "Wald's test as applied to hypotheses in logit analysis", Journal of the American
    Statistical Association 72(360), 1977.

    R. Zhao, P. Hong, J. S. Liu, "IMMIGRATE: a margin-based feature selection method with interaction terms", Entropy
    22(3):291, 2020, section 4.1, where the p-value of the product is the baseline.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_baselines.interactions import LogisticInteractions
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] * X[:, 2] + 0.5 * rng.normal(size=200) > 0
    >>> model = LogisticInteractions().fit(X, y)
    >>> model.terms_.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> bool(model.interaction_pvalues_[0, 2] < 1e-6)
    True
    """

    def __init__(self, *, max_iter: int = 100, tol: float = 1e-8) -> None:
        self.max_iter = max_iter
        self.tol = tol

    def _fit_codes(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if self.max_iter < 1 or self.tol <= 0:
            raise ValueError(f"max_iter must be at least 1 and tol above 0; got {self.max_iter!r} and {self.tol!r}")
        p = X.shape[1]
        if p > MAX_FEATURES:
            raise ValueError(
                f"LogisticInteractions accepts at most {MAX_FEATURES} features, because it fits all pairwise products; "
                f"got {p} columns, which makes {p * (p + 1) // 2 + 1} coefficients: select features first"
            )
        self.terms_ = np.column_stack(np.triu_indices(p, 1))
        mean, spread = X.mean(axis=0), X.std(axis=0)
        spread[spread == 0] = 1.0
        design = self._design((X - mean) / spread)
        back = _change_of_basis(mean, spread, self.terms_)
        targets = one_against_rest(codes, len(self.classes_))
        fits = [_maximise(design, target, self.max_iter, self.tol) for target in targets]
        coefficients = np.array([back @ fit.coefficients for fit in fits])
        errors = np.array([np.sqrt(np.einsum("ij,jk,ik->i", back, fit.covariance, back)) for fit in fits])
        self.intercept_, self.coef_ = coefficients[:, 0], coefficients[:, 1:]
        self.z_ = self.coef_ / errors[:, 1:]
        self.pvalues_ = 2.0 * ndtr(-np.abs(self.z_))
        self.interaction_importances_ = self._matrix(np.abs(self.z_[:, p:]).max(axis=0), 0.0)
        self.interaction_pvalues_ = self._matrix(np.minimum(1.0, len(fits) * self.pvalues_[:, p:].min(axis=0)), np.nan)
        own = np.abs(self.z_[:, : X.shape[1]]).max(axis=0)
        self.feature_importances_ = np.maximum(own, self.interaction_importances_.max(axis=0))
        self.separated_ = any(fit.separated for fit in fits)
        self.n_iter_ = max(fit.steps for fit in fits)
        if not all(fit.converged for fit in fits):
            warnings.warn(
                f"the fit has not converged after {self.max_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _design(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the design matrix: a column of ones, the features, the products."""
        return np.column_stack([np.ones(len(X)), X, X[:, self.terms_[:, 0]] * X[:, self.terms_[:, 1]]])

    def _matrix(self, values: NDArray[np.float64], diagonal: float) -> NDArray[np.float64]:
        matrix = np.full((self.n_features_in_, self.n_features_in_), diagonal)
        matrix[self.terms_[:, 0], self.terms_[:, 1]] = values
        matrix[self.terms_[:, 1], self.terms_[:, 0]] = values
        return matrix

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of the second of two classes, or of each class against the rest.
        """
        log_odds = self._log_odds(self._check_rows(X))
        return log_odds[:, 0] if log_odds.shape[1] == 1 else log_odds

    def _log_odds(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        log_odds: NDArray[np.float64] = self._design(X) @ np.column_stack([self.intercept_, self.coef_]).T
        return log_odds

    def _probabilities(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return shares(expit(self._log_odds(X)))


class _Fit:
    """The maximum for one class against the rest, on standardised terms."""

    def __init__(self, coefficients: NDArray[np.float64]) -> None:
        self.coefficients = coefficients
        self.covariance: NDArray[np.floating] = np.empty((0, 0))
        self.steps = 0
        self.converged = False
        self.separated = False


_RIDGE = 1e-8


def _maximise(design: NDArray[np.float64], target: NDArray[np.bool_], max_iter: int, tol: float) -> _Fit:
    """Maximise the likelihood by Newton's method with step halving."""
    sign = np.where(target, 1.0, -1.0)
    fit = _Fit(np.zeros(design.shape[1]))

    def loss(coefficients: NDArray[np.float64]) -> float:
        penalty = 0.5 * _RIDGE * float(coefficients @ coefficients)
        return float(np.logaddexp(0.0, -sign * (design @ coefficients)).sum()) + penalty

    current = loss(fit.coefficients)
    while True:
        probability = expit(design @ fit.coefficients)
        gradient = design.T @ (target - probability) - _RIDGE * fit.coefficients
        curvature = (design * (probability * (1.0 - probability))[:, None]).T @ design
        curvature[np.diag_indices_from(curvature)] += _RIDGE
        step = np.linalg.solve(curvature, gradient)
        if 0.5 * float(gradient @ step) < tol:
            fit.converged = True
            break
        if fit.steps == max_iter:
            break
        length, best = 1.0, current
        while length > 1e-10 and not (best := loss(fit.coefficients + length * step)) < current:
            length /= 2.0
        if not best < current:  # no gain beyond rounding
            fit.converged = True
            break
        fit.coefficients, current = fit.coefficients + length * step, best
        fit.steps += 1
    fit.covariance = np.linalg.inv(curvature)
    fit.separated = bool((sign * (design @ fit.coefficients) > 0).all())
    return fit


def _change_of_basis(
    mean: NDArray[np.float64], spread: NDArray[np.float64], terms: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the matrix that maps coefficients of standardised terms to those of the original terms."""
    p = len(mean)
    back = np.zeros((1 + p + len(terms), 1 + p + len(terms)))
    back[0, 0] = 1.0
    features = np.arange(p)
    back[1 + features, 1 + features] = 1.0 / spread
    back[0, 1 + features] = -mean / spread
    # (x - m) (x' - m') / (s s'), multiplied out
    j, k = terms.T
    columns = 1 + p + np.arange(len(terms))
    scale = 1.0 / (spread[j] * spread[k])
    back[columns, columns] = scale
    back[1 + j, columns] = -mean[k] * scale
    back[1 + k, columns] = -mean[j] * scale
    back[0, columns] = mean[j] * mean[k] * scale
    return back
