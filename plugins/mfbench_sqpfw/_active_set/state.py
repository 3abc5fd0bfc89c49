"""Everything the compiled algorithms change: weights, index sets, the basis of the tied rows, deadlines of pairs.

Samples are sorted by class. A *row* is one target together with its hits (rows 0 … n_targets - 1) or its misses (the
remaining rows). Features are in an order that changes: those of positive weight come first, then those that were
positive recently ("alive"), so all loops run over the first columns only. ``perm`` holds their original numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mfbench_learners.compiled import njit
from mfbench_sqpfw._active_set.problem import Floats, Ints, Problem

# Positions in ``State.counts``.
POSITIVE, ALIVE, TIES, STEPS, RECHECKS, ZERO_RUN, CHANGES, RECORDS, FLAGS, EVALUATED, UPDATES, STAMP = range(12)
# Positions in ``State.travel``: length of the path of w so far, its mean growth per step, and the squared scale below
# which the difference of two distances counts as 0.
LENGTH, MEAN_MOVE, NEGLIGIBLE = range(3)
# Rows of ``State.scratch`` that pass results from one function to another; the first five are local to a function.
LIN, T, Z, DW, MULTIPLIERS, SLOPES, DIRECTION = range(5, 12)
# Entries of each row that a refresh leaves free for members that leave the active set.
SPARE = 4
# Initial capacity for tied pairs; it is doubled when it is full.
TIE_CAPACITY = 64


class State(NamedTuple):
    """Arrays of one run, for l features, n samples, R rows, q watched pairs per row, and at most c tied pairs."""

    X: Floats  # (n, l), columns in the order of perm
    starts: Ints  # (n_classes + 1,): where each class begins
    codes: Ints  # (n,)
    targets: Ints  # (n_targets,): samples that have enough hits and misses
    need: Ints  # (2,): kappa, lambda
    perm: Ints  # (l,): original number of the feature at each position
    w: Floats  # (l,)
    bar: Floats  # (l,)
    c: Floats  # (l,): gradient of the loss for theta = 1
    rep: Ints  # (R,): the member of H= or M= that represents the row
    less: Ints  # (R, max(kappa, lambda)): members of H< or M<
    n_less: Ints  # (R,)
    n_ties: Ints  # (R,): members of H= or M= besides the representative
    has_copies: Ints  # (R,): whether any of them, or the representative, has copies
    tie_row: Ints  # (c,)
    tie_member: Ints  # (c,)
    tie_slot: Ints  # (c,): which row of tie_b belongs to each tied pair; a permutation
    tie_b: Floats  # (c, l): squared differences to the member minus those to the representative
    Q: Floats  # (c + 1, l): orthonormal basis of the all-ones row and the tied rows, among positive features
    R: Floats  # (c + 1, c + 1): upper triangular, rows of A = R' Q
    ref: Floats  # (R, l): weights at the row's last refresh
    ref_alive: Ints  # (R,): norms of the row include the features before this position
    near: Ints  # (R, q): members watched one by one, -1 for one that has become tied
    n_near: Ints  # (R,)
    radius: Floats  # (R, q + 1): ascending; how far w can move from ref before each can change sides; last: all others
    due: Floats  # (R, q): path length until which each cannot change sides
    n_open: Ints  # (R,): number of watched members that are open, see ratio_test
    bounds: Floats  # (2, R): least squared norm and largest |mean of b| since the last refresh
    due_rest: Floats  # (R,): path length until which none of the others can change sides
    deadline: Floats  # (R,): path length at which the row must be tested
    record_id: Ints  # (R * q,): pairs evaluated in the current step
    record: Floats  # (R * q, 3): their slack, rate and norm
    flagged: Ints  # (R,): rows to be refreshed after the step
    mark: Ints  # (R,): stamp of the last `ratio_test` or `settle` that touched a row
    counts: Ints
    travel: Floats
    row_sums: Floats  # (2, R): scratch, sums of multipliers
    scratch: Floats  # (12, max(n, l, c + 1))
    order: Ints  # (n,): scratch for the selection of watched members


def build(problem: Problem, w: Floats) -> State:
    """Return a state at w without index sets."""
    X, codes, targets, bar, working_set = problem.X, problem.codes, problem.targets, problem.bar, problem.working_set
    n, p = X.shape
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    rows = 2 * len(targets)
    watched = (n - 1 if working_set is None else min(working_set, n - 1)) + SPARE
    capacity = min(p, TIE_CAPACITY)
    first = np.argsort(w <= 0, kind="stable").astype(np.int64)
    X = np.ascontiguousarray(X[:, first])
    scale = float((np.ptp(X, axis=0) ** 2).max(initial=0.0))
    counts = np.zeros(12, dtype=np.int64)
    counts[POSITIVE] = counts[ALIVE] = np.count_nonzero(w > 0)
    travel = np.zeros(3)
    travel[NEGLIGIBLE] = (1e-12 * scale) ** 2
    return State(
        X=X,
        starts=starts,
        codes=codes.astype(np.int64),
        targets=targets.astype(np.int64),
        need=np.array([problem.kappa, problem.lam], dtype=np.int64),
        perm=first,
        w=w[first].copy(),
        bar=bar[first].copy(),
        c=np.zeros(p),
        rep=np.full(rows, -1, dtype=np.int64),
        less=np.full((rows, max(problem.kappa, problem.lam)), -1, dtype=np.int64),
        n_less=np.zeros(rows, dtype=np.int64),
        n_ties=np.zeros(rows, dtype=np.int64),
        has_copies=np.zeros(rows, dtype=np.int64),
        **_tie_arrays(capacity, p),
        ref=np.zeros((rows, p)),
        ref_alive=np.zeros(rows, dtype=np.int64),
        near=np.full((rows, watched), -1, dtype=np.int64),
        n_near=np.zeros(rows, dtype=np.int64),
        radius=np.full((rows, watched + 1), np.inf),
        due=np.full((rows, watched), np.inf),
        n_open=np.zeros(rows, dtype=np.int64),
        bounds=np.zeros((2, rows)),
        due_rest=np.full(rows, np.inf),
        deadline=np.full(rows, np.inf),
        record_id=np.zeros(rows * watched, dtype=np.int64),
        record=np.zeros((rows * watched, 3)),
        flagged=np.zeros(rows, dtype=np.int64),
        mark=np.zeros(rows, dtype=np.int64),
        counts=counts,
        travel=travel,
        row_sums=np.zeros((2, rows)),
        scratch=np.zeros((12, max(n, p, capacity + 1))),
        order=np.zeros(n, dtype=np.int64),
    )


def squared_range(state: State) -> float:
    """Return the squared range of the feature with the widest range."""
    return float(1e12 * np.sqrt(state.travel[NEGLIGIBLE]))


def with_more_ties(state: State) -> State:
    """Return the state with twice the capacity for tied pairs; all other arrays are shared."""
    capacity, p = state.tie_b.shape
    more = _tie_arrays(min(p, 2 * capacity), p)
    more["tie_row"][:capacity] = state.tie_row
    more["tie_member"][:capacity] = state.tie_member
    more["tie_slot"][:capacity] = state.tie_slot
    more["tie_b"][:capacity] = state.tie_b
    more["Q"][: capacity + 1] = state.Q
    more["R"][: capacity + 1, : capacity + 1] = state.R
    return state._replace(**more, scratch=np.zeros((12, max(state.scratch.shape[1], len(more["Q"])))))


def copied(state: State) -> State:
    """Return a copy of the state that shares no array with it."""
    return State._make(array.copy() for array in state)


def weights_of(state: State) -> Floats:
    """Return w in the order of the problem's features."""
    w = np.empty(len(state.w))
    w[state.perm] = state.w
    return w


def _tie_arrays(capacity: int, p: int) -> dict[str, Any]:
    return {
        "tie_row": np.zeros(capacity, dtype=np.int64),
        "tie_member": np.zeros(capacity, dtype=np.int64),
        "tie_slot": np.arange(capacity, dtype=np.int64),
        "tie_b": np.zeros((capacity, p)),
        "Q": np.zeros((capacity + 1, p)),
        "R": np.zeros((capacity + 1, capacity + 1)),
    }


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
