from types import SimpleNamespace

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

import mfbench_margin
from mfbench_margin import IMMIGRATE
from mfbench_margin._quadratic.solvers import Settings, minimise

CONES = ["psd", "psd_clip", "nonneg", "dnn", "diag"]

SOLVERS = ["monotone", "published"]


def is_member(W, cone):
    """Whether W lies in a cone, up to rounding errors."""
    if cone in ("psd", "dnn") and np.linalg.eigvalsh(W).min() < -1e-8:
        return False
    if cone != "psd" and W.min() < 0:
        return False
    return cone != "diag" or not (W - np.diag(np.diag(W))).any()


def make(**parameters):
    return mfbench_margin.IMMIGRATE(**parameters)


def tolerance(cone):
    """The alternating projections of "dnn" end where they hardly move."""
    return {"rtol": 0, "atol": 1e-6 if cone == "dnn" else 1e-9}


def xor(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@in_turn("cone", CONES)
def test_monotone_stays_in_the_cone_from_any_start(make_groups, cone):
    X, y = make_groups(1)
    rng = np.random.default_rng(0)
    for seed in range(5):
        for sigma in (0.1, 1.0):
            # A large tolerance keeps the start; a few steps mix it with others.
            for stop in ({"tol": 1e9}, {"max_iter": 2}):
                fitted = IMMIGRATE(sigma=sigma, cone=cone, init="random", random_state=seed, **stop).fit(X, y)
                assert is_member(fitted.matrix_, cone)
                assert np.linalg.norm(fitted.matrix_) == pytest.approx(1)
                W0 = rng.normal(size=(4, 4))
                np.fill_diagonal(W0, 1.0)
                fitted = IMMIGRATE(sigma=sigma, cone=cone, init=W0 + W0.T, **stop).fit(X, y)
                assert is_member(fitted.matrix_, cone)
                assert fitted.gap_ >= 0


@in_turn("solver", ["monotone", "published"])
@in_turn("factor", [1e-90, 1e-9, 1e9, 1e90])
def test_only_ratios_of_sample_weights_matter(make_groups, solver, factor):
    X, y = make_groups(5)
    weights = 1.0 + np.arange(len(y)) % 3
    plain = IMMIGRATE(sigma=0.5, solver=solver, max_iter=6).fit(X, y, weights)
    scaled = IMMIGRATE(sigma=0.5, solver=solver, max_iter=6).fit(X, y, factor * weights)
    assert plain.n_iter_ > 1
    # The tolerance may stop one of them earlier.
    steps = min(plain.n_iter_, scaled.n_iter_)
    assert steps > 1
    assert_allclose(scaled.objective_trace_[: steps + 1], factor * plain.objective_trace_[: steps + 1], rtol=1e-9)


@in_turn("cone", CONES)
def test_one_published_step_is_the_closed_form(immigrate_oracles, make_groups, cone):
    X, y = make_groups(3, n_classes=3)
    W, _ = immigrate_oracles.published_step(
        immigrate_oracles.differences(X), y, 1.5, immigrate_oracles.identity(4), cone
    )
    fitted = make(sigma=1.5, solver="published", cone=cone, max_iter=1).fit(X, y)
    assert fitted.n_iter_ == 1
    assert_allclose(fitted.matrix_, W, **tolerance(cone))


@in_turn("cone", ["psd", "nonneg", "diag", "dnn"])
@in_turn("sigma", [0.125, 0.5, 4.0])
def test_monotone_never_goes_up(make_groups, cone, sigma):
    X, y = make_groups(4, n=40, p=5)
    fitted = make(sigma=sigma, solver="monotone", cone=cone).fit(X, y)
    trace = np.asarray(fitted.objective_trace_)
    assert (np.diff(trace) <= 1e-9 * np.abs(trace[:-1])).all()
    assert fitted.gap_ >= 0
    if fitted.converged_:
        assert fitted.gap_ <= 1e-6 * max(1, abs(trace[-1]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cone", ["psd", "nonneg"])
def test_monotone_beats_published_on_an_interaction(immigrate_oracles, cone, seed):
    X, y = xor(150, seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    published = make(sigma=0.5, solver="published", cone=cone, max_iter=30, tol=0).fit(X, y)
    monotone = make(sigma=0.5, solver="monotone", cone=cone).fit(X, y)
    assert (np.diff(published.objective_trace_) > 0).mean() > 0.4
    assert (np.diff(monotone.objective_trace_) <= 0).all()
    # Below the best iterate of the published loop, which ends far above it, and predicts worse.
    assert monotone.objective_trace_[-1] < published.objective_trace_.min() < published.objective_trace_[-1] - 80
    assert monotone.score(X, y) > published.score(X, y)
    W = monotone.matrix_
    if cone == "psd":  # With "nonneg", pairs of one of the two with noise weigh as much.
        off_diagonal = np.abs(np.triu(W, 1))
        assert np.unravel_index(off_diagonal.argmax(), off_diagonal.shape) == (0, 1)
    # Scaling the last iterate to norm 1 changes little.
    last = immigrate_oracles.value(immigrate_oracles.differences(X), y, 0.5, W)
    assert last == pytest.approx(monotone.objective_trace_[-1], rel=0.02)


@in_turn("solver", SOLVERS)
@in_turn("cone", CONES)
def test_pruning_leaves_nothing_small_or_negative(make_groups, solver, cone):
    X, y = make_groups(7, p=6)
    W = make(sigma=0.5, solver=solver, cone=cone, prune=True).fit(X, y).matrix_
    assert np.linalg.norm(W) == pytest.approx(1, abs=1e-12)
    # Normalising after pruning only makes entries larger.
    assert ((W == 0) | (W >= 1 / 6 - 1e-12)).all()
    assert_array_equal(W, make(sigma=0.5, solver=solver, cone=cone, prune=1 / 6).fit(X, y).matrix_)


class Bowl:
    """||W - target||² / 2, without anything of IMMIGRATE."""

    unit = 1.0

    def __init__(self, target):
        self.target = target

    def at(self, W, components=None, stored=None):
        return SimpleNamespace(W=W, value=((W - self.target) ** 2).sum() / 2)

    def slope(self, point):
        return point.W - self.target

    def line(self, start, V, components):
        return SimpleNamespace(at=lambda step: self.at(start.W + step * (V - start.W)), take=lambda point, step: point)

    def final(self, point, threshold=None):
        return point


def test_monotone_minimises_any_objective():
    target = np.array([[3.0, 1.0], [1.0, 2.0]])
    settings = Settings("monotone", "nonneg", 2000, 1e-6, None, False)
    solution = minimise(Bowl(target), np.eye(2) / np.sqrt(2), settings, fallback=None)
    assert solution.converged
    assert (np.diff(solution.trace) < 0).all()
    norm = np.linalg.norm(target)
    assert_allclose(solution.point.W, target / norm, rtol=0, atol=1e-3)
    # The gap bounds how far the value is above the minimum.
    assert 0 <= solution.point.value - (norm - 1) ** 2 / 2 <= solution.gap + 1e-12


def test_polar_case_takes_the_fallback():
    settings = Settings("published", "nonneg", 10, 1e-4, None, False)
    solution = minimise(Bowl(-np.ones((2, 2))), np.zeros((2, 2)), settings, fallback=lambda slope: 3 * slope)
    assert solution.polar
    assert solution.converged
    assert solution.n_iter == 0
    assert solution.point.W.tolist() == [[3, 3], [3, 3]]
