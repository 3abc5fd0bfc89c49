"""A tournament of rows by date: the root is the row that must be looked at first."""

from __future__ import annotations

import numpy as np
from numba import njit

from mfbench_sqpfw._state import State


@njit(cache=True)
def set_date(s: State, row: int, date: float) -> None:
    """Give a row the path length at which it must be looked at. Time O(log rows)."""
    tree = s.tree
    k = len(tree) // 2 + row
    tree[k] = date
    k //= 2
    while k >= 1:
        smaller = min(tree[2 * k], tree[2 * k + 1])
        if tree[k] == smaller:
            break
        tree[k] = smaller
        k //= 2


@njit(cache=True)
def first_row(s: State) -> int:
    """Return the row with the earliest date, of equal ones the first."""
    tree = s.tree
    leaves = len(tree) // 2
    k = 1
    while k < leaves:
        k = 2 * k if tree[2 * k] == tree[k] else 2 * k + 1
    return k - leaves


@njit(cache=True)
def forget_row(s: State, row: int) -> None:
    """Let the whole row be tested in the next step."""
    s.n_near[row] = s.n_open[row] = 0
    s.radius[row, 0] = s.due_rest[row] = -np.inf
    set_date(s, row, -np.inf)
