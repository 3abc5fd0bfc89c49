"""The k nearest rows of every class for a block of target rows at a time, and the nearest hit and miss of each sample.

The rows of each class are scanned in tiles; a heap per target and class keeps the k best. Time is O(b n p) for b
targets, memory O(b · min(n, K k)): no matrix of all distances exists. Among many numbers, single precision finds the
rows that can be among the k nearest, by a bound on its error, and double precision decides: O(b n) memory, limited.

For a learned metric, rows are mapped to the space where its distance is the squared Euclidean one. Distances are sums
of squared differences, never expanded into products, so that near-duplicates remain distinct; equally near rows are the
same up to the comparison grid of `differences`, and of these the one with the lowest training index counts.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.differences import DiffTable, build_table

# Rows of a tile: few enough for its values to stay in the second-level cache while all targets of a block use them.
TILE = 256
# Targets of a block: at most this many, fewer if their heaps would need more than HEAP_BYTES.
BLOCK = 256
HEAP_BYTES = 16 * 2**20
# With so many complete numeric features, single precision finds the rows that may be among the nearest; their distances
# are then computed in double precision.
WIDE = 64
# Features whose differences are summed in single precision, and the rounding errors of such a sum in units of it.
FEATURES, ROUNDED = 64, 20
HALF_UNIT = 2.0**-24
# Distances in single precision that are in memory at a time.
APPROXIMATE = 2**21
# Up to this many neighbours a sorted list takes less time than a heap, whose branches a processor cannot predict.
SORTED = 32


def heap_offsets(table: DiffTable, n_neighbors: int) -> NDArray[np.int64]:
    """Return where the neighbours of each class begin in a row of heaps: min(k, class size) entries per class."""
    sizes = np.minimum(np.diff(table.starts), n_neighbors)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def block_size(offsets: NDArray[np.int64], n_rows: int = 0) -> int:
    """Return how many targets to search for at a time, among so many rows."""
    return int(max(1, min(BLOCK, HEAP_BYTES // (16 * int(offsets[-1])), APPROXIMATE // max(n_rows, 1))))


def search(
    table: DiffTable, targets: NDArray[np.int64], offsets: NDArray[np.int64], *, squared: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the nearest rows of every class.

    Parameters
    ----------
    table : DiffTable
        The training data.
    targets : ndarray of int64, shape (n_targets,)
        Stored rows to find the neighbours of. A target is never its own neighbour; a duplicate of it may be.
    offsets : ndarray of int64, shape (n_classes + 1,)
        From `heap_offsets`.
    squared : bool
        Sum squared differences, as in the Euclidean distance, instead of differences.

    Returns
    -------
    neighbours : ndarray of int64, shape (n_targets, offsets[-1])
        Stored rows; entries offsets[c] to offsets[c + 1] - 1 hold those of class c, nearest first. Entries without a
        neighbour are n_samples. Ties go to the lowest training index.
    distances : ndarray, shape (n_targets, offsets[-1])
        Their distances in steps of the table's grid.
    """
    n_rows = table.rows.shape[0]
    neighbours = np.full((len(targets), int(offsets[-1])), n_rows, dtype=np.int64)
    distances = np.full(neighbours.shape, np.inf)
    if table.n_plain == len(table.columns) >= WIDE and not squared:  # all values lie between 0 and 1
        _search_wide(targets, offsets, table.rows, table.single, table.starts, table.grid, neighbours, distances)
    else:
        _search(
            targets, offsets, table.rows, table.columns, table.starts, table.labels, table.n_plain, table.nominal,
            table.slot, table.expected, squared, table.grid, np.empty(TILE), neighbours, distances,
        )  # fmt: skip
    for first, last in pairwise(offsets):
        if last - first > SORTED:
            _sort_heaps(neighbours[:, first:last], distances[:, first:last])
    return neighbours, distances


def _sort_heaps(neighbours: NDArray[np.int64], distances: NDArray[np.float64]) -> None:
    order = np.lexsort((neighbours, distances), axis=1)
    neighbours[:] = np.take_along_axis(neighbours, order, axis=1)
    distances[:] = np.take_along_axis(distances, order, axis=1)


@njit(cache=True)
def _search(
    targets, offsets, rows, columns, starts, labels, n_plain, nominal, slot, expected, squared, grid, buffer,
    neighbours, distances,
):  # fmt: skip  # pragma: no cover
    for c in range(len(starts) - 1):
        first, last = offsets[c], offsets[c + 1]
        for begin in range(starts[c], starts[c + 1], TILE):
            end = min(begin + TILE, starts[c + 1])
            tile = buffer[: end - begin]
            for t in range(len(targets)):
                target = targets[t]
                tile[:] = 0.0
                if squared:
                    _add_squares(tile, rows[target], columns, n_plain, begin, end)
                else:
                    add_absolute(tile, rows[target], columns, n_plain, begin, end)
                    for f in range(n_plain, columns.shape[0]):
                        column = columns[f, begin:end]
                        if slot[f] < 0:
                            add_unequal(tile, rows[target, f], column)
                        elif np.isnan(rows[target, f]):
                            tile += expected[labels[target], slot[f], begin:end]
                        else:
                            _add_partly_known(tile, rows[target, f], column, nominal[f], expected[c, slot[f], target])
                _push(distances[t, first:last], neighbours[t, first:last], tile, grid, begin, target)


