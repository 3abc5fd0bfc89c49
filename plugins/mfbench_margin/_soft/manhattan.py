"""Soft neighbours in the weighted Manhattan distance: soft minima, the margin they give each feature, and prediction.

Pairs of rows are visited once each, in blocks that hold only hits or only misses. The distances of all pairs are kept
if they fit into `BUDGET` bytes; otherwise each pass computes them again, in memory that does not depend on the number
of rows. The loops themselves are in `kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._learner import TOO_LARGE
from mfbench_margin._soft.kernels import accumulate_margins, expect_distances, find_soft_minima

# Distances are kept for the second pass of an iteration if they need at most this many bytes.
BUDGET = 32 * 2**20
# Rows of a block: two blocks of 64 features (the kernels' chunk) and their distances stay in the second-level cache.
BLOCK = 128
# A feature's margin is a difference of sums that may be equal in exact arithmetic. Below this share of the largest
# possible sum it is rounding error, which must not decide whether a feature is selected.
ROUNDING = 1e-12


class SoftManhattan:
    r"""Training data laid out for sums over soft hits and misses.

    With :math:`d_{ij} = \sum_l w_l |x_{il} - x_{jl}|`, the soft minimum of a set of distances is
    :math:`-\sigma \log \sum e^{-d / \sigma}`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite numbers.
    codes : ndarray of int64, shape (n_samples,)
        Class codes 0 … n_classes - 1, each present.

    Raises
    ------
    ValueError
        If the values are so large that distances overflow.

    Notes
    -----
    A pass over all pairs takes O(n² p) time. Memory is O(n p), plus at most `BUDGET`.
    """

    def __init__(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.starts = np.searchsorted(codes[self.order], np.arange(codes.max() + 2)).astype(np.int64)
        self.columns = np.ascontiguousarray(X[self.order].T)
        with np.errstate(over="ignore"):
            self.ranges = np.ptp(self.columns, axis=1)
            if not np.isfinite(self.ranges.sum() * len(X)):
                raise ValueError(TOO_LARGE)
        self._bounds, self._block_class = _blocks(self.starts)
        n_values = _n_values(self._bounds)
        self._keeps = 8 * n_values <= BUDGET
        self._tiles = np.empty(n_values if self._keeps else BLOCK * BLOCK)

    def soften(self, weights: NDArray[np.float64], sigma: float) -> SoftMinima:
        """Compute the soft minima of all rows for given weights.

        Parameters
        ----------
        weights : ndarray of shape (n_features,)
            Weights w >= 0.
        sigma : float
            Softness in units of the distance.

        Returns
        -------
        SoftMinima
        """
        n_rows = self.columns.shape[1]
        nearest = np.full((2, n_rows), np.inf)
        sums = np.zeros((2, n_rows))
        self._weights, self._inverse = weights, _inverse(sigma)
        # A feature of weight 0 adds nothing to a distance.
        self._active = np.flatnonzero(weights > 0)
        find_soft_minima(
            self.columns, self._active, weights, self._inverse, self._bounds, self._block_class, self._tiles,
            self._keeps, nearest, sums,
        )  # fmt: skip
        self._nearest, self._sums = nearest, sums
        rank = np.argsort(self.order)
        return SoftMinima(nearest[:, rank], sums[:, rank], sigma)

    def margins(self, factors: NDArray[np.float64]) -> NDArray[np.float64]:
        r"""Return how much farther each feature keeps soft misses than soft hits, under the last `soften`.

        Parameters
        ----------
        factors : ndarray of shape (n_samples,)
            Factor s of each sample as a target; 0 for a sample that is not one.

        Returns
        -------
        ndarray of shape (n_features,)
            :math:`\sum_i s_i [\sum_m \beta_{im} |x_{il} - x_{ml}| - \sum_h \alpha_{ih} |x_{il} - x_{hl}|]`, where
            :math:`\alpha` and :math:`\beta` are the softmax of :math:`-d_{ij} / \sigma` over the hits and over the
            misses of i. Exactly 0 if no larger than rounding errors.
        """
        factors = factors[self.order]
        shares = np.divide(factors, self._sums, out=np.zeros_like(self._sums), where=self._sums > 0)
        shares[0] *= -1.0
        margins = np.zeros(len(self.columns))
        accumulate_margins(
            self.columns, self._active, self._weights, self._inverse, self._bounds, self._block_class, self._tiles,
            self._keeps, self._nearest, shares, np.empty(BLOCK * BLOCK), margins,
        )  # fmt: skip
        margins[np.abs(margins) <= ROUNDING * factors.sum() * self.ranges] = 0.0
        return margins

    def predictor(self, weights: NDArray[np.float64], sigma: float) -> ExpectedManhattan:
        """Return the expected distances under the given weights."""
        active = np.flatnonzero(weights > 0)
        return ExpectedManhattan(self.columns[active], self.starts, self.order, active, weights[active], sigma)


@dataclass(frozen=True)
class SoftMinima:
    """Soft minima of the distances of each sample to its hits (first row) and to its misses (second row).

    Attributes
    ----------
    nearest : ndarray of shape (2, n_samples)
        Smallest distance; infinite if there is none.
    sums : ndarray of shape (2, n_samples)
        Sum of exp(-(distance - nearest) / sigma).
    sigma : float
        Softness.
    """

    nearest: NDArray[np.float64]
    sums: NDArray[np.float64]
    sigma: float

    def objective(self, factors: NDArray[np.float64]) -> float:
        """Return the sum over samples of factor times (soft minimum over hits - soft minimum over misses)."""
        targets = factors > 0
        nearest, sums = self.nearest[:, targets], self.sums[:, targets]
        differences = nearest[0] - nearest[1] - self.sigma * (np.log(sums[0]) - np.log(sums[1]))
        return float(factors[targets] @ differences)

    def hit_shares(self) -> NDArray[np.float64]:
        """Return the share of hits in the sum of exp(-distance / sigma) over all others; 0 if there is no hit."""
        shares = np.zeros(self.sums.shape[1])
        has_hit = self.sums[0] > 0
        nearest, sums = self.nearest[:, has_hit], self.sums[:, has_hit]
        # Relative to the nearest sample of all: the plain exponentials of far samples would all vanish.
        with np.errstate(over="ignore"):
            parts = sums * np.exp(-(nearest - nearest.min(axis=0)) * _inverse(self.sigma))
        shares[has_hit] = parts[0] / parts.sum(axis=0)
        return shares


@dataclass(frozen=True)
class ExpectedManhattan:
    """Expected distances of rows to each class, from the features of positive weight.

    Attributes
    ----------
    columns : ndarray of shape (n_active, n_samples)
        Training rows, sorted by class.
    starts : ndarray of int64, shape (n_classes + 1,)
        Rows starts[c] to starts[c + 1] - 1 are those of class c.
    order : ndarray of int64, shape (n_samples,)
        Training index of each row.
    active : ndarray of int64, shape (n_active,)
        Original indices of these features.
    weights : ndarray of shape (n_active,)
        Their weights.
    sigma : float
        Softness.
    """

    columns: NDArray[np.float64]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]
    active: NDArray[np.int64]
    weights: NDArray[np.float64]
    sigma: float

    def __call__(self, X: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the expected distance of each row to each class; None for the training rows, left out in turn."""
        if X is None:
            expected = self._measure(self.columns, leave_out=True)
            return np.ascontiguousarray(expected[np.argsort(self.order)])
        return self._measure(np.ascontiguousarray(X[:, self.active].T), leave_out=False)

    def _measure(self, queries: NDArray[np.float64], *, leave_out: bool) -> NDArray[np.float64]:
        expected = np.empty((queries.shape[1], len(self.starts) - 1))
        expect_distances(
            queries, self.columns, self.weights, _inverse(self.sigma), self.starts, leave_out,
            np.empty((BLOCK, BLOCK)), expected,
        )  # fmt: skip
        return expected


def _inverse(sigma: float) -> float:
    # Finite, so that the difference 0 times it is 0 and never NaN.
    return min(1.0 / sigma, float(np.finfo(np.float64).max))


def _blocks(starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where blocks of at most `BLOCK` rows of one class begin (and the last one ends), and their classes."""
    begins: list[NDArray[Any]] = []
    classes: list[NDArray[Any]] = []
    for c, (first, last) in enumerate(pairwise(starts)):
        begins.append(np.arange(first, last, BLOCK))
        classes.append(np.full(len(begins[-1]), c))
    return np.append(np.concatenate(begins), starts[-1]).astype(np.int64), np.concatenate(classes).astype(np.int64)


def _n_values(bounds: NDArray[np.int64]) -> int:
    """Return how many distances all pairs of blocks have, counting both triangles of a block with itself."""
    sizes = [int(size) for size in np.diff(bounds)]
    return (sum(sizes) ** 2 + sum(size**2 for size in sizes)) // 2
