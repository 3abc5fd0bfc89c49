"""Algorithm 1: the equality-constrained QP of the active set, its multipliers, and the change of the sets.

Signs of multipliers as in the supplement's Lagrangian: a member of H= or M= with a negative multiplier would lower the
objective by coming nearer, one with a positive multiplier by going farther.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mfbench_sqpfw._basis import _dot, append_tie, delete_tie, drop_feature, rebuild_basis, restore_feature
from mfbench_sqpfw._deadlines import forget_deadlines, ratio_test, refresh_row, settle, watch_now
from mfbench_sqpfw._state import CHANGES, POSITIVE, STEPS, TIES, UPDATES, ZERO_RUN, Floats, State

OPTIMAL, STEP_LIMIT, TIES_FULL, LOST, STALLED = range(5)
# What can be released: nothing, a weight, a tied pair besides the representative, a representative.
NONE, WEIGHT, TIE, REPRESENTATIVE = range(4)
# A multiplier counts as one of the wrong sign beyond these: alpha absolutely, beta and gamma as a share of theta / n.
ALPHA_TOLERANCE, TIE_TOLERANCE = 1e-9, 1e-8
# The basis and the gradient are computed anew after so many updates of the basis.
_REBUILD = 200
# A step that is this small a part of what it is the difference of leaves out what lies along the active rows.
_CANCELLED = 1e-4
# After so many steps of length 0 in a row, for each feature, another rule of choice is taken; then it is given up. Only
# tied data bring them about: each way on is closed by a tie that is met at once.
_DRAWN_AFTER, _STALLED_AFTER = 3, 40
_LIN, _T, _Z, _DW, _MULTIPLIERS = 5, 6, 7, 8, 9


@njit(cache=True)
def gradient(s: State) -> None:
    """Compute c = the mean over targets of e(i, hit) - e(i, miss) from the representatives."""
    n_targets = len(s.targets)
    s.c[:] = 0.0
    for row in range(2 * n_targets):
        i, rep = s.targets[row % n_targets], s.rep[row]
        sign = 1.0 if row < n_targets else -1.0
        for f in range(s.X.shape[1]):
            difference = s.X[i, f] - s.X[rep, f]
            s.c[f] += sign * difference * difference
    s.c[:] = s.c / n_targets


@njit(cache=True)
def tie_row_of(s: State, row: int, member: int, b: Floats) -> None:
    """Write e(i, member) - e(i, representative) for all features into b."""
    i, rep = s.targets[row % len(s.targets)], s.rep[row]
    for f in range(s.X.shape[1]):
        near, far = s.X[i, f] - s.X[rep, f], s.X[i, f] - s.X[member, f]
        b[f] = far * far - near * near


@njit(cache=True)
def objective(s: State, theta: float) -> float:
    """Return f(w); the loss is c.w, distances being linear in w."""
    total = 0.0
    for f in range(len(s.w)):
        gap = s.w[f] - s.bar[f]
        total += theta * s.c[f] * s.w[f] + 0.5 * gap * gap
    return total


@njit(cache=True)
def right_side(s: State) -> None:
    """Solve R' z = (1, 0, …, 0): the constraints' right-hand side in the basis Q."""
    z = s.scratch[_Z]
    z[0] = 1.0 / s.R[0, 0]
    for k in range(1, s.counts[TIES] + 1):
        total = 0.0
        for j in range(k):
            total += s.R[j, k] * z[j]
        z[k] = -total / s.R[k, k]


@njit(cache=True)
def back_substitute(s: State, values: Floats) -> None:
    """Replace ``values`` by the solution of R x = values."""
    for k in range(s.counts[TIES], -1, -1):
        total = values[k]
        for j in range(k + 1, s.counts[TIES] + 1):
            total -= s.R[k, j] * values[j]
        values[k] = total / s.R[k, k]


@njit(cache=True)
def project(s: State, vector: Floats) -> None:
    """Take out of ``vector``, in place, what lies along the active rows."""
    p = s.counts[POSITIVE]
    for k in range(s.counts[TIES] + 1):
        overlap = _dot(s.Q[k], vector, p)
        for f in range(p):
            vector[f] -= overlap * s.Q[k, f]


@njit(cache=True)
def _largest(dw: Floats, p: int) -> float:
    largest = 0.0
    for f in range(p):
        largest = max(largest, abs(dw[f]))
    return largest


@njit(cache=True)
def towards_target(s: State, theta: float) -> float:
    """Set dw to the step to the solution of the equality-constrained QP (4); return its largest entry.

    u = lin - Q t with lin = bar - theta c and t = Q' lin - z; the multipliers are R^-1 t.
    """
    p, ties = s.counts[POSITIVE], s.counts[TIES]
    lin, t, dw = s.scratch[_LIN], s.scratch[_T], s.scratch[_DW]
    right_side(s)
    for f in range(p):
        lin[f] = s.bar[f] - theta * s.c[f]
        dw[f] = lin[f] - s.w[f]
    for k in range(ties + 1):
        t[k] = _dot(s.Q[k], lin, p) - s.scratch[_Z, k]
        for f in range(p):
            dw[f] -= t[k] * s.Q[k, f]
    dw[p:] = 0.0
    if ties + 1 >= p:
        dw[:p] = 0.0
        return 0.0
    return _largest(dw, p)


@njit(cache=True)
def may_leave(s: State, row: int, direction: int) -> bool:
    """Return whether Lemma 6 lets a member of H= or M= become nearer (-1) or farther (1) than the target neighbour."""
    need = s.need[row // len(s.targets)]
    if s.n_ties[row] == 0:
        return False
    if direction < 0:
        return s.n_less[row] <= need - 2
    return s.n_less[row] + s.n_ties[row] + 1 > need


@njit(cache=True)
def _claim(s: State, size: float, number: int, drawn: bool) -> float:
    """Return how strongly a constraint asks to be released: by its multiplier, or by a number drawn for this step."""
    if not drawn:
        return size
    return ((s.counts[STEPS] + 1) * 2654435761 + (number + 1) * 40503 * 65537) % 2147483647 / 2147483647.0


@njit(cache=True)
def find_release(s: State, theta: float) -> tuple[int, int, int]:
    """Return what Lemma 6 releases: the kind, where it is, and the direction.

    Of several the one with the largest absolute multiplier. After many steps of length 0 in a row, which only tied
    data bring about, that rule could go round in circles; then one is drawn, by a fixed rule that differs from step to
    step.
    """
    ties, g = s.counts[TIES], theta / len(s.targets)
    drawn = s.counts[ZERO_RUN] > _DRAWN_AFTER * (len(s.w) + 2)
    multipliers = s.scratch[_MULTIPLIERS]
    multipliers[: ties + 1] = s.scratch[_T, : ties + 1]
    back_substitute(s, multipliers)
    best, largest = (NONE, -1, 0), 0.0
    for f in range(s.counts[POSITIVE], len(s.w)):
        alpha = s.bar[f] - multipliers[0] - theta * s.c[f]
        for k in range(ties):
            alpha -= multipliers[k + 1] * s.tie_b[k, f]
        if alpha > ALPHA_TOLERANCE and _claim(s, alpha, f, drawn) > largest:
            best, largest = (WEIGHT, f, 1), _claim(s, alpha, f, drawn)
    sums = s.row_sums[0]
    for k in range(ties):
        sums[s.tie_row[k]] = 0.0
    for k in range(ties):
        sums[s.tie_row[k]] += multipliers[k + 1]
    for k in range(2 * ties):
        row = s.tie_row[k % ties]
        value = multipliers[k + 1] if k < ties else (g if row < len(s.targets) else -g) - sums[row]
        direction = 1 if value > 0 else -1
        claim = _claim(s, abs(value), len(s.w) + k, drawn)
        if abs(value) > TIE_TOLERANCE * g and claim > largest and may_leave(s, row, direction):
            best, largest = (TIE, k, direction) if k < ties else (REPRESENTATIVE, row, direction), claim
    return best


@njit(cache=True)
def release(s: State, kind: int, where: int, direction: int) -> None:
    """Take a constraint out of the active set."""
    s.counts[CHANGES] += 1
    if kind == WEIGHT:
        if not restore_feature(s, where):
            forget_deadlines(s)
        return
    if kind == TIE:
        row, member = s.tie_row[where], s.tie_member[where]
        delete_tie(s, where)
    else:
        row, member = where, s.rep[where]
        _replace_representative(s, row)
    if direction < 0:
        s.less[row, s.n_less[row]] = member
        s.n_less[row] += 1
    if kind == TIE:
        watch_now(s, row, member)
    else:
        refresh_row(s, row)


@njit(cache=True)
def _replace_representative(s: State, row: int) -> None:
    """Make the first tied member the representative; the rows of the others are taken from it from now on."""
    chosen = 0
    while s.tie_row[chosen] != row:
        chosen += 1
    sign = 1.0 if row < len(s.targets) else -1.0
    for f in range(len(s.c)):
        s.c[f] += sign * s.tie_b[chosen, f] / len(s.targets)
    s.rep[row] = s.tie_member[chosen]
    delete_tie(s, chosen)
    others = s.n_ties[row]
    k = 0
    b = np.empty(len(s.c))
    for _ in range(others):
        while s.tie_row[k] != row:
            k += 1
        member = s.tie_member[k]
        delete_tie(s, k)
        tie_row_of(s, row, member, b)
        append_tie(s, row, member, b)


@njit(cache=True)
def activate(s: State, row: int, where: int) -> bool:
    """Add what blocks to the active set: a weight (row -1) or a pair; False if the pair depends on what is there."""
    s.counts[CHANGES] += 1
    if row == -1:
        drop_feature(s, where)
        return True
    b = np.empty(len(s.c))
    tie_row_of(s, row, where, b)
    if not append_tie(s, row, where, b):
        return False
    for k in range(s.n_less[row]):
        if s.less[row, k] == where:
            s.n_less[row] -= 1
            s.less[row, k] = s.less[row, s.n_less[row]]
            break
    return True


@njit(cache=True)
def move(s: State, dw: Floats, tau: float) -> float:
    """Move w by tau dw; return the norm of dw."""
    squares = 0.0
    for f in range(s.counts[POSITIVE]):
        # Below 0 there is only rounding: weights that vanish end the step.
        s.w[f] = max(0.0, s.w[f] + tau * dw[f])
        squares += dw[f] * dw[f]
    return np.sqrt(squares)


@njit(cache=True)
def solve(s: State, theta: float, tolerance: float, max_steps: int, history: Floats) -> tuple[int, int]:
    """Make steps of Algorithm 1 until w is optimal, or stalls, or there were ``max_steps``; return status and number.

    ``history[k]`` becomes f after the k-th step. What a call leaves is where the next one goes on.

    A pair that depends on the active ones must never block, but its rate may look like one: by rounding, or because dw
    also undoes the ties' drift. When that happens, steps along the active rows are left out until one is made.
    """
    steps, pure = 0, False
    while True:
        if s.counts[UPDATES] >= _REBUILD:
            rebuild_basis(s)
            gradient(s)
        if s.counts[TIES] == len(s.tie_row) and len(s.tie_row) < len(s.w):
            return TIES_FULL, steps
        dw = s.scratch[_DW]
        largest = towards_target(s, theta)
        if not np.isfinite(largest):
            return LOST, steps
        p = s.counts[POSITIVE]
        if pure or largest < _CANCELLED * max(_largest(s.scratch[_LIN], p), _largest(s.w, p)):
            project(s, dw)
            largest = _largest(dw, p)
        if largest <= tolerance:
            kind, where, direction = find_release(s, theta)
            if kind == NONE:
                return OPTIMAL, steps
            release(s, kind, where, direction)
            continue
        if steps >= max_steps:
            return STEP_LIMIT, steps
        if s.counts[ZERO_RUN] > _STALLED_AFTER * (len(s.w) + 2):
            s.counts[ZERO_RUN] = 0
            return STALLED, steps
        tau, row, where = ratio_test(s, dw, 1.0)
        # A pair is activated before the move, so that there is none if it depends on the active ones; a weight after
        # it, since that changes the order of the features.
        if row >= 0 and not activate(s, row, where):
            settle(s, 0.0, 0.0)
            if pure:
                # It is tied, and no constraint: other sets must show the way on.
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
