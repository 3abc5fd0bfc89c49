import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from pairwise import pairwise
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mfbench_margin

CONES = ["psd", "psd_clip", "nonneg", "dnn", "diag"]
SOLVERS = ["monotone", "published"]
# classes, one sample alone in its class, sample weights, prune
SETTINGS = {
    "plain": (2, False, False, False),
    "three classes": (3, False, False, False),
    "one alone": (3, True, False, False),
    "weighted": (2, False, True, False),
    "pruned": (2, False, False, True),
    "all at once": (3, True, True, 0.05),
}


def make(**parameters):
    return mfbench_margin.IMMIGRATE(**parameters)


def tolerance(cone):
    """The alternating projections of "dnn" end where they hardly move."""
    return {"rtol": 0, "atol": 1e-6 if cone == "dnn" else 1e-9}


def sample_weights(n, seed=0):
    weights = np.random.default_rng(seed).random(n) * 3
    weights[1] = 0
    return weights


def start(p, seed=0):
    """A W0 that lies in every cone but "diag"."""
    B = np.random.default_rng(seed).random((p, p))
    return B @ B.T / np.linalg.norm(B @ B.T)


# The definition


@pytest.mark.parametrize(("setting", "cone", "solver"), pairwise(SETTINGS, CONES, SOLVERS))
def test_equals_definition(immigrate_oracles, make_groups, solver, cone, setting):
    n_classes, alone, weighted, prune = SETTINGS[setting]
    X, y = make_groups(1, n_classes=n_classes, alone=alone)
    weights = sample_weights(len(y)) if weighted else None
    loop = immigrate_oracles.fit_monotone if solver == "monotone" else immigrate_oracles.fit_published
    W, trace, iterations, converged, *_ = loop(X, y, 0.8, cone, weights, prune=prune, max_iter=8)
    fitted = make(sigma=0.8, solver=solver, cone=cone, prune=prune, max_iter=8).fit(X, y, sample_weight=weights)
    assert_allclose(fitted.matrix_, W, **tolerance(cone))
    assert fitted.n_iter_ == iterations
    assert bool(fitted.converged_) == converged
    assert fitted.n_skipped_ == int(alone)
    assert not fitted.degenerate_
    assert np.linalg.norm(fitted.matrix_) == pytest.approx(1, abs=1e-12)
    # Pruning at the end may add what it made of the last iterate.
    assert_allclose(fitted.objective_trace_[: len(trace)], trace, rtol=1e-5 if cone == "dnn" else 1e-9, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sigma", [0.25, 4.0])
def test_equals_definition_from_another_start(immigrate_oracles, make_groups, solver, sigma):
    X, y = make_groups(2, p=5)
    W = immigrate_oracles.fit(X, y, sigma, solver, W0=start(5), max_iter=8)
    fitted = make(sigma=sigma, solver=solver, cone="psd", init=start(5), max_iter=8).fit(X, y)
    assert_allclose(fitted.matrix_, W, rtol=0, atol=1e-9)


def test_equals_the_package(package_figures):
    for case in package_figures:
        if case["removesmall"]:
            continue  # The package does not normalise what it pruned.
        fitted = make(
            sigma=case["sigma"], solver="published", cone="psd_clip", stopping="package", max_iter=case["max_iter"]
        ).fit(case["X"], case["y"])
        assert_allclose(fitted.matrix_, case["W"], rtol=0, atol=1e-10)
        assert fitted.n_iter_ == case["iterations"]
        if "predicted" in case:
            assert_array_equal(fitted.predict(case["X_rest"]), case["predicted"])
            expected = fitted.expected_distances(case["X_rest"])[:5]
            shares = expected / expected.sum(axis=1, keepdims=True)
            assert_allclose(shares, case["distance_shares"], rtol=0, atol=1e-10)


# The matrix and what is derived from it


@in_turn("solver", SOLVERS)
@in_turn("cone", CONES)
def test_matrix(make_groups, solver, cone):
    X, y = make_groups(6, p=5)
    fitted = make(sigma=0.5, solver=solver, cone=cone).fit(X, y)
    W = fitted.matrix_
    assert W.shape == (5, 5)
    assert_allclose(W, W.T, rtol=0, atol=1e-15)
    assert np.linalg.norm(W) == pytest.approx(1, abs=1e-12)
    assert_array_equal(fitted.interaction_importances_, W)
    assert_array_equal(fitted.feature_importances_, fitted.weights_)
    assert_allclose(fitted.weights_, np.abs(W).sum(axis=1), rtol=1e-12)
    by_diagonal = make(sigma=0.5, solver=solver, cone=cone, importance="diagonal").fit(X, y)
    assert_allclose(by_diagonal.weights_, np.diag(W), rtol=1e-12)
    if cone == "diag":
        assert_array_equal(W, np.diag(np.diag(W)))
    if cone != "psd":
        assert W.min() >= 0
    if cone in ("psd", "dnn", "diag"):
        assert np.linalg.eigvalsh(W).min() >= -1e-8
        assert fitted.components_.shape[1] == 5
        assert fitted.components_.shape[0] <= 5
        assert_allclose(fitted.components_.T @ fitted.components_, W, rtol=0, atol=1e-6 if cone == "dnn" else 1e-10)


def test_transform(make_groups):
    X, y = make_groups(8, p=5)
    X = np.column_stack([X, np.ones(len(X))])
    fitted = make(sigma=0.5, cone="nonneg", prune=True).fit(X, y)
    kept = fitted.weights_ > 0
    assert not kept.all()
    assert_array_equal(fitted.get_support(), kept)
    assert_array_equal(fitted.transform(X), X[:, kept])
    metric = make(sigma=0.5, cone="psd", output="metric").fit(X, y)
    assert_allclose(metric.transform(X), X @ metric.components_.T, rtol=1e-12, atol=1e-12)


@in_turn("solver", SOLVERS)
@in_turn("cone", CONES)
def test_constant_feature_weighs_exactly_nothing(make_groups, solver, cone):
    X, y = make_groups(9)
    X = np.insert(X, [0, 2], [[0.1, -7.0]], axis=1)
    fitted = make(sigma=0.5, solver=solver, cone=cone, max_iter=7).fit(X, y)
    for a in (0, 3):
        assert not fitted.matrix_[a].any()
        assert not fitted.matrix_[:, a].any()
        assert fitted.weights_[a] == 0
    assert np.linalg.norm(fitted.matrix_) == pytest.approx(1, abs=1e-12)


# Hard input


@in_turn("sigma", [1e-6, 1e-3, 1e3, 1e6])
@in_turn("solver", SOLVERS)
@in_turn("cone", ["psd", "psd_clip", "nonneg", "diag"])
def test_any_sigma_is_finite_without_warnings(make_groups, sigma, solver, cone):
    X, y = make_groups(17, shift=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = make(sigma=sigma, solver=solver, cone=cone).fit(X, y)
        results = [fitted.predict_proba(X), fitted.decision_function(X), fitted.expected_distances(X)]
    for values in [fitted.matrix_, fitted.objective_trace_, *results]:
        assert np.isfinite(values).all()
    assert_allclose(results[0].sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicates_and_ties(immigrate_oracles, solver):
    rng = np.random.default_rng(18)
    X = rng.integers(0, 3, size=(30, 3)).astype(float)
    y = ((X[:, 0] > 0) ^ (rng.random(30) < 0.2)).astype(int)
    for sigma in (1e-3, 1.0):
        W = immigrate_oracles.fit(X, y, sigma, solver, cone="nonneg", max_iter=6)
        fitted = make(sigma=sigma, solver=solver, cone="nonneg", max_iter=6).fit(X, y)
        assert_allclose(fitted.matrix_, W, rtol=0, atol=1e-9)


@in_turn("solver", SOLVERS)
@in_turn("cone", ["psd", "nonneg"])
@in_turn("n, p", [(8, 15), (20, 1), (50, 2)])
def test_shapes(immigrate_oracles, make_groups, solver, cone, n, p):
    X, y = make_groups(19, n=n, p=p, n_classes=2, shift=2)
    W = immigrate_oracles.fit(X, y, 1.0, solver, cone=cone, max_iter=3)
    fitted = make(sigma=1.0, solver=solver, cone=cone, max_iter=3).fit(X, y)
    assert_allclose(fitted.matrix_, W, rtol=0, atol=1e-9)


def test_one_feature_is_all_there_is(make_groups):
    X, y = make_groups(20, p=1, shift=2)
    for cone in CONES:
        assert_allclose(make(cone=cone).fit(X, y).matrix_, [[1.0]], rtol=0, atol=1e-12)


# What must not matter


@in_turn("solver", SOLVERS)
@in_turn("cone", CONES)
def test_invariances(make_groups, solver, cone):
    X, y = make_groups(21, p=5, n_classes=3)
    parameters = {"sigma": 0.7, "solver": solver, "cone": cone, "max_iter": 6}
    fitted = make(**parameters).fit(X, y)
    order = np.random.default_rng(0).permutation(5)
    exact = tolerance(cone)
    assert_allclose(make(**parameters).fit(X[:, order], y).matrix_, fitted.matrix_[np.ix_(order, order)], **exact)
    rows = np.random.default_rng(1).permutation(len(y))
    assert_allclose(make(**parameters).fit(X[rows], y[rows]).matrix_, fitted.matrix_, **exact)
    names = np.array(["zebra", "ape", "bee"])
    renamed = make(**parameters).fit(X, names[y])
    assert_allclose(renamed.matrix_, fitted.matrix_, **exact)
    assert_array_equal(renamed.predict(X), names[fitted.predict(X)])
    assert_allclose(make(**parameters).fit(X + 3, y).matrix_, fitted.matrix_, **exact)
    scaled = make(**{**parameters, "sigma": 9 * 0.7}).fit(3 * X, y)
    assert_allclose(scaled.matrix_, fitted.matrix_, **exact)
    assert_array_equal(scaled.predict(3 * X), fitted.predict(X))


def test_sample_weights(make_groups):
    X, y = make_groups(22)
    first, second = sample_weights(len(y), 1), sample_weights(len(y), 2)
    parameters = {"sigma": 0.7, "solver": "published"}

    def at_start(weights):
        return make(**parameters, max_iter=1).fit(X, y, sample_weight=weights).objective_trace_[0]

    assert at_start(first + second) == pytest.approx(at_start(first) + at_start(second))
    assert at_start(2 * first) == pytest.approx(2 * at_start(first))
    plain = make(**parameters).fit(X, y)
    assert_allclose(make(**parameters).fit(X, y, sample_weight=np.ones(len(y))).matrix_, plain.matrix_, atol=1e-12)
    step = make(**parameters, max_iter=1)
    once = step.fit(X, y, sample_weight=first).matrix_
    assert_allclose(clone(step).fit(X, y, sample_weight=100 * first).matrix_, once, rtol=0, atol=1e-12)
    # A sample of weight 2 has one term twice; a sample that is there twice is also a neighbour twice.
    twice = np.ones(len(y))
    twice[0] = 2
    doubled = clone(step).fit(X, y, sample_weight=twice).matrix_
    duplicated = clone(step).fit(np.vstack([X, X[:1]]), np.append(y, y[0])).matrix_
    assert np.abs(doubled - duplicated).max() > 1e-6
    # A sample of weight 0 has no term, but remains a neighbour.
    zero = np.ones(len(y))
    zero[0] = 0
    ignored = clone(step).fit(X, y, sample_weight=zero).matrix_
    dropped = clone(step).fit(X[1:], y[1:]).matrix_
    assert np.abs(ignored - dropped).max() > 1e-6


@in_turn("solver", SOLVERS)
@in_turn("init", ["identity", "random"])
def test_same_seed_same_bits(make_groups, solver, init):
    X, y = make_groups(23)
    first, second = (make(solver=solver, init=init, random_state=5, max_iter=4).fit(X, y) for _ in range(2))
    assert_array_equal(first.matrix_, second.matrix_)
    assert_array_equal(first.objective_trace_, second.objective_trace_)
    other = make(solver=solver, init=init, random_state=6, max_iter=4).fit(X, y)
    assert (other.objective_trace_[0] == first.objective_trace_[0]) == (init == "identity")


def test_parameters_and_input_are_left_alone(make_groups):
    X, y = make_groups(24)
    W0 = start(4)
    copies = X.copy(), y.copy(), W0.copy()
    estimator = make(init=W0)
    estimator.fit(X, y)
    assert estimator.init is W0
    for now, before in zip((X, y, W0), copies, strict=True):
        assert_array_equal(now, before)


# The polar case

NO_MARGIN = np.array([[0.0, 0.0], [1.0, 1.2], [0.0, 0.0], [1.0, 1.2]]), np.array([0, 0, 1, 1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_direction_with_a_margin(solver):
    X, y = NO_MARGIN
    with pytest.warns(RuntimeWarning):
        fitted = make(sigma=0.1, solver=solver, cone="diag").fit(X, y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, np.eye(2) / np.sqrt(2), rtol=0, atol=1e-15)
    with pytest.raises(ValueError):
        make(sigma=0.1, solver=solver, cone="diag", degenerate="raise").fit(X, y)


@pytest.mark.parametrize("cone", ["nonneg", "diag"])
def test_no_direction_with_a_margin_takes_a_ray(immigrate_oracles, cone):
    X, y = NO_MARGIN
    o = immigrate_oracles
    expected, polar = o.published_step(o.differences(X), y, 0.1, o.identity(2), cone)
    assert polar
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        fitted = make(sigma=0.1, solver="published", cone=cone, degenerate="ray", max_iter=1).fit(X, y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, expected, rtol=0, atol=1e-12)


# Refusals


@in_turn("parameters",
    [
        {"sigma": 0}, {"sigma": -1.0}, {"sigma": np.nan}, {"sigma": np.inf}, {"sigma": "wide"},
        {"solver": "newton"}, {"cone": "all"}, {"prune": -0.1}, {"max_iter": 0}, {"tol": -1.0},
        {"stopping": "never"}, {"stopping": "package", "solver": "monotone"}, {"degenerate": "zero"},
        {"importance": "trace"}, {"output": "kernel"}, {"init": "zeros"},
        {"init": np.eye(3)}, {"init": np.ones(4)}, {"init": np.triu(np.ones((4, 4)))},
        {"init": np.full((4, 4), np.nan)}, {"init": np.zeros((4, 4))},
    ])  # fmt: skip
def test_refuses_bad_parameters(make_groups, parameters):
    X, y = make_groups(25)
    with pytest.raises(ValueError):
        make(**parameters).fit(X, y)


@pytest.mark.parametrize("weights", [-1.0, 0.0, np.nan, "short"])
def test_refuses_bad_sample_weights(make_groups, weights):
    X, y = make_groups(26)
    bad = np.ones(len(y) - 1) if weights == "short" else np.full(len(y), weights)
    with pytest.raises(ValueError):
        make().fit(X, y, sample_weight=bad)


def test_refuses_bad_data(make_groups):
    X, y = make_groups(27)
    with pytest.raises(ValueError, match="NaN"):
        make().fit(np.where(X.max() == X, np.nan, X), y)
    with pytest.raises(ValueError, match="2 classes"):
        make().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="2 samples"):
        make().fit(X, np.arange(len(y)))
    with pytest.raises(ValueError, match="features"):
        make().fit(X, y).predict(X[:, :2])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cone", ["nonneg", "psd"])
def test_single_precision_comes_to_the_same_end(solver, cone):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    double, auto = (make(solver=solver, cone=cone, max_iter=8, precision=p).fit(X, y) for p in ("double", "auto"))
    assert auto.single_ and not double.single_
    assert_allclose(auto.matrix_, double.matrix_, rtol=0, atol=1e-4)
    assert_allclose(auto.objective_trace_[-1], double.objective_trace_[-1], rtol=1e-5)
    assert_array_equal(auto.predict(X[:200]), double.predict(X[:200]))
    if solver == "monotone":
        assert auto.gap_ == pytest.approx(double.gap_, rel=0.05, abs=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_is_not_used_where_it_is_not_enough():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    y = (X[:, 0] > 0).astype(int)
    double, auto = (make(sigma=1e-4, max_iter=1, precision=p).fit(X, y) for p in ("double", "auto"))
    assert not auto.single_
    assert_array_equal(auto.matrix_, double.matrix_)
    assert not make(max_iter=1, precision="auto").fit(X[:500], y[:500]).single_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4200, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    one, two = (make(max_iter=2, n_jobs=n).fit(X, y) for n in (None, 2))
    assert_array_equal(one.matrix_, two.matrix_)
    assert_array_equal(one.objective_trace_, two.objective_trace_)


@in_turn("prune", [False, True, 0.2])
@in_turn(
    "parameters",
    [
        {},
        {"cone": "psd", "importance": "diagonal"},
        {"init": "random", "random_state": 0},
        {"precision": "auto"},
    ],
)
def test_with_another_pruning_it_equals_a_fit(make_groups, prune, parameters):
    X, y = make_groups(1, n=60, n_classes=3)
    weights = np.arange(1.0, 61.0)
    start = make(**parameters).fit(X, y, weights)
    before = start.matrix_.copy()
    other = start.with_prune(prune)
    fresh = make(prune=prune, **parameters).fit(X, y, weights)
    for name in ("matrix_", "weights_", "feature_importances_", "interaction_importances_", "objective_trace_"):
        assert_array_equal(getattr(other, name), getattr(fresh, name))
    assert (other.n_iter_, other.converged_, other.prune) == (fresh.n_iter_, fresh.converged_, prune)
    assert_array_equal(other.decision_function(X), fresh.decision_function(X))
    assert_array_equal(other.expected_distances(), fresh.expected_distances())
    assert_array_equal(start.matrix_, before)
    assert start.prune is False


def test_pruning_afterwards_learns_nothing_again(make_groups, monkeypatch):
    X, y = make_groups(1, n=60)
    fitted = make().fit(X, y)
    monkeypatch.setattr(mfbench_margin.IMMIGRATE, "fit_pairs", None)
    assert (fitted.with_prune(True).matrix_ != fitted.matrix_).any()


@in_turn("parameters", [{"prune": True}, {"prune": 0.1}, {"solver": "published"}])
@in_turn("name", ["IMMIGRATE", "IM4EIMMIGRATE"])
def test_a_fit_that_prunes_otherwise_has_no_pruning_afterwards(name, parameters):
    assert hasattr(getattr(mfbench_margin, name)(), "with_prune")
    assert not hasattr(getattr(mfbench_margin, name)(**parameters), "with_prune")


def test_pruning_afterwards_refuses_what_a_fit_refuses(make_groups):
    X, y = make_groups(1, n=60)
    fitted = make().fit(X, y)
    with pytest.raises(ValueError, match="removes all of W"):
        fitted.with_prune(2.0)
    with pytest.raises(ValueError, match="'prune' parameter"):
        fitted.with_prune(-1.0)


def test_a_replacement_without_a_margin_is_not_pruned():
    X = np.array([[0.0], [1.0], [0.0], [1.0]])
    with pytest.warns(RuntimeWarning, match="on average"):
        fitted = make().fit(X, [0, 0, 1, 1])
    assert fitted.degenerate_
    assert_array_equal(fitted.with_prune(True).matrix_, fitted.matrix_)


@pytest.mark.parametrize("learner", ["IMMIGRATE", "BoostedIMMIGRATE"])
def test_distances_that_are_tiny_beside_sigma_warn(learner):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    X[:, 0] += 2 * y
    estimator = getattr(mfbench_margin, learner)()
    with pytest.warns(RuntimeWarning, match=f"^{learner}: distances are so small in comparison with sigma"):
        estimator.fit(1e-8 * X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        estimator.fit(X, y)
