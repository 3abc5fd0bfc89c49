"""Logistic regression without a penalty, for any number of classes, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Keeps coefficients finite if classes are separated or columns collinear, and hardly changes other fits.
RIDGE = 1e-8


@dataclass
class Fit:
    """A maximum of the likelihood."""

    coefficients: NDArray[np.float64]  # one column for each class but the first
    deviance: float
    converged: bool


def log_probabilities(design: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of each class's probability: shape (n_samples, n_classes)."""
    scores = np.zeros((len(design), coefficients.shape[1] + 1))
    np.matmul(design, coefficients, out=scores[:, 1:])
    scores -= scores.max(axis=1, keepdims=True)
    # Written out, since SciPy's function is ten times slower on arrays of this size and this one is called constantly.
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def newton_step(
    design: NDArray[np.float64],
    members: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    log_p: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], float]:
    """Return Newton's step and the score statistic, which is twice the predicted gain in log-likelihood.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_columns)
        Columns of the terms, including the constant.
    members : ndarray of shape (n_samples, n_classes)
        1.0 where a sample belongs to a class, else 0.0.
    coefficients : ndarray of shape (n_columns, n_classes - 1)
        Current coefficients.
    log_p : ndarray of shape (n_samples, n_classes) or None, default=None
        The result of `log_probabilities` at these coefficients, if already computed.

    Returns
    -------
    step : ndarray of shape (n_columns, n_classes - 1)
        Change in the coefficients.
    statistic : float
        Gradient times step. At the maximum of a smaller model, it tests that model against this one.
    """
    width, free = coefficients.shape
    P = np.exp(log_probabilities(design, coefficients) if log_p is None else log_p)[:, 1:]
    gradient = design.T @ (members[:, 1:] - P) - RIDGE * coefficients
    curvature = np.empty((free, width, free, width))
    for a in range(free):
        for b in range(a, free):
            weights = P[:, a] * ((a == b) - P[:, b])
            curvature[a, :, b] = (design * weights[:, None]).T @ design
            curvature[b, :, a] = curvature[a, :, b].T
    flat = curvature.reshape(free * width, free * width)
    flat[np.diag_indices_from(flat)] += RIDGE
    right = gradient.T.ravel()
    step = np.linalg.solve(flat, right)
    return np.asarray(step.reshape(free, width).T, dtype=np.float64), float(right @ step)


def maximise(
    design: NDArray[np.float64],
    members: NDArray[np.float64],
    start: NDArray[np.float64],
    *,
    max_iter: int = 50,
    tol: float = 1e-7,
) -> Fit:
    """Maximise the likelihood by Newton's method with step halving.

    Parameters
    ----------
    design, members : ndarray
        As in `newton_step`; columns of about unit size.
    start : ndarray of shape (n_columns, n_classes - 1)
        Coefficients to start from.
    max_iter : int, default=50
        Maximum number of steps.
    tol : float, default=1e-7
        Stop when the predicted decrease in deviance is less than this, or when the deviance itself is, because the
        classes are separated.

    Returns
    -------
    Fit
        Coefficients, and the deviance: minus twice the log-likelihood.
    """

    def evaluate(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        log_p = log_probabilities(design, at)
        return -2.0 * float((members * log_p).sum()) + RIDGE * float((at**2).sum()), log_p

    coefficients, converged = start, False
    current, log_p = evaluate(start)
    for _ in range(max_iter):
        step, statistic = newton_step(design, members, coefficients, log_p)
        if statistic < tol or current < tol:
            converged = True
            break
        length = 1.0
        value, moved = evaluate(coefficients + step)
        while length > 1e-10 and not value < current:
            length /= 2.0
            value, moved = evaluate(coefficients + length * step)
        if not value < current:  # no gain beyond rounding
            converged = True
            break
        coefficients, current, log_p = coefficients + length * step, value, moved
    return Fit(coefficients, -2.0 * float((members * log_p).sum()), converged)
