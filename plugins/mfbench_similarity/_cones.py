"""The three forms of a learned matrix, and its projection on the positive semi-definite matrices."""

from __future__ import annotations

import numpy as np

from mfbench_similarity._nearest.table import Matrix

FORMS = ("square", "symmetric", "diagonal")


def symmetric_part(A: Matrix) -> Matrix:
    """Return (A + Aᵀ) / 2; a diagonal, passed as a vector, is returned as it is."""
    return A if A.ndim == 1 else (A + A.T) / 2


def in_form(product: Matrix, form: str) -> Matrix:
    """Return the part of a square matrix that a form keeps: all, the symmetric part, or the diagonal as a vector."""
    if form == "diagonal":
        return np.diag(product).copy()
    return symmetric_part(product) if form == "symmetric" else product


def project_psd(A: Matrix, learner: str = "projection") -> Matrix:
    """Return the nearest positive semi-definite matrix, which must not be zero: see `nearest_psd`.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features) or (n_features,)
        A matrix, or a diagonal as a vector.
    learner : str, default="projection"
        Name of the caller, for the error message.

    Returns
    -------
    ndarray of the same shape

    Raises
    ------
    ValueError
        If no eigenvalue is positive, rounding errors aside.
    """
    projected = nearest_psd(A)
    if not projected.any():
        values = A if A.ndim == 1 else np.linalg.eigvalsh(symmetric_part(A))
        raise ValueError(
            f"{learner}: the matrix has no positive eigenvalue (the largest is {values.max():.3g}, n_features = "
            f"{len(values)}), so its projection on the positive semi-definite matrices is zero and ranks no neighbour; "
            "use the learner without the projection, another n_neighbors, or centred features"
        )
    return projected


def nearest_psd(A: Matrix) -> Matrix:
    """Return the nearest positive semi-definite matrix: the symmetric part without its non-positive eigenvalues.

    Parameters
    ----------
    A : ndarray of shape (n_features, n_features) or (n_features,)
        A matrix, or a diagonal as a vector.

    Returns
    -------
    ndarray of the same shape
        Zero if no eigenvalue is positive, rounding errors aside.

    Notes
    -----
    Time O(p³), or O(p) for a diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_psd(np.array([[1.0, 0.0], [-4.0, 1.0]])).round(3).tolist()
    [[1.5, -1.5], [-1.5, 1.5]]
    >>> nearest_psd(np.array([-1.0, -2.0])).tolist()
    [0.0, 0.0]
    """
    if A.ndim == 1:
        values = A
    else:
        A = symmetric_part(A)
        if _is_definite(A):
            return A
        values, vectors = np.linalg.eigh(A)
    tolerance = np.abs(values).max() * len(values) * np.finfo(np.float64).eps
    positive = values > tolerance
    if A.ndim == 1:
        return np.where(positive, A, 0.0)
    kept = vectors[:, positive] * np.sqrt(values[positive])
    projected: Matrix = kept @ kept.T
    return projected


def _is_definite(A: Matrix) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are positive; much faster than computing them."""
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return False
    return True
