"""Weighted sums of squared differences over all pairs of rows, without a tensor of the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def squared_difference_sum(
    A: NDArray[np.float64], B: NDArray[np.float64], C: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return :math:`\sum_{ij} C_{ij} (a_i - b_j)^2`, feature by feature.

    The square expanded, this is :math:`\sum_i a_i^2 (C 1)_i + \sum_j b_j^2 (C^T 1)_j - 2 \sum_i a_i (C B)_i`: the
    diagonal of a graph Laplacian's quadratic form. Centre the rows beforehand, or digits cancel.

    Parameters
    ----------
    A : ndarray of shape (n, p)
        Rows.
    B : ndarray of shape (m, p)
        Other rows, or the same.
    C : ndarray of shape (n, m)
        Coefficients of any sign.

    Returns
    -------
    ndarray of shape (p,)

    Notes
    -----
    Time O(n m p) in one matrix product, memory O((n + m) p).

    Examples
    --------
    >>> import numpy as np
    >>> squared_difference_sum(np.array([[0.0, 1.0]]), np.array([[2.0, 2.0], [5.0, 1.0]]), np.array([[1.0, -1.0]]))
    array([-21.,   1.])
    """
    total: NDArray[np.float64] = C.sum(axis=1) @ A**2 + C.sum(axis=0) @ B**2 - 2.0 * np.einsum("ij,ij->j", A, C @ B)
    return total
