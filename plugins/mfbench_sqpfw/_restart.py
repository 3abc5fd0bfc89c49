"""Ties that the active set does not know of, and the way on from a point that is only optimal without them.

A pair tied outside the active set can hide a direction in which the objective falls: the optimality conditions (theorem
7 of the paper) hold only if there is none. The remedy ranks the tied members as if w had already gone a little way in
a random feasible direction, and runs Algorithm 1 from the same w with these sets.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mfbench_sqpfw._basis import rebuild_basis
from mfbench_sqpfw._deadlines import _is_tied, members, refresh_row
from mfbench_sqpfw._run import descend
from mfbench_sqpfw._start import rank_row
from mfbench_sqpfw._state import POSITIVE, TIES, Floats, State, copied
from mfbench_sqpfw._steps import OPTIMAL, gradient, objective

# Slacks below this share of the largest distance are ties.
_TIED = 1e-9
# A restart has succeeded if f falls by more than this.
_PROGRESS = 1e-12


@njit(cache=True)
def hidden_ties(s: State, tied: np.ndarray) -> tuple[int, float]:
    """Mark the rows with ties of any kind; return the number of hidden ones, and how near counts as tied.

    Members whose differences are the representative's in every feature are not counted: which of them is the target
    neighbour makes no difference. Time O(n² l).
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
                if j in (i, rep) or abs(_distance_of(s, i, j) - nearest) > grid or _is_tied(s, row, j):
                    continue
                if _differs(s, i, j, rep):
                    hidden += 1
                    tied[row] = True
    return hidden, grid


@njit(cache=True)
def _distance_of(s: State, i: int, j: int) -> float:
    total = 0.0
    for f in range(s.counts[POSITIVE]):
        difference = s.X[i, f] - s.X[j, f]
        total += difference * difference * s.w[f]
    return total


@njit(cache=True)
def _differs(s: State, i: int, j: int, rep: int) -> bool:
    for f in range(s.X.shape[1]):  # noqa: SIM110 - numba compiles no generator
        if abs(s.X[i, f] - s.X[j, f]) != abs(s.X[i, f] - s.X[rep, f]):
            return True
    return False


@njit(cache=True)
def _rank_again(s: State, direction: Floats, grid: float, tied: np.ndarray) -> None:
    s.counts[TIES] = 0
    s.n_ties[:] = 0
    for row in range(len(s.rep)):
        if tied[row]:
            rank_row(s, row, direction, grid)
    rebuild_basis(s)
    gradient(s)
    for row in range(len(s.rep)):
        if tied[row]:
            refresh_row(s, row)


def _feasible_direction(state: State, random_state: np.random.RandomState) -> Floats:
    """Draw a direction along which the sum stays 1 and no weight becomes negative at once."""
    direction: Floats = random_state.standard_normal(len(state.w))
    positive = int(state.counts[POSITIVE])
    direction[positive:] = np.abs(direction[positive:])
    direction[:positive] -= direction.sum() / positive
    return direction


def improve(
    state: State, theta: float, tolerance: float, max_steps: int, attempts: int, random_state: np.random.RandomState
) -> tuple[State, int, list[float], int, int]:
    """Restart Algorithm 1 from a stationary point while hidden ties let f fall.

    Returns the state, the status, f after each accepted step, how many restarts succeeded, and the number of hidden
    ties at the end. ``attempts`` draws in a row without success end it.
    """
    trace: list[float] = []
    failed, succeeded = 0, 0
    tied = np.zeros(len(state.rep), dtype=np.bool_)
    hidden, grid = hidden_ties(state, tied)
    while hidden and failed < attempts and len(trace) < max_steps:
        other = copied(state)
        _rank_again(other, _feasible_direction(state, random_state), grid, tied)
        before = objective(state, theta)
        other, status, steps = descend(other, theta, tolerance, max_steps - len(trace))
        if before - objective(other, theta) <= _PROGRESS:
            failed += 1
            continue
        state, failed, succeeded = other, 0, succeeded + 1
        trace += steps
        if status != OPTIMAL:
            return state, status, trace, succeeded, hidden
        hidden, grid = hidden_ties(state, tied)
    return state, OPTIMAL, trace, succeeded, hidden
