import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin._quadratic.layout import TrainingPairs, lay_out
from mfbench_margin._quadratic.prediction import expected_of_queries, expected_of_training


@pytest.mark.parametrize("sigma", [0.05, 1.0])
def test_equal_definition(immigrate_oracles, make_groups, sigma):
    """More rows than a tile has; one sample is alone in its class."""
    X, y = make_groups(1, n=300, n_classes=2, alone=True)
    queries, _ = make_groups(2, n=40)
    W = np.eye(4) + 0.2
    pairs = TrainingPairs(X, y)
    form = lay_out(W, pairs.width)
    expected = expected_of_queries(queries, pairs.columns, pairs.ends, form.matrix, True, sigma)
    assert_allclose(expected.T, immigrate_oracles.expected_distances(W, X, y, sigma, queries), rtol=1e-9)
    stored = pairs.distances(form)
    arguments = pairs.rows, pairs.columns, pairs.ends, form.matrix, True
    computed = expected_of_training(*arguments, stored, False, sigma)
    assert_allclose(expected_of_training(*arguments, stored, True, sigma), computed, rtol=1e-9)
    definition = immigrate_oracles.expected_distances(W, X, y, sigma)
    assert_allclose(computed.T, definition[pairs.order], rtol=1e-9)
    assert np.isinf(computed[2]).sum() == 1
