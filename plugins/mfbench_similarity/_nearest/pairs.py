"""Hits and misses of the training rows, and the differences between them that make up margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_similarity._nearest.lists import clipped, nearest, split
from mfbench_similarity._nearest.table import Compare, Matrix, Table, inverse_factors, times


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
