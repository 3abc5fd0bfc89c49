"""Copies: members whose differences from a target are the same in every feature, as where rows are duplicated.

Only one of them can be in the active set, because the rows of the others would depend on its row; the others stay on
either side at slack 0. They count nevertheless: where the farther of two tied pairs would be the kappa-th nearest, a
copy of the nearer one may take its place.
"""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.ratio_test import is_less, is_tied, members
from mfbench_sqpfw._active_set.state import NEGLIGIBLE, TIES, State


@njit(cache=True, allocates=False)
def are_copies(s: State, i: int, j: int, other: int) -> bool:
    """Return whether the squared differences from i to two samples are equal in every feature, up to rounding."""
    rounding = np.sqrt(s.travel[NEGLIGIBLE])
    for f in range(s.X.shape[1]):
        near, far = s.X[i, f] - s.X[other, f], s.X[i, f] - s.X[j, f]
        if abs(far * far - near * near) > rounding:
            return False
    return True


@njit(cache=True, allocates=False)
def note_copies(s: State, row: int, member: int) -> None:
    """Note whether a pair of the active set has a copy, after ``member`` has become tied."""
    if s.n_ties[row] == 1:
        s.has_copies[row] = _count(s, row, s.rep[row]) > 1
    if not s.has_copies[row]:
        s.has_copies[row] = _count(s, row, member) > 1


@njit(cache=True, allocates=False)
def _count(s: State, row: int, member: int) -> int:
    """Return the number of copies of a member, itself included."""
    i, total = s.targets[row % len(s.targets)], 0
    begin, middle, resume, end = members(s, row)
    for block in range(2):
        for j in range(begin if block == 0 else resume, middle if block == 0 else end):
            total += j != i and are_copies(s, i, j, member)
    return total


@njit(cache=True, allocates=False)
def list_tied(s: State, row: int) -> int:
    """Write the members of a row that are in the active set to ``s.order``; return their number."""
    s.order[0], count = s.rep[row], 1
    for k in range(s.counts[TIES]):
        if s.tie_row[k] == row:
            s.order[count] = s.tie_member[k]
            count += 1
    return count


@njit(cache=True, allocates=False)
def is_tied_copy(s: State, i: int, j: int, count: int) -> bool:
    """Return whether a sample is a copy of one of the members that `list_tied` has written, or one of them."""
    for k in range(count):  # noqa: SIM110 - Numba does not compile generators
        if are_copies(s, i, j, s.order[k]):
            return True
    return False


@njit(cache=True, allocates=False)
def may_leave(s: State, row: int, member: int, direction: int) -> bool:
    """Return whether Lemma 6 lets a member of H= or M= move nearer (-1) or farther (1) than the target neighbour.

    A member moves with its copies, and the copies of the others are as good as they are.
    """
    need, less, own, tied = s.need[row // len(s.targets)], s.n_less[row], 1, s.n_ties[row] + 1
    if tied == 1:
        return False
    if s.has_copies[row]:
        i, count = s.targets[row % len(s.targets)], list_tied(s, row)
        own = tied = 0
        begin, middle, resume, end = members(s, row)
        for block in range(2):
            for j in range(begin if block == 0 else resume, middle if block == 0 else end):
                if j != i and is_tied_copy(s, i, j, count):
                    own += are_copies(s, i, j, member)
                    tied += 1
                    less -= is_less(s, row, j)
    enough: bool = less + own < need if direction < 0 else less + tied - own >= need
    return enough


@njit(cache=True, allocates=False)
def move_copies(s: State, row: int, member: int, direction: int) -> None:
    """Let the copies of a released member follow it, and put as many copies of the tied members into H< as fit."""
    i, count, need = s.targets[row % len(s.targets)], list_tied(s, row), s.need[row // len(s.targets)]
    for k in range(s.n_less[row] - 1, -1, -1):
        j = s.less[row, k]
        if are_copies(s, i, j, member) or is_tied_copy(s, i, j, count):
            s.n_less[row] -= 1
            s.less[row, k] = s.less[row, s.n_less[row]]
    begin, middle, resume, end = members(s, row)
    for follows in (True, False):
        for block in range(2):
            for j in range(begin if block == 0 else resume, middle if block == 0 else end):
                if j == i or s.n_less[row] == need - 1:
                    continue
                if follows:
                    joins = direction < 0 and are_copies(s, i, j, member)
                else:
                    joins = is_tied_copy(s, i, j, count) and j != s.rep[row] and not is_tied(s, row, j)
                if joins:
                    s.less[row, s.n_less[row]] = j
                    s.n_less[row] += 1
