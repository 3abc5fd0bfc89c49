"""LMNN's objective on a working set of pairs, and its minimisation.

Two rows of different classes contribute to the objective only while the second is at most slightly farther from the
first than the targets of the first are. Only such pairs are kept; after each descent they are collected again from all
pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from sklearn.neighbors import NearestNeighbors

# Memory for each block of distances while pairs are collected.
BLOCK_BYTES = 32 * 2**20
# Maximum number of steps of the first descent; the limit doubles with each later one.
FIRST_STEPS = 40
# Steps over which progress is measured. The gain of a single step next to a kink is a matter of rounding.
WINDOW = 40


@dataclass
class Descent:
    """What `minimise` returns."""

    components: NDArray[np.float64]
    trace: list[float]
    steps: int
    converged: bool


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
        Stop when the last `WINDOW` steps lowered the objective by at most this share of it per step, on average.

    Returns
    -------
    Descent
        L, the objective over all pairs before the first descent and after each one, and how the minimisation ended.
    """
    p = X.shape[1]
    X = np.ascontiguousarray(X)
    best = np.eye(p)
    slack, limit, steps, converged = 0.5, FIRST_STEPS, 0, False
    starts, pairs = collect(X, codes, targets, slack)
    trace = [objective(best, X, targets, starts, pairs, push)[0]]
    while steps < max_iter and not converged:
        progress = _Progress(tol, negligible=np.finfo(np.float64).eps * trace[0])
        result = minimize(
            lambda flat, *rest: _flat(objective(flat.reshape(p, p), *rest)),
            best.ravel(),
            args=(X, targets, starts, pairs, push),
            jac=True,
            method="L-BFGS-B",
            callback=progress,
            options={"maxiter": min(limit, max_iter - steps), "maxcor": 20, "ftol": 0.0, "gtol": 0.0},
        )
        taken = max(1, int(result.nit))
        steps += taken
        moved = result.x.reshape(p, p)
        starts, pairs = collect(X @ moved.T, codes, targets, slack)
        value = objective(moved, X, targets, starts, pairs, push)[0]
        gain = trace[-1] - value
        if gain > 0:
            best = moved
            trace.append(value)
        missed = value - result.fun > tol * abs(value)
        if missed:
            # Pairs outside the set have begun to contribute: keep more of them, eventually all.
            slack *= 2.0
            if gain <= 0:
                starts, pairs = collect(X @ best.T, codes, targets, slack)
        converged = not missed and (progress.stalled or gain <= taken * tol * abs(trace[-1]))
        limit *= 2
    return Descent(best, trace, steps, converged)


class _Progress:
    """End a descent once its last steps together have gained too little or nothing is left to gain."""

    def __init__(self, tol: float, negligible: float) -> None:
        self.tol = tol
        self.negligible = negligible
        self.values: list[float] = []
        self.stalled = False

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        value = float(intermediate_result.fun)
        self.values.append(value)
        self.stalled = value <= self.negligible
        if len(self.values) > WINDOW:
            self.stalled |= self.values[-1 - WINDOW] - value <= WINDOW * self.tol * value
        if self.stalled:
            raise StopIteration


def objective(
    L: NDArray[np.float64],
    X: NDArray[np.float64],
    targets: NDArray[np.int64],
    starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    push: float,
) -> tuple[float, NDArray[np.float64]]:
    """Return the objective and its gradient in L, summed over the given pairs.

    Time O((n k + number of pairs) · p + n p²).
    """
    Z = X @ L.T
    residual = np.zeros_like(Z)
    value = _accumulate(Z, targets, starts, pairs, push, residual)
    return value, 2.0 * residual.T @ X


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
def _accumulate(Z, targets, starts, pairs, push, residual):  # pragma: no cover
    """Return the objective; a pair of weight w adds w (z - z') to one row of residual and w (z' - z) to the other.

    Each row has few targets and impostors, so rows are read directly rather than through products.
    """
    n, width = Z.shape
    k = targets.shape[1]
    reach, weight = np.empty(k), np.empty(k)
    total = 0.0
    for i in range(n):
        count, farthest = 0, -1.0
        while count < k and targets[i, count] >= 0:
            d = 0.0
            for a in range(width):
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
            for a in range(width):
                difference = Z[i, a] - Z[j, a]
                d += difference * difference
            if d >= farthest:
                continue
            w = 0.0
            for t in range(count):
                if d < reach[t]:
                    total += push * (reach[t] - d)
                    weight[t] += push
                    w += push
            for a in range(width):
                difference = w * (Z[i, a] - Z[j, a])
                residual[i, a] -= difference
                residual[j, a] += difference
        for t in range(count):
            j = targets[i, t]
            for a in range(width):
                difference = weight[t] * (Z[i, a] - Z[j, a])
                residual[i, a] += difference
                residual[j, a] -= difference
    return total
