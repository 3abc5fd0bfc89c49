import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin._quadratic.form import lay_out
from mfbench_margin._quadratic.layout import TrainingPairs
from mfbench_margin._quadratic.pair_kernels import scatter, softmins


@pytest.mark.parametrize("sigma", [0.05, 1.0])
@pytest.mark.parametrize("is_stored", [True, False])
def test_equal_definition(immigrate_oracles, make_groups, sigma, is_stored):
    """More rows than a tile has, so that tiles of every kind occur."""
    o = immigrate_oracles
    X, y = make_groups(1, n=300, n_classes=3, alone=True)
    W = np.eye(4) + 0.2
    pairs = TrainingPairs(X, y)
    form = lay_out(W, pairs.width)
    stored = pairs.distances(form)
    rows, columns, ends = pairs.rows, pairs.columns, pairs.ends
    soft = softmins(rows, columns, ends, form.matrix, True, stored, stored, 0.0, is_stored, sigma)
    ordered, labels = X[pairs.order], y[pairs.order]
    D = o.differences(ordered)
    q = o.quadratic(D, W)
    for i in range(len(labels)):
        for side, others in enumerate((o.hits(labels, i), o.misses(labels, i))):
            expected = o.softmin(q[i, others], sigma) if len(others) else np.inf
            assert soft[side, i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    weights = np.where(np.isfinite(soft[0]), np.random.default_rng(0).random(len(labels)), 0.0)
    lower = scatter(rows, columns, ends, form.matrix, True, stored, is_stored, sigma, soft, weights)
    total = np.tril(lower) + np.tril(lower, -1).T
    assert_allclose(total, o.slope(D, labels, sigma, W, weights), rtol=0, atol=1e-8)
