"""One segment of the path: between breakpoints, the weights and all multipliers are affine functions of theta."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import dot, rebuild_basis
from mfbench_sqpfw._active_set.copies import may_leave
from mfbench_sqpfw._active_set.descent import REBUILD_AFTER, activate, move, release
from mfbench_sqpfw._active_set.quadratic_program import (
    NONE,
    REPRESENTATIVE,
    TIE,
    WEIGHT,
    back_substitute,
    gradient,
    largest_entry,
    project,
    subtract_ties,
    towards_target,
)
from mfbench_sqpfw._active_set.ratio_test import ratio_test, settle
from mfbench_sqpfw._active_set.state import (
    DIRECTION,
    DW,
    LENGTH,
    MULTIPLIERS,
    POSITIVE,
    SLOPES,
    TIES,
    UPDATES,
    State,
    T,
)

# What happens at a breakpoint; a restart is a leap over a point where ties stall the path.
END, WEIGHT_VANISHES, WEIGHT_RETURNS, TIE_FORMS, TIE_BREAKS, RESTART = range(6)
# A slope below this share of the largest is rounding.
_RELATIVE = 1e-11


class Breakpoint(NamedTuple):
    """Where a segment of the path ends, and why.

    Attributes
    ----------
    theta : float
    kind : int
        `END` to `RESTART`.
    first, second : int
        The feature's number and -1, or the row and the member of a tie; -1 otherwise.
    """

    theta: float
    kind: int
    first: int
    second: int


def next_breakpoint(state: State, theta: float, limit: float) -> Breakpoint:
    """Follow an optimal w from theta to the next breakpoint, at most ``limit``, and change one set there."""
    return Breakpoint(*_advance(state, theta, limit))


@njit(cache=True, allocates=False)
def _slopes(s: State) -> None:
    """Set the direction dw / dtheta = -(c - Q Q' c), and the slopes of the multipliers, R^-1 (-Q' c)."""
    p, ties = s.counts[POSITIVE], s.counts[TIES]
    direction, slopes = s.scratch[DIRECTION], s.scratch[SLOPES]
    direction[:] = 0.0
    for f in range(p):
        direction[f] = -s.c[f]
    for k in range(ties + 1):
        slopes[k] = dot(s.Q[k], direction, p)
    for k in range(ties + 1):
        for f in range(p):
            direction[f] -= slopes[k] * s.Q[k, f]
    project(s, direction)
    scale = largest_entry(s.c, p)
    for f in range(p):
        # At a vertex only rounding is left; it would produce spurious events.
        if ties + 1 >= p or abs(direction[f]) <= 1e-12 * scale:
            direction[f] = 0.0
    back_substitute(s, slopes)


@njit(cache=True, allocates=False)
def _first_release(s: State, theta: float, span: float) -> tuple[float, int, int, int]:
    """Return how far theta can grow, at most ``span``, before Lemma 6 releases a constraint, and which."""
    p, ties, n_targets = s.counts[POSITIVE], s.counts[TIES], len(s.targets)
    values, slopes = s.scratch[MULTIPLIERS], s.scratch[SLOPES]
    best, kind, where, way = span, NONE, -1, 0
    scale = largest_entry(s.c, len(s.c))
    alpha, growth = s.scratch[0], s.scratch[1]
    for f in range(p, len(s.w)):
        alpha[f], growth[f] = s.bar[f] - values[0] - theta * s.c[f], -slopes[0] - s.c[f]
    subtract_ties(s, values, alpha)
    subtract_ties(s, slopes, growth)
    for f in range(p, len(s.w)):
        if growth[f] > _RELATIVE * scale and max(0.0, -alpha[f] / growth[f]) < best:
            best, kind, where, way = max(0.0, -alpha[f] / growth[f]), WEIGHT, f, 1
    sums = s.row_sums
    for k in range(ties):
        sums[0, s.tie_row[k]] = sums[1, s.tie_row[k]] = 0.0
    for k in range(ties):
        sums[0, s.tie_row[k]] += values[k + 1]
        sums[1, s.tie_row[k]] += slopes[k + 1]
    for k in range(2 * ties):
        row = s.tie_row[k % ties]
        if k < ties:
            value, slope = values[k + 1], slopes[k + 1]
        else:
            sign = 1.0 if row < n_targets else -1.0
            value, slope = sign * theta / n_targets - sums[0, row], sign / n_targets - sums[1, row]
        member, direction = s.tie_member[k] if k < ties else s.rep[row], 1 if slope > 0 else -1
        if abs(slope) <= _RELATIVE / n_targets or not may_leave(s, row, member, direction):
            continue
        if max(0.0, -value / slope) < best:
            best, way = max(0.0, -value / slope), direction
            kind, where = (TIE, k) if k < ties else (REPRESENTATIVE, row)
    return best, kind, where, way


@njit(cache=True, allocates=False)
def _advance(s: State, theta: float, limit: float) -> tuple[float, int, int, int]:
    """Return the fields of the next `Breakpoint`; the sets may need more changes after this one.

    If no breakpoint follows before ``limit``, the kind is `END` and theta is ``limit``.
    """
    if s.counts[UPDATES] >= REBUILD_AFTER:
        rebuild_basis(s)
        gradient(s)
    towards_target(s, theta)
    # Undo accumulated rounding, which would otherwise grow along the path.
    s.travel[LENGTH] += move(s, s.scratch[DW], 1.0)
    multipliers = s.scratch[MULTIPLIERS]
    for k in range(s.counts[TIES] + 1):
        multipliers[k] = s.scratch[T, k]
    back_substitute(s, multipliers)
    _slopes(s)
    direction = s.scratch[DIRECTION]
    span, kind, where, way = _first_release(s, theta, limit - theta)
    step, row, member = ratio_test(s, direction, span)
    if step < np.inf:
        speed = move(s, direction, step)
    if row == -2:
        if step < np.inf:
            settle(s, step, speed)
        if kind == NONE:
            return limit, END, -1, -1
        event = _describe_release(s, kind, where)
        release(s, kind, where, way)
        return theta + step, event[0], event[1], event[2]
    if row == -1:
        feature = s.perm[member]
        activate(s, row, member)
        settle(s, step, speed)
        return theta + step, WEIGHT_VANISHES, feature, -1
    activate(s, row, member)
    settle(s, step, speed)
    return theta + step, TIE_FORMS, row, member


@njit(cache=True, allocates=False)
def _describe_release(s: State, kind: int, where: int) -> tuple[int, int, int]:
    if kind == WEIGHT:
        return WEIGHT_RETURNS, s.perm[where], -1
    if kind == TIE:
        return TIE_BREAKS, s.tie_row[where], s.tie_member[where]
    return TIE_BREAKS, where, s.rep[where]
