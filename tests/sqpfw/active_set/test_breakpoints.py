"""The next breakpoint: where a weight is about to vanish, and the end of a path without any."""

import numpy as np
import pytest

from mfbench_sqpfw import toy_data
from mfbench_sqpfw._active_set.breakpoints import END, TIE_FORMS, WEIGHT_VANISHES, next_breakpoint
from mfbench_sqpfw._active_set.ranking import begin


def test_first_breakpoint_of_the_toy(oracles):
    """Until it, no pair of distances changes its order; at it, one pair is tied."""
    problem = oracles.prepared(*toy_data(), 2, 2)
    state = begin(problem)
    point = next_breakpoint(state, 0.0, 2.0)
    assert point.kind in (TIE_FORMS, WEIGHT_VANISHES) and 0 < point.theta < 2
    if point.kind == TIE_FORMS:
        row = oracles.distances(state)[point.first]
        assert row[point.second] == pytest.approx(row[state.rep[point.first]], abs=1e-12)


def test_end(oracles):
    state = begin(oracles.prepared(*toy_data(), 2, 2))
    assert next_breakpoint(state, 0.0, 1e-9) == (1e-9, END, -1, -1)
    assert np.allclose(oracles.weights(state), 0.5, atol=1e-6)
