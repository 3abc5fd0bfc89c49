"""Deadlines of rows: the length of the path of w at which a pair of the row could change sides."""

from __future__ import annotations

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.state import State


@njit(cache=True, allocates=False)
def first_deadline(s: State) -> float:
    """Return the earliest deadline. A search in memory order is faster than a tree, whose steps wait for each other."""
    deadline, earliest = s.deadline, np.inf
    for row in range(len(deadline)):
        if deadline[row] < earliest:
            earliest = deadline[row]
    return earliest


@njit(cache=True, allocates=False)
def forget_row(s: State, row: int) -> None:
    """Make the next step test the whole row."""
    s.n_near[row] = s.n_open[row] = 0
    s.radius[row, 0] = s.due_rest[row] = s.deadline[row] = -np.inf
