"""The tournament gives the first row with the earliest deadline."""

import numpy as np

from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.tournament import first_row, forget_row, set_deadline


def test_first_row(oracles):
    rng = np.random.default_rng(0)
    s = begin(oracles.prepared(rng.normal(size=(25, 3)), np.arange(25) % 2, 1, 1))
    deadlines = np.array([s.tree[len(s.tree) // 2 + row] for row in range(len(s.rep))])
    for _ in range(200):
        assert first_row(s) == deadlines.argmin()
        row = int(rng.integers(len(deadlines)))
        deadlines[row] = float(rng.integers(6))
        set_deadline(s, row, deadlines[row])
    forget_row(s, 11)
    assert first_row(s) == 11
