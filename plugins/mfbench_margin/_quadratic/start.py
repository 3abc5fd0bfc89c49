"""Where IMMIGRATE starts, and what it falls back to: matrices that do not depend on the objective's value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from mfbench_margin._quadratic.cones import best_direction, project

Matrix = NDArray[np.float64]


def first_matrix(init: Any, varies: NDArray[np.bool_], *, cone: str | None, random_state: Any) -> Matrix:
    """Return the W that the iterations start from; rows and columns of constant features are 0.

    Parameters
    ----------
    init : {"identity", "random"} or array-like of shape (p, p)
        As in `mfbench_margin.IMMIGRATE`.
    varies : ndarray of bool, shape (p,)
        False for a constant feature.
    cone : str or None
        The cone in which W must lie; None for a W of any kind, as the published solver takes it.
    random_state : int, RandomState instance or None

    Raises
    ------
    ValueError
        If `init` does not fit.
    """
    p = len(varies)
    is_named = isinstance(init, str)
    if is_named and init == "identity":
        return np.diag(np.where(varies, 1.0 / np.sqrt(p), 0.0))
    if is_named:
        W: Matrix = check_random_state(random_state).uniform(size=(p, p))
        W = np.triu(W) + np.triu(W, 1).T
    else:
        W = _check_matrix(init, p)
    W = np.where(varies[:, None] & varies, W, 0.0)
    if cone is not None:
        W = project(W, cone)
    norm = float(np.linalg.norm(W))
    if is_named:
        W /= norm if norm > 0.0 else 1.0
        return W
    if cone is None:
        return W
    if norm == 0.0 and varies.any():
        raise ValueError(f"init has no part in the cone {cone!r} on features that vary; choose another init")
    W /= max(1.0, norm)
    return W


def _check_matrix(init: Any, p: int) -> Matrix:
    W: Matrix = check_array(init, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="init")
    if W.shape != (p, p):
        raise ValueError(f"init must have shape ({p}, {p}), a row and a column per feature, got {W.shape}")
    if not np.allclose(W, W.T, rtol=1e-10, atol=0):
        raise ValueError("init must be symmetric")
    if not W.any():
        raise ValueError("init must not be all zeros: every distance would be 0")
    return W


def equal_weights(varies: NDArray[np.bool_]) -> Matrix:
    """Return the identity on features that vary, with norm 1."""
    return np.diag(varies / np.sqrt(max(1, varies.sum())))


def least_bad(slope: Matrix, cone: str, varies: NDArray[np.bool_]) -> Matrix:
    """Return the W of norm 1 in the cone along which the objective rises least."""
    # Among features that vary: a constant one, whose slope is 0, would be the least bad of all.
    both = np.ix_(varies, varies)
    W = np.zeros_like(slope)
    W[both] = best_direction(-slope[both], cone).W
    return W
