"""Paths: segments, jumps, local minima, ties, limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from mfbench_sqpfw import SQPFeatureWeightingPath, sqpfw_path, toy_data
from mfbench_sqpfw._active_set.solver import Solver

SEEDS = [
    *(s for s in range(12) if s % 3 != 2),
    *(pytest.param(s, marks=pytest.mark.nightly(reason="many problems")) for s in range(12, 80) if s % 3 != 2),
]


@pytest.fixture(params=SEEDS)
def case(request, oracles):
    X, y, kappa, lam, _, _ = oracles.problem(request.param)
    data = oracles.prepared(X, y, kappa, lam)
    solver = Solver(tolerance=1e-10, max_iter=None, generator=np.random.RandomState(0))
    return data, kappa, lam, solver.follow(data, theta_max=3.0)[0]


def test_segments_and_jumps(oracles, case):
    data, kappa, lam, path = case
    assert path.complete
    assert (np.diff(path.thetas) >= 0).all()
    assert path.thetas[0] == 0
    assert_allclose(path.after[0], data.bar, atol=1e-15)
    assert all(event.kind != "restart" for event in path.events)
    for k, event in enumerate(path.events, 1):
        values = [
            oracles.loss_value(data.X, data.codes, w, data.bar, kappa, lam, event.theta)
            for w in (path.before[k], path.after[k])
        ]
        assert_allclose([event.objective_before, event.objective_after], values, rtol=0, atol=1e-9)
        assert event.jump == (np.abs(path.after[k] - path.before[k]).max() > 1e-9)
        if event.jump:
            assert values[1] < values[0]
        assert event.theta == path.thetas[k]
    for table in (path.before, path.after):
        assert table.min() >= -1e-15
        assert_allclose(table.sum(axis=1), 1, atol=1e-9)


def test_points_are_local_minima(oracles, case):
    """The points of the path are local minima."""
    data, kappa, lam, path = case
    rng = np.random.default_rng(0)
    for theta in rng.uniform(0.01, 3.0, 6):
        w = path.weights_at(theta)
        value = oracles.loss_value(data.X, data.codes, w, data.bar, kappa, lam, theta)
        # No small feasible move lowers the objective.
        for _ in range(30):
            v = rng.normal(size=len(w))
            v[w == 0] = np.abs(v[w == 0])
            v[w > 0] -= v.sum() / (w > 0).sum()
            for size in (1e-8, 1e-7):
                other = w + size * v / np.abs(v).max()
                if other.min() >= 0:
                    better = oracles.loss_value(data.X, data.codes, other, data.bar, kappa, lam, theta)
                    assert better >= value - 1e-13


@pytest.mark.parametrize("kind", ["integers", "binary", "duplicates"])
def test_ties_do_not_stop_the_path(kind):
    for seed in range(24):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(30, 6))
        if kind == "duplicates":
            X[15:] = X[:15]
        else:
            X = rng.integers(0, 2 if kind == "binary" else 3, size=(30, 6)).astype(float)
        path = sqpfw_path(X, np.arange(30) % 2, 1.0, kappa=1 + seed % 3, lam=1 + seed % 2)
        assert path.complete
        assert all(e.objective_after <= e.objective_before + 1e-11 for e in path.events)


def test_wide_data_full_of_ties():
    """Steps of length 0 go round in circles among the features that are left, few of the 300 that there are."""
    X = np.maximum(np.random.default_rng(5).normal(size=(24, 300)), 1.0)
    path = sqpfw_path(X, np.arange(24) % 2, 30.0, max_iter=3000, random_state=0)
    assert path.complete and path.thetas[-1] == 30.0


def test_cut_short():
    X, y = toy_data()
    with pytest.warns(ConvergenceWarning, match="did not reach theta = 2: the path ends at theta = .* max_iter=3 "):
        fitted = SQPFeatureWeightingPath(2, theta_max=2.0, max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="was cut short; increase max_iter"):
        fitted.weights_at(2.0)
    assert not fitted.path_.complete
    assert fitted.path_.events[-1].kind == "step limit"
    assert len(fitted.path_.events) == 3
