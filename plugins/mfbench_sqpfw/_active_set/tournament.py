"""A tournament tree of rows by deadline: the root is the row that must be tested first."""

from __future__ import annotations

import numpy as np

from mfbench_compiled import njit
from mfbench_sqpfw._active_set.state import State


@njit(cache=True)
def set_deadline(s: State, row: int, deadline: float) -> None:
    """Set the path length at which a row must be tested. Time O(log rows)."""
    tree = s.tree
    k = len(tree) // 2 + row
    tree[k] = deadline
    k //= 2
    while k >= 1:
        smaller = min(tree[2 * k], tree[2 * k + 1])
        if tree[k] == smaller:
            break
        tree[k] = smaller
        k //= 2


@njit(cache=True)
def first_row(s: State) -> int:
    """Return the row with the earliest deadline; the first of equal ones."""
    tree = s.tree
    leaves = len(tree) // 2
    k = 1
    while k < leaves:
        k = 2 * k if tree[2 * k] == tree[k] else 2 * k + 1
    return k - leaves


@njit(cache=True)
def forget_row(s: State, row: int) -> None:
    """Make the next step test the whole row."""
    s.n_near[row] = s.n_open[row] = 0
    s.radius[row, 0] = s.due_rest[row] = -np.inf
    set_deadline(s, row, -np.inf)
