"""Training data and W as the kernels want them, and the division of all pairs of samples into parts for threads.

Rows are sorted by class, features padded to a multiple of four; W is a triangle or a factor. The parts of the pairs do
not depend on the number of threads, and neither do results.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._learner import TOO_LARGE, varying
from mfbench_margin._quadratic.distance_kernels import store_distances

Matrix = NDArray[np.float64]
Result = TypeVar("Result")

# Fewer samples are one part: they take milliseconds.
MANY_SAMPLES, PARTS = 4096, 16
# Space for the distances of all pairs under one W: those of up to 8192 samples. A line search holds two of these.
CACHE_BYTES = 256 * 2**20
NOT_STORED = np.empty(0)
# Single precision pays with this many samples, and is enough if it changes distances by at most this share of sigma.
SINGLE_SAMPLES, SINGLE_ERROR = 1000, 0.01
# The largest possible distance must lie in this range: farther up distances overflow in single precision, farther down
# products of small entries of W and small differences lose digits.
SINGLE_RANGE = 2.0**-100, 2.0**120


@dataclass(frozen=True)
class Form:
    """W laid out for the kernels.

    Attributes
    ----------
    matrix : ndarray
        The lower triangle of W with doubled off-diagonal entries; or a few rows with W = matrix^T matrix.
    triangular : bool
        Whether `matrix` is the triangle.
    factor : ndarray or None
        Rows with W = factor^T factor, few or many, if there are any.
    """

    matrix: Matrix
    triangular: bool
    factor: Matrix | None = None


def lay_out(W: Matrix, width: int, components: Matrix | None = None) -> Form:
    """Return the form of W.

    Parameters
    ----------
    W : ndarray of shape (p, p)
        Symmetric.
    width : int
        p, rounded up to a multiple of four.
    components : ndarray of shape (r, p) or None, default=None
        Rows with W = components^T components, if available; few of them save work.
    """
    p = len(W)
    factor = None
    if components is not None:
        factor = np.zeros((len(components), width))
        factor[:, :p] = components
        if 3 * len(components) <= p:
            return Form(factor, False, factor)
    matrix = np.zeros((width, width))
    matrix[:p, :p] = 2.0 * np.tril(W, -1)
    matrix[np.arange(p), np.arange(p)] = np.diag(W)
    return Form(matrix, True, factor)


def in_parts(work: Callable[[int, int], Result], n: int, n_threads: int) -> list[Result]:
    """Return what `work` returns for each part of the pairs of n samples.

    Parameters
    ----------
    work : callable
        Takes the number of a part and the number of parts; releases the lock of the interpreter.
    n, n_threads : int
    """
    n_parts = 1 if n < MANY_SAMPLES else PARTS
    if n_parts == 1 or n_threads == 1:
        return [work(part, n_parts) for part in range(n_parts)]
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, range(n_parts), [n_parts] * n_parts))


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
        self.cache_bytes = CACHE_BYTES if cache_bytes is None else cache_bytes
        self.is_stored = self._fits()
        self.varies = varying(X)

    def _fits(self) -> bool:
        return bool(self.rows.itemsize * self.n * (self.n - 1) // 2 <= self.cache_bytes)

    def pad(self, X: Matrix) -> Matrix:
        """Return rows with columns of zeros appended."""
        padded = np.zeros((len(X), self.width))
        padded[:, : self.p] = X
        return padded

    @cached_property
    def single(self) -> TrainingPairs:
        """The same pairs in single precision."""
        pairs = copy(self)
        middle = (self.rows.max(axis=0) + self.rows.min(axis=0)) / 2  # differences keep more digits of small numbers
        pairs.rows = (self.rows - middle).astype(np.float32)
        pairs.columns = np.ascontiguousarray(pairs.rows.T)
        pairs.is_stored = pairs._fits()
        return pairs

    def __getstate__(self) -> dict[str, Any]:
        # A fitted classifier predicts in double precision.
        return {name: value for name, value in self.__dict__.items() if name != "single"}

    @property
    def single_error(self) -> float:
        """A bound on the error of any distance in single precision, for W of norm 1.

        The differences of a feature with range r have errors of at most 2 u r, with u = 2⁻²⁴, which change q by at most
        4 u Σ r². The sums that make up q are of at most `width` + 4 terms, and the terms add up to at most Σ r².
        """
        return float(2.0**-24 * (self.width + 8) * self.largest)

    def most_blends(self, sigma: float) -> float:
        """Return how often distances under a W may be the mean of others before rounding matters, infinity in double.

        A mean has an error of at most 2 u Σ r² besides the larger one of those it is made of.
        """
        if self.rows.dtype == np.float64:
            return np.inf
        return (SINGLE_ERROR * sigma - self.single_error) / (2.0**-23 * self.largest)

    @property
    def largest(self) -> float:
        """A bound on any distance, for W of norm 1: Σ r²."""
        return float((np.ptp(self.rows, axis=0) ** 2).sum())

    def distances(self, form: Form, n_threads: int = 1) -> Matrix:
        """Return the distances of all pairs, row by row above the diagonal, or `NOT_STORED` if they do not fit."""
        kind = self.rows.dtype
        try:
            out = reserve(self.n * (self.n - 1) // 2, kind) if self.is_stored else NOT_STORED
        except MemoryError:  # under a limit that leaves no space, all distances are computed each time
            self.is_stored, out = False, NOT_STORED
        if not self.is_stored:
            return out
        matrix = form.matrix if form.factor is None else form.factor
        matrix = matrix.astype(kind, copy=False)

        def store(part: int, n_parts: int) -> None:
            store_distances(self.rows, self.columns, matrix, form.factor is None, out, part, n_parts)

        in_parts(store, self.n, n_threads)
        return out


def reserve(length: int, kind: np.dtype[Any]) -> Matrix:
    """Return space for distances."""
    return np.empty(length, kind)


def is_single_enough(pairs: TrainingPairs, sigma: float) -> bool:
    """Return whether steps in single precision are worthwhile and near enough to those in double precision."""
    least, most = SINGLE_RANGE
    is_precise = least <= pairs.largest <= most and pairs.single_error <= SINGLE_ERROR * sigma
    return pairs.n >= SINGLE_SAMPLES and is_precise
