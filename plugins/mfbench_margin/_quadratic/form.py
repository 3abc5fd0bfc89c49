"""W as the kernels want it: a triangle or a factor, padded to a multiple of four features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


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
