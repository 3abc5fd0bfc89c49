"""Features and response as the rows of one table, and the function that compares two rows.

A view hides the kernel from the methods: `gram` compares all pairs of rows, `against` compares the features with other
responses, such as permuted ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mfbench_learners.discretise import bin_codes, compact
from mfbench_relevance._kernel.information import information_between, information_matrix

Matrix = NDArray[np.float64]
Pairwise = Callable[[Matrix, Matrix], Any]
INFORMATION = "mutual-information"
KERNELS = (INFORMATION, "linear", "rbf", "polynomial")
BLOCK = 1024


class View(Protocol):
    """The data as a kernel sees them."""

    n_features: int

    def gram(self) -> Matrix:
        """Return the kernel of all features and targets, features first."""

    def against(self, orders: NDArray[np.intp]) -> Matrix:
        """Return the kernel between the features and the targets, with samples of the targets in other orders.

        The result has shape (n_orders, n_targets, n_features).
        """

    def freedom(self) -> NDArray[np.float64]:
        """Return the bias of each row up to a factor: occupied bins minus 1, or 1 for a numeric kernel."""


@dataclass
class CodedView:
    """Rows are bins; the kernel is mutual information.

    Attributes
    ----------
    codes : ndarray of unsigned int, shape (n_features + 1, n_samples)
        Bin of each sample; the response is the last row.
    sizes : ndarray of shape (n_features + 1,)
        Number of bins of each row, empty ones included.
    """

    codes: NDArray[Any]
    sizes: NDArray[np.int64]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.codes) - 1

    def gram(self) -> Matrix:
        """Return the mutual information of all pairs, with the entropies on the diagonal."""
        return information_matrix(self.codes, self.sizes)

    def against(self, orders: NDArray[np.intp]) -> Matrix:
        """Return the mutual information of the features with permuted responses."""
        shuffled = np.ascontiguousarray(self.codes[-1][orders])
        sizes = np.repeat(self.sizes[-1:], len(orders))
        information = information_between(self.codes[:-1], self.sizes[:-1], shuffled, sizes)
        return np.ascontiguousarray(information.T)[:, None, :]

    def freedom(self) -> NDArray[np.float64]:
        """Return the number of occupied bins of each row, minus 1."""
        return np.array([np.count_nonzero(np.bincount(row)) - 1 for row in self.codes], dtype=np.float64)


@dataclass
class NumericView:
    """Rows are standardised columns; the kernel is a function of two tables of such rows.

    Attributes
    ----------
    rows : ndarray of shape (n_features + n_targets, n_samples)
    n_features : int
    pairwise : callable
        Takes tables of a and b rows and returns the kernel, of shape (a, b).
    linear : bool
        Whether the kernel is the inner product of rows.
    """

    rows: Matrix
    n_features: int
    pairwise: Pairwise
    linear: bool = False

    def gram(self) -> Matrix:
        """Return the kernel of all pairs, block by block."""
        p = len(self.rows)
        matrix: Matrix = np.empty((p, p))
        for first in range(0, p, BLOCK):
            for second in range(first, p, BLOCK):
                block = self._compare(self.rows[first : first + BLOCK], self.rows[second : second + BLOCK])
                if first == second:
                    if not np.allclose(block, block.T, rtol=1e-6, atol=1e-8 * np.abs(block).max()):
                        raise ValueError("the kernel is not symmetric: kernel(U, V) must equal kernel(V, U).T")
                    block = (block + block.T) / 2
                matrix[first : first + BLOCK, second : second + BLOCK] = block
                matrix[second : second + BLOCK, first : first + BLOCK] = block.T
        return matrix

    def against(self, orders: NDArray[np.intp]) -> Matrix:
        """Return the kernel of the features with permuted targets."""
        features, targets = self.rows[: self.n_features], self.rows[self.n_features :]
        shuffled = targets[:, orders].swapaxes(0, 1).reshape(-1, self.rows.shape[1])
        blocks = [
            self._compare(shuffled, features[first : first + BLOCK]) for first in range(0, self.n_features, BLOCK)
        ]
        return np.hstack(blocks).reshape(len(orders), len(targets), self.n_features)

    def freedom(self) -> NDArray[np.float64]:
        """Return ones: numeric kernels have no bins."""
        return np.ones(len(self.rows))

    def _compare(self, left: Matrix, right: Matrix) -> Matrix:
        values = np.asarray(self.pairwise(left, right), dtype=np.float64)
        if values.shape != (len(left), len(right)):
            raise ValueError(
                f"the kernel returned an array of shape {values.shape} for {len(left)} and {len(right)} columns "
                f"instead of {(len(left), len(right))}: one number for every pair"
            )
        if not np.isfinite(values).all():
            raise ValueError("the kernel returned NaN or infinity; it must be finite on standardised columns")
        return values


def make_view(
    X: Matrix,
    y: NDArray[Any],
    *,
    n_classes: int,
    kernel: str | Pairwise,
    bins: int,
    target_bins: int,
    binning: str,
    gamma: float | None,
    degree: int,
    coef0: float,
) -> CodedView | NumericView:
    """Return the view of the data for a kernel.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, or class codes 0, 1, …
    n_classes : int
        Number of classes, or 0 if y holds numbers. Mutual information uses class codes as they are; other kernels
        compare the features with one standardised indicator per class (a single one for two classes).
    kernel, bins, target_bins, binning, gamma, degree, coef0
        As in `feature_kernel`.

    Returns
    -------
    CodedView or NumericView
    """
    if kernel == INFORMATION:
        codes = np.empty((len(X), X.shape[1] + 1), dtype=np.int64)
        codes[:, :-1] = bin_codes(X, bins, binning)
        codes[:, -1] = (
            y if n_classes else bin_codes(np.asarray(y, dtype=np.float64)[:, None], target_bins, binning)[:, 0]
        )
        return CodedView(*compact(codes))
    targets = indicators(y, n_classes) if n_classes else np.asarray(y, dtype=np.float64)[:, None]
    rows = np.ascontiguousarray(np.hstack([standardise(X), standardise(targets)]).T)
    pairwise = _pairwise(kernel, 1 / len(X) if gamma is None else gamma, degree, coef0)
    return NumericView(rows, X.shape[1], pairwise, kernel == "linear")


def indicators(codes: NDArray[Any], n_classes: int) -> Matrix:
    """Return one column per class, 1 where a row belongs to it; a single column for two classes."""
    table: Matrix = (np.asarray(codes)[:, None] == np.arange(n_classes)).astype(np.float64)
    return table[:, 1:] if n_classes == 2 else table


def standardise(columns: Matrix) -> Matrix:
    """Return columns with mean 0 and standard deviation 1; a constant column becomes 0."""
    varies = columns.max(axis=0) > columns.min(axis=0)
    largest = np.where(varies, np.abs(columns).max(axis=0), 1.0)
    scaled = columns / largest
    centred = np.where(varies, scaled - scaled.mean(axis=0), 0.0)
    spread = centred.std(axis=0)
    standardised: Matrix = centred / np.where(spread > 0, spread, 1.0)
    return standardised


def _pairwise(kernel: str | Pairwise, gamma: float, degree: int, coef0: float) -> Pairwise:
    if callable(kernel):
        return kernel
    if kernel == "linear":
        return lambda left, right: left @ right.T
    if kernel == "rbf":
        return lambda left, right: rbf_kernel(left, right, gamma=gamma)
    return lambda left, right: polynomial_kernel(left, right, degree=degree, gamma=gamma, coef0=coef0)
