"""LMNN's objective on a working set of pairs, and its minimisation by smoothing.

The hinges of the objective are rounded off within a small distance from their kinks, which makes it smooth; that
distance shrinks until it no longer matters. Two rows of different classes contribute to the objective only while the
second is at most slightly farther from the first than the targets of the first are. Only such pairs are kept; after
each descent they are collected again from all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.neighbors import NearestNeighbors

from mfbench_learners.compiled import njit

# Memory for each block of distances while pairs are collected.
BLOCK_BYTES = 32 * 2**20
# Maximum number of steps of each descent, after which all pairs are checked.
STEPS = 50
# Width of the first smoothing, in units of the margin, and the factor by which it shrinks.
FIRST_WIDTH, SHRINKAGE = 0.25, 0.125
# Share of the mean eigenvalue that is added to those of the pull, in whose coordinates the descent works.
RIDGE = 1e-6


@dataclass
class Descent:
    """What `minimise` returns."""

    components: NDArray[np.float64]
    trace: list[float]
    steps: int
    converged: bool


@dataclass(frozen=True)
class Terms:
    """What the objective is summed over.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    targets : ndarray of int64, shape (n_samples, k)
        From `find_targets`.
    push : float
        Weight of the second sum, between 0 and 1.
    starts, pairs : ndarray of int64
        From `collect`.
    """

    X: NDArray[np.float64]
    targets: NDArray[np.int64]
    push: float
    starts: NDArray[np.int64]
    pairs: NDArray[np.int64]


def find_targets(X: NDArray[np.float64], codes: NDArray[np.intp], k: int) -> NDArray[np.int64]:
    """Return each row's k nearest others of its class, by Euclidean distance.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    codes : ndarray of shape (n_samples,)
        Class codes.
    k : int
        Number of targets of each row; a row in a class of m rows has at most m - 1.

    Returns
    -------
    targets : ndarray of int64, shape (n_samples, k)
        Row numbers; -1 for a missing target.
    """
    targets = np.full((len(X), k), -1, dtype=np.int64)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        count = min(k, len(members) - 1)
        if count:
            # Called without rows, kneighbors leaves each training row itself out, but not its duplicates.
            nearest = NearestNeighbors(n_neighbors=count).fit(X[members]).kneighbors(return_distance=False)
            targets[members, :count] = members[nearest]
    return targets


def minimise(
    X: NDArray[np.float64],
    codes: NDArray[np.intp],
    targets: NDArray[np.int64],
    *,
    push: float,
    max_iter: int,
    tol: float,
) -> Descent:
    """Minimise the objective over the square matrix L, starting from the identity.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.
    codes : ndarray of shape (n_samples,)
        Class codes.
    targets : ndarray of int64, shape (n_samples, k)
        From `find_targets`.
    push : float
        Weight of the second sum, between 0 and 1.
    max_iter : int
        Maximum number of quasi-Newton steps in all.
    tol : float
        Stop when the three `conditions` are at most tol, tol and the square root of tol. The last one is a gradient, in
        which the excess of the objective over its minimum is quadratic.

    Returns
    -------
    Descent
        L, the objective over all pairs at the start and whenever a descent lowered it, and how the minimisation ended.
    """
    p = X.shape[1]
    # In these coordinates the first sum is the same in all directions. With nearly collinear features, the descent
    # then takes a tenth of the steps.
    basis, inverse, scale = _pull_basis(X, targets, push)
    X = np.ascontiguousarray(X @ basis)

    def terms_near(L: NDArray[np.float64], slack: float) -> Terms:
        return Terms(X, targets, push, *collect(X @ L.T, codes, targets, slack))

    current, width, slack, steps, converged = inverse, FIRST_WIDTH, 0.5, 0, False
    terms = terms_near(current, slack)
    best, trace = current, [objective(current, terms)[0]]
    negligible = np.finfo(np.float64).eps * trace[0]
    while steps < max_iter and not converged:
        result = minimize(
            lambda flat, *rest: _flat(objective(flat.reshape(p, p), *rest)),
            current.ravel(),
            args=(terms, width),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": min(STEPS, max_iter - steps), "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        )
        steps += max(1, int(result.nit))
        current = result.x.reshape(p, p)
        terms = terms_near(current, slack)
        value = objective(current, terms)[0]
        if value < trace[-1]:
            best = current
            trace.append(value)
        if objective(current, terms, width)[0] - result.fun > tol * value:
            # Pairs outside the set have begun to contribute: keep more of them, eventually all.
            slack *= 2.0
            terms = terms_near(current, slack)
            continue
        smoothing, complementarity, negativity = conditions(current, terms, width, scale)
        if value <= negligible:
            converged = True
        elif complementarity <= tol and negativity <= np.sqrt(tol):
            converged = smoothing <= tol
            width *= SHRINKAGE
        elif complementarity <= tol:
            # L has lost a direction along which the objective falls; its own gradient is 0 there.
            current = with_direction(current, derivative(current, terms, width)[0])
            terms = terms_near(current, slack)
    return Descent(best @ basis, trace, steps, converged)


def objective(L: NDArray[np.float64], terms: Terms, width: float = 0.0) -> tuple[float, NDArray[np.float64]]:
    """Return the objective and its gradient in L, summed over the given pairs.

    With a width w above 0, each hinge :math:`[h]_+` is replaced with :math:`(h + w/2)^2 / (2 w)` where -w/2 < h < w/2.
    Time O((n k + number of pairs) · p + n p²).
    """
    Z = terms.X @ L.T
    value, _, residual = _sums(Z, Z, terms, width)
    return value, 2.0 * residual.T @ terms.X


def conditions(L: NDArray[np.float64], terms: Terms, width: float, scale: float) -> tuple[float, float, float]:
    """Return how far L is from meeting the conditions of a minimum.

    The problem is convex in M = LᵀL. With the derivative G of the smoothed objective in M, M is a minimum if the
    smoothing changes no hinge, ⟨G, M⟩ = 0, and G has no negative eigenvalue. Otherwise the objective exceeds its
    minimum by at most the first two of these values times the objective, and the third times scale ⟨I, M'⟩ at any
    minimum M'.

    Parameters
    ----------
    L, terms, width
        As in `objective`.
    scale : float
        Unit of the eigenvalues: the derivative of the first sum of the objective in the coordinates of X.

    Returns
    -------
    smoothing, complementarity, negativity : float
        What the smoothing changes and the absolute value of ⟨G, M⟩, as shares of the objective; minus the smallest
        eigenvalue of G, in units of `scale`, or 0.
    """
    value = objective(L, terms)[0]
    if value == 0.0:
        return 0.0, 0.0, 0.0
    G, pressure = derivative(L, terms, width)
    product = float(np.vdot(L @ G, L))
    smallest = float(np.linalg.eigvalsh(G)[0])
    # ⟨G, M⟩ + pressure is the objective with each hinge [h]₊ replaced with a·h, where a is its derivative.
    return (value - pressure - product) / value, abs(product) / value, max(0.0, -smallest) / scale


def derivative(L: NDArray[np.float64], terms: Terms, width: float) -> tuple[NDArray[np.float64], float]:
    """Return the derivative G of the smoothed objective in M = LᵀL, and the sum of the derivatives of the hinges."""
    _, pressure, residual = _sums(terms.X @ L.T, terms.X, terms, width)
    G = residual.T @ terms.X
    return 0.5 * (G + G.T), pressure


def with_direction(L: NDArray[np.float64], G: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return L with a tenth of its norm along the eigenvector of G whose eigenvalue is smallest."""
    left, lengths, _ = np.linalg.svd(L)
    share = 0.1 * lengths[0] if lengths[0] > 0.0 else 0.1
    return L + share * np.outer(left[:, -1], np.linalg.eigh(G)[1][:, 0])


