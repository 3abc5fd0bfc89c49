"""Algorithm 1: steps towards the solution of the quadratic program, blocked by ties, until w is optimal."""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import append_tie, delete_tie, drop_feature, rebuild_basis, restore_feature
from mfbench_sqpfw._active_set.copies import move_copies, note_copies
from mfbench_sqpfw._active_set.problem import Floats
from mfbench_sqpfw._active_set.quadratic_program import (
    NONE,
    TIE,
    WEIGHT,
    find_release,
    gradient,
    largest_entry,
    objective,
    project,
    tie_row_of,
    towards_target,
)
from mfbench_sqpfw._active_set.ratio_test import ratio_test, refresh_row, settle, watch_now, widen_norms
from mfbench_sqpfw._active_set.state import (
    CHANGES,
    DW,
    LIN,
    POSITIVE,
    STEPS,
    TIES,
    UPDATES,
    ZERO_RUN,
    State,
    squared_range,
    with_more_ties,
)

OPTIMAL, STEP_LIMIT, TIES_FULL, LOST, STALLED = range(5)
# The basis and the gradient are recomputed after this many updates of the basis.
REBUILD_AFTER = 200
# A step that is smaller than this share of the vectors whose difference it is loses digits: its component along the
# active rows, which is rounding, is removed.
_CANCELLED = 1e-4
# The run has stalled after this many steps of length 0 in a row, times the number of positive weights + 2: on wide data
# the number of features would exceed any limit. Only tied data cause them: every direction is blocked by another tie.
_STALLED_AFTER = 40
# Steps of one call of the compiled loop.
_CHUNK = 4096
# Above this limit the rounding of the loss, theta times squared differences, hides the distance to the prior.
_HEAVIEST = 1e12


@njit(cache=True, allocates=False)
def release(s: State, kind: int, where: int, direction: int) -> None:
    """Remove a constraint from the active set."""
    s.counts[CHANGES] += 1
    if kind == WEIGHT:
        if not restore_feature(s, where):
            widen_norms(s, s.counts[POSITIVE] - 1, where)
        return
    if kind == TIE:
        row, member = s.tie_row[where], s.tie_member[where]
        delete_tie(s, where)
    else:
        row, member = where, s.rep[where]
        _replace_representative(s, row)
    if s.has_copies[row]:
        move_copies(s, row, member, direction)
        refresh_row(s, row)
        return
    if direction < 0:
        s.less[row, s.n_less[row]] = member
        s.n_less[row] += 1
    if kind == TIE:
        watch_now(s, row, member)
    else:
        refresh_row(s, row)


@njit(cache=True, allocates=False)
def _replace_representative(s: State, row: int) -> None:
    """Make the first tied member the representative, to which the rows of the other tied members then refer."""
    first = 0
    while s.tie_row[first] != row:
        first += 1
    sign = 1.0 if row < len(s.targets) else -1.0
    for f in range(len(s.c)):
        s.c[f] += sign * s.tie_b[s.tie_slot[first], f] / len(s.targets)
    s.rep[row] = s.tie_member[first]
    delete_tie(s, first)
    others = s.n_ties[row]
    k = 0
    b = s.scratch[0]
    for _ in range(others):
        while s.tie_row[k] != row:
            k += 1
        member = s.tie_member[k]
        delete_tie(s, k)
        tie_row_of(s, row, member, b)
        append_tie(s, row, member, b)


@njit(cache=True, allocates=False)
def activate(s: State, row: int, where: int) -> bool:
    """Add a blocking weight (row -1) or pair to the active set; return False if the pair depends on the active rows."""
    s.counts[CHANGES] += 1
    if row == -1:
        drop_feature(s, where)
        return True
    b = s.scratch[0]
    tie_row_of(s, row, where, b)
    if not append_tie(s, row, where, b):
        return False
    note_copies(s, row, where)
    for k in range(s.n_less[row]):
        if s.less[row, k] == where:
            s.n_less[row] -= 1
            s.less[row, k] = s.less[row, s.n_less[row]]
            break
    return True


