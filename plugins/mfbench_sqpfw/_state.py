"""Everything the compiled algorithms change: weights, index sets, the basis of the tied rows, deadlines of pairs.

The samples stand sorted by class. A *row* is one target together with its hits (rows 0 … n_targets - 1) or with its
misses (the rest). The features stand in an order of their own that changes: those of positive weight come first, then
those that were positive lately ("alive"), so that all loops run over the first columns only; ``perm`` leads back.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Positions in ``State.counts``.
POSITIVE, ALIVE, TIES, STEPS, RECHECKS, ZERO_RUN, CHANGES, RECORDS, FLAGS, EVALUATED, UPDATES, STAMP = range(12)
# Positions in ``State.travel``: path length of w so far, its mean growth per step, squared scale below which a
# difference of two distances counts as none.
LENGTH, MEAN_MOVE, NEGLIGIBLE = range(3)
# Places of each row that a refresh leaves free for members that leave the active set.
SPARE = 4
# First capacity for tied pairs; it is doubled when it is full.
TIE_CAPACITY = 64


class State(NamedTuple):
    """Arrays of one run; l features, n samples, R rows, q places for watched pairs per row, c tied pairs at most."""

    X: Floats  # (n, l), columns in the order of perm
    starts: Ints  # (n_classes + 1,): where each class begins
    codes: Ints  # (n,)
    targets: Ints  # (n_targets,): samples that have enough hits and misses
    need: Ints  # (2,): kappa, lambda
    perm: Ints  # (l,): original number of the feature at each position
    w: Floats  # (l,)
    bar: Floats  # (l,)
    c: Floats  # (l,): gradient of the loss for theta = 1
    rep: Ints  # (R,): the member of H= or M= that stands for it
    less: Ints  # (R, max(kappa, lambda)): members of H< or M<
    n_less: Ints  # (R,)
    n_ties: Ints  # (R,): members of H= or M= besides the representative
    tie_row: Ints  # (c,)
    tie_member: Ints  # (c,)
    tie_b: Floats  # (c, l): squared differences to the member minus those to the representative
    Q: Floats  # (c + 1, l): orthonormal basis of the all-ones row and the tied rows, among positive features
    R: Floats  # (c + 1, c + 1): upper triangular, rows of A = R' Q
    ref: Floats  # (R, l): weights at the row's last refresh
    ref_alive: Ints  # (R,): how many features were alive then
    near: Ints  # (R, q): members watched singly, -1 for one that has become tied
    n_near: Ints  # (R,)
    radius: Floats  # (R, q + 1): ascending; how far w can go from ref before each can change its side; last: all others
    due: Floats  # (R, q): path length until which each cannot change its side
    n_open: Ints  # (R,): how many of the watched members are looked at one by one at present
    due_rest: Floats  # (R,): path length until which none of the others can change its side
    tree: Floats  # (2 * leaves,): tournament of the rows' earliest dates
    record_id: Ints  # (R * q,): pairs evaluated in the present step
    record: Floats  # (R * q, 3): their slack, rate and norm
    flagged: Ints  # (R,): rows to be refreshed after the step
    mark: Ints  # (R,): stamp of the last step that touched a row
    counts: Ints
    travel: Floats
    row_sums: Floats  # (2, R): scratch, sums of multipliers
    scratch: Floats  # (12, max(n, l, c + 1))
    order: Ints  # (n,): scratch of the selection of watched members


def build(
    X: Floats, codes: Ints, targets: Ints, kappa: int, lam: int, bar: Floats, w: Floats, working_set: int | None
) -> State:
    """Return a state with no index sets yet; samples sorted by class, ``working_set`` None watches every pair."""
    n, p = X.shape
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
    rows = 2 * len(targets)
    watched = (n - 1 if working_set is None else min(working_set, n - 1)) + SPARE
    leaves = 1 << max(0, (rows - 1).bit_length())
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
        need=np.array([kappa, lam], dtype=np.int64),
        perm=first,
        w=w[first].copy(),
        bar=bar[first].copy(),
        c=np.zeros(p),
        rep=np.full(rows, -1, dtype=np.int64),
        less=np.full((rows, max(kappa, lam)), -1, dtype=np.int64),
        n_less=np.zeros(rows, dtype=np.int64),
        n_ties=np.zeros(rows, dtype=np.int64),
        **_tie_arrays(capacity, p),
        ref=np.zeros((rows, p)),
        ref_alive=np.zeros(rows, dtype=np.int64),
        near=np.full((rows, watched), -1, dtype=np.int64),
        n_near=np.zeros(rows, dtype=np.int64),
        radius=np.full((rows, watched + 1), np.inf),
        due=np.full((rows, watched), np.inf),
        n_open=np.zeros(rows, dtype=np.int64),
        due_rest=np.full(rows, np.inf),
        tree=np.full(2 * leaves, np.inf),
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
    """Return the square of the widest feature's range."""
    return float(1e12 * np.sqrt(state.travel[NEGLIGIBLE]))


def with_more_ties(state: State) -> State:
    """Return the state with twice the room for tied pairs; the arrays that need no growth are shared."""
    capacity, p = state.tie_b.shape
    more = _tie_arrays(min(p, 2 * capacity), p)
    more["tie_row"][:capacity] = state.tie_row
    more["tie_member"][:capacity] = state.tie_member
    more["tie_b"][:capacity] = state.tie_b
    more["Q"][: capacity + 1] = state.Q
    more["R"][: capacity + 1, : capacity + 1] = state.R
    return state._replace(**more, scratch=np.zeros((12, max(state.scratch.shape[1], len(more["Q"])))))


def copied(state: State) -> State:
    """Return a state of its own, equal to the given one."""
    return State(*(array.copy() for array in state))


def _tie_arrays(capacity: int, p: int) -> dict[str, Any]:
    return {
        "tie_row": np.zeros(capacity, dtype=np.int64),
        "tie_member": np.zeros(capacity, dtype=np.int64),
        "tie_b": np.zeros((capacity, p)),
        "Q": np.zeros((capacity + 1, p)),
        "R": np.zeros((capacity + 1, capacity + 1)),
    }
