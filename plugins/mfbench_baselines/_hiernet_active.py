"""Weak hierarchy by active sets: compiled steps on the terms that may differ from 0, checked by a step on all terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_baselines._hiernet_solver import Problem, prox, solve_weak
from mfbench_baselines._hiernet_terms import descend, newton_descent

Matrix = NDArray[np.float64]

# Above this share of all terms, the products of whole matrices are as fast.
DENSE = 0.3
# The active terms are solved to this share of the tolerance, so that the check of all terms passes at once.
INNER = 0.1
# With more active terms than this, or than samples, second derivatives cost more than they save.
NEWTON = 80


def solve_weak_active(
    problem: Problem, penalty: float, start: tuple[Matrix, float], *, tol: float, max_iter: int
) -> tuple[Matrix, float, int]:
    """Minimise under weak hierarchy, as `solve_weak` does, and end by the same test of all terms.

    Parameters and results are those of `solve_weak`; a step counts whether it moves all terms or the active ones.
    """
    (variables, intercept), steps, eta = start, 0, None
    moved_intercept = intercept
    active = variables[:, 2:] != 0.0
    moved = None
    if problem.slopes_before is not None:
        # The slopes at the solution for the last penalty tell most of the terms; the test of all terms tells the rest.
        moved = np.empty_like(variables)
        prox(variables - problem.step * problem.slopes_before, problem.step, penalty, problem.squares, moved)
    while steps < max_iter:
        if moved is None:
            steps += 1
            eta = problem.predictor(variables, intercept) if eta is None else eta
            moved, moved_intercept, largest = _full_step(problem, penalty, variables, intercept, eta)
            if largest <= tol or steps == max_iter:
                return moved, moved_intercept, steps
        active |= moved[:, 2:] != 0.0
        if active.sum() > DENSE * active.size:
            dense, dense_intercept, taken = solve_weak(
                problem, penalty, (variables, intercept), tol=tol, max_iter=max_iter - steps
            )
            return dense, dense_intercept, steps + taken
        used = ((variables[:, :2] > 0) | (moved[:, :2] > 0)).any(axis=1) | active.any(axis=1)
        if used.any():
            variables, intercept, eta, taken = _solve(
                problem, penalty, variables, intercept, np.flatnonzero(used), active, INNER * tol, max_iter - steps
            )
            steps += taken
        else:
            intercept, eta = moved_intercept, None
        moved = None
    return variables, intercept, max_iter


def _full_step(
    problem: Problem, penalty: float, variables: Matrix, intercept: float, eta: Matrix
) -> tuple[Matrix, float, float]:
    """Return a proximal gradient step of all terms, and the largest entry of the generalised gradient."""
    gradient, slope = problem.gradient(eta)
    problem.slopes_before = gradient
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
) -> tuple[Matrix, float, Matrix, int]:
    """Minimise over the active pairs and the main effects of the rows in use; the third result is the predictor."""
    rows, columns = np.nonzero(active[used])
    firsts = used[rows]
    X, share = problem.X.T, problem.share[firsts, columns][:, None]
    pairs = share * (X[firsts] * X[columns] - problem.mean_products[firsts, columns][:, None])
    design = np.ascontiguousarray(np.vstack([X[used], pairs]))
    ends = np.searchsorted(rows, np.arange(len(used) + 1))
    point = np.concatenate([variables[used, 0], variables[used, 1], variables[firsts, columns + 2]])
    is_square, is_logistic = firsts == columns, problem.family == "logistic"
    steps, converged = 0, False
    if len(design) <= min(NEWTON, len(problem.y)):
        intercept, steps, converged = newton_descent(
            design, problem.y, is_logistic, ends, is_square, penalty, point, intercept, problem.step, tol, max_iter
        )
    if not converged and steps < max_iter:
        intercept, problem.step, taken = descend(
            design,
            problem.y,
            is_logistic,
            ends,
            is_square,
            penalty,
            point,
            intercept,
            problem.step * 1.5,
            tol,
            max_iter - steps,
        )
        steps += taken
    result, count = np.zeros_like(variables), len(used)
    result[used, 0], result[used, 1] = point[:count], point[count : 2 * count]
    result[firsts, columns + 2] = point[2 * count :]
    weights = np.concatenate([point[:count] - point[count : 2 * count], point[2 * count :]])
    return result, float(intercept), intercept + weights @ design, int(steps)
