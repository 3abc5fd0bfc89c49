"""The objective of Simba, its gradient, and the two ways of climbing it: sample by sample, or all samples at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mfbench_learners.compiled import njit
from mfbench_margin._nearest.differences import GRID_BITS
from mfbench_margin._nearest.search import hits_and_misses


@dataclass(frozen=True)
class MarginProblem:
    """Training data and utility.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data in units of `length`, which keeps squares from vanishing or overflowing.
    codes : ndarray of int64, shape (n_samples,)
        Class codes.
    targets : ndarray of int64, shape (n_targets,)
        Samples that have a margin.
    length : float
        The unit of X.
    sigmoid : bool
        Whether the utility of a margin t is 1 / (1 + exp(-beta t)) instead of t.
    beta : float
        Steepness of the sigmoid.
    """

    X: NDArray[np.float64]
    codes: NDArray[np.int64]
    targets: NDArray[np.int64]
    length: float
    sigmoid: bool
    beta: float


def mean_utility(problem: MarginProblem, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the mean utility of the margins under w, whose neighbours depend on w too, and its gradient; O(n² p)."""
    X, targets = problem.X, problem.targets
    used = w != 0
    hits, misses = hits_and_misses(X[:, used] * w[used], problem.codes, targets)
    to_misses, to_hits = (X[targets] - X[misses]) ** 2, (X[targets] - X[hits]) ** 2
    miss_norms, hit_norms = np.sqrt(to_misses @ w**2), np.sqrt(to_hits @ w**2)
    margins = 0.5 * problem.length * (miss_norms - hit_norms)
    utilities, slopes = margins, np.ones(len(margins))
    if problem.sigmoid:
        utilities = expit(problem.beta * margins)
        slopes = problem.beta * utilities * expit(-problem.beta * margins)
    # The norm has no derivative at 0; such terms are omitted.
    pulls = _divide(slopes, miss_norms) @ to_misses - _divide(slopes, hit_norms) @ to_hits
    return float(utilities.mean()), 0.5 * problem.length * pulls * w / len(targets)


def _divide(slopes: NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(slopes, norms, out=np.zeros_like(slopes), where=norms > 0)


def to_sphere(w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w scaled to the length of (1, …, 1); unchanged if it is 0."""
    largest = np.abs(w).max()
    if largest == 0.0:
        return w
    scaled = w / largest
    unit: NDArray[np.float64] = scaled * np.sqrt(len(w)) / np.linalg.norm(scaled)
    return unit


def climb_batch(
    problem: MarginProblem, w: NDArray[np.float64], max_iter: int, tol: float
) -> tuple[NDArray[np.float64], list[float], bool]:
    """Climb along the gradient of all samples on the sphere of w's length; steps that lead down are halved.

    Returns
    -------
    w : ndarray of shape (n_features,)
        The end, on the sphere.
    trace : list of float
        The mean utility at the start and after each step; ascending.
    converged : bool
        Whether no step of at least `tol` times the length of w leads up.
    """
    w = to_sphere(w)
    value, gradient = mean_utility(problem, w)
    trace, step = [value], 1.0
    while len(trace) <= max_iter:
        # Along w itself the linear utility grows without bound, which says nothing about the features.
        tangent = gradient - (gradient @ w) / (w @ w) * w
        norm = np.linalg.norm(tangent)
        if norm <= 1e-12 * np.linalg.norm(gradient):
            return w, trace, True
        direction = tangent * (np.sqrt(len(w)) / norm)
        while step >= tol:
            candidate = to_sphere(w + step * direction)
            new_value, new_gradient = mean_utility(problem, candidate)
            if new_value > value:
                break
            step /= 2.0
        else:
            return w, trace, True
        w, value, gradient = candidate, new_value, new_gradient
        trace.append(value)
        step = min(1.0, 2.0 * step)
    return w, trace, False


def climb_online(problem: MarginProblem, w: NDArray[np.float64], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return w after adding the gradient of each drawn sample's utility in turn; O(n p) a draw."""
    w = w.copy()
    columns = np.ascontiguousarray(problem.X.T)
    _climb_online(w, draws, columns, problem.codes, problem.length, problem.sigmoid, problem.beta)
    return w


@njit(cache=True)
def _climb_online(w, draws, columns, codes, length, sigmoid, beta):  # pragma: no cover
    n_features, n_samples = columns.shape
    squares = np.empty(n_features)
    for f in range(n_features):
        squares[f] = (columns[f].max() - columns[f].min()) ** 2
    distances = np.empty(n_samples)
    for i in draws:
        distances[:] = 0.0
        for f in range(n_features):
            _add_weighted(distances, columns[f], columns[f, i], w[f] * w[f])
        # The same grid as in `differences`: sums that are equal except for rounding errors are ties.
        largest = np.sum(w * w * squares)
        hit, miss = _nearest_two(distances, codes, i, 2.0**GRID_BITS / largest if largest > 0.0 else 1.0)
        to_hit, to_miss = np.sqrt(distances[hit]), np.sqrt(distances[miss])
        slope = 1.0
        if sigmoid:
            # The derivative is even: with -|t| nothing overflows.
            power = np.exp(-abs(beta * 0.5 * length * (to_miss - to_hit)))
            slope = beta * power / ((1.0 + power) * (1.0 + power))
        for f in range(n_features):
            pull = 0.0
            if to_miss > 0.0:
                pull += (columns[f, i] - columns[f, miss]) ** 2 / to_miss
            if to_hit > 0.0:
                pull -= (columns[f, i] - columns[f, hit]) ** 2 / to_hit
            w[f] += 0.5 * length * slope * pull * w[f]


@njit(cache=True)
def _add_weighted(distances, column, x, weight):  # pragma: no cover
    for j in range(len(distances)):
        difference = column[j] - x
        distances[j] += weight * (difference * difference)


@njit(cache=True)
def _nearest_two(distances, codes, i, grid):  # pragma: no cover
    """Return the nearest hit and miss of sample i; ties go to the first."""
    hit, miss = -1, -1
    hit_distance, miss_distance = np.inf, np.inf
    for j in range(len(distances)):
        if j == i:
            continue
        distance = np.rint(distances[j] * grid)
        if codes[j] == codes[i]:
            if hit < 0 or distance < hit_distance:
                hit, hit_distance = j, distance
        elif miss < 0 or distance < miss_distance:
            miss, miss_distance = j, distance
    return hit, miss
