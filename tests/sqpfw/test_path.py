import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_sqpfw import SQPFeatureWeightingPath, _steps, sqpfw_path, toy
from mfbench_sqpfw._run import begin
from mfbench_sqpfw.path import trace

SEEDS = [
    *(s for s in range(12) if s % 3 != 2),
    *(pytest.param(s, marks=pytest.mark.slow(reason="many problems")) for s in range(12, 80) if s % 3 != 2),
]


@pytest.fixture(params=SEEDS)
def case(request, oracles):
    X, y, kappa, lam, _, _ = oracles.problem(request.param)
    data = oracles.prepared(X, y, kappa, lam)
    return data, kappa, lam, trace(data, len(data.bar), 3.0, 1e-10, None, np.random.RandomState(0))[0]


def test_pieces_and_jumps(oracles, case):
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


def test_nothing_moves_on_the_path(oracles, case):
    """Algorithm 1, started at a point of the path with sets ranked along the path, does not move."""
    data, kappa, lam, path = case
    rng = np.random.default_rng(0)
    for theta in rng.uniform(0.01, 3.0, 6):
        w = path.weights_at(theta)
        value = oracles.loss_value(data.X, data.codes, w, data.bar, kappa, lam, theta)
        # A local minimum: no feasible move within reach of no kink but those at w.
        for _ in range(30):
            v = rng.normal(size=len(w))
            v[w == 0] = np.abs(v[w == 0])
            v[w > 0] -= v.sum() / (w > 0).sum()
            for size in (1e-8, 1e-7):
                other = w + size * v / np.abs(v).max()
                if other.min() >= 0:
                    better = oracles.loss_value(data.X, data.codes, other, data.bar, kappa, lam, theta)
                    assert better >= value - 1e-13


def test_warm_start_does_not_move(oracles):
    """The state that the path leaves is returned unchanged by Algorithm 1."""
    for seed in (0, 1, 3, 4, 6):
        X, y, kappa, lam, _, _ = oracles.problem(seed)
        data = oracles.prepared(X, y, kappa, lam)
        for theta in (0.02, 0.3, 1.7):
            _, state = trace(data, len(data.bar), theta, 1e-10, None, np.random.RandomState(0))
            status, moved = _steps.solve(state, theta, 1e-10, 10, np.empty(10))
            assert (status, moved) == (_steps.OPTIMAL, 0)
            assert oracles.inconsistency(state)[0] < 1e-9
            assert_allclose(oracles.standard_qp(state, theta), oracles.weights(state), atol=1e-7)


def test_weights_are_stored_once():
    """One row for each breakpoint, and another where w jumps."""
    rng = np.random.default_rng(3)
    path = sqpfw_path(rng.normal(size=(30, 4)), np.arange(30) % 2, 1.0)
    assert 0 < len(path.jumps) < len(path.events)
    assert len(path.rows) == len(path.thetas) + len(path.jumps)
    assert_array_equal(path.after[-1], path.rows[-1])
    assert_array_equal(np.flatnonzero(path.reached != path.left), path.jumps)


def test_prefix():
    """A shorter path is the beginning of a longer one."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    short, long = sqpfw_path(X, y, 0.3), sqpfw_path(X, y, 1.0)
    for theta in np.linspace(0, 0.3, 9):
        assert_allclose(short.weights_at(theta), long.weights_at(theta), atol=1e-10)


def test_weights_at():
    path = sqpfw_path(*toy.data(), 2.0, kappa=2)
    k = int(np.argmax(np.diff(path.thetas)))
    left, right = path.thetas[k], path.thetas[k + 1]
    middle = path.weights_at((left + right) / 2)
    assert_allclose(middle, (path.after[k] + path.before[k + 1]) / 2)
    assert_allclose(path.weights_at([left, 2.0]), [path.after[k], path.after[-1]])
    for k in path.jumps:
        theta = path.thetas[k]
        last = np.flatnonzero(path.thetas == theta)[-1]
        assert_allclose(path.weights_at(theta), path.after[last])
    for bad in ("a", 1j, [[0.5]]):
        with pytest.raises(ValueError, match="theta must be a number or a sequence"):
            path.weights_at(bad)
    for bad in (-0.1, 2.1, np.nan, [0.5, 3.0]):
        with pytest.raises(ValueError, match="theta must lie between 0 and 2"):
            path.weights_at(bad)


def test_toy_tells_the_story(oracles):
    """Seven points, kappa = lambda = 2: many neighbour changes, then only the first feature is left."""
    X, y = toy.data()
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


def test_cut_short():
    X, y = toy.data()
    fitted = SQPFeatureWeightingPath(2, theta_max=2.0, max_iter=3).fit(X, y)
    assert not fitted.path_.complete
    assert fitted.path_.events[-1].kind == "step limit"
    assert len(fitted.path_.events) == 3


def test_begin_is_the_prior(oracles):
    data = oracles.prepared(*toy.data(), 2, 2)
    assert_allclose(oracles.weights(begin(data)), [0.5, 0.5])
