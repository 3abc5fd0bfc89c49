"""The mean margin of each feature over samples and their neighbours: what Relief and ReliefF compute.

Diffs are summed by the rank of the neighbour, so that one search gives the margins for every number of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.differences import DiffTable
from mfbench_margin._nearest.search import block_size, heap_offsets, search


def prior_factors(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the factor of the diff to class c' (column) for a sample of class c (row).

    -1 for hits, P(c') / (1 - P(c)) for misses, P being the relative frequency of a class. The misses' factors of a row
    sum to 1.
    """
    prior = np.bincount(codes) / len(codes)
    factors = prior[None, :] / (1.0 - prior[:, None])
    np.fill_diagonal(factors, -1.0)
    return factors


def pooled_factors(n_classes: int) -> NDArray[np.float64]:
    """Return factors as `prior_factors` does, but 1 for every miss."""
    return np.ones((n_classes, n_classes)) - 2.0 * np.eye(n_classes)


@dataclass(frozen=True)
class RankedMargins:
    """Margins for every number of neighbours up to that of the search.

    Attributes
    ----------
    sums : ndarray of shape (n_groups, n_ranks, n_features)
        Sums of signed diffs to the neighbours of each rank, divided by the number of samples; a group for each number
        of neighbours that classes have for samples.
    available : ndarray of int64, shape (n_groups,)
        These numbers, at most n_ranks.
    """

    sums: NDArray[np.float64]
    available: NDArray[np.int64]

    def at(self, n_neighbors: int) -> NDArray[np.float64]:
        """Return how much farther each feature keeps misses than hits, with so many neighbours in each class."""
        total = np.zeros(self.sums.shape[2])
        for sums, available in zip(self.sums, self.available, strict=True):
            used = min(int(available), n_neighbors)
            total += sums[:used].sum(axis=0) / used
        return total


def ranked_margins(
    table: DiffTable,
    samples: NDArray[np.int64],
    factors: NDArray[np.float64],
    n_neighbors: int,
    *,
    squared_distance: bool = False,
    squared_diff: bool = False,
    pooled: bool = False,
) -> RankedMargins:
    """Return how much farther each feature keeps misses than hits, averaged over samples, by number of neighbours.

    Parameters
    ----------
    table : DiffTable
        The training data.
    samples : ndarray of int64, shape (m,)
        Training indices to average over; repetitions count.
    factors : ndarray, shape (n_classes, n_classes)
        factors[c, c'] is the factor of the mean diff to the neighbours in class c' of a sample of class c.
    n_neighbors : int
        Neighbours in each class, at most.
    squared_distance, squared_diff : bool, default=False
        Whether the distance, and the weights, sum squared differences (complete numeric features only).
    pooled : bool, default=False
        Keep only the nearest of all misses (needs ``n_neighbors=1``).

    Returns
    -------
    RankedMargins
    """
    # A sample drawn twice has the same neighbours both times: search once, count twice.
    samples, counts = np.unique(samples, return_counts=True)
    targets = table.position[samples]
    offsets = heap_offsets(table, n_neighbors)
    step = block_size(offsets, len(table.rows))
    n_ranks = int(np.diff(offsets).max())
    available, group = _groups(np.diff(table.starts), n_ranks)
    total = np.zeros((len(available), n_ranks, len(table.columns)))
    for begin in range(0, len(targets), step):
        block = targets[begin : begin + step]
        neighbours, distances = search(table, block, offsets, squared=squared_distance)
        if pooled:
            _keep_nearest_miss(table, block, neighbours, distances)
        _accumulate(
            total, group, block, counts[begin : begin + step], neighbours, offsets, factors, table.rows, table.labels,
            table.n_plain, table.nominal, table.slot, table.expected, squared_diff,
        )  # fmt: skip
    total /= counts.sum()
    sums = np.empty_like(total)
    sums[:, :, table.feature_order] = total
    return RankedMargins(sums, available)


def _groups(sizes: NDArray[np.int64], n_ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of neighbours that occur, and which of them applies to a sample of a class (row) in a class.

    A sample is not its own neighbour. The group is -1 where there is no neighbour.
    """
    counts = np.minimum(sizes[None, :] - np.eye(len(sizes), dtype=np.int64), n_ranks)
    available = np.unique(counts[counts > 0])
    return available, np.where(counts > 0, np.searchsorted(available, counts), -1)


def _keep_nearest_miss(
    table: DiffTable, targets: NDArray[np.int64], neighbours: NDArray[np.int64], distances: NDArray[np.float64]
) -> None:
    """Erase all misses but the nearest from one neighbour per class, in place; ties go to the lowest index."""
    n_rows, n_classes = len(table.order), neighbours.shape[1]
    training_index = np.append(table.order, n_rows)[neighbours]
    is_hit = np.arange(n_classes) == table.labels[targets][:, None]
    miss_distances = np.where(is_hit, np.inf, distances)
    nearest = miss_distances == miss_distances.min(axis=1, keepdims=True)
    kept = np.where(nearest, training_index, n_rows).argmin(axis=1)
    neighbours[~is_hit & (np.arange(n_classes) != kept[:, None])] = n_rows


@njit(cache=True)
def _accumulate(
    total, group, targets, counts, neighbours, offsets, factors, rows, labels, n_plain, nominal, slot, expected,
    squared,
):  # fmt: skip  # pragma: no cover
    for t in range(len(targets)):
        target = targets[t]
        own = labels[target]
        for c in range(len(offsets) - 1):
            if group[own, c] < 0:
                continue
            factor = counts[t] * factors[own, c]
            for entry in range(offsets[c], offsets[c + 1]):
                neighbour = neighbours[t, entry]
                if neighbour < len(rows):
                    sums = total[group[own, c], entry - offsets[c]]
                    _add_plain(sums, factor, rows[target], rows[neighbour], n_plain, squared)
                    for f in range(n_plain, rows.shape[1]):
                        sums[f] += factor * _difference(f, target, neighbour, rows, labels, nominal, slot, expected)


@njit(cache=True)
def _add_plain(total, factor, x, z, n_plain, squared):  # pragma: no cover
    if squared:
        for f in range(n_plain):
            total[f] += factor * ((x[f] - z[f]) * (x[f] - z[f]))
    else:
        for f in range(n_plain):
            total[f] += factor * abs(x[f] - z[f])


@njit(cache=True)
def _difference(f, i, j, rows, labels, nominal, slot, expected):  # pragma: no cover
    if np.isnan(rows[i, f]):
        return expected[labels[i], slot[f], j]
    if np.isnan(rows[j, f]):
        return expected[labels[j], slot[f], i]
    if nominal[f]:
        return 1.0 if rows[i, f] != rows[j, f] else 0.0
    return abs(rows[i, f] - rows[j, f])
