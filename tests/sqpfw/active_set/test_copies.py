"""Copies of tied members count where Lemma 6 asks how many members are nearer or tied."""

import numpy as np
import pytest

from mfbench_sqpfw._active_set.copies import are_copies, may_leave
from mfbench_sqpfw._active_set.descent import activate
from mfbench_sqpfw._active_set.ranking import begin


@pytest.mark.parametrize(("kappa", "leaves"), [(1, False), (2, True), (3, False)])
def test_a_pair_with_a_doubled_member_is_a_kink_only_at_its_ends(oracles, kappa, leaves):
    """The hits of the first sample are a and b, b; the second nearest is b whether a is nearer or farther."""
    X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [2.0, 1.0], [9.0, 9.0], [8.0, 9.0]])
    s = begin(oracles.prepared(X, [0, 0, 0, 0, 1, 1], kappa, 1))
    assert are_copies(s, 0, 2, 3) and not are_copies(s, 0, 1, 2)
    assert activate(s, 0, 2 if s.rep[0] == 1 else 1)
    assert s.has_copies[0]
    nearer, farther = (may_leave(s, 0, 1, direction) for direction in (-1, 1))
    assert (nearer and farther) == leaves
    # The nearest of them may be a alone or one b of the two; the third nearest, a alone or both.
    assert nearer == (kappa > 1) and farther == (kappa < 3)
