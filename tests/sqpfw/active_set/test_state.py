"""Copies of a state and its growth."""

import numpy as np
from numpy.testing import assert_array_equal

from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import copied, squared_range, weights_of, with_more_ties


def wide(oracles):
    rng = np.random.default_rng(0)
    return begin(oracles.prepared(rng.normal(size=(20, 100)), np.arange(20) % 2, 1, 1))


def test_a_copy_shares_nothing(oracles):
    state = wide(oracles)
    other = copied(state)
    for mine, theirs in zip(state, other, strict=True):
        assert_array_equal(mine, theirs)
        assert not np.shares_memory(mine, theirs)


def test_growth_keeps_the_ties(oracles):
    state = wide(oracles)
    state.tie_row[:], state.R[0, 0] = 7, 3.0
    grown = with_more_ties(state)
    assert len(grown.tie_row) == 100 and len(state.tie_row) == 64, "at most one tie for each feature"
    assert (grown.tie_row[:64] == 7).all() and grown.R[0, 0] == 3.0
    assert grown.w is state.w


def test_weights_and_range(oracles):
    state = wide(oracles)
    assert_array_equal(weights_of(state), oracles.weights(state))
    assert np.isclose(squared_range(state), np.ptp(state.X, axis=0).max() ** 2)
