"""Score statistics of many extensions of one logistic regression, by matrix products over blocks of candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mfbench_baselines._multinomial import log_probabilities
from mfbench_baselines._newton import RIDGE

# Memory for the new columns of each block of candidates, about what fits in a processor's cache.
BLOCK_BYTES = 4 * 2**20


def standardise(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Centre and scale rows.

    Parameters
    ----------
    values : ndarray of shape (..., n_samples)
        Rows of numbers.

    Returns
    -------
    standardised : ndarray of shape (..., n_samples)
        Rows of mean 0 and standard deviation 1; zeros for a constant row.
    centres, spreads : ndarray of shape (...)
        Mean and standard deviation of each row; 1 for that of a constant row.
    """
    centres = values.mean(axis=-1)
    varies = values.max(axis=-1) > values.min(axis=-1)
    standardised = values - centres[..., None]
    spreads = np.sqrt(np.einsum("...i,...i->...", standardised, standardised) / values.shape[-1])
    spreads = np.where(varies & (spreads > 0), spreads, 1.0)
    standardised /= spreads[..., None]
    standardised[~varies] = 0.0
    return standardised, centres, spreads


class Extensions:
    """The score statistics of models that extend a fitted one, each relative to the fitted one's coefficients.

    The statistic is that of `newton_step` at these coefficients, with 0 for the new columns. What depends on the
    fitted model alone is computed once; Schur's complement of its part in the information leaves a small system for
    the new columns of each candidate.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_columns)
        Columns of the fitted model, including the constant.
    members : ndarray of shape (n_samples, n_classes)
        1.0 where a sample belongs to a class, else 0.0.
    coefficients : ndarray of shape (n_columns, n_classes - 1)
        Its coefficients.
    """

    def __init__(
        self, design: NDArray[np.float64], members: NDArray[np.float64], coefficients: NDArray[np.float64]
    ) -> None:
        width, free = coefficients.shape
        shares = np.exp(log_probabilities(design, coefficients))[:, 1:]
        self.residual = members[:, 1:] - shares
        self.weights = {(a, b): shares[:, a] * ((a == b) - shares[:, b]) for a in range(free) for b in range(a, free)}
        weighted = np.empty((free, free, *design.shape))
        information = np.empty((free, width, free, width))
        for (a, b), weight in self.weights.items():
            weighted[a, b] = weighted[b, a] = design * weight[:, None]
            information[a, :, b] = weighted[a, b].T @ design
            information[b, :, a] = information[a, :, b].T
        flat = information.reshape(free * width, free * width)
        flat[np.diag_indices_from(flat)] += RIDGE
        factor = np.linalg.cholesky(flat)
        gradient = design.T @ self.residual - RIDGE * coefficients
        self.score = solve_triangular(factor, gradient.T.ravel(), lower=True)
        # Multiplied by new columns, this gives their part of the information, in coordinates in which that of the
        # fitted model is the identity: one block of columns for each class.
        stacked = weighted.transpose(0, 2, 1, 3).reshape(free * len(design), free * width)
        whitened = solve_triangular(factor, stacked.T, lower=True).T
        self.whitened = np.hstack(list(whitened.reshape(free, len(design), free * width)))

    def statistics(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic of each candidate.

        Parameters
        ----------
        columns : ndarray of shape (n_candidates, n_new, n_samples)
            The columns that each candidate adds.

        Returns
        -------
        statistics : ndarray of shape (n_candidates,)
            Twice the predicted gain in log-likelihood.
        """
        count, new, n = columns.shape
        free = self.residual.shape[1]
        flat = columns.reshape(count * new, n)
        cross = (flat @ self.whitened).reshape(count, new, free, -1).swapaxes(1, 2).reshape(count, free * new, -1)
        score = (flat @ self.residual).reshape(count, new, free).swapaxes(1, 2).reshape(count, free * new)
        information = np.empty((count, free, new, free, new))
        for (a, b), weight in self.weights.items():
            information[:, a, :, b] = np.matmul(columns * weight, columns.swapaxes(1, 2))
            information[:, b, :, a] = information[:, a, :, b].swapaxes(1, 2)
        complement = information.reshape(count, free * new, free * new) - np.matmul(cross, cross.swapaxes(1, 2))
        complement[:, np.arange(free * new), np.arange(free * new)] += RIDGE
        score -= cross @ self.score
        steps = np.linalg.solve(complement, score[..., None])[..., 0]
        statistics: NDArray[np.float64] = self.score @ self.score + np.einsum("ij,ij->i", score, steps)
        return statistics


def significant(values: NDArray[np.float64], digits: int = 9) -> NDArray[np.float64]:
    """Round to significant digits, so that rounding errors do not break ties."""
    sizes = np.abs(values)
    units = 10.0 ** (np.floor(np.log10(np.where(sizes > 0, sizes, 1.0))) - digits + 1)
    return np.asarray(np.round(values / units) * units)


def blocks(features: NDArray[np.intp], bytes_each: int) -> Iterator[NDArray[np.intp]]:
    """Split features into blocks that need at most `BLOCK_BYTES` each, or consist of a single feature."""
    step = max(1, BLOCK_BYTES // bytes_each)
    for begin in range(0, len(features), step):
        yield features[begin : begin + step]