@njit(cache=True, allocates=False)
def move(s: State, dw: Floats, tau: float) -> float:
    """Move w by tau dw; return the norm of dw."""
    squares = 0.0
    for f in range(s.counts[POSITIVE]):
        # Only rounding leads below 0: a weight that vanishes ends the step.
        s.w[f] = max(0.0, s.w[f] + tau * dw[f])
        squares += dw[f] * dw[f]
    norm: float = np.sqrt(squares)
    return norm


@njit(cache=True, allocates=False)
def solve(s: State, theta: float, tolerance: float, max_steps: int, history: Floats) -> tuple[int, int]:
    """Make steps until w is optimal, the run stalls, or ``max_steps`` is reached; return the status and their number.

    ``history[k]`` becomes f after the k-th step. The next call continues where this one ends.

    A pair that depends on the active pairs must never block, but rounding, or a dw that also corrects the drift of the
    ties, can give it a rate. When that happens, dw is projected until a step succeeds.
    """
    steps, pure = 0, False
    while True:
        if s.counts[UPDATES] >= REBUILD_AFTER:
            rebuild_basis(s)
            gradient(s)
        if s.counts[TIES] == len(s.tie_row) and len(s.tie_row) < len(s.w):
            return TIES_FULL, steps
        dw = s.scratch[DW]
        largest = towards_target(s, theta)
        if not np.isfinite(largest):
            return LOST, steps
        p = s.counts[POSITIVE]
        if pure or largest < _CANCELLED * max(largest_entry(s.scratch[LIN], p), largest_entry(s.w, p)):
            project(s, dw)
            largest = largest_entry(dw, p)
        if largest <= tolerance:
            kind, where, direction = find_release(s, theta)
            if kind == NONE:
                return OPTIMAL, steps
            release(s, kind, where, direction)
            continue
        if steps >= max_steps:
            return STEP_LIMIT, steps
        if s.counts[ZERO_RUN] > _STALLED_AFTER * (s.counts[POSITIVE] + 2):
            s.counts[ZERO_RUN] = 0
            return STALLED, steps
        tau, row, where = ratio_test(s, dw, 1.0)
        # A pair is activated before the move, which is not made if the pair depends on the active ones; a weight is
        # activated after the move, because that changes the order of the features.
        if row >= 0 and not activate(s, row, where):
            settle(s, 0.0, 0.0)
            if pure:
                # It is tied but not a constraint: only other index sets can lead on.
                return STALLED, steps
            pure = True
            continue
        speed = move(s, dw, tau)
        if row == -1:
            activate(s, row, where)
        settle(s, tau, speed)
        pure = False
        s.counts[ZERO_RUN] = s.counts[ZERO_RUN] + 1 if tau * largest <= 1e-14 else 0
        s.counts[STEPS] += 1
        history[steps] = objective(s, theta)
        steps += 1


def descend(state: State, *, theta: float, tolerance: float, max_steps: int) -> tuple[State, int, list[float]]:
    """Run Algorithm 1 from a state; return the state (its arrays may have grown), the status, and f after each step.

    Raises
    ------
    ValueError
        If ``theta`` is too large for the scale of the features.
    FloatingPointError
        If the steps are no longer finite.
    """
    values: list[float] = []
    if theta == 0.0:
        return state, OPTIMAL, values
    if theta * squared_range(state) > _HEAVIEST:
        raise ValueError(
            f"theta = {theta:g} times the squared range of the features is more than {_HEAVIEST:g}, and rounding would "
            "hide the distance to w_bar; lower theta or standardise the features"
        )
    while True:
        history = np.empty(min(_CHUNK, max(1, max_steps - len(values))))
        status, steps = solve(state, theta, tolerance, min(_CHUNK, max_steps - len(values)), history)
        values.extend(history[:steps].tolist())
        if status == TIES_FULL:
            state = with_more_ties(state)
        elif status == LOST:
            raise FloatingPointError(
                "the steps are no longer finite; scale the features alike, for example to variance 1"
            )
        elif status in (OPTIMAL, STALLED) or len(values) >= max_steps:
            return state, status, values