@njit(cache=True)
def _search_wide(targets, offsets, rows, single, starts, grid, neighbours, distances):  # pragma: no cover
    # A distance a in single precision is wrong by at most HALF_UNIT (1.5 p + ROUNDED a): the values by half a unit in
    # the last place, their differences by another quarter, and sums of 64 features by one for each of their steps.
    # A row that is among the k nearest is hence not farther than the k-th nearest one by more than twice this error.
    near = _approximate(targets, rows, single)
    n_features = rows.shape[1]
    for t in range(len(targets)):
        near[t, targets[t]] = np.inf
        for c in range(len(starts) - 1):
            first, last = offsets[c], offsets[c + 1]
            own = near[t, starts[c] : starts[c + 1]]
            limit = _smallest(own, last - first)
            limit += 2.0 * (HALF_UNIT * (1.5 * n_features + 1.01 * ROUNDED * limit) + 2.0 / grid)
            for j in range(len(own)):
                if own[j] <= limit and own[j] < np.inf:
                    distance = np.rint(_absolute(rows[targets[t]], rows[starts[c] + j]) * grid)
                    _offer(distances[t, first:last], neighbours[t, first:last], distance, starts[c] + j)


@njit(cache=True)
def _smallest(values, k):  # pragma: no cover
    # The k-th smallest.
    if k > SORTED:
        return np.partition(values, k - 1)[k - 1]
    least = np.full(k, np.inf)
    for value in values:
        if value < least[k - 1]:
            i = k - 1
            while i > 0 and least[i - 1] > value:
                least[i] = least[i - 1]
                i -= 1
            least[i] = value
    return least[k - 1]


@njit(cache=True)
def _approximate(targets, rows, single):  # pragma: no cover
    # The distances of all rows to the targets. A part of a tile stays in the cache while all targets use it.
    near = np.zeros((len(targets), len(rows)))
    part, x = np.empty(TILE, single.dtype), np.empty((len(targets), single.shape[0]), single.dtype)
    for t in range(len(targets)):
        x[t] = rows[targets[t]]
    for begin in range(0, len(rows), TILE):
        end = min(begin + TILE, len(rows))
        tile = part[: end - begin]
        for first in range(0, len(single), FEATURES):
            columns = single[first : first + FEATURES]
            for t in range(len(targets)):
                tile[:] = 0.0
                add_absolute(tile, x[t, first : first + FEATURES], columns, len(columns), begin, end)
                near[t, begin:end] += tile
    return near


@njit(cache=True)
def _absolute(x, z):  # pragma: no cover
    # In the order of `add_absolute`, so that the digits are the same.
    total, f = 0.0, 0
    while f + 4 <= len(x):
        total += (abs(z[f] - x[f]) + abs(z[f + 1] - x[f + 1])) + (abs(z[f + 2] - x[f + 2]) + abs(z[f + 3] - x[f + 3]))
        f += 4
    while f < len(x):
        total += abs(z[f] - x[f])
        f += 1
    return total


@njit(cache=True)
def _offer(distances, neighbours, distance, row):  # pragma: no cover
    """Offer one row to the k nearest rows of a target that are kept so far; rows come in ascending order."""
    if len(distances) <= SORTED:
        if distance < distances[len(distances) - 1]:
            _insert(distances, neighbours, distance, row)
    elif distance < distances[0]:
        _replace_root(distances, neighbours, distance, row)


@njit(cache=True)
def add_absolute(tile, x, columns, n_plain, begin, end):  # pragma: no cover
    # Four features at a time: a tile is loaded and stored once for four additions.
    f = 0
    while f + 4 <= n_plain:
        c0, c1 = columns[f, begin:end], columns[f + 1, begin:end]
        c2, c3 = columns[f + 2, begin:end], columns[f + 3, begin:end]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        for j in range(len(tile)):
            tile[j] += (abs(c0[j] - x0) + abs(c1[j] - x1)) + (abs(c2[j] - x2) + abs(c3[j] - x3))
        f += 4
    while f < n_plain:
        c0, x0 = columns[f, begin:end], x[f]
        for j in range(len(tile)):
            tile[j] += abs(c0[j] - x0)
        f += 1


@njit(cache=True)
def _add_squares(tile, x, columns, n_plain, begin, end):  # pragma: no cover
    f = 0
    while f + 4 <= n_plain:
        c0, c1 = columns[f, begin:end], columns[f + 1, begin:end]
        c2, c3 = columns[f + 2, begin:end], columns[f + 3, begin:end]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        for j in range(len(tile)):
            d0, d1, d2, d3 = c0[j] - x0, c1[j] - x1, c2[j] - x2, c3[j] - x3
            tile[j] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        f += 4
    while f < n_plain:
        c0, x0 = columns[f, begin:end], x[f]
        for j in range(len(tile)):
            d0 = c0[j] - x0
            tile[j] += d0 * d0
        f += 1


