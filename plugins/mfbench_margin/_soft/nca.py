"""The two objectives of NCA with a diagonal metric, their gradients, and gradient ascent on the simplex.

Samples draw their neighbours at random, near ones with a higher probability. Rows are processed class by class, in
blocks, so no matrix of all pairs exists. Probabilities are computed from logarithms less the largest one; otherwise
samples far from all others would divide 0 by 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

# Bytes of all temporary matrices of a block: about 10 of them have a column for every sample.
BLOCK_BYTES = 64 * 2**20
LONGEST_STEP = 1e300

Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


def soft_margin(
    X: NDArray[np.float64], codes: NDArray[np.int64], weights: NDArray[np.float64], sigma: float
) -> tuple[float, NDArray[np.float64]]:
    r"""Return the mean margin to random neighbours, and its gradient.

    The margin of a sample is the expected distance :math:`\sum_l w_l (x_l - x'_l)^2` to a miss minus that to a hit,
    each drawn with a probability proportional to exp(-distance / sigma).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data, centred.
    codes : ndarray of int64, shape (n_samples,)
        Class codes; samples alone in their class have no margin.
    weights : ndarray of shape (n_features,)
        Not negative.
    sigma : float
        In units of distances.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_features,)

    Notes
    -----
    Time O(n² p) in matrix products.
    """
    root = np.sqrt(weights)
    value, gradient, count = 0.0, np.zeros(X.shape[1]), 0
    for own, others, block in _blocks(X, codes):
        rows = own[block]
        for sign, among, itself in ((-1.0, own, block), (1.0, others, None)):
            distances = _squared_distances(rows * root, among * root)
            logs = distances / -sigma
            if itself is not None:
                logs[np.arange(len(rows)), np.arange(len(own))[itself]] = -np.inf
            probabilities = np.exp(logs - logs.max(axis=1, keepdims=True))
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            expected = np.einsum("ij,ij->i", probabilities, distances)
            value += sign * float(expected.sum())
            # A distance that grows also becomes less probable.
            distances -= expected[:, None]
            coefficients = probabilities * (1.0 - distances / sigma)
            gradient += sign * squared_difference_sum(rows, among, coefficients)
        count += len(rows)
    return value / count, gradient / count


def correct_probability(
    X: NDArray[np.float64], codes: NDArray[np.int64], v: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    r"""Return the mean probability of drawing a neighbour of the same class, and its gradient with respect to v.

    Neighbours are drawn from all other samples, with probabilities proportional to
    :math:`\exp(-\sum_l v_l^2 (x_l - x'_l)^2)`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data, centred.
    codes : ndarray of int64, shape (n_samples,)
        Class codes; samples alone in their class do not count.
    v : ndarray of shape (n_features,)
        Roots of the weights; of any sign.

    Returns
    -------
    value : float
    gradient : ndarray of shape (n_features,)

    Notes
    -----
    Time O(n² p) in matrix products.
    """
    value, gradient, count = 0.0, np.zeros(X.shape[1]), 0
    for own, others, block in _blocks(X, codes):
        rows = own[block]
        hits, misses = -_squared_distances(rows * v, own * v), -_squared_distances(rows * v, others * v)
        hits[np.arange(len(rows)), np.arange(len(own))[block]] = -np.inf
        largest = np.maximum(hits.max(axis=1), misses.max(axis=1))[:, None]
        hits, misses = np.exp(hits - largest), np.exp(misses - largest)
        total = hits.sum(axis=1) + misses.sum(axis=1)
        hits, misses = hits / total[:, None], misses / total[:, None]
        right = hits.sum(axis=1)
        value += float(right.sum())
        gradient += squared_difference_sum(rows, own, hits * (right - 1.0)[:, None])
        gradient += squared_difference_sum(rows, others, misses * right[:, None])
        count += len(rows)
    return value / count, 2.0 * v * gradient / count


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


def _blocks(
    X: NDArray[np.float64], codes: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], slice]]:
    """Yield the rows of a class of two or more, those of all other classes, and a slice of the former."""
    step = max(1, BLOCK_BYTES // (80 * len(X)))
    for c in np.flatnonzero(np.bincount(codes) > 1):
        own, others = X[codes == c], X[codes != c]
        for begin in range(0, len(own), step):
            yield own, others, slice(begin, min(begin + step, len(own)))


def _squared_distances(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squared distances, up to rounding errors of the squared lengths: accurate enough for probabilities."""
    distances = A @ B.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", A, A)[:, None]
    distances += np.einsum("ij,ij->i", B, B)
    np.maximum(distances, 0.0, out=distances)
    return distances


def climb_simplex(
    objective: Objective, weights: NDArray[np.float64], max_iter: int, tol: float
) -> tuple[NDArray[np.float64], list[float], bool]:
    """Maximise by projected gradients over weights that are at least 0 and sum to 1.

    Steps have the Barzilai-Borwein length, halved until the objective grows enough.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        Where the ascent ended.
    trace : list of float
        The objective at the start and after each step; ascending.
    converged : bool
        Whether a step raised the objective by at most `tol` times its absolute value, or no step leads up.
    """
    value, gradient = objective(weights)
    trace = [value]
    step = 1.0 / max(float(np.ptp(gradient)), 1.0 / LONGEST_STEP)
    while len(trace) <= max_iter:
        for _ in range(60):
            candidate = project_on_simplex(weights + step * (gradient - gradient.mean()))
            move = candidate - weights
            new_value, new_gradient = objective(candidate)
            if new_value >= value + 1e-4 * float(gradient @ move) and move.any():
                break
            step /= 2.0
        else:
            return weights, trace, True
        curvature, length = float(move @ (gradient - new_gradient)), float(move @ move)
        # Along a slope that does not change, the step would grow without bound.
        longest = LONGEST_STEP / max(1.0, float(np.ptp(new_gradient)))
        step = length / curvature if curvature * longest > length else min(4.0 * step, longest)
        gain = new_value - value
        weights, value, gradient = candidate, new_value, new_gradient
        trace.append(value)
        if gain <= tol * abs(value):
            return weights, trace, True
    return weights, trace, False


def project_on_simplex(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest weights that are at least 0 and sum to 1; O(p log p).

    Only differences from the largest entry matter, and entries smaller by 1 or more get weight 0. So subtracting the
    largest entry and cutting off at -1 changes nothing, and the sum's 1 is not rounded away next to large entries.
    """
    with np.errstate(over="ignore"):
        shifted = np.maximum(v - v.max(), -1.0)
    descending = np.sort(shifted)[::-1]
    excess = (np.cumsum(descending) - 1.0) / np.arange(1, len(v) + 1)
    last = np.flatnonzero(descending > excess)[-1]
    clipped = np.maximum(shifted - excess[last], 0.0)
    weights: NDArray[np.float64] = clipped / clipped.sum()
    return weights
