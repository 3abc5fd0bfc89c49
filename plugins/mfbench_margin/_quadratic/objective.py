"""The objective of IMMIGRATE on a training set: its value and slope at W, and expected distances for prediction.

C*(W) = Σ_i w_i (softmin over hits of q - softmin over misses of q), q = |x - x'|^T W |x - x'|; its slope is the scatter
matrix. Distances of all pairs are kept where they fit into `CACHE_BYTES`, and computed anew where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._quadratic.pair_kernels import scatter, softmins, store_distances
from mfbench_margin._quadratic.prediction_kernels import expected_of_queries, expected_of_training

Matrix = NDArray[np.float64]
# Room for the distances of all pairs under one W; a line search holds two of these.
CACHE_BYTES = 24 * 2**20
_NOTHING = np.empty(0)


@dataclass(frozen=True)
class Form:
    """W laid out for the kernels: the lower triangle with doubled off-diagonal, or few rows with W = form^T form.

    `factor` has such rows, few or many, where they are known.
    """

    matrix: Matrix
    triangular: bool
    factor: Matrix | None = None


@dataclass(frozen=True)
class Point:
    """A W with the value of the objective there, and what computing the slope needs."""

    W: Matrix
    value: float
    soft: Matrix
    form: Form
    stored: Matrix


class Pairs:
    """Training rows sorted by class, padded to a multiple of four features.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    codes : ndarray of int, shape (n,)
        Classes 0 … K - 1.
    cache_bytes : int or None, default=None
        Room for distances; `CACHE_BYTES` if None.

    Raises
    ------
    ValueError
        If values are so large that distances overflow.
    """

    def __init__(self, X: Matrix, codes: NDArray[np.int64], cache_bytes: int | None = None) -> None:
        with np.errstate(over="ignore"):
            spread = float(((X.max(axis=0) - X.min(axis=0)) ** 2).sum())
        if not np.isfinite(spread):
            raise ValueError("the values of X are too large: distances overflow; scale them first")
        self.n, self.p = X.shape
        self.order = np.argsort(codes, kind="stable")
        self.ends = np.cumsum(np.bincount(codes)).astype(np.int64)
        self.rows = self._pad(X[self.order])
        self.columns = np.ascontiguousarray(self.rows.T)
        room = CACHE_BYTES if cache_bytes is None else cache_bytes
        self.is_stored = 4 * self.n * (self.n - 1) <= room

    def _pad(self, X: Matrix) -> Matrix:
        padded = np.zeros((len(X), -(-self.p // 4) * 4))
        padded[:, : self.p] = X
        return padded

    def form(self, W: Matrix, components: Matrix | None = None) -> Form:
        """Return W as the kernels want it; components are rows with W = components^T components."""
        width = self.rows.shape[1]
        factor = None
        if components is not None:
            factor = np.zeros((len(components), width))
            factor[:, : self.p] = components
            if 3 * len(components) <= self.p:
                return Form(factor, False, factor)
        matrix = np.zeros((width, width))
        matrix[: self.p, : self.p] = 2.0 * np.tril(W, -1)
        matrix[np.arange(self.p), np.arange(self.p)] = np.diag(W)
        return Form(matrix, True, factor)

    def distances(self, form: Form) -> Matrix:
        """Return the distances of all pairs, or nothing where they are computed when needed."""
        if not self.is_stored:
            return _NOTHING
        out = np.empty(self.n * (self.n - 1) // 2)
        matrix = form.matrix if form.factor is None else form.factor
        store_distances(self.rows, self.columns, matrix, form.factor is None, out)
        return out

    def expected(self, X: Matrix, form: Form, sigma: float) -> Matrix:
        """Return the expected distances of rows to each class, shape (n_rows, n_classes)."""
        out: Matrix = expected_of_queries(self._pad(X), self.columns, self.ends, form.matrix, form.triangular, sigma)
        return out.T

    def expected_of_training(self, form: Form, sigma: float, stored: Matrix = _NOTHING) -> Matrix:
        """Return the same for the training rows in the order given, each left out of its own neighbours."""
        found = expected_of_training(
            self.rows, self.columns, self.ends, form.matrix, form.triangular, stored, len(stored) > 0, sigma
        )
        out = np.empty((self.n, len(self.ends)))
        out[self.order] = found.T
        return out


class Objective:
    """C* for one sigma and one set of sample weights.

    Parameters
    ----------
    pairs : Pairs
    sigma : float
    weights : ndarray of shape (n,)
        Weight of each sample as a target, in the order given; 0 for one without a hit.
    """

    def __init__(self, pairs: Pairs, sigma: float, weights: Matrix) -> None:
        self.pairs, self.sigma = pairs, sigma
        self.weights = weights[pairs.order]

    def at(self, W: Matrix, components: Matrix | None = None, stored: Matrix | None = None) -> Point:
        """Return the point of W; its distances may be known already."""
        form = self.pairs.form(W, components)
        if stored is None:
            stored = self.pairs.distances(form)
        soft = self._softmins(form, stored, stored, 0.0)
        return Point(W, self._value(soft), soft, form, stored)

    def _softmins(self, form: Form, stored: Matrix, other: Matrix, step: float) -> Matrix:
        pairs = self.pairs
        out: Matrix = softmins(
            pairs.rows, pairs.columns, pairs.ends, form.matrix, form.triangular, stored, other, step, pairs.is_stored,
            self.sigma,
        )  # fmt: skip
        return out

    def _value(self, soft: Matrix) -> float:
        counted = self.weights > 0
        return float(self.weights[counted] @ (soft[0, counted] - soft[1, counted]))

    def slope(self, point: Point) -> Matrix:
        """Return the scatter matrix Σ at a point: hits minus misses."""
        pairs = self.pairs
        # The kernel drops pairs of negligible weight by a fixed bound, so the largest sample weight must be about 1.
        largest = float(self.weights.max())
        lower = scatter(
            pairs.rows, pairs.columns, pairs.ends, point.form.matrix, point.form.triangular, point.stored,
            pairs.is_stored, self.sigma, point.soft, self.weights / largest,
        )[: pairs.p, : pairs.p]  # fmt: skip
        total: Matrix = largest * (np.tril(lower) + np.tril(lower, -1).T)
        return total

    def line(self, start: Point, V: Matrix, components: Matrix | None) -> Line:
        """Return the points from `start` towards V."""
        return Line(self, start, V, components)


class Line:
    """Points W + step (V - W). Distances are linear in W: those of both ends give them all."""

    def __init__(self, objective: Objective, start: Point, V: Matrix, components: Matrix | None) -> None:
        self.objective, self.start, self.V = objective, start, V
        self.form = objective.pairs.form(V, components)
        self.stored = objective.pairs.distances(self.form)

    def at(self, step: float) -> Point:
        """Return the point at a step in (0, 1]; one taken from stored distances lacks these until `take`."""
        if step == 1.0:
            soft = self.objective._softmins(self.form, self.stored, self.stored, 0.0)
            return Point(self.V, self.objective._value(soft), soft, self.form, self.stored)
        W = self.start.W + step * (self.V - self.start.W)
        form = self.objective.pairs.form(W)
        soft = self.objective._softmins(form, self.start.stored, self.stored, step)
        return Point(W, self.objective._value(soft), soft, form, _NOTHING)

    def take(self, point: Point, step: float) -> Point:
        """Return the point with its distances; the line is used up."""
        if step == 1.0 or not self.objective.pairs.is_stored:
            return point
        blend = self.stored
        blend -= self.start.stored
        blend *= step
        blend += self.start.stored
        return Point(point.W, point.value, point.soft, point.form, blend)
