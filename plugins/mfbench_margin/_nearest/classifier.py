"""Prediction by the k nearest training samples in a learned metric.

Rows are mapped to the space where the metric is the squared Euclidean distance, and searched there.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from mfbench_margin._learner import TOO_LARGE, MarginClassifier
from mfbench_margin._nearest.search import block_size, euclidean_table, heap_offsets, search, unit, weighted

# Bytes of mapped rows to predict at a time.
CHUNK_BYTES = 16 * 2**20


def leave_one_out_error(rows: NDArray[np.float64], codes: NDArray[np.int64], n_neighbors: int) -> float:
    """Return the share of training samples that are misclassified by the vote of their k nearest others.

    Rows are mapped to the metric's space. Time O(n² p).
    """
    table = euclidean_table(rows / unit(rows), np.zeros(len(rows), dtype=np.int64))
    n_neighbors = min(n_neighbors, len(rows) - 1)
    n_classes = int(codes.max()) + 1
    offsets = heap_offsets(table, n_neighbors)
    step = block_size(offsets)
    wrong = 0
    for begin in range(0, len(rows), step):
        targets = np.arange(begin, min(begin + step, len(rows)))
        winners, _ = _vote(*search(table, targets, offsets, squared=True), codes, n_classes)
        wrong += int(np.count_nonzero(winners != codes[targets]))
    return wrong / len(rows)


class NeighbourClassifier(MarginClassifier):
    """Base class of classifiers that predict by the k nearest training samples in the metric they have learned."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    n_neighbors: int

    def _embed(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map rows to the space where the learned distance is the squared Euclidean one."""
        return weighted(X, self.weights_)

    def _remember(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        """Store the training data for prediction; called when the metric has been learned."""
        self._rows = self._embed(X)
        self._codes = codes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the majority class among the ``n_neighbors`` nearest training samples in the learned metric.

        Among equally near training samples, those with the lowest index vote. Ties between classes go to the smaller
        sum of squared learned distances, then to the class that comes first in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.

        Raises
        ------
        ValueError
            If X is so far away that distances overflow.
        """
        winners, _ = self._votes(self._check_rows(X))
        labels: NDArray[Any] = self.classes_[winners]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of each class among the ``n_neighbors`` nearest training samples: 0 or 1 for one neighbour.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares of votes, columns as in ``classes_``. If classes are tied, `predict` also considers distances.
        """
        _, votes = self._votes(self._check_rows(X))
        shares: NDArray[np.float64] = votes / votes.sum(axis=1, keepdims=True)
        return shares

    def _votes(self, X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the winning class code of each row, and the votes for every class."""
        one = unit(self._rows)
        table = euclidean_table(self._rows / one, np.zeros(len(self._rows), dtype=np.int64))
        offsets = heap_offsets(table, int(self.n_neighbors))
        n_classes = len(self.classes_)
        winners, votes = np.empty(len(X), dtype=np.int64), np.empty((len(X), n_classes))
        step = min(block_size(offsets), max(1, CHUNK_BYTES // (8 * X.shape[1])))
        for begin in range(0, len(X), step):
            block = slice(begin, begin + step)
            queries = np.ascontiguousarray(self._embed(X[block]) / one)
            # Negative indices keep queries from being mistaken for the training row of the same index.
            targets = np.arange(-len(queries), 0)
            neighbours, distances = search(replace(table, rows=queries), targets, offsets, squared=True)
            if not np.isfinite(distances).all():
                raise ValueError(TOO_LARGE)
            winners[block], votes[block] = _vote(neighbours, distances, self._codes, n_classes)
        return winners, votes


def _vote(
    neighbours: NDArray[np.int64], distances: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the winning class of each row of neighbours, and the votes."""
    each = np.arange(len(neighbours))[:, None]
    labels = codes[neighbours]
    votes, far = np.zeros((2, len(neighbours), n_classes))
    np.add.at(votes, (each, labels), 1.0)
    # Whole multiples of the grid add up exactly, whatever the order of the neighbours.
    np.add.at(far, (each, labels), distances)
    far[votes < votes.max(axis=1, keepdims=True)] = np.inf
    return far.argmin(axis=1), votes
