"""Index sets at given weights: every target gets exactly one target hit and one target miss, with or without ties."""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import rebuild_basis
from mfbench_sqpfw._active_set.problem import Floats, Problem
from mfbench_sqpfw._active_set.quadratic_program import gradient
from mfbench_sqpfw._active_set.ratio_test import members, refresh_row
from mfbench_sqpfw._active_set.state import TIES, State, build


def begin(problem: Problem) -> State:
    """Return a state at the prior weights, with index sets but without active ties. Time O(n² l)."""
    state = build(problem, problem.bar)
    _rank_all(state)
    return state


@njit(cache=True)
def _rank_all(s: State) -> None:
    """Rank the members of all rows by distance, those at equal distances by sample number; no tied pair is active."""
    s.counts[TIES] = 0
    s.n_ties[:] = 0
    still = np.zeros(len(s.w))
    for row in range(len(s.rep)):
        rank_row(s, row, still, 0.0)
    rebuild_basis(s)
    gradient(s)
    for row in range(len(s.rep)):
        refresh_row(s, row)


@njit(cache=True, allocates=False)
def rank_row(s: State, row: int, direction: Floats, grid: float) -> None:
    """Choose the representative and the nearer members of a row.

    Members are ordered by distance; those at equal distances, up to ``grid``, by the rate at which the distance grows
    along ``direction``, then by sample number.
    """
    i = s.targets[row % len(s.targets)]
    begin, middle, resume, end = members(s, row)
    distances, rates, order = s.scratch[3], s.scratch[4], s.order
    count = 0
    for block in range(2):
        for j in range(begin if block == 0 else resume, middle if block == 0 else end):
            if j == i:
                continue
            distance = rate = 0.0
            for f in range(len(s.w)):
                difference = s.X[i, f] - s.X[j, f]
                distance += difference * difference * s.w[f]
                rate += difference * difference * direction[f]
            distances[count], rates[count], order[count] = distance, rate, j
            count += 1
    need = s.need[row // len(s.targets)]
    s.n_less[row] = need - 1
    for k in range(need):
        best = k
        for at in range(k + 1, count):
            gap = distances[at] - distances[best]
            if gap < -grid or (abs(gap) <= grid and rates[at] < rates[best]):
                best = at
        # Moving the others up keeps them ordered by sample number.
        distance, rate, j = distances[best], rates[best], order[best]
        for at in range(best, k, -1):
            distances[at], rates[at], order[at] = distances[at - 1], rates[at - 1], order[at - 1]
        distances[k], rates[k], order[k] = distance, rate, j
        if k < need - 1:
            s.less[row, k] = j
        else:
            s.rep[row] = j
