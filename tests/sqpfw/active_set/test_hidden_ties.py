"""Data full of ties: restarts, and steps of any size."""

import numpy as np
import pytest

from mfbench_sqpfw import SQPFeatureWeighting, sqpfw_path


def test_restarts_find_directions_that_ties_hide():
    """Without restarts, some tied problems end at a point from which a hidden direction leads down."""
    gains = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, size=(24, 4)).astype(float), np.arange(24) % 2
        plain, restarted = (SQPFeatureWeighting(theta=0.5, n_restarts=k, random_state=0).fit(X, y) for k in (0, 20))
        assert restarted.objective_ <= plain.objective_ + 1e-12
        assert (restarted.n_restarts_ > 0) == (restarted.objective_ < plain.objective_ - 1e-12)
        gains.append(plain.objective_ - restarted.objective_)
    assert max(gains) > 1e-6


@pytest.mark.parametrize("theta", [1e-9, 1e-7, 1e-5, 1e3])
def test_ties_and_steps_of_any_size(theta):
    """Neither a short step that lost digits nor a long one may mistake a dependent pair for a blocking one."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, size=(30, 5)).astype(float), np.arange(30) % 2
        kappa, lam = (int(k) for k in rng.integers(1, 4, 2))
        fitted = SQPFeatureWeighting(kappa, lam, theta, random_state=0).fit(X, y)
        assert fitted.converged_
        assert fitted.certificate_.optimal, (seed, fitted.certificate_)
        assert sqpfw_path(X, y, theta, kappa=kappa, lam=lam).complete
