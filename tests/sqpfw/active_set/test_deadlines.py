"""The first deadline is the earliest, and a forgotten row is tested next."""

import numpy as np

from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import first_deadline, forget_row


def test_first_deadline(oracles):
    rng = np.random.default_rng(0)
    s = begin(oracles.prepared(rng.normal(size=(25, 3)), np.arange(25) % 2, 1, 1))
    assert first_deadline(s) == s.deadline.min() > 0
    s.deadline[7] = 0.0
    assert first_deadline(s) == 0.0
    forget_row(s, 11)
    assert first_deadline(s) == s.deadline[11] == s.due_rest[11] == -np.inf
