"""The QR decomposition after random updates equals the active rows."""

import numpy as np
import pytest

from mfbench_sqpfw._active_set.basis import append_tie, delete_tie, drop_feature, rebuild_basis, restore_feature
from mfbench_sqpfw._active_set.quadratic_program import tie_row_of
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import POSITIVE, TIES


def check(s):
    p, rows = int(s.counts[POSITIVE]), int(s.counts[TIES]) + 1
    A = np.vstack([np.ones(p), s.tie_b[s.tie_slot[: rows - 1], :p]])
    Q, R = s.Q[:rows, :p], s.R[:rows, :rows]
    assert np.abs(R.T @ Q - A).max() < 1e-10
    assert np.abs(Q @ Q.T - np.eye(rows)).max() < 1e-12
    assert np.abs(np.tril(R, -1)).max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_updates(oracles, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 12)), np.arange(30) % 2
    s = begin(oracles.prepared(X, y, 2, 2))
    b = np.empty(12)
    for _ in range(60):
        ties, positive = int(s.counts[TIES]), int(s.counts[POSITIVE])
        action = rng.integers(4)
        if action == 0 and ties < positive - 2:
            row = int(rng.integers(len(s.rep)))
            i = s.targets[row % len(s.targets)]
            members = np.flatnonzero((s.codes == s.codes[i]) == (row < len(s.targets)))
            member = int(rng.choice(members[(members != i) & (members != s.rep[row])]))
            tie_row_of(s, row, member, b)
            append_tie(s, row, member, b)
        elif action == 1 and ties:
            delete_tie(s, int(rng.integers(ties)))
        elif action == 2 and positive > ties + 2:
            drop_feature(s, int(rng.integers(positive)))
        elif action == 3 and positive < 12:
            restore_feature(s, int(rng.integers(positive, 12)))
        check(s)
    rebuild_basis(s)
    check(s)


def test_a_dependent_row_is_refused(oracles):
    rng = np.random.default_rng(0)
    s = begin(oracles.prepared(rng.normal(size=(20, 5)), np.arange(20) % 2, 1, 1))
    b = np.arange(5.0)
    assert append_tie(s, 0, 1, b)
    assert not append_tie(s, 0, 2, 2.0 * b + 3.0)
    assert s.counts[TIES] == 1
    check(s)
