"""Weak hierarchy on few terms by Newton's method: quadratic models of the loss, minimised by cheap proximal steps."""

from __future__ import annotations

import numpy as np

from mfbench_baselines._hiernet_solver import QUADRATIC
from mfbench_baselines._hiernet_terms import predict, proximal_point, total_loss
from mfbench_learners.compiled import njit

# Each model is minimised until its generalised gradient is this share of the loss's at the start.
SHARE = 0.03
# The least curvature of a sample's loss, as a share of the largest possible: saturated samples must not vanish.
FLOOR = 1e-8
HALVINGS = 30


@njit(cache=True)
def newton_descent(
    design, y, is_logistic, ends, is_square, penalty, point, intercept, step, tol, max_iter
):  # pragma: no cover
    """Move `point` towards the minimum by steps that each minimise a quadratic model of the loss plus the penalty.

    Parameters and results are those of `descend`, but the length of a step is not changed: it only measures the
    generalised gradient. The last result is whether the tolerance was met; if not, and steps are left, no model
    improved the objective.
    """
    count, width, n = len(ends) - 1, len(design), len(y)
    weights, eta, moved_eta = np.empty(width), np.empty(n), np.empty(n)
    residual, gradient = np.empty(n), np.empty(len(point))
    target, curvature = np.empty_like(point), np.empty(n)
    predict(design, point, intercept, count, weights, eta)
    value = total_loss(eta, y, is_logistic, residual) + _charge(point, penalty, ends, is_square)
    steps = 0
    while True:
        slope = residual.sum()
        _spread(np.dot(design, residual), count, gradient)
        proximal_point(point, gradient, step, penalty, ends, is_square, target)
        largest = max(np.abs(target - point).max() / step, abs(slope))
        if largest <= tol or steps >= max_iter:
            return intercept, steps, largest <= tol
        for i in range(n):
            share = residual[i] + y[i]
            curvature[i] = max(share * (1.0 - share), FLOOR) if is_logistic else 1.0
        second = np.empty((width + 1, width + 1))
        second[:width, :width] = np.dot(design * curvature, design.T)
        second[width, :width] = second[:width, width] = np.dot(design, curvature)
        second[width, width] = curvature.sum()
        inner_tol = SHARE * largest
        aim, taken = _minimise_model(
            second, gradient, slope, ends, is_square, penalty, point, target, inner_tol, max_iter - steps
        )
        steps += taken
        length = 1.0
        for _ in range(HALVINGS):
            moved = point + length * (target - point)
            moved_intercept = intercept + length * aim
            predict(design, moved, moved_intercept, count, weights, moved_eta)
            reached = total_loss(moved_eta, y, is_logistic, residual) + _charge(moved, penalty, ends, is_square)
            if reached <= value + 1e-12 * abs(value):
                break
            length /= 2.0
        if reached > value + 1e-12 * abs(value):
            return intercept, steps, False
        point[:], intercept, value = moved, moved_intercept, reached


@njit(cache=True)
def _minimise_model(second, gradient, slope, ends, is_square, penalty, point, moved, tol, max_iter):  # pragma: no cover
    """Write the minimum of the model plus the penalty to `moved`; return the intercept's change and the steps.

    Accelerated proximal steps, each O(m²) for m terms, begin again without momentum where it points uphill.
    """
    count, width = len(ends) - 1, len(second) - 1
    step = 1.0 / _largest_eigenvalue(second, count)
    current, ahead, slopes = point.copy(), point.copy(), np.empty(len(point))
    # Differences from the start, in terms and intercept, and their products with the second derivatives.
    shift, ahead_shift, moved_shift = np.zeros(width + 1), np.zeros(width + 1), np.zeros(width + 1)
    product, ahead_product = np.zeros(width + 1), np.zeros(width + 1)
    momentum, steps = 1.0, 0
    while steps < max_iter:
        steps += 1
        _spread(ahead_product[:width], count, slopes)
        slopes += gradient
        along = slope + ahead_product[width]
        while True:
            proximal_point(ahead, slopes, step, penalty, ends, is_square, moved)
            _gather(moved, point, count, moved_shift)
            moved_shift[width] = ahead_shift[width] - step * along
            moved_product = np.dot(second, moved_shift)
            size, bend, largest, uphill = (step * along) ** 2, 0.0, step * abs(along), 0.0
            for k in range(len(moved)):
                change = moved[k] - ahead[k]
                size += change * change
                largest = max(largest, abs(change))
                uphill -= change * (moved[k] - current[k])
            for k in range(width + 1):
                bend += (moved_shift[k] - ahead_shift[k]) * (moved_product[k] - ahead_product[k])
            if bend * step <= size * (1.0 + 1e-9) + 1e-300:
                break
            step /= 1.5
        uphill += step * along * (moved_shift[width] - shift[width])
        if largest <= tol * step:
            break
        if uphill > 0.0 and momentum > 1.0:
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        share = (momentum - 1.0) / following
        for k in range(len(moved)):
            ahead[k] = moved[k] + share * (moved[k] - current[k])
            current[k] = moved[k]
        for k in range(width + 1):
            ahead_shift[k] = moved_shift[k] + share * (moved_shift[k] - shift[k])
            ahead_product[k] = moved_product[k] + share * (moved_product[k] - product[k])
            shift[k], product[k] = moved_shift[k], moved_product[k]
        momentum = following
    return moved_shift[width], steps


@njit(cache=True)
def _largest_eigenvalue(second, count):  # pragma: no cover
    """Return an estimate of the model's largest curvature; both parts of a main effect share a row."""
    scale = np.ones(len(second))
    scale[:count] = np.sqrt(2.0)
    vector, norm = scale.copy(), 1.0
    for _ in range(12):
        norm = np.sqrt(np.sum(vector**2))
        vector = scale * np.dot(second, scale * (vector / norm))
    return 1.05 * np.sqrt(np.sum(vector**2))


@njit(cache=True)
def _spread(slopes, count, gradient):  # pragma: no cover
    """Write the gradient of the variables from that of the terms."""
    gradient[:count], gradient[2 * count :] = slopes[:count], slopes[count:]
    gradient[count : 2 * count] = -slopes[:count]


@njit(cache=True)
def _gather(moved, point, count, shift):  # pragma: no cover
    """Write the change of the terms from that of the variables."""
    for k in range(count):
        shift[k] = (moved[k] - point[k]) - (moved[count + k] - point[count + k])
    for k in range(2 * count, len(moved)):
        shift[k - count] = moved[k] - point[k]


@njit(cache=True)
def _charge(point, penalty, ends, is_square):  # pragma: no cover
    """Return the penalty of the variables."""
    count = len(ends) - 1
    charge = np.sum(point[: 2 * count])
    for k in range(len(is_square)):
        charge += abs(point[2 * count + k]) * (1.0 if is_square[k] else 0.5)
    return penalty * ((1.0 - QUADRATIC) * charge + QUADRATIC * np.sum(point**2))
