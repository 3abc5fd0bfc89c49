"""The most similar training rows of every class, for a block of rows at a time.

Similarities are rounded to a grid whose step is 2⁻⁴⁰ of the largest similarity that a row can have. Ties therefore do
not depend on rounding errors of a matrix product, and sums of similarities are exact. Of equally similar rows the one
with the lowest training index comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_similarity._nearest.table import Compare, Matrix, Table

# A block of similarities has at most this many rows, and fewer if it needed more memory than this.
BLOCK = 256
BLOCK_BYTES = 64 * 2**20
GRID_BITS = 40


@dataclass(frozen=True)
class Lists:
    """For each row of a block, the k most similar rows of every class and the 2k most similar rows of all.

    Attributes
    ----------
    block : slice
        Rows of the block.
    index : ndarray of int64, shape (n_rows, n_classes, k)
        Sorted rows, the most similar first; n_samples where a class has fewer than k.
    value : ndarray of shape (n_rows, n_classes, k)
        Their similarities in steps of the grid; minus infinity where the class has fewer than k rows.
    merged_index, merged_value, merged_class : ndarray of shape (n_rows, 2 k)
        The same over all classes. Without any one class, at least k rows remain, unless there are fewer in total.
    step : ndarray of shape (n_rows,)
        Step of the grid.
    """

    block: slice
    index: NDArray[np.int64]
    value: Matrix
    merged_index: NDArray[np.int64]
    merged_value: Matrix
    merged_class: NDArray[np.int64]
    step: Matrix


def clipped(table: Table, n_neighbors: int) -> int:
    """Return the number of neighbours, limited to the number of training rows."""
    return int(min(n_neighbors, len(table.rows)))


def block_rows(n_samples: int, n_features: int, n_classes: int = 1, k: int = 1) -> int:
    """Return the number of rows of a block that takes at most `BLOCK_BYTES`."""
    per_row = 8 * (n_samples + 2 * n_features + 4 * n_classes * k)
    return int(max(1, min(BLOCK, BLOCK_BYTES // per_row)))


def nearest(
    table: Table, rows: Matrix, compare: Compare, n_neighbors: int, *, themselves: bool = False
) -> Iterator[Lists]:
    """Yield lists for blocks of rows.

    Parameters
    ----------
    table : Table
        The training rows.
    rows : ndarray of shape (n_rows, n_features)
        The rows to compare, as `compare` takes them.
    compare : callable
        Returns the similarities of rows to all sorted training rows, and their magnitude in each row.
    n_neighbors : int
        Number k of rows per class.
    themselves : bool, default=False
        Whether `rows` are the sorted training rows; no row is then its own neighbour.

    Yields
    ------
    Lists

    Notes
    -----
    Time O(n_rows n (p + 1)), mostly the matrix product in `compare`; memory O(n b) for blocks of b rows.
    """
    k = clipped(table, n_neighbors)
    n_classes = len(table.starts) - 1
    step = block_rows(len(table.rows), rows.shape[1], n_classes, k)
    for begin in range(0, len(rows), step):
        block = slice(begin, min(begin + step, len(rows)))
        values, magnitude = compare(rows[block])
        grid = grid_of(magnitude)
        size = len(values)
        index = np.full((size, n_classes, k), len(table.rows), dtype=np.int64)
        value = np.full(index.shape, -np.inf)
        own = np.arange(block.start, block.stop) if themselves else np.full(size, -1)
        _scan(values, grid, table.starts, own, index, value)
        merged_index = np.full((size, 2 * k), len(table.rows), dtype=np.int64)
        merged_class = np.full((size, 2 * k), n_classes, dtype=np.int64)
        merged_value = np.full((size, 2 * k), -np.inf)
        _merge(index, value, table.order, merged_index, merged_value, merged_class)
        yield Lists(block, index, value, merged_index, merged_value, merged_class, 1.0 / grid)


def grid_of(magnitude: Matrix) -> Matrix:
    """Return powers of two that scale numbers of this magnitude to integers below 2⁴⁰."""
    _, exponent = np.frexp(magnitude)
    # Beyond these exponents a factor or its inverse would overflow.
    factors: Matrix = np.ldexp(1.0, np.clip(GRID_BITS - exponent, -1000, 1000))
    return factors


@njit(cache=True)
def _scan(values, grid, starts, own, index, value):  # pragma: no cover
    k = index.shape[2]
    for b in range(len(values)):
        row = values[b]
        factor = grid[b]
        for j in range(len(row)):
            row[j] = np.rint(row[j] * factor)
        for c in range(len(starts) - 1):
            smallest = -np.inf
            # Rows come in ascending order of their index, so a row never replaces an earlier, equally similar one.
            for j in range(starts[c], starts[c + 1]):
                if row[j] > smallest and j != own[b]:
                    rank = k - 1
                    while rank > 0 and value[b, c, rank - 1] < row[j]:
                        value[b, c, rank], index[b, c, rank] = value[b, c, rank - 1], index[b, c, rank - 1]
                        rank -= 1
                    value[b, c, rank], index[b, c, rank] = row[j], j
                    smallest = value[b, c, k - 1]


@njit(cache=True)
def _merge(index, value, order, merged_index, merged_value, merged_class):  # pragma: no cover
    n_classes, k = index.shape[1], index.shape[2]
    n_rows = len(order)
    heads = np.empty(n_classes, dtype=np.int64)
    for b in range(len(index)):
        heads[:] = 0
        for rank in range(merged_index.shape[1]):
            best, best_value, best_order = -1, -np.inf, n_rows
            for c in range(n_classes):
                if heads[c] == k or index[b, c, heads[c]] == n_rows:
                    continue
                candidate, training_index = value[b, c, heads[c]], order[index[b, c, heads[c]]]
                if best < 0 or candidate > best_value or (candidate == best_value and training_index < best_order):
                    best, best_value, best_order = c, candidate, training_index
            if best < 0:
                break
            merged_index[b, rank] = index[b, best, heads[best]]
            merged_value[b, rank] = best_value
            merged_class[b, rank] = best
            heads[best] += 1


@njit(cache=True)
def split(index, merged_index, merged_class, labels, n_samples, hits, misses, counts):  # pragma: no cover
    """Fill in the k nearest hits and misses of each row in each problem, and how many of both count, an equal number.

    With one problem, the misses are of all other classes; with one problem per class, each class is against the rest.
    """
    n_problems, k = hits.shape[1], hits.shape[2]
    for b in range(len(hits)):
        for problem in range(n_problems):
            one = labels[b] if n_problems == 1 else problem
            rest = misses[b, problem] if labels[b] == one else hits[b, problem]
            same = hits[b, problem] if labels[b] == one else misses[b, problem]
            same[:] = index[b, one]
            n_rest = 0
            for rank in range(2 * k):
                if n_rest == k or merged_index[b, rank] == n_samples:
                    break
                if merged_class[b, rank] != one:
                    rest[n_rest] = merged_index[b, rank]
                    n_rest += 1
            both = 0
            while both < k and same[both] < n_samples and rest[both] < n_samples:
                both += 1
            counts[b, problem] = both
