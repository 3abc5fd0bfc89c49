"""Cross-validated nearest neighbours, compiled: forward selection calls them thousands of times on a few columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit


def fold_accuracy(Z: NDArray[np.float64], codes: NDArray[np.intp], fold_of: NDArray[np.int64], k: int) -> float:
    """Return the accuracy of k nearest neighbours, averaged over folds.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Rows; distances are Euclidean.
    codes : ndarray of shape (n_samples,)
        Class codes.
    fold_of : ndarray of int64, shape (n_samples,)
        Each row's fold, 0, 1, …; at least two. A row's neighbours are from other folds.
    k : int
        Number of neighbours that vote; all if there are fewer. Ties go to the class that comes first.

    Returns
    -------
    accuracy : float
        From 0 to 1.
    """
    sizes = np.bincount(fold_of)
    k = min(k, int(len(codes) - sizes.max()))
    correct = _count_correct(np.ascontiguousarray(Z), codes, fold_of, k, int(codes.max()) + 1, len(sizes))
    return float((correct / sizes).mean())


@njit(cache=True)
def _count_correct(Z, codes, fold_of, k, n_classes, n_folds):  # pragma: no cover
    """Return the number of correctly classified rows in each fold."""
    correct = np.zeros(n_folds)
    near, labels = np.empty(k), np.empty(k, dtype=np.int64)
    votes = np.empty(n_classes, dtype=np.int64)
    for i in range(len(Z)):
        near[:] = np.inf
        for j in range(len(Z)):
            if fold_of[j] == fold_of[i]:
                continue
            d = 0.0
            for a in range(Z.shape[1]):
                d += (Z[i, a] - Z[j, a]) ** 2
            if d >= near[k - 1]:
                continue
            rank = k - 1
            while rank > 0 and near[rank - 1] > d:
                near[rank], labels[rank] = near[rank - 1], labels[rank - 1]
                rank -= 1
            near[rank], labels[rank] = d, codes[j]
        votes[:] = 0
        for label in labels:
            votes[label] += 1
        correct[fold_of[i]] += np.argmax(votes) == codes[i]
    return correct
