"""Hidden ties, which are outside the active set, and restarts from points that are optimal only if they are ignored.

A hidden tie can conceal a direction in which the objective falls: the optimality conditions (theorem 7 of the paper)
are sufficient only without hidden ties. A restart ranks the tied members as if w had already moved a little in a random
feasible direction, and runs Algorithm 1 from the same w with these index sets. If very many members are tied, as with
binary features and equal weights, Algorithm 1 is blocked by another tie in every direction. Therefore every second
direction keeps the weights that are 0 and is turned by subgradients of the slope of f until f falls along it; w first
moves that way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import rebuild_basis
from mfbench_sqpfw._active_set.copies import is_tied_copy, list_tied
from mfbench_sqpfw._active_set.descent import OPTIMAL, STALLED, STEP_LIMIT, activate, descend, move
from mfbench_sqpfw._active_set.problem import Floats
from mfbench_sqpfw._active_set.quadratic_program import gradient, objective
from mfbench_sqpfw._active_set.ranking import rank_row
from mfbench_sqpfw._active_set.ratio_test import members, ratio_test, refresh_row, settle
from mfbench_sqpfw._active_set.state import POSITIVE, TIES, State, copied

Flags = NDArray[np.bool_]

# Slacks below this share of the largest distance are ties.
_TIED = 1e-9
# A restart succeeds if f falls by more than this.
_PROGRESS = 1e-12
# A direction is turned at most this often before another is drawn.
_TURNS = 40


@njit(cache=True, allocates=False)
def hidden_ties(s: State, tied: Flags) -> tuple[int, float]:
    """Mark the rows with ties of any kind; return the number of hidden ties, and the slack below which a pair is tied.

    Copies of tied members are not counted: it does not matter which of them is in the active set. Time O(n² l).
    """
    largest = 0.0
    for row in range(len(s.rep)):
        i, rep = s.targets[row % len(s.targets)], s.rep[row]
        largest = max(largest, _distance_of(s, i, rep))
    grid, hidden = _TIED * max(largest, 1e-300), 0
    for row in range(len(s.rep)):
        i, rep = s.targets[row % len(s.targets)], s.rep[row]
        nearest = _distance_of(s, i, rep)
        tied[row] = s.n_ties[row] > 0
        begin, middle, resume, end = members(s, row)
        for block in range(2):
            for j in range(begin if block == 0 else resume, middle if block == 0 else end):
                if j in (i, rep) or abs(_distance_of(s, i, j) - nearest) > grid:
                    continue
                if not is_tied_copy(s, i, j, list_tied(s, row)):
                    hidden += 1
                    tied[row] = True
    return hidden, grid


@njit(cache=True, allocates=False)
def _distance_of(s: State, i: int, j: int) -> float:
    total = 0.0
    for f in range(s.counts[POSITIVE]):
        difference = s.X[i, f] - s.X[j, f]
        total += difference * difference * s.w[f]
    return total


@njit(cache=True, allocates=False)
def _rank_again(s: State, direction: Floats, grid: float, tied: Flags) -> None:
    """Make the index sets, without active ties, of a point a little way along a direction. Time O(n² l)."""
    s.counts[TIES] = 0
    s.n_ties[:] = 0
    for row in range(len(s.rep)):
        if tied[row]:
            rank_row(s, row, direction, grid)
    gradient(s)


@njit(cache=True)
def _find_descent(s: State, theta: float, direction: Floats, grid: float, tied: Flags) -> float:
    """Turn a direction of positive weights until f falls along it; set the index sets along it and return the slope."""
    p = s.counts[POSITIVE]
    g = np.zeros(len(s.w))
    for attempt in range(_TURNS):
        _rank_again(s, direction, grid, tied)
        mean = 0.0
        for f in range(p):
            g[f] = theta * s.c[f] + s.w[f] - s.bar[f]
            mean += g[f] / p
        slope = length = size = 0.0
        for f in range(p):
            g[f] -= mean
            slope += g[f] * direction[f]
            length += g[f] * g[f]
            size += direction[f] * direction[f]
        if length == 0.0 or size < 1e-12:
            break
        if slope < -1e-9 * np.sqrt(length * size):
            return slope
        # More than the whole length at first: with two features there are only this direction and its opposite.
        turn = 1.5 / np.sqrt(length * (attempt + 1.0))
        for f in range(p):
            direction[f] = direction[f] / np.sqrt(size) - turn * g[f]
    return 0.0


@njit(cache=True, allocates=False)
def _watch_again(s: State, tied: Flags) -> None:
    rebuild_basis(s)
    for row in range(len(s.rep)):
        if tied[row]:
            refresh_row(s, row)


@njit(cache=True, allocates=False)
def _go_along(s: State, direction: Floats, slope: float) -> None:
    """Move w along a direction of positive weights to the smallest f, or to the first tie."""
    squares = 0.0
    for f in range(s.counts[POSITIVE]):
        squares += direction[f] * direction[f]
    tau, row, where = ratio_test(s, direction, -slope / squares)
    speed = move(s, direction, tau)
    if row != -2:
        activate(s, row, where)
    settle(s, tau, speed)


def _feasible_direction(state: State, generator: np.random.RandomState, *, inside: bool) -> Floats:
    """Draw a direction that keeps the sum and makes no weight negative at once; if inside, weights of 0 stay 0."""
    direction: Floats = generator.standard_normal(len(state.w))
    positive = int(state.counts[POSITIVE])
    direction[positive:] = 0.0 if inside else np.abs(direction[positive:])
    direction[:positive] -= direction.sum() / positive
    return direction


def improve(
    state: State,
    status: int,
    *,
    theta: float,
    tolerance: float,
    max_steps: int,
    attempts: int,
    generator: np.random.RandomState,
) -> tuple[State, int, list[float], int]:
    """Restart Algorithm 1 where it ended or stalled, as long as hidden ties let f fall.

    Returns the state, the status, f after each accepted step, and the number of restarts that succeeded. It gives up
    after ``attempts`` failures in a row.
    """
    values: list[float] = []
    failed, succeeded = 0, 0
    tied = np.zeros(len(state.rep), dtype=np.bool_)
    hidden, grid = hidden_ties(state, tied)
    while hidden and failed < attempts and len(values) < max_steps:
        other, inside = copied(state), failed % 2 == 1
        direction = _feasible_direction(state, generator, inside=inside)
        slope = 0.0
        if inside:
            slope = _find_descent(other, theta, direction, grid, tied)
        else:
            _rank_again(other, direction, grid, tied)
        _watch_again(other, tied)
        first: list[float] = []
        if slope < 0.0:
            _go_along(other, direction, slope)
            first = [objective(other, theta)]
        remaining = max_steps - len(values) - len(first)
        other, ended, steps = descend(other, theta=theta, tolerance=tolerance, max_steps=remaining)
        steps = first + steps
        if objective(state, theta) - objective(other, theta) <= _PROGRESS:
            failed += 1
            if (status, ended) == (STALLED, OPTIMAL):
                # The same w, with index sets that show that it is stationary.
                state, status = other, OPTIMAL
                values += steps
            continue
        state, status, failed, succeeded = other, ended, 0, succeeded + 1
        values += steps
        if status == STEP_LIMIT:
            break
        hidden, grid = hidden_ties(state, tied)
    return state, status, values, succeeded
