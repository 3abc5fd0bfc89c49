"""The quadratic program of the active set: what its multipliers release."""

import numpy as np

from mfbench_sqpfw._active_set.ranking import begin


def test_weights_leave_zero_again(oracles):
    """The release of zero weights needs the right sign of the misses' multipliers."""
    returned = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(14, int(rng.integers(3, 7)))), np.arange(14) % 2
        X[:, 0] += 2 * y
        theta = float(10 ** rng.uniform(-1, 1))
        s = begin(oracles.prepared(X, y, 1 + seed % 2, 1))
        ever, back = np.zeros(X.shape[1], bool), False
        for _ in oracles.run(s, theta):
            w = oracles.weights(s)
            back |= bool((ever & (w > 0)).any())
            ever |= w == 0
        returned += back
    assert returned >= 2
