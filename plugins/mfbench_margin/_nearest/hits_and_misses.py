"""The nearest hit and the nearest miss of each sample in a learned metric.

A learner passes rows mapped to the space where its distance is the squared Euclidean one. Distances are sums of squared
differences, never expanded into products, so that near-duplicates remain distinct; equally near rows are the same up to
the comparison grid of `differences`, and of these the one with the lowest training index counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._nearest.differences import DiffTable, build_table
from mfbench_margin._nearest.search import block_size, heap_offsets, search


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
