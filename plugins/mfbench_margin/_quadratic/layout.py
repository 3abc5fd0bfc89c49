"""Training data as the kernels want them: rows sorted by class, features padded to a multiple of four."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._learner import TOO_LARGE, varying
from mfbench_margin._quadratic.distance_kernels import store_distances
from mfbench_margin._quadratic.form import Form, Matrix

# Space for the distances of all pairs under one W; a line search holds two of these.
CACHE_BYTES = 24 * 2**20
NOT_STORED = np.empty(0)


class TrainingPairs:
    """The pairs of training samples.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    codes : ndarray of int, shape (n,)
        Classes 0 … K - 1.
    cache_bytes : int or None, default=None
        Space for distances; `CACHE_BYTES` if None.

    Attributes
    ----------
    n, p, width : int
        Numbers of samples and features, and the latter rounded up to a multiple of four.
    rows : ndarray of shape (n, width)
        The samples, sorted by class.
    columns : ndarray of shape (width, n)
        The same, feature by feature.
    order : ndarray of int, shape (n,)
        Training index of each row.
    ends : ndarray of int, shape (K,)
        The rows of class c end before ends[c].
    varies : ndarray of bool, shape (p,)
        False for a constant feature.
    is_stored : bool
        Whether the distances of all pairs fit into `cache_bytes`; otherwise they are computed wherever they are needed.

    Raises
    ------
    ValueError
        If values are so large that distances overflow.
    """

    def __init__(self, X: Matrix, codes: NDArray[np.int64], cache_bytes: int | None = None) -> None:
        with np.errstate(over="ignore"):
            spread = float(((X.max(axis=0) - X.min(axis=0)) ** 2).sum())
        if not np.isfinite(spread):
            raise ValueError(TOO_LARGE)
        self.n, self.p = X.shape
        self.width = -(-self.p // 4) * 4
        self.order = np.argsort(codes, kind="stable")
        self.ends = np.cumsum(np.bincount(codes)).astype(np.int64)
        self.rows = self.pad(X[self.order])
        self.columns = np.ascontiguousarray(self.rows.T)
        self.is_stored = 4 * self.n * (self.n - 1) <= (CACHE_BYTES if cache_bytes is None else cache_bytes)
        self.varies = varying(X)

    def pad(self, X: Matrix) -> Matrix:
        """Return rows with columns of zeros appended."""
        padded = np.zeros((len(X), self.width))
        padded[:, : self.p] = X
        return padded

    def distances(self, form: Form) -> Matrix:
        """Return the distances of all pairs, row by row above the diagonal, or `NOT_STORED` if they do not fit."""
        if not self.is_stored:
            return NOT_STORED
        out = np.empty(self.n * (self.n - 1) // 2)
        matrix = form.matrix if form.factor is None else form.factor
        store_distances(self.rows, self.columns, matrix, form.factor is None, out)
        return out