@njit(cache=True)
def add_unequal(tile, x, column):  # pragma: no cover
    for j in range(len(tile)):
        tile[j] += 1.0 if column[j] != x else 0.0


@njit(cache=True)
def _add_partly_known(tile, x, column, nominal, expected):  # pragma: no cover
    # All rows of a tile belong to one class: `expected` is the same wherever the column is unknown.
    if nominal:
        for j in range(len(tile)):
            difference = 1.0 if column[j] != x else 0.0
            tile[j] += expected if np.isnan(column[j]) else difference
    else:
        for j in range(len(tile)):
            difference = abs(column[j] - x)
            tile[j] += expected if np.isnan(column[j]) else difference


@njit(cache=True)
def _push(distances, neighbours, tile, grid, begin, target):  # pragma: no cover
    """Offer the rows begin, begin + 1, … to the k nearest rows of one target that are kept so far."""
    for j in range(len(tile)):
        tile[j] = np.rint(tile[j] * grid)
    size = len(distances)
    if size <= SORTED:
        farthest = distances[size - 1]
        for j in range(len(tile)):
            # Rows come in ascending order, so a row never replaces an earlier one at the same distance.
            if tile[j] < farthest and begin + j != target:
                _insert(distances, neighbours, tile[j], begin + j)
                farthest = distances[size - 1]
    else:
        farthest = distances[0]
        for j in range(len(tile)):
            if tile[j] < farthest and begin + j != target:
                _replace_root(distances, neighbours, tile[j], begin + j)
                farthest = distances[0]


@njit(cache=True)
def _insert(distances, neighbours, distance, neighbour):  # pragma: no cover
    # Ascending; a row goes behind earlier ones at the same distance, and the last one drops out.
    i = len(distances) - 1
    while i > 0 and distances[i - 1] > distance:
        distances[i], neighbours[i] = distances[i - 1], neighbours[i - 1]
        i -= 1
    distances[i], neighbours[i] = distance, neighbour


@njit(cache=True)
def _replace_root(distances, neighbours, distance, neighbour):  # pragma: no cover
    # The farthest row is the root of the heap; of several farthest rows, the last one is replaced first.
    size = len(distances)
    hole = 0
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and _is_farther(distances, neighbours, child + 1, distances[child], neighbours[child]):
            child += 1
        if not _is_farther(distances, neighbours, child, distance, neighbour):
            break
        distances[hole], neighbours[hole] = distances[child], neighbours[child]
        hole = child
    distances[hole], neighbours[hole] = distance, neighbour


@njit(cache=True)
def _is_farther(distances, neighbours, node, distance, neighbour):  # pragma: no cover
    return distances[node] > distance or (distances[node] == distance and neighbours[node] > neighbour)


def hits_and_misses(
    rows: NDArray[np.float64], codes: NDArray[np.int64], targets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the nearest hit and the nearest of all misses.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_features)
        Training data, mapped to the metric's space.
    codes : ndarray of int64, shape (n_samples,)
        Class codes, at least two classes.
    targets : ndarray of int64, shape (n_targets,)
        Training indices of the samples to search for, none alone in its class.

    Returns
    -------
    hits, misses : ndarray of int64, shape (n_targets,)
        Training indices; ties go to the lowest.

    Notes
    -----
    Time O(n_targets n p), memory O(n p).
    """
    table = euclidean_table(rows / unit(rows), codes)
    stored = table.position[targets]
    offsets = heap_offsets(table, 1)
    hits, misses = np.empty((2, len(targets)), dtype=np.int64)
    step = block_size(offsets)
    for begin in range(0, len(targets), step):
        block = slice(begin, begin + step)
        neighbours, distances = search(table, stored[block], offsets, squared=True)
        labels = table.labels[stored[block]]
        each = np.arange(len(labels))
        hits[block] = table.order[neighbours[each, labels]]
        distances[each, labels] = np.inf
        nearest = distances == distances.min(axis=1, keepdims=True)
        misses[block] = np.where(nearest, table.order[neighbours], len(rows)).min(axis=1)
    return hits, misses


def weighted(X: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the features of positive weight times the root of the weight: squared distances become weighted sums."""
    kept = weights > 0
    return X[:, kept] * np.sqrt(weights[kept])


def unit(X: NDArray[np.float64]) -> float:
    """Return a power of two to divide by, which keeps squares from vanishing or overflowing and changes no digit."""
    return float(np.ldexp(1.0, int(np.frexp(np.abs(X).max(initial=0.0))[1]) - 1))


def euclidean_table(rows: NDArray[np.float64], codes: NDArray[np.int64]) -> DiffTable:
    """Lay out numeric rows for the search by squared Euclidean distance."""
    return build_table(rows, codes, np.zeros(rows.shape[1], dtype=bool), scale=False, squared=True)
