"""The mutual information of all pairs of binned variables, in bits.

It is computed in tiles that stay in the processor's cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_learners.discretise import count_table

TILE = 64


def entropies(codes: NDArray[Any], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy of every row, in bits.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_rows, n_samples)
    sizes : ndarray of shape (n_rows,)
        Number of bins of each row.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> entropies(np.array([[0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.uint8), np.array([2, 1]))
    array([1., 0.])
    """
    n = codes.shape[1]
    table = count_table(n)
    sums: NDArray[np.float64] = np.empty(len(codes))
    _marginal_sums(codes, sizes, table, sums)
    entropy: NDArray[np.float64] = np.maximum(np.log2(n) - sums / n, 0.0)
    return entropy


def information_matrix(codes: NDArray[Any], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mutual information of all pairs of rows; on the diagonal, the entropies.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_rows, n_samples)
    sizes : ndarray of shape (n_rows,)
        Number of bins of each row.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        In bits; exactly symmetric, from 0 to the smaller of the two entropies.

    Notes
    -----
    Time O(p² (n + N²)) for N bins; no memory besides the result. Values of c log2 c are looked up in a table of whole
    counts, so no probability is rounded. Implements equation (26) of [1]_.

    References
    ----------
    .. [1] H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine.
       MLDM 2007, LNCS 4571:144-159.

    Examples
    --------
    >>> import numpy as np
    >>> information_matrix(np.array([[0, 0, 1, 1], [0, 1, 2, 3]], dtype=np.uint8), np.array([2, 4]))
    array([[1., 1.],
           [1., 2.]])
    """
    entropy = entropies(codes, sizes)
    matrix: NDArray[np.float64] = np.empty((len(codes), len(codes)))
    _all_pairs(codes, sizes, count_table(codes.shape[1]), entropy, matrix, TILE)
    return matrix


def information_between(
    codes: NDArray[Any], sizes: NDArray[np.int64], others: NDArray[Any], other_sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mutual information of every row of one table with every row of another.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_rows, n_samples)
    sizes : ndarray of shape (n_rows,)
    others : ndarray of unsigned int, shape (n_others, n_samples)
    other_sizes : ndarray of shape (n_others,)

    Returns
    -------
    ndarray of shape (n_rows, n_others)
        In bits.

    Examples
    --------
    >>> import numpy as np
    >>> two, four = np.array([[0, 0, 1, 1]], dtype=np.uint8), np.array([[0, 1, 2, 3]], dtype=np.uint8)
    >>> information_between(two, np.array([2]), four, np.array([4]))
    array([[1.]])
    """
    left, right = entropies(codes, sizes), entropies(others, other_sizes)
    matrix: NDArray[np.float64] = np.empty((len(codes), len(others)))
    table = count_table(codes.shape[1])
    _rectangle(codes, sizes, left, others, other_sizes, right, table, matrix, TILE)
    return matrix


@njit(cache=True, nogil=True)
def _marginal_sums(codes, sizes, table, out):  # pragma: no cover
    counts = np.zeros(sizes.max(), dtype=np.int64)
    for i in range(codes.shape[0]):
        counts[:] = 0
        for r in range(codes.shape[1]):
            counts[codes[i, r]] += 1
        total = 0.0
        for c in range(sizes[i]):
            total += table[counts[c]]
        out[i] = total


@njit(cache=True, nogil=True)
def _information(a, b, size_a, size_b, entropy_a, entropy_b, table, counts):  # pragma: no cover
    n = len(a)
    cells = size_a * size_b
    for c in range(cells):
        counts[c] = 0
    for r in range(n):
        counts[np.int64(a[r]) * size_b + np.int64(b[r])] += 1
    total = 0.0
    for c in range(cells):
        total += table[counts[c]]
    joint = np.log2(float(n)) - total / n
    return min(max(entropy_a + entropy_b - joint, 0.0), min(entropy_a, entropy_b))


@njit(cache=True, nogil=True)
def _all_pairs(codes, sizes, table, entropy, out, tile):  # pragma: no cover
    m = codes.shape[0]
    largest = sizes.max()
    counts = np.zeros(largest * largest, dtype=np.int32)
    for first in range(0, m, tile):
        for second in range(first, m, tile):
            for i in range(first, min(first + tile, m)):
                for j in range(max(second, i + 1), min(second + tile, m)):
                    bits = _information(codes[i], codes[j], sizes[i], sizes[j], entropy[i], entropy[j], table, counts)
                    out[i, j] = bits
                    out[j, i] = bits
    for i in range(m):
        out[i, i] = entropy[i]


@njit(cache=True, nogil=True)
def _rectangle(codes, sizes, left, others, other_sizes, right, table, out, tile):  # pragma: no cover
    counts = np.zeros(sizes.max() * other_sizes.max(), dtype=np.int32)
    for first in range(0, codes.shape[0], tile):
        for j in range(others.shape[0]):
            for i in range(first, min(first + tile, codes.shape[0])):
                out[i, j] = _information(
                    codes[i], others[j], sizes[i], other_sizes[j], left[i], right[j], table, counts
                )
