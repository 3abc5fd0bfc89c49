"""Solutions in the caller's rows and columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_sqpfw import SQPFeatureWeighting


def test_target_neighbours_are_those_of_the_callers_rows(noisy):
    X, y = noisy
    y = np.where(y == 1, "b", "a")
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    fitted = SQPFeatureWeighting(2, 3, theta=0.05).fit(X, y)
    for i in range(len(X)):
        d = ((X - X[i]) ** 2) @ fitted.weights_
        hits, misses = np.flatnonzero((y == y[i]) & (np.arange(len(X)) != i)), np.flatnonzero(y != y[i])
        assert fitted.target_hits_[i] in hits
        assert fitted.target_misses_[i] in misses
        assert d[fitted.target_hits_[i]] == pytest.approx(np.sort(d[hits])[1], abs=1e-9)
        assert d[fitted.target_misses_[i]] == pytest.approx(np.sort(d[misses])[2], abs=1e-9)
    for name, of_hits in (("hits", True), ("misses", False)):
        for sample, member in fitted.active_set_[name]:
            d = ((X - X[sample]) ** 2) @ fitted.weights_
            target = (fitted.target_hits_ if of_hits else fitted.target_misses_)[sample]
            assert d[member] == pytest.approx(d[target], abs=1e-9)
            assert (y[member] == y[sample]) == of_hits
    assert_array_equal(fitted.active_set_["weights"], np.flatnonzero(fitted.weights_ == 0))
