"""Training rows sorted by class, and blocks of similarities to them.

A similarity is s_A(x, y) = xᵀAy / N(x, y). If N is the product of norms, rows are divided by their norms once; if N is
1, they stay as they are. Either way, a block of similarities is one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Matrix = NDArray[np.float64]
Normalization = str | Callable[[Matrix, Matrix], Matrix]
# Returns the similarities of a block of rows to all training rows, and the largest magnitude possible in each row.
Compare = Callable[[Matrix], tuple[Matrix, Matrix]]

NORMALIZATIONS = ("norms", "none")


@dataclass(frozen=True)
class Table:
    """Training rows, grouped by class.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Prepared rows, stably sorted by class.
    order : ndarray of int64, shape (n_samples,)
        Training index of each sorted row; ascending within a class.
    starts : ndarray of int64, shape (n_classes + 1,)
        Position of the first row of each class, and the number of rows.
    labels : ndarray of int64, shape (n_samples,)
        Class codes of the sorted rows.
    normalization : {"norms", "none"} or callable
        N.
    """

    rows: Matrix
    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    labels: NDArray[np.int64]
    normalization: Normalization

    @property
    def position(self) -> NDArray[np.int64]:
        """Position of each training sample among the sorted rows."""
        position = np.empty_like(self.order)
        position[self.order] = np.arange(len(self.order))
        return position


def build_table(X: Matrix, codes: NDArray[np.int64], normalization: Normalization) -> Table:
    """Sort rows by class and prepare them. Time O(n (p + log n)), memory O(n p)."""
    order = np.argsort(codes, kind="stable")
    rows = np.ascontiguousarray(prepare(X, normalization)[order])
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
    return Table(rows, order, starts.astype(np.int64), codes[order], normalization)


def prepare(X: Matrix, normalization: Normalization) -> Matrix:
    """Divide each row by its norm if N is the product of norms; a row of zeros stays zero."""
    if normalization != "norms":
        return X
    # Dividing by the largest entry first prevents squares from overflowing or underflowing.
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit: Matrix = scaled / np.where(length > 0, length, 1.0)
    return unit


def times(rows: Matrix, A: Matrix | None) -> Matrix:
    """Return rows @ A, where A is a full matrix (p, p), a diagonal as a vector (p,), or None for the identity."""
    if A is None:
        return rows
    product: Matrix = rows * A if A.ndim == 1 else rows @ A
    return product


def bilinear(table: Table, A: Matrix | None) -> Compare:
    """Return the function that computes s_A of prepared rows, as left arguments, and all training rows."""
    longest = np.sqrt(np.einsum("ij,ij->i", table.rows, table.rows).max())

    def compare(rows: Matrix) -> tuple[Matrix, Matrix]:
        mapped = times(rows, A)
        values = mapped @ table.rows.T
        if callable(table.normalization):
            values *= inverse_factors(table, rows)
            return values, np.abs(values).max(axis=1)
        return values, np.sqrt(np.einsum("ij,ij->i", mapped, mapped)) * longest

    return compare


def nearness(rows: Matrix, metric: Literal["cityblock", "euclidean"]) -> Compare:
    """Return the function that computes minus the distance to all of `rows`."""

    def compare(queries: Matrix) -> tuple[Matrix, Matrix]:
        distances = cdist(queries, rows, metric)
        return -distances, distances.max(axis=1)

    return compare


def inverse_factors(table: Table, rows: Matrix) -> Matrix:
    """Return 1 / N of rows and all training rows by the user's function; 0 where N is 0, so that s is 0 too.

    Raises
    ------
    ValueError
        If the function returns another shape, or a value that is negative or not finite.
    """
    factors = np.asarray(table.normalization(rows, table.rows), dtype=np.float64)  # type: ignore[operator]
    shape = (len(rows), len(table.rows))
    if factors.shape != shape:
        raise ValueError(f"normalization must return an array of shape {shape}, one N per pair; got {factors.shape}")
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError("normalization must return finite numbers that are at least 0")
    inverse: Matrix = np.divide(1.0, factors, out=np.zeros(shape), where=factors > 0)
    return inverse
