"""Weak hierarchy on a few terms, compiled: the loss, the proximal point, and accelerated proximal gradient steps.

A design has one row for each main effect in use, then one for each pair. A point has the positive parts of the main
effects, the negative parts, and the pairs; those of row r are from `ends[r]` to `ends[r + 1]`.
"""

from __future__ import annotations

import numpy as np

from mfbench_baselines._hiernet_solver import QUADRATIC, _root
from mfbench_learners.compiled import njit


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
