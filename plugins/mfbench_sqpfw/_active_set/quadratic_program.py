"""The equality-constrained quadratic program of the active set: its solution, its multipliers, and what they release.

Signs of multipliers are those of the supplement's Lagrangian: a member of H= or M= with a negative multiplier would
lower the objective by moving nearer, one with a positive multiplier by moving farther away.
"""

from __future__ import annotations

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.basis import dot
from mfbench_sqpfw._active_set.copies import may_leave
from mfbench_sqpfw._active_set.problem import Floats
from mfbench_sqpfw._active_set.state import DW, LIN, MULTIPLIERS, POSITIVE, STEPS, TIES, ZERO_RUN, State, T, Z

# What can be released: nothing, a weight, a tied pair besides the representative, a representative.
NONE, WEIGHT, TIE, REPRESENTATIVE = range(4)
# A multiplier has the wrong sign beyond these limits: alpha absolutely, beta and gamma as a share of theta / n.
ALPHA_TOLERANCE, TIE_TOLERANCE = 1e-9, 1e-8
# After this many steps of length 0 in a row, times the number of positive weights + 2, release is at random.
_RANDOM_AFTER = 3


@njit(cache=True, allocates=False)
def gradient(s: State) -> None:
    """Compute c, the mean over targets of e(i, hit) - e(i, miss), from the representatives."""
    n_targets = len(s.targets)
    s.c[:] = 0.0
    for row in range(2 * n_targets):
        i, rep = s.targets[row % n_targets], s.rep[row]
        sign = 1.0 if row < n_targets else -1.0
        for f in range(s.X.shape[1]):
            difference = s.X[i, f] - s.X[rep, f]
            s.c[f] += sign * difference * difference
    for f in range(len(s.c)):
        s.c[f] /= n_targets


@njit(cache=True, allocates=False)
def tie_row_of(s: State, row: int, member: int, b: Floats) -> None:
    """Write e(i, member) - e(i, representative) for all features into b."""
    i, rep = s.targets[row % len(s.targets)], s.rep[row]
    for f in range(s.X.shape[1]):
        near, far = s.X[i, f] - s.X[rep, f], s.X[i, f] - s.X[member, f]
        b[f] = far * far - near * near


@njit(cache=True, allocates=False)
def objective(s: State, theta: float) -> float:
    """Return f(w); the loss is c.w, because distances are linear in w."""
    total = 0.0
    for f in range(len(s.w)):
        gap = s.w[f] - s.bar[f]
        total += theta * s.c[f] * s.w[f] + 0.5 * gap * gap
    return total


@njit(cache=True, allocates=False)
def right_side(s: State) -> None:
    """Solve R' z = (1, 0, …, 0), the right-hand side of the constraints in the basis Q."""
    z = s.scratch[Z]
    z[0] = 1.0 / s.R[0, 0]
    for k in range(1, s.counts[TIES] + 1):
        total = 0.0
        for j in range(k):
            total += s.R[j, k] * z[j]
        z[k] = -total / s.R[k, k]


@njit(cache=True, allocates=False)
def back_substitute(s: State, values: Floats) -> None:
    """Replace ``values`` with the solution x of R x = values."""
    for k in range(s.counts[TIES], -1, -1):
        total = values[k]
        for j in range(k + 1, s.counts[TIES] + 1):
            total -= s.R[k, j] * values[j]
        values[k] = total / s.R[k, k]


@njit(cache=True, allocates=False)
def project(s: State, vector: Floats) -> None:
    """Remove from ``vector``, in place, its component along the active rows."""
    p = s.counts[POSITIVE]
    for k in range(s.counts[TIES] + 1):
        overlap = dot(s.Q[k], vector, p)
        for f in range(p):
            vector[f] -= overlap * s.Q[k, f]


@njit(cache=True, allocates=False)
def largest_entry(vector: Floats, p: int) -> float:
    """Return the largest absolute value among the first p entries."""
    largest = 0.0
    for f in range(p):
        largest = max(largest, abs(vector[f]))
    return largest


