"""Counts of levels, and what follows from them: entropies in bits, by a table of c log2 c."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_learners.discretise import Codes, count_table

Floats = NDArray[np.float64]


class Counter:
    """The levels of all features and the classes of one table.

    Attributes
    ----------
    relevance : ndarray of shape (n_features,)
        Information between each feature and the classes.
    entropies : ndarray of shape (n_features,)
        Of the features.
    class_entropy : float
    """

    def __init__(self, codes: Codes, sizes: NDArray[np.int64], classes: NDArray[np.int64], n_threads: int = 1) -> None:
        self.codes, self.sizes, self.classes, self.n_threads = codes, sizes, classes, n_threads
        self.n_samples = len(classes)
        self.n_classes = int(classes.max()) + 1
        self._table = count_table(self.n_samples)
        self.class_entropy = self._entropy(self._table[np.bincount(classes)].sum())
        nothing = np.zeros(self.n_samples, dtype=np.int64)
        joint, self.entropies = self._entropies(nothing, 1)
        self.relevance = self.entropies + self.class_entropy - joint

    def with_feature(self, index: int) -> tuple[Floats, Floats, Floats]:
        """Return I(x_j, x_k; y), H(x_j, x_k, y) and I(x_j; x_k) of all features *j* with one feature *k*."""
        own = self.codes[index].astype(np.int64)
        triple, pair = self._entropies(own, int(self.sizes[index]))
        # A sum of entropies is rounded; information is not negative.
        joint = np.maximum(pair + self.class_entropy - triple, 0.0)
        return joint, triple, np.maximum(self.entropies + self.entropies[index] - pair, 0.0)

    def _entropies(self, levels: NDArray[np.int64], n_levels: int) -> tuple[Floats, Floats]:
        """Return the entropies of each feature with given levels: together with the classes, and without them."""
        joined = (levels * self.n_classes + self.classes).astype(np.int32)
        p = len(self.codes)
        sums: Floats = np.empty((2, p))

        def work(first: int, last: int) -> None:
            part = slice(first, last)
            _joint_sums(
                self.codes[part], self.sizes[part], joined, n_levels, self.n_classes, self._table, sums[:, part]
            )

        ends = [p * part // self.n_threads for part in range(self.n_threads + 1)]
        if self.n_threads == 1:
            work(0, p)
        else:
            with ThreadPoolExecutor(self.n_threads) as threads:
                list(threads.map(work, ends[:-1], ends[1:]))
        triple, pair = (self._entropy(row) for row in sums)
        return triple, pair

    def _entropy(self, sums: NDArray[np.float64] | float) -> NDArray[np.float64]:
        return np.asarray(np.maximum(np.log2(self.n_samples) - np.asarray(sums) / self.n_samples, 0.0))


@njit(cache=True, nogil=True)
def _joint_sums(codes, sizes, joined, n_levels, n_classes, table, out):  # pragma: no cover
    """Sum c log2 c over the cells of (feature, levels, classes), and of (feature, levels)."""
    width = n_levels * n_classes
    # Two tables: successive samples of one cell do not wait for each other.
    even = np.zeros(sizes.max() * width, dtype=np.int32)
    odd = np.zeros(sizes.max() * width, dtype=np.int32)
    n = len(joined)
    for j in range(codes.shape[0]):
        n_cells = sizes[j] * width
        even[:n_cells] = 0
        odd[:n_cells] = 0
        row = codes[j]
        for i in range(0, n - 1, 2):
            even[np.int64(row[i]) * width + joined[i]] += 1
            odd[np.int64(row[i + 1]) * width + joined[i + 1]] += 1
        if n % 2:
            even[np.int64(row[n - 1]) * width + joined[n - 1]] += 1
        triple, pair = 0.0, 0.0
        for first in range(0, n_cells, n_classes):
            both = 0
            for cell in range(first, first + n_classes):
                count = even[cell] + odd[cell]
                both += count
                triple += table[count]
            pair += table[both]
        out[0, j] = triple
        out[1, j] = pair


@njit(cache=True, nogil=True)
def class_counts(codes, n_levels, classes, n_classes):  # pragma: no cover
    """Return the samples of each feature, level and class."""
    counts = np.zeros((codes.shape[0], n_levels, n_classes), dtype=np.int64)
    for j in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            counts[j, codes[j, i], classes[i]] += 1
    return counts
