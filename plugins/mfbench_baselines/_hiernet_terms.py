"""Weak hierarchy on a few terms, compiled: the loss, the proximal point, and two ways to the minimum.

A design has one row for each main effect in use, then one for each pair. A point has the positive parts of the main
effects, the negative parts, and the pairs; those of row r are from `ends[r]` to `ends[r + 1]`. Accelerated proximal
gradient steps lead to the minimum, or Newton's method: quadratic models of the loss, which cheap proximal steps
minimise.
"""

from __future__ import annotations

import numpy as np

from mfbench_baselines._hiernet_solver import QUADRATIC, _root
from mfbench_learners.compiled import njit

# Each model is minimised until its generalised gradient is this share of the loss's at the start.
SHARE = 0.03
# The least curvature of a sample's loss, as a share of the largest possible: saturated samples must not vanish.
FLOOR = 1e-8
HALVINGS = 30


@njit(cache=True)
def descend(
    design, y, is_logistic, ends, is_square, penalty, point, intercept, step, tol, max_iter
):  # pragma: no cover
    """Move `point` to the minimum; return the intercept, the length of the last step and the number of steps."""
    count = len(ends) - 1
    weights, residual, gradient = np.empty(len(design)), np.empty(len(y)), np.empty(len(point))
    moved, current, ahead = np.empty_like(point), point, point.copy()
    eta, moved_eta = np.empty(len(y)), np.empty(len(y))
    predict(design, current, intercept, count, weights, eta)
    ahead_intercept, ahead_eta = intercept, eta.copy()
    momentum, best, steps = 1.0, np.inf, 0
    while steps < max_iter:
        steps += 1
        value = total_loss(ahead_eta, y, is_logistic, residual)
        slope = residual.sum()
        np.dot(design, residual, weights)
        gradient[:count], gradient[2 * count :] = weights[:count], weights[count:]
        gradient[count : 2 * count] = -weights[:count]
        while True:
            shift = -step * slope
            charge = proximal_point(ahead, gradient, step, penalty, ends, is_square, moved)
            linear, size = slope * shift, shift * shift
            largest = abs(shift)
            for k in range(len(moved)):
                change = moved[k] - ahead[k]
                linear += gradient[k] * change
                size += change * change
                largest = max(largest, abs(change))
            predict(design, moved, ahead_intercept + shift, count, weights, moved_eta)
            reached = total_loss(moved_eta, y, is_logistic, residual)
            bound = value + linear + size / (2.0 * step)
            if reached <= bound + 1e-12 * abs(bound):
                break
            step /= 2.0
        total = reached + charge
        if total > best and momentum > 1.0:  # momentum overshot: continue from the last point without it
            momentum, ahead_intercept = 1.0, intercept
            ahead[:], ahead_eta[:] = current, eta
            continue
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        share = (momentum - 1.0) / following
        ahead_intercept += shift
        ahead_intercept, intercept = ahead_intercept + share * (ahead_intercept - intercept), ahead_intercept
        for k in range(len(moved)):
            ahead[k] = moved[k] + share * (moved[k] - current[k])
            current[k] = moved[k]
        for i in range(len(y)):
            ahead_eta[i] = moved_eta[i] + share * (moved_eta[i] - eta[i])
            eta[i] = moved_eta[i]
        best, momentum = total, following
        if largest <= tol * step:
            break
    return intercept, step, steps


@njit(cache=True)
def predict(design, point, intercept, count, weights, eta):  # pragma: no cover
    weights[:count] = point[:count] - point[count : 2 * count]
    weights[count:] = point[2 * count :]
    np.dot(weights, design, eta)
    eta += intercept


@njit(cache=True)
def total_loss(eta, y, is_logistic, residual):  # pragma: no cover
    """Return the loss, and write its derivative in eta."""
    total, product = 0.0, 1.0
    for i in range(len(y)):
        if is_logistic:
            small = np.exp(-abs(eta[i]))
            total += max(eta[i], 0.0) - y[i] * eta[i]
            product *= 1.0 + small  # at most 2: one logarithm of 64 factors instead of 64
            if i % 64 == 63:
                total, product = total + np.log(product), 1.0
            residual[i] = (1.0 if eta[i] > 0.0 else small) / (1.0 + small) - y[i]
        else:
            residual[i] = eta[i] - y[i]
            total += 0.5 * residual[i] * residual[i]
    return total + np.log(product)


@njit(cache=True)
def proximal_point(ahead, gradient, step, penalty, ends, is_square, moved):  # pragma: no cover
    """Write the proximal point of a gradient step, as `prox` does, and return its penalty."""
    count = len(ends) - 1
    linear, scale = penalty * (1.0 - QUADRATIC), 1.0 + 2.0 * step * penalty * QUADRATIC
    margins, knots = np.empty(len(is_square)), np.empty(len(is_square) + 2)
    charge, squares = 0.0, 0.0
    for r in range(count):
        plus = (ahead[r] - step * gradient[r] - step * linear) / scale
        minus = (ahead[count + r] - step * gradient[count + r] - step * linear) / scale
        n_knots, excess = 0, -max(plus, 0.0) - max(minus, 0.0)
        for k in range(ends[r], ends[r + 1]):
            size = abs(ahead[2 * count + k] - step * gradient[2 * count + k]) / scale
            margins[k] = size - step * linear / (scale if is_square[k] else 2.0 * scale)
            if margins[k] > 0.0:
                knots[n_knots] = margins[k]
                n_knots += 1
                excess += margins[k]
        a = 0.0
        if excess > 0.0:
            for knot in (-plus, -minus):
                if knot > 0.0:
                    knots[n_knots] = knot
                    n_knots += 1
            a = _root(margins[ends[r] : ends[r + 1]], plus, minus, _sorted(knots, n_knots), excess)
        moved[r], moved[count + r] = max(plus + a, 0.0), max(minus + a, 0.0)
        charge += moved[r] + moved[count + r]
        for k in range(ends[r], ends[r + 1]):
            size = max(margins[k] - a, 0.0)
            positive = ahead[2 * count + k] - step * gradient[2 * count + k] > 0.0
            moved[2 * count + k] = size if positive else -size
            charge += size if is_square[k] else 0.5 * size
    for number in moved:
        squares += number * number
    return linear * charge + penalty * QUADRATIC * squares


@njit(cache=True)
def _sorted(knots, count):  # pragma: no cover
    """Return the first numbers in order; a few are sorted by insertion, which is faster than a call."""
    if count > 32:
        return np.sort(knots[:count])
    for k in range(1, count):
        knot, at = knots[k], k
        while at > 0 and knots[at - 1] > knot:
            knots[at] = knots[at - 1]
            at -= 1
        knots[at] = knot
    return knots[:count]


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
