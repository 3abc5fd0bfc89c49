"""QR decomposition of the active constraints on features of positive weight, updated instead of recomputed.

A has one row of ones and one row per tied pair; A' = Q R, with the columns of Q stored as rows. Adding or dropping a
row of A or a feature costs O(rows × features). The normal matrix A A' is never formed: it would square the condition
number.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.problem import Floats
from mfbench_sqpfw._active_set.state import ALIVE, POSITIVE, TIES, UPDATES, State, forget_row

REDUCE = {"reassoc", "contract", "nsz"}


@njit(cache=True, allocates=False, fastmath=REDUCE)
def dot(a: Floats, b: Floats, p: int) -> float:
    total = 0.0
    for f in range(p):
        total += a[f] * b[f]
    return total


@njit(cache=True, allocates=False)
def _rotate(a: Floats, b: Floats, cosine: float, sine: float, begin: int, end: int) -> None:
    """Replace a by cosine a + sine b and b by cosine b - sine a."""
    for f in range(begin, end):
        old = a[f]
        a[f] = cosine * old + sine * b[f]
        b[f] = cosine * b[f] - sine * old


@njit(cache=True, allocates=False)
def _append_row(s: State, k: int, values: Floats, p: int) -> bool:
    """Make `values` the k-th row of A; return False, leaving the basis valid, if it depends on the rows before it."""
    row = s.Q[k]
    norm = 0.0
    for f in range(p):
        row[f] = values[f]
        norm += values[f] * values[f]
    for j in range(k):
        s.R[j, k] = 0.0
    # Twice: one pass loses orthogonality where the row nearly depends on the others.
    for _ in range(2):
        for j in range(k):
            overlap = dot(s.Q[j], row, p)
            s.R[j, k] += overlap
            for f in range(p):
                row[f] -= overlap * s.Q[j, f]
    rest = np.sqrt(dot(row, row, p))
    if rest <= 1e-12 * np.sqrt(norm) or norm == 0.0:
        return False
    for f in range(p):
        row[f] /= rest
    s.R[k, k] = rest
    for j in range(k):
        s.R[k, j] = 0.0
    return True


@njit(cache=True, allocates=False)
def append_tie(s: State, row: int, member: int, b: Floats) -> bool:
    """Add a tied pair with its row b (all features) to the active set; return False if b depends on the active rows."""
    ties = s.counts[TIES]
    if not _append_row(s, ties + 1, b, s.counts[POSITIVE]):
        return False
    s.tie_row[ties], s.tie_member[ties] = row, member
    kept = s.tie_b[s.tie_slot[ties]]
    for f in range(len(s.w)):
        kept[f] = b[f]
    s.n_ties[row] += 1
    s.counts[TIES] = ties + 1
    s.counts[UPDATES] += 1
    return True


@njit(cache=True, allocates=False)
def _close_gap(s: State, k: int) -> None:
    """Move the pairs after the k-th up; their rows b, which are long, stay in their slots."""
    last, slot = s.counts[TIES] - 1, s.tie_slot[k]
    for j in range(k, last):
        s.tie_row[j], s.tie_member[j], s.tie_slot[j] = s.tie_row[j + 1], s.tie_member[j + 1], s.tie_slot[j + 1]
    s.tie_slot[last] = slot


@njit(cache=True, allocates=False)
def delete_tie(s: State, k: int) -> None:
    """Remove the k-th tied pair from the active set; those after it move up."""
    p, ties = s.counts[POSITIVE], s.counts[TIES]
    s.n_ties[s.tie_row[k]] -= 1
    _close_gap(s, k)
    for j in range(k + 1, ties):
        for i in range(j + 2):
            s.R[i, j] = s.R[i, j + 1]
        length = np.hypot(s.R[j, j], s.R[j + 1, j])
        cosine, sine = s.R[j, j] / length, s.R[j + 1, j] / length
        s.R[j, j], s.R[j + 1, j] = length, 0.0
        # The columns to the right have not moved yet: they are one position further on.
        _rotate(s.R[j], s.R[j + 1], cosine, sine, j + 2, ties + 1)
        _rotate(s.Q[j], s.Q[j + 1], cosine, sine, 0, p)
    s.counts[TIES] = ties - 1
    s.counts[UPDATES] += 1


@njit(cache=True, allocates=False)
def _swap(s: State, a: int, b: int) -> None:
    """Exchange the features at two positions."""
    if a == b:
        return
    for i in range(s.X.shape[0]):
        s.X[i, a], s.X[i, b] = s.X[i, b], s.X[i, a]
    for row in range(s.ref.shape[0]):
        s.ref[row, a], s.ref[row, b] = s.ref[row, b], s.ref[row, a]
    s.perm[a], s.perm[b] = s.perm[b], s.perm[a]
    for vector in (s.w, s.bar, s.c):
        vector[a], vector[b] = vector[b], vector[a]
    for k in range(s.counts[TIES]):
        slot = s.tie_slot[k]
        s.tie_b[slot, a], s.tie_b[slot, b] = s.tie_b[slot, b], s.tie_b[slot, a]
    for k in range(s.counts[TIES] + 1):
        s.Q[k, a], s.Q[k, b] = s.Q[k, b], s.Q[k, a]


@njit(cache=True, allocates=False)
def drop_feature(s: State, feature: int) -> None:
    """Set the weight at this position to 0 and move it from P to Z."""
    last = s.counts[POSITIVE] - 1
    _swap(s, feature, last)
    s.w[last] = 0.0
    rows = s.counts[TIES] + 1
    # The unit vector of the feature, minus its projection on Q, completes Q. Rotating it into the unit vector itself
    # removes that feature from the other rows of Q.
    extra, below = s.scratch[0], s.scratch[1]
    for f in range(last):
        extra[f] = 0.0
    extra[last] = 1.0
    for _ in range(2):
        for j in range(rows):
            overlap = dot(s.Q[j], extra, last + 1)
            for f in range(last + 1):
                extra[f] -= overlap * s.Q[j, f]
    norm = np.sqrt(dot(extra, extra, last + 1))
    s.counts[POSITIVE] = last
    s.counts[UPDATES] += 1
    if 2 * last < s.counts[ALIVE]:
        s.counts[ALIVE] = last
    if norm < 1e-6:
        rebuild_basis(s)
        return
    for f in range(last + 1):
        extra[f] /= norm
    for j in range(rows):
        below[j] = 0.0
    for j in range(rows - 1, -1, -1):
        length = np.hypot(s.Q[j, last], extra[last])
        cosine, sine = extra[last] / length, -s.Q[j, last] / length
        _rotate(s.Q[j], extra, cosine, sine, 0, last + 1)
        _rotate(s.R[j], below, cosine, sine, j, rows)


@njit(cache=True, allocates=False)
def restore_feature(s: State, feature: int) -> bool:
    """Move the feature at this position from Z to P; return whether it was alive."""
    alive: bool = feature < s.counts[ALIVE]
    if not alive:
        _swap(s, feature, s.counts[ALIVE])
        feature = s.counts[ALIVE]
        s.counts[ALIVE] += 1
    p, rows = s.counts[POSITIVE], s.counts[TIES] + 1
    _swap(s, feature, p)
    extra, below = s.scratch[0], s.scratch[1]
    for f in range(p):
        extra[f] = 0.0
    extra[p] = 1.0
    below[0] = 1.0
    for k in range(rows - 1):
        below[k + 1] = s.tie_b[s.tie_slot[k], p]
    for j in range(rows):
        s.Q[j, p] = 0.0
        length = np.hypot(s.R[j, j], below[j])
        cosine, sine = s.R[j, j] / length, below[j] / length
        _rotate(s.R[j], below, cosine, sine, j, rows)
        _rotate(s.Q[j], extra, cosine, sine, 0, p + 1)
    s.counts[POSITIVE] = p + 1
    s.counts[UPDATES] += 1
    return alive


@njit(cache=True, allocates=False)
def rebuild_basis(s: State) -> None:
    """Compute Q and R from the tied rows, dropping rows that depend on those before them."""
    p = s.counts[POSITIVE]
    ones = s.scratch[2]
    for f in range(p):
        ones[f] = 1.0
    _append_row(s, 0, ones, p)
    k = 0
    while k < s.counts[TIES]:
        if _append_row(s, k + 1, s.tie_b[s.tie_slot[k]], p):
            k += 1
            continue
        row, member = s.tie_row[k], s.tie_member[k]
        s.n_ties[row] -= 1
        if s.n_less[row] + s.n_ties[row] + 1 < s.need[row // len(s.targets)]:
            s.less[row, s.n_less[row]] = member
            s.n_less[row] += 1
        forget_row(s, row)
        _close_gap(s, k)
        s.counts[TIES] -= 1
    s.counts[UPDATES] = 0
