"""The solver: the end of a path is a solution, limits hold, and a problem without varying features has one too."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_sqpfw import toy_data
from mfbench_sqpfw._active_set.descent import OPTIMAL, solve
from mfbench_sqpfw._active_set.problem import prepare
from mfbench_sqpfw._active_set.solver import Solver


def solver(**limits):
    return Solver(**{"tolerance": 1e-10, "max_iter": None, "generator": np.random.RandomState(0), **limits})


def test_warm_start_does_not_move(oracles):
    """Algorithm 1 does not change the state at the end of a path."""
    for seed in (0, 1, 3, 4, 6):
        X, y, kappa, lam, _, _ = oracles.problem(seed)
        data = oracles.prepared(X, y, kappa, lam)
        for theta in (0.02, 0.3, 1.7):
            state = solver().follow(data, theta_max=theta)[1].state
            status, moved = solve(state, theta, 1e-10, 10, np.empty(10))
            assert (status, moved) == (OPTIMAL, 0)
            assert oracles.inconsistency(state)[0] < 1e-9
            assert_allclose(oracles.standard_qp(state, theta), oracles.weights(state), atol=1e-7)


@pytest.mark.parametrize("limit", [0, 1, 4])
def test_steps_are_limited(oracles, limit):
    minimum = solver(max_iter=limit).minimise(oracles.prepared(*toy_data(), 2, 2), theta=2.0)
    assert len(minimum.history) == limit + 1 and not minimum.converged


def test_no_feature_varies():
    problem = prepare(np.ones((6, 2)), np.arange(6) % 2, kappa=1, lam=1)
    minimum = solver().minimise(problem, theta=1.0)
    path, end = solver().follow(problem, theta_max=1.0)
    for solution in (minimum, end):
        assert solution.weights.tolist() == [0.0, 0.0]
        assert [neighbours.tolist() for neighbours in solution.target_neighbours()] == [[-1] * 6] * 2
        assert {name: len(members) for name, members in solution.active_set().items()} == {
            "weights": 0,
            "hits": 0,
            "misses": 0,
        }
        assert solution.certificate(1.0).optimal
    assert minimum.converged and path.complete and path.events == []


def test_the_default_limit_grows_with_the_number_of_features(oracles):
    """With thousands of features a cold start at theta = 1 can need more than 20,000 steps."""
    y = np.arange(12) % 2
    for p, limit in ((5, 20_000), (2000, 40_000), (2600, 50_000)):
        data = oracles.prepared(np.random.default_rng(0).normal(size=(12, p)), y, 1, 1)
        assert solver()._limit(data) == limit