def _sums(
    Z: NDArray[np.float64], V: NDArray[np.float64], terms: Terms, width: float
) -> tuple[float, float, NDArray[np.float64]]:
    residual = np.zeros_like(V)
    value, pressure = _accumulate(Z, V, terms.targets, terms.starts, terms.pairs, terms.push, width, residual)
    return value, pressure, residual


def _pull_basis(
    X: NDArray[np.float64], targets: NDArray[np.int64], push: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return coordinates in which the pull of the targets, the first sum, is the same in all directions.

    The columns of the first matrix are the new coordinates, and the second matrix is its inverse; both are symmetric.
    In the new coordinates the derivative of the pull in M is the number times the identity, except in directions in
    which rows hardly differ from their targets.
    """
    pull = np.zeros((X.shape[1], X.shape[1]))
    for column in targets.T:
        exists = column >= 0
        difference = X[exists] - X[column[exists]]
        pull += (1.0 - push) * difference.T @ difference
    values, vectors = np.linalg.eigh(pull)
    mean = float(values.mean())
    if mean <= 0.0:  # every row coincides with its targets
        return np.eye(len(pull)), np.eye(len(pull)), 1.0
    roots = np.sqrt(np.maximum(values, 0.0) / mean + RIDGE)
    return (vectors / roots) @ vectors.T, (vectors * roots) @ vectors.T, mean


def _flat(value_and_gradient: tuple[float, NDArray[np.float64]]) -> tuple[float, NDArray[np.float64]]:
    return value_and_gradient[0], value_and_gradient[1].ravel()


def collect(
    Z: NDArray[np.float64], codes: NDArray[np.intp], targets: NDArray[np.int64], slack: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Collect, for each row, the rows of other classes that are at most slightly farther away than its targets.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        Rows in the learned metric.
    codes : ndarray of shape (n_samples,)
        Class codes.
    targets : ndarray of int64, shape (n_samples, k)
        From `find_targets`.
    slack : float
        Pairs are kept up to the squared distance ``(1 + slack) (1 + d)``, where d is that of the farthest target.

    Returns
    -------
    starts : ndarray of int64, shape (n_samples + 1,)
        Where each row's pairs begin.
    pairs : ndarray of int64, shape (n_pairs,)
        Row numbers.
    """
    n = len(Z)
    farthest = np.zeros(n)
    for column in targets.T:
        exists = column >= 0
        squared = ((Z[exists] - Z[column[exists]]) ** 2).sum(axis=1)
        farthest[exists] = np.maximum(farthest[exists], squared)
    # A row alone in its class has no target, so no row can come too near. Rounding in the products is far below the
    # slack.
    reach = np.where(targets[:, 0] >= 0, (1.0 + slack) * (1.0 + farthest), -1.0)
    squares = np.einsum("ij,ij->i", Z, Z)
    step = max(1, BLOCK_BYTES // (8 * n))
    counts, neighbours = np.zeros(n + 1, dtype=np.int64), []
    for begin in range(0, n, step):
        block = slice(begin, begin + step)
        distances = squares[block, None] - 2.0 * (Z[block] @ Z.T) + squares
        near = (distances <= reach[block, None]) & (codes[block, None] != codes)
        counts[begin + 1 : begin + 1 + len(near)] = near.sum(axis=1)
        neighbours.append(np.nonzero(near)[1])
    return np.cumsum(counts), np.concatenate(neighbours)


@njit(cache=True, fastmath={"reassoc", "contract"})
def _accumulate(Z, V, targets, starts, pairs, push, width, residual):  # pragma: no cover
    """Return the objective at rows Z, and `push` times the sum of the hinges' derivatives.

    A pair of weight w adds w (v - v') to one row of residual and w (v' - v) to the other, for rows v of V: V = Z
    leads to the derivative in L, the original rows to that in M. Each row has few targets and impostors, so rows are
    read directly rather than through products.
    """
    n, n_components = Z.shape
    k, n_features = targets.shape[1], V.shape[1]
    reach, weight = np.empty(k), np.empty(k)
    total, pressure, half = 0.0, 0.0, 0.5 * width
    for i in range(n):
        count, farthest = 0, -1.0
        while count < k and targets[i, count] >= 0:
            d = 0.0
            for a in range(n_components):
                difference = Z[i, a] - Z[targets[i, count], a]
                d += difference * difference
            reach[count] = 1.0 + d
            weight[count] = 1.0 - push
            total += (1.0 - push) * d
            farthest = max(farthest, reach[count])
            count += 1
        for position in range(starts[i], starts[i + 1]):
            j = pairs[position]
            d = 0.0
            for a in range(n_components):
                difference = Z[i, a] - Z[j, a]
                d += difference * difference
            if d >= farthest + half:
                continue
            w = 0.0
            for t in range(count):
                h = reach[t] - d
                if h <= -half:
                    continue
                share = 1.0
                if h >= half:
                    total += push * h
                else:
                    share = (h + half) / width
                    total += 0.5 * push * width * share * share
                weight[t] += push * share
                w += push * share
            pressure += w
            for a in range(n_features):
                difference = w * (V[i, a] - V[j, a])
                residual[i, a] -= difference
                residual[j, a] += difference
        for t in range(count):
            j = targets[i, t]
            for a in range(n_features):
                difference = weight[t] * (V[i, a] - V[j, a])
                residual[i, a] += difference
                residual[j, a] -= difference
    return total, pressure
