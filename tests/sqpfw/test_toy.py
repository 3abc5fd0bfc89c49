"""The path of the seven toy points against brute force."""

import numpy as np
from numpy.testing import assert_allclose

from mfbench_sqpfw import sqpfw_path, toy_data


def test_all_weight_moves_to_the_first_feature(oracles):
    """With kappa = lambda = 2, neighbours change many times until only the first feature has a positive weight."""
    X, y = toy_data()
    gaps = np.unique(np.round([((a - b) ** 2).sum() for i, a in enumerate(X) for b in X[:i]], 6))
    assert len(gaps) == 21
    path = sqpfw_path(X, y, 3.0, kappa=2)
    assert_allclose(path.after[-1], [1, 0])
    neighbour_changes = sum(event.changes for event in path.events) - sum(
        e.kind == "weight vanishes" for e in path.events
    )
    assert 16 <= neighbour_changes <= 22
    assert len(path.jumps) >= 1
    # Brute force: w1(theta) is a local minimum of f on [0, 1].
    for theta in np.linspace(0.05, 3.0, 60):
        first = path.weights_at(theta)[0]
        f = [
            oracles.loss_value(X, y, np.array([v, 1 - v]), np.full(2, 0.5), 2, 2, theta)
            for v in (first, max(0, first - 1e-6), min(1, first + 1e-6), max(0, first - 1e-5), min(1, first + 1e-5))
        ]
        assert min(f[1:]) >= f[0] - 1e-13
