r"""The convex problem behind FVM and P-SVM, solved by coordinate descent.

.. math:: \min_w \tfrac12 w^T K w - k^T w + \epsilon \|w\|_1, \qquad |w_i| \le C

With C infinite it is the dual of FVM at lambda = 2 epsilon; with K = X'X and k = X'y it is then the lasso.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mfbench_learners.compiled import njit

Vector = NDArray[np.float64]


def solve_box(
    K: NDArray[np.float64],
    k: Vector,
    epsilon: float,
    C: float = np.inf,
    *,
    start: Vector | None = None,
    tol: float = 1e-10,
    max_iter: int = 10_000,
) -> tuple[Vector, int]:
    r"""Return the minimiser and the number of passes.

    A pass sets :math:`w_j \leftarrow \operatorname{clip}(\operatorname{soft}(k_j - (Kw)_j + K_{jj} w_j, \epsilon) /
    K_{jj}, -C, C)` for one feature after another. Passes over the features of nonzero weight are repeated until they
    settle; then comes a pass over all features.

    Parameters
    ----------
    K : ndarray of shape (n_features, n_features)
        Positive semi-definite. A feature with :math:`K_{jj} = 0` keeps weight 0.
    k : ndarray of shape (n_features,)
    epsilon : float
        At least 0.
    C : float, default=inf
        Bound on the weights.
    start : ndarray of shape (n_features,) or None, default=None
        Weights to start from; None is 0.
    tol : float, default=1e-10
        Largest violation of the optimality conditions at the end, relative to the largest :math:`|k_i|`.
    max_iter : int, default=10000
        Largest number of passes over all features.

    Returns
    -------
    w : ndarray of shape (n_features,)
    n_iter : int

    Warns
    -----
    ConvergenceWarning
        If `max_iter` passes are not enough.

    Notes
    -----
    A pass over a of m features takes O(a m).

    Examples
    --------
    >>> import numpy as np
    >>> solve_box(np.eye(2), np.array([3.0, -1.0]), 0.5, C=2.0)[0]
    array([ 2. , -0.5])
    """
    w = np.zeros(len(k)) if start is None else np.clip(start, -C, C)
    scale = float(np.abs(k).max(initial=0.0))
    if scale == 0.0:
        return np.zeros(len(k)), 0
    K = np.ascontiguousarray(K)
    gradient = k - K @ w
    passes = _descend(K, np.ascontiguousarray(k), float(epsilon), float(C), w, gradient, tol * scale, max_iter)
    if passes > max_iter:
        warnings.warn(
            f"coordinate descent did not converge in {max_iter} passes; increase max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
    return w, min(passes, max_iter)


def optimality_gap(K: NDArray[np.float64], k: Vector, epsilon: float, C: float, w: Vector) -> float:
    """Return the largest violation of the Karush-Kuhn-Tucker conditions.

    Parameters
    ----------
    K, k, epsilon, C
        As in `solve_box`.
    w : ndarray of shape (n_features,)

    Returns
    -------
    float
        0 at the minimum.

    Examples
    --------
    >>> import numpy as np
    >>> optimality_gap(np.eye(1), np.array([3.0]), 0.5, np.inf, np.array([2.0]))
    0.5
    """
    usable = np.diagonal(K) > 0
    return float(_gap(k - K @ w, w, usable, float(epsilon), float(C)))


@njit(cache=True, nogil=True)
def _violation(slope, weight, epsilon, C):  # pragma: no cover
    if weight == 0.0:
        return 0.0 if C == 0.0 else max(abs(slope) - epsilon, 0.0)
    towards = slope if weight > 0 else -slope
    if abs(weight) >= C:
        return max(epsilon - towards, 0.0)
    return abs(towards - epsilon)


@njit(cache=True, nogil=True)
def _gap(gradient, w, usable, epsilon, C):  # pragma: no cover
    worst = 0.0
    for j in range(len(w)):
        if usable[j]:
            worst = max(worst, _violation(gradient[j], w[j], epsilon, C))
    return worst


@njit(cache=True, nogil=True)
def _pass(K, features, epsilon, C, w, gradient):  # pragma: no cover
    worst = 0.0
    for j in features:
        diagonal = K[j, j]
        worst = max(worst, _violation(gradient[j], w[j], epsilon, C))
        target = gradient[j] + diagonal * w[j]
        new = max(abs(target) - epsilon, 0.0) / diagonal
        if target < 0:
            new = -new
        new = min(max(new, -C), C)
        step = new - w[j]
        if step != 0.0:
            w[j] = new
            for i in range(len(w)):
                gradient[i] -= step * K[j, i]
    return worst


@njit(cache=True, nogil=True)
def _descend(K, k, epsilon, C, w, gradient, tol, max_iter):  # pragma: no cover
    m = len(w)
    usable = np.flatnonzero(np.diag(K) > 0)
    for i in range(m):
        if K[i, i] <= 0:
            w[i] = 0.0
    for count in range(1, max_iter + 1):
        _pass(K, usable, epsilon, C, w, gradient)
        for _ in range(1000):
            inner = usable[w[usable] != 0.0]
            if _pass(K, inner, epsilon, C, w, gradient) <= tol:
                break
        # Recompute the gradient: updates accumulate rounding errors.
        for i in range(m):
            total = k[i]
            for j in usable:
                if w[j] != 0.0:
                    total -= K[j, i] * w[j]
            gradient[i] = total
        worst = 0.0
        for j in usable:
            worst = max(worst, _violation(gradient[j], w[j], epsilon, C))
        if worst <= tol:
            return count
    return max_iter + 1


def path(
    K: NDArray[np.float64], k: Vector, epsilons: NDArray[np.float64], C: float, **options: Any
) -> NDArray[np.float64]:
    """Return the weights for decreasing values of epsilon, each solution starting from the one before.

    Parameters
    ----------
    K, k, C
        As in `solve_box`.
    epsilons : ndarray of shape (n_values,)
        Decreasing values.
    **options
        `tol` and `max_iter` of `solve_box`.

    Returns
    -------
    ndarray of shape (n_values, n_features)
    """
    weights = np.empty((len(epsilons), len(k)))
    w: Vector | None = None
    for i, epsilon in enumerate(epsilons):
        w, _ = solve_box(K, k, float(epsilon), C, start=w, **options)
        weights[i] = w
    return weights
