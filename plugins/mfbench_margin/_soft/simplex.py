"""Gradient ascent on the simplex: weights that are at least 0 and sum to 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

LONGEST_STEP = 1e300

Objective = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]


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
