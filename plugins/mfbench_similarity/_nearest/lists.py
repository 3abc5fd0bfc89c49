"""The most similar training rows of every class, the hits and misses of the training rows, and the votes of neighbours.

Similarities are rounded to a grid whose step is 2⁻⁴⁰ of the largest similarity that a row can have. Ties therefore do
not depend on rounding errors of a matrix product, and sums of similarities are exact. Of equally similar rows the one
with the lowest training index comes first.

The rule kNN-A counts the most similar rows, SkNN-A compares an equal number of rows per class. Both give every class a
number of votes and a strength. The votes decide; strengths break ties. SkNN-A uses strengths only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_similarity._nearest.table import Compare, Matrix, Table, inverse_factors, times

# A block of similarities has at most this many rows, and fewer if it needed more memory than this.
BLOCK = 256
BLOCK_BYTES = 64 * 2**20
GRID_BITS = 40
RULES = ("knn-a", "sknn-a")
# Strengths are scaled to at most this, so that neither a strength nor a difference of two outweighs a vote.
TIE_SHARE = 0.25


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


@dataclass(frozen=True)
class Pairs:
    """The k nearest hits and misses of every sorted training row, for every problem.

    Attributes
    ----------
    hits, misses : ndarray of int32, shape (n_problems, n_samples, k)
        Sorted rows, the most similar first; n_samples where there are fewer than k.
    counts : ndarray of int64, shape (n_problems, n_samples)
        How many of them count, the same number of hits and misses. 0 for a row that is alone on its side.
    hit_factors, miss_factors : ndarray of shape (n_problems, n_samples, k) or (n_problems, 0, 0)
        1 / N of a row and its neighbours; empty if N is 1 for prepared rows.
    """

    hits: NDArray[np.int32]
    misses: NDArray[np.int32]
    counts: NDArray[np.int64]
    hit_factors: Matrix
    miss_factors: Matrix


def find_pairs(table: Table, rows: Matrix, compare: Compare, n_neighbors: int, n_problems: int) -> Pairs:
    """Find hits and misses under one similarity for all problems at once.

    A single problem distinguishes all classes; otherwise there is one problem per class, against the rest. Time as for
    `nearest`, memory O(n k) per problem.
    """
    n, k = len(table.rows), clipped(table, n_neighbors)
    hits = np.full((n_problems, n, k), n, dtype=np.int32)
    misses = np.full_like(hits, n)
    counts = np.zeros((n_problems, n), dtype=np.int64)
    weighted = callable(table.normalization)
    hit_factors = np.zeros((n_problems, n, k) if weighted else (n_problems, 0, 0))
    miss_factors = np.zeros_like(hit_factors)
    for lists in nearest(table, rows, compare, n_neighbors, themselves=True):
        block = lists.block
        both = np.full((2, len(lists.index), n_problems, k), n, dtype=np.int64)
        used = np.zeros((len(lists.index), n_problems), dtype=np.int64)
        split(lists.index, lists.merged_index, lists.merged_class, table.labels[block], n, both[0], both[1], used)
        hits[:, block], misses[:, block] = both.transpose(0, 2, 1, 3)
        counts[:, block] = used.T
        if weighted:
            inverse = inverse_factors(table, table.rows[block])
            each = np.arange(len(inverse))[:, None, None]
            gathered = inverse[each[None], np.minimum(both, n - 1)]
            hit_factors[:, block], miss_factors[:, block] = gathered.transpose(0, 2, 1, 3)
    return Pairs(hits, misses, counts, hit_factors, miss_factors)


def differences(table: Table, pairs: Pairs, problem: int) -> Matrix:
    """Return v_i, the sum of a row's hits minus the sum of its misses, each divided by N; 0 for a row without any.

    The margin of a row is then x_iᵀ A v_i. Shape (n_samples, n_features), time O(n p k).
    """
    V = np.zeros_like(table.rows)
    hit_factors, miss_factors = pairs.hit_factors[problem], pairs.miss_factors[problem]
    _differences(
        table.rows, pairs.hits[problem], pairs.misses[problem], pairs.counts[problem], hit_factors, miss_factors, V
    )
    return V


def margins(table: Table, pairs: Pairs, problem: int, A: Matrix | None = None) -> Matrix:
    """Return the margins x_iᵀ A v_i of the sorted rows, with A = I if None; NaN for a row without hits or misses."""
    V = differences(table, pairs, problem)
    values: Matrix = np.einsum("ij,ij->i", times(table.rows, A), V)
    values[pairs.counts[problem] == 0] = np.nan
    return values


@njit(cache=True)
def _differences(rows, hits, misses, counts, hit_factors, miss_factors, V):  # pragma: no cover
    weighted = hit_factors.size > 0
    for i in range(len(rows)):
        for q in range(counts[i]):
            plus = hit_factors[i, q] if weighted else 1.0
            minus = miss_factors[i, q] if weighted else 1.0
            hit, miss = hits[i, q], misses[i, q]
            for f in range(rows.shape[1]):
                V[i, f] += plus * rows[hit, f] - minus * rows[miss, f]


def by_class(lists: Lists, rule: str) -> tuple[Matrix, Matrix]:
    """Return votes and strengths of every class for a block of rows.

    With kNN-A, a class has one vote for each of its members among the k most similar rows, and its strength is their
    summed similarity. With SkNN-A, its strength is the mean similarity of its k most similar members (not the sum,
    because a class may have fewer than k). Shapes (n_rows, n_classes).
    """
    votes, strengths = np.zeros((2, *lists.index.shape[:2]))
    if rule == "knn-a":
        _vote(lists.merged_value, lists.merged_class, lists.index.shape[2], votes, strengths)
    else:
        _mean(lists.value, strengths)
    return votes, strengths * lists.step[:, None]


def against_rest(lists: Lists, rule: str) -> tuple[Matrix, Matrix]:
    """Return the lead of every class over all others together, in votes and strength. Shapes (n_rows, n_classes)."""
    votes, strengths = np.zeros((2, *lists.index.shape[:2]))
    if rule == "knn-a":
        _vote(lists.merged_value, lists.merged_class, lists.index.shape[2], votes, strengths)
        # Sums of grid steps are exact, so equal strengths cancel to 0.
        votes = 2 * votes - votes.sum(axis=1, keepdims=True)
        strengths = 2 * strengths - strengths.sum(axis=1, keepdims=True)
    else:
        rest = np.zeros_like(strengths)
        _mean(lists.value, strengths)
        _mean_without(lists.merged_value, lists.merged_class, lists.index.shape[2], rest)
        strengths -= rest
    return votes, strengths * lists.step[:, None]


def scores(votes: Matrix, strengths: Matrix, rule: str) -> Matrix:
    """Return one number per class that orders the classes of a row by votes, then by strengths."""
    if rule == "sknn-a":
        return strengths
    largest = np.abs(strengths).max(axis=1, keepdims=True)
    combined: Matrix = votes + TIE_SHARE * strengths / np.where(largest > 0, largest, 1.0)
    return combined


def leads(votes: Matrix, strengths: Matrix, rule: str) -> Matrix:
    """Return the lead of each class over the rest as one number that is comparable between rows and matrices."""
    if rule == "sknn-a":
        return strengths
    combined: Matrix = votes + TIE_SHARE * strengths / (1.0 + np.abs(strengths))
    return combined


@njit(cache=True)
def _vote(merged_value, merged_class, k, votes, strengths):  # pragma: no cover
    n_classes = votes.shape[1]
    for b in range(len(merged_value)):
        for rank in range(min(k, merged_value.shape[1])):
            c = merged_class[b, rank]
            if c == n_classes:
                break
            votes[b, c] += 1.0
            strengths[b, c] += merged_value[b, rank]


@njit(cache=True)
def _mean(value, strengths):  # pragma: no cover
    for b in range(value.shape[0]):
        for c in range(value.shape[1]):
            count, total = 0, 0.0
            for q in range(value.shape[2]):
                if value[b, c, q] > -np.inf:
                    total += value[b, c, q]
                    count += 1
            strengths[b, c] = total / count


@njit(cache=True)
def _mean_without(merged_value, merged_class, k, strengths):  # pragma: no cover
    n_classes = strengths.shape[1]
    for b in range(len(merged_value)):
        for c in range(n_classes):
            count, total = 0, 0.0
            for rank in range(merged_value.shape[1]):
                if count == k or merged_class[b, rank] == n_classes:
                    break
                if merged_class[b, rank] != c:
                    total += merged_value[b, rank]
                    count += 1
            strengths[b, c] = total / count
