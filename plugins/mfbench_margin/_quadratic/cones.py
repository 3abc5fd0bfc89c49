"""Cones of weight matrices, and the matrix of norm 1 in a cone with the largest inner product with a given one.

For a closed convex cone K, the maximum of <G, W> over W in K with Frobenius norm 1 is attained at P(G) / ||P(G)||, P
being the projection on K (Moreau). If P(G) = 0, no direction of the cone has a positive inner product with G, and the
best is an extreme ray: exact for "psd", "nonneg" and "diag"; for the others, the best single feature is used instead.

Here is also where IMMIGRATE starts, and what it falls back to: matrices that do not depend on the objective's value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

Matrix = NDArray[np.float64]
CONES = ("psd", "psd_clip", "nonneg", "dnn", "diag")
# The projection on two cones at once stops at this error, relative to the largest entry, or after this many rounds.
TOLERANCE, ROUNDS = 1e-13, 5000
# A projection smaller than this part of the matrix is rounding error.
ZERO = 1e-12


class Direction(NamedTuple):
    """A matrix of norm 1 in a cone.

    Attributes
    ----------
    W : ndarray of shape (p, p)
        Symmetric.
    components : ndarray of shape (r, p) or None
        Rows whose outer products sum to W, if the projection computes them.
    polar : bool
        True if no direction has a positive inner product with the given matrix; W is then an extreme ray.
    """

    W: Matrix
    components: Matrix | None
    polar: bool


def best_direction(G: Matrix, cone: str) -> Direction:
    """Return the matrix of norm 1 in the cone with the largest inner product with G.

    Parameters
    ----------
    G : ndarray of shape (p, p)
        Any square matrix; only its symmetric part matters.
    cone : {"psd", "psd_clip", "nonneg", "dnn", "diag"}
        See `project`.

    Returns
    -------
    Direction

    Examples
    --------
    >>> import numpy as np
    >>> best_direction(np.diag([3.0, 4.0, -1.0]), "diag").W.diagonal().tolist()
    [0.6, 0.8, 0.0]
    """
    G = _scaled(G)
    W, components = _project(G, cone)
    norm = float(np.linalg.norm(W))
    if norm <= ZERO * max(float(np.linalg.norm(G)), 1e-300):
        return Direction(_extreme_ray(G, cone), None, True)
    return Direction(W / norm, None if components is None else components / np.sqrt(norm), False)


def project(G: Matrix, cone: str) -> Matrix:
    """Return the matrix of the cone nearest to the symmetric part of G.

    Parameters
    ----------
    G : ndarray of shape (p, p)
    cone : {"psd", "psd_clip", "nonneg", "dnn", "diag"}
        Positive semi-definite; the same, then negative entries replaced by 0 (not a projection, but published); entries
        of at least 0; both at once; diagonal with entries of at least 0.

    Returns
    -------
    ndarray of shape (p, p)

    Notes
    -----
    O(p³) for an eigen-decomposition, of which "dnn" takes tens to thousands; O(p²) for "nonneg" and "diag".

    Examples
    --------
    >>> import numpy as np
    >>> project(np.array([[1.0, -2.0], [-2.0, 1.0]]), "psd").round(3).tolist()
    [[1.5, -1.5], [-1.5, 1.5]]
    """
    return _project((G + G.T) / 2, cone)[0]


def pruned(W: Matrix, threshold: float) -> Matrix:
    """Return W without entries below the threshold, with norm 1.

    Raises
    ------
    ValueError
        If nothing is left.
    """
    # Rounding must not decide about entries that equal the threshold, as all do if they are equal.
    kept = np.where(threshold * (1 - 1e-12) > W, 0.0, W)
    norm = float(np.linalg.norm(kept))
    if norm == 0.0:
        raise ValueError(f"prune={threshold:g} removes all of W, whose largest entry is {W.max():.3g}; lower it")
    return kept / norm


def _scaled(G: Matrix) -> Matrix:
    """Return the symmetric part divided by its largest entry: same direction, but no square under- or overflows."""
    G = (G + G.T) / 2
    largest = float(np.abs(G).max())
    return G / largest if largest > 0 else G


def _project(G: Matrix, cone: str) -> tuple[Matrix, Matrix | None]:
    if cone == "psd":
        components = _positive_part(G)
        return components.T @ components, components
    if cone == "psd_clip":
        components = _positive_part(G)
        return np.maximum(components.T @ components, 0.0), None
    if cone == "nonneg":
        return np.maximum(G, 0.0), None
    if cone == "dnn":
        return _doubly_nonnegative(G), None
    if cone == "diag":
        return np.diag(np.maximum(np.diag(G), 0.0)), None
    raise ValueError(f"cone must be one of {', '.join(CONES)}, got {cone!r}")


def _positive_part(G: Matrix) -> Matrix:
    """Return rows whose outer products sum to the projection on the positive semi-definite cone, largest first."""
    eigenvalues, vectors = np.linalg.eigh(G)
    positive = eigenvalues > 0
    components: Matrix = (vectors[:, positive] * np.sqrt(eigenvalues[positive])).T[::-1]
    return components


def _doubly_nonnegative(G: Matrix) -> Matrix:
    """Return the nearest matrix that is positive semi-definite with entries of at least 0.

    The dual problem has one multiplier L >= 0 per entry: minimise ||P(G + L)||² with P the semi-definite projection.
    Its gradient is P(G + L) itself, with Lipschitz constant 1. Projected gradient steps with Nesterov's momentum,
    restarted when it leads uphill, need far fewer rounds than alternating projections (Dykstra), which are the same
    steps without momentum.
    """
    tolerance = TOLERANCE * float(np.abs(G).max())
    L = ahead = np.zeros_like(G)
    t = 1.0
    for _ in range(ROUNDS):
        components = _positive_part(G + ahead)
        V = components.T @ components
        following = np.maximum(ahead - V, 0.0)
        if float(np.abs(following - ahead).max()) <= tolerance:
            break
        if float(((ahead - following) * (following - L)).sum()) > 0:
            t = 1.0
        t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        ahead = following + (before - 1.0) / t * (following - L)
        L = following
    return np.maximum(V, 0.0)


def _extreme_ray(G: Matrix, cone: str) -> Matrix:
    """Return the best matrix of norm 1 if none has a positive inner product with G; the first of equals."""
    ray = np.zeros_like(G)
    if cone == "psd":
        vector = np.linalg.eigh(G)[1][:, -1]
        return np.outer(vector, vector)
    if cone == "nonneg":
        # A pair off the diagonal has two entries of 1 / sqrt(2).
        score = np.sqrt(2.0) * G
        np.fill_diagonal(score, np.diag(G))
        score[np.tril_indices(len(G), -1)] = -np.inf
        a, b = np.unravel_index(int(score.argmax()), score.shape)
        ray[a, b] = ray[b, a] = 1.0 if a == b else np.sqrt(0.5)
        return ray
    best = int(np.diag(G).argmax())
    ray[best, best] = 1.0
    return ray


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
