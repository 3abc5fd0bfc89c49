"""Index sets at the start."""

import numpy as np
from numpy.testing import assert_allclose

from mfbench_sqpfw import toy_data
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import TIES


def test_begin_is_the_prior(oracles):
    data = oracles.prepared(*toy_data(), 2, 2)
    assert_allclose(oracles.weights(begin(data)), [0.5, 0.5])


def test_representatives_are_the_target_neighbours(oracles):
    """Sorted distances, with equal ones in the order of the samples."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(30, 4)).astype(float), np.arange(30) % 2
    s = begin(oracles.prepared(X, y, 3, 2))
    assert s.counts[TIES] == 0
    for row, distances in enumerate(oracles.distances(s)):
        i = s.targets[row % len(s.targets)]
        members = np.flatnonzero((s.codes == s.codes[i]) == (row < len(s.targets)))
        members = members[members != i]
        ranked = members[np.argsort(distances[members], kind="stable")]
        need = s.need[row // len(s.targets)]
        assert s.rep[row] == ranked[need - 1]
        assert s.less[row, : s.n_less[row]].tolist() == ranked[: need - 1].tolist()