@njit(cache=True, allocates=False)
def towards_target(s: State, theta: float) -> float:
    """Set dw to the step to the solution u of the equality-constrained QP (4); return its largest entry.

    u = lin - Q t with lin = bar - theta c and t = Q' lin - z; the multipliers are R^-1 t.
    """
    p, ties = s.counts[POSITIVE], s.counts[TIES]
    lin, t, dw = s.scratch[LIN], s.scratch[T], s.scratch[DW]
    right_side(s)
    for f in range(p):
        lin[f] = s.bar[f] - theta * s.c[f]
        dw[f] = lin[f] - s.w[f]
    for k in range(ties + 1):
        t[k] = dot(s.Q[k], lin, p) - s.scratch[Z, k]
        for f in range(p):
            dw[f] -= t[k] * s.Q[k, f]
    dw[p:] = 0.0
    if ties + 1 >= p:
        dw[:p] = 0.0
        return 0.0
    return largest_entry(dw, p)


@njit(cache=True, allocates=False)
def subtract_ties(s: State, multipliers: Floats, alpha: Floats) -> None:
    """Subtract from alpha, for the features held at 0, the rows of the tied pairs times their multipliers."""
    for k in range(s.counts[TIES]):
        multiplier, b = multipliers[k + 1], s.tie_b[s.tie_slot[k]]
        # Along the rows: the features of one pair are next to each other in memory.
        for f in range(s.counts[POSITIVE], len(s.w)):
            alpha[f] -= multiplier * b[f]


@njit(cache=True, allocates=False)
def _priority(s: State, size: float, number: int, random: bool) -> float:
    """Return the priority of releasing a constraint: the size of its multiplier, or a pseudo-random number."""
    if not random:
        return size
    priority: float = ((s.counts[STEPS] + 1) * 2654435761 + (number + 1) * 40503 * 65537) % 2147483647 / 2147483647.0
    return priority


@njit(cache=True, allocates=False)
def find_release(s: State, theta: float) -> tuple[int, int, int]:
    """Return what Lemma 6 releases: its kind, its position, and the direction.

    Among several constraints it is the one with the largest absolute multiplier. After many steps of length 0 in a row,
    which only tied data cause, that rule could cycle; then a pseudo-random constraint is released, a different one in
    each step.
    """
    ties, g = s.counts[TIES], theta / len(s.targets)
    random = s.counts[ZERO_RUN] > _RANDOM_AFTER * (s.counts[POSITIVE] + 2)
    multipliers = s.scratch[MULTIPLIERS]
    for k in range(ties + 1):
        multipliers[k] = s.scratch[T, k]
    back_substitute(s, multipliers)
    best, largest = (NONE, -1, 0), 0.0
    alpha, p = s.scratch[0], s.counts[POSITIVE]
    for f in range(p, len(s.w)):
        alpha[f] = s.bar[f] - multipliers[0] - theta * s.c[f]
    subtract_ties(s, multipliers, alpha)
    for f in range(p, len(s.w)):
        if alpha[f] > ALPHA_TOLERANCE and _priority(s, alpha[f], f, random) > largest:
            best, largest = (WEIGHT, f, 1), _priority(s, alpha[f], f, random)
    sums = s.row_sums[0]
    for k in range(ties):
        sums[s.tie_row[k]] = 0.0
    for k in range(ties):
        sums[s.tie_row[k]] += multipliers[k + 1]
    for k in range(2 * ties):
        row = s.tie_row[k % ties]
        value = multipliers[k + 1] if k < ties else (g if row < len(s.targets) else -g) - sums[row]
        direction = 1 if value > 0 else -1
        priority = _priority(s, abs(value), len(s.w) + k, random)
        member = s.tie_member[k] if k < ties else s.rep[row]
        if abs(value) > TIE_TOLERANCE * g and priority > largest and may_leave(s, row, member, direction):
            best, largest = (TIE, k, direction) if k < ties else (REPRESENTATIVE, row, direction), priority
    return best
