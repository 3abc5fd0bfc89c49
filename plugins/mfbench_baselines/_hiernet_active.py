"""Weak hierarchy by active sets: compiled steps on the terms that may differ from 0, checked by a step on all terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._hiernet_solver import QUADRATIC, Problem, _root, prox, solve_weak
from mfbench_compiled import njit

Matrix = NDArray[np.float64]

# Above this share of all terms, the products of whole matrices are as fast.
DENSE = 0.3
# The active terms are solved to this share of the tolerance, so that the check of all terms passes at once.
INNER = 0.1


def solve_weak_active(
    problem: Problem, penalty: float, start: tuple[Matrix, float], *, tol: float, max_iter: int
) -> tuple[Matrix, float, int]:
    """Minimise under weak hierarchy, as `solve_weak` does, and end by the same test of all terms.

    Parameters and results are those of `solve_weak`; a step counts whether it moves all terms or the active ones.
    """
    (variables, intercept), steps = start, 0
    active = variables[:, 2:] != 0.0
    while steps < max_iter:
        steps += 1
        moved, moved_intercept, largest = _full_step(problem, penalty, variables, intercept)
        if largest <= tol:
            return moved, moved_intercept, steps
        if steps == max_iter:
            return moved, moved_intercept, steps
        active |= moved[:, 2:] != 0.0
        if active.sum() > DENSE * active.size:
            dense, dense_intercept, taken = solve_weak(
                problem, penalty, (variables, intercept), tol=tol, max_iter=max_iter - steps
            )
            return dense, dense_intercept, steps + taken
        used = ((variables[:, :2] > 0) | (moved[:, :2] > 0)).any(axis=1) | active.any(axis=1)
        variables, intercept, taken = _solve(
            problem, penalty, variables, intercept, np.flatnonzero(used), active, INNER * tol, max_iter - steps
        )
        steps += taken
    return variables, intercept, max_iter


def _full_step(problem: Problem, penalty: float, variables: Matrix, intercept: float) -> tuple[Matrix, float, float]:
    """Return a proximal gradient step of all terms, and the largest entry of the generalised gradient."""
    eta = problem.predictor(variables, intercept)
    gradient, slope = problem.gradient(eta)
    value, moved = problem.loss(eta), np.empty_like(variables)
    while True:
        prox(variables - problem.step * gradient, problem.step, penalty, problem.squares, moved)
        change, shift = moved - variables, -problem.step * slope
        size = float(np.vdot(change, change)) + shift**2
        bound = value + float(np.vdot(gradient, change)) + slope * shift + size / (2 * problem.step)
        if problem.loss(problem.predictor(moved, intercept + shift)) <= bound + 1e-12 * abs(bound):
            break
        problem.step /= 2.0
    return moved, intercept + shift, max(float(np.abs(change).max()), abs(shift)) / problem.step


def _solve(
    problem: Problem,
    penalty: float,
    variables: Matrix,
    intercept: float,
    used: NDArray[np.intp],
    active: NDArray[np.bool_],
    tol: float,
    max_iter: int,
) -> tuple[Matrix, float, int]:
    """Minimise over the active pairs and the main effects of the rows in use."""
    rows, columns = np.nonzero(active[used])
    firsts = used[rows]
    X, share = problem.X.T, problem.share[firsts, columns][:, None]
    pairs = share * (X[firsts] * X[columns] - problem.mean_products[firsts, columns][:, None])
    design = np.ascontiguousarray(np.vstack([X[used], pairs]))
    ends = np.searchsorted(rows, np.arange(len(used) + 1))
    point = np.concatenate([variables[used, 0], variables[used, 1], variables[firsts, columns + 2]])
    is_square, is_logistic = firsts == columns, problem.family == "logistic"
    intercept, problem.step, steps = _descend(
        design, problem.y, is_logistic, ends, is_square, penalty, point, intercept, problem.step * 1.5, tol, max_iter
    )
    result, count = np.zeros_like(variables), len(used)
    result[used, 0], result[used, 1] = point[:count], point[count : 2 * count]
    result[firsts, columns + 2] = point[2 * count :]
    return result, float(intercept), int(steps)


@njit(cache=True)
def _descend(
    design, y, is_logistic, ends, is_square, penalty, point, intercept, step, tol, max_iter
):  # pragma: no cover
    """Move `point` to the minimum; return the intercept, the length of the last step and the number of steps."""
    count = len(ends) - 1
    weights, residual, gradient = np.empty(len(design)), np.empty(len(y)), np.empty(len(point))
    moved, current, ahead = np.empty_like(point), point, point.copy()
    eta, moved_eta = np.empty(len(y)), np.empty(len(y))
    _predict(design, current, intercept, count, weights, eta)
    ahead_intercept, ahead_eta = intercept, eta.copy()
    momentum, best, steps = 1.0, np.inf, 0
    while steps < max_iter:
        steps += 1
        value = _loss(ahead_eta, y, is_logistic, residual)
        slope = residual.sum()
        np.dot(design, residual, weights)
        gradient[:count], gradient[2 * count :] = weights[:count], weights[count:]
        gradient[count : 2 * count] = -weights[:count]
        while True:
            shift = -step * slope
            charge = _prox(ahead, gradient, step, penalty, ends, is_square, moved)
            linear, size = slope * shift, shift * shift
            largest = abs(shift)
            for k in range(len(moved)):
                change = moved[k] - ahead[k]
                linear += gradient[k] * change
                size += change * change
                largest = max(largest, abs(change))
            _predict(design, moved, ahead_intercept + shift, count, weights, moved_eta)
            reached = _loss(moved_eta, y, is_logistic, residual)
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
def _predict(design, point, intercept, count, weights, eta):  # pragma: no cover
    weights[:count] = point[:count] - point[count : 2 * count]
    weights[count:] = point[2 * count :]
    np.dot(weights, design, eta)
    eta += intercept


@njit(cache=True)
def _loss(eta, y, is_logistic, residual):  # pragma: no cover
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
def _prox(ahead, gradient, step, penalty, ends, is_square, moved):  # pragma: no cover
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
            a = _root(margins[ends[r] : ends[r + 1]], plus, minus, np.sort(knots[:n_knots]), excess)
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
