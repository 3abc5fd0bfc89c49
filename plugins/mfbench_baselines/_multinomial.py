"""Logistic regression without a penalty, for any number of classes, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._newton import RIDGE, climb, descend, information, log_likelihood, score

# A deviance at most this, or a coefficient beyond this size, tells that some classes are separated. The coefficients
# then depend on the start.
SEPARATED, LARGE = 1e-3, 100.0


@dataclass
class Fit:
    """A maximum of the likelihood."""

    coefficients: NDArray[np.float64]  # one column for each class but the first
    deviance: float  # infinite if the search ended at a limit
    converged: bool


def log_probabilities(design: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of each class's probability: shape (n_samples, n_classes)."""
    scores = np.zeros((len(design), coefficients.shape[1] + 1))
    np.matmul(design, coefficients, out=scores[:, 1:])
    scores -= scores.max(axis=1, keepdims=True)
    # Written out, since SciPy's function is ten times slower on arrays of this size and this one is called constantly.
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def maximise(
    design: NDArray[np.float64],
    codes: NDArray[np.int64],
    start: NDArray[np.float64],
    *,
    max_iter: int = 50,
    tol: float = 1e-7,
    limit: float = np.inf,
) -> Fit:
    """Maximise the likelihood by Newton's method with step halving.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_columns)
        Columns of the terms, including the constant, of about unit size.
    codes : ndarray of shape (n_samples,)
        Class of each sample, from 0.
    start : ndarray of shape (n_columns, n_classes - 1)
        Coefficients to start from.
    max_iter : int, default=50
        Maximum number of steps.
    tol : float, default=1e-7
        Stop when the predicted decrease in deviance is less than this, or when the deviance itself is, because the
        classes are separated.
    limit : float, default=inf
        Stop as soon as the deviance at the maximum is certain to be larger.

    Returns
    -------
    Fit
        Coefficients, and the deviance: minus twice the log-likelihood, or infinity if the limit stopped the search.
    """
    rows, at = np.ascontiguousarray(design.T), np.ascontiguousarray(start.T)
    coefficients, deviance, converged = climb(rows, codes, at, max_iter, tol, limit)
    return Fit(coefficients.T, deviance, converged)


class Removals:
    """Fits of a model without one of its columns, each from the fit with all of them.

    Parameters
    ----------
    design, codes : ndarray
        As in `maximise`.
    fit : Fit
        The model's maximum.

    Attributes
    ----------
    rises : ndarray of shape (n_columns,)
        Wald's statistics: by how much the deviance is expected to rise without each column.
    lowest : ndarray of shape (n_columns,)
        Deviances that no fits without the columns are below.
    """

    def __init__(self, design: NDArray[np.float64], codes: NDArray[np.int64], fit: Fit) -> None:
        self.design, self.codes, self.fit = np.ascontiguousarray(design.T), codes, fit
        self._coefficients = np.ascontiguousarray(fit.coefficients.T)
        self._eta = self._coefficients @ self.design
        self._shares = np.empty_like(self._eta)
        log_likelihood(self._eta, codes, self._shares)
        self._inverse = np.linalg.inv(information(self.design, self._shares, np.empty((0, len(codes)))))

        self.rises = self._wald()
        self.lowest = self._bounds()

    def _wald(self) -> NDArray[np.float64]:
        free, width = self._coefficients.shape
        corners = self._inverse.reshape(free, width, free, width).diagonal(axis1=1, axis2=3).transpose(2, 0, 1)
        steps = np.linalg.solve(corners, self._coefficients.T[:, :, None])[:, :, 0]
        return np.asarray((steps * self._coefficients.T).sum(axis=1))

    def _bounds(self) -> NDArray[np.float64]:
        """Return `lowest`.

        The third derivative of the deviance along a line is at most its second derivative times the largest change of
        a difference of two scores. This bounds the deviance from below at any distance from the maximum, measured by
        the information there; the distance to coefficients without a column is at least the root of Wald's statistic.
        """
        free, width = self._coefficients.shape
        blocks = [self._inverse[a * width : (a + 1) * width, a * width : (a + 1) * width] for a in range(free)]
        leverages = [np.einsum("ji,ji->i", self.design, block @ self.design).max() for block in blocks]
        reach = np.sqrt(max(0.0, *leverages)) * (1 if free == 1 else 2)
        distances = reach * np.sqrt(self.rises.clip(min=0.0))
        gradient = score(self.design, self.codes, self._shares, self._coefficients).ravel()
        slack = 2.0 * np.sqrt(max(0.0, gradient @ self._inverse @ gradient)) * distances / reach
        ridge = 4.0 * RIDGE * float((self._coefficients**2).sum())
        rises = 2.0 * (np.expm1(-distances) + distances) / reach**2
        return np.asarray(self.fit.deviance + rises - slack - ridge)

    def without(self, column: int, *, tol: float = 1e-7, limit: float = np.inf) -> Fit:
        """Return the fit without a column; `tol` and `limit` are those of `maximise`."""
        kept = np.arange(len(self.design)) != column
        plain = self._coefficients[:, kept]
        start, separated = plain, _separated(self.fit)
        if not separated:
            if self.lowest[column] > limit:
                return Fit(plain.T, np.inf, False)
            shared = self._coefficients, self._inverse, self._eta, self._shares
            at, deviance, converged = descend(column, self.design, self.codes, *shared, limit, tol)
            start = at[:, kept]
            fit = Fit(start.T, deviance, converged)
            if deviance == np.inf or (converged and not _separated(fit)):
                return fit
        smaller = self.design[kept].T
        if not separated:
            fit = maximise(smaller, self.codes, start.T, tol=tol, limit=limit)
            if not _separated(fit):
                return fit
        fit = maximise(smaller, self.codes, plain.T, tol=tol, limit=limit)
        if fit.converged or fit.deviance == np.inf:
            return fit
        # Coefficients that separate the classes can be too far away.
        return maximise(smaller, self.codes, np.zeros_like(plain.T), tol=tol, limit=limit)


def _separated(fit: Fit) -> bool:
    return bool(fit.deviance <= SEPARATED or np.abs(fit.coefficients).max() > LARGE)
