"""What IMMIGRATE starts from, and what it falls back to."""

import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from mfbench_margin import IMMIGRATE
from mfbench_margin._quadratic.cones import best_direction, project

CONES = ["psd", "psd_clip", "nonneg", "dnn", "diag"]


# The start


@pytest.mark.parametrize("cone", ["psd", "nonneg", "diag"])
def test_monotone_starts_at_the_nearest_matrix_of_the_cone(immigrate_oracles, make_groups, cone):
    o = immigrate_oracles
    X, y = make_groups(2)
    W0 = np.random.default_rng(1).normal(size=(4, 4)) / 8
    W0 = W0 + W0.T + np.diag([0.3, 0.2, 0.1, 0.0])
    nearest = o.cone_projection(W0, cone)
    assert 0 < np.linalg.norm(nearest) < 1
    trace = IMMIGRATE(sigma=0.7, cone=cone, init=W0).fit(X, y).objective_trace_
    assert trace[0] == pytest.approx(o.value(o.differences(X), y, 0.7, nearest), rel=1e-10)
    # The published solver takes any matrix as it is.
    trace = IMMIGRATE(sigma=0.7, cone=cone, init=W0, solver="published").fit(X, y).objective_trace_
    assert trace[0] == pytest.approx(o.value(o.differences(X), y, 0.7, W0), rel=1e-10)


@in_turn(
    "init, message",
    [
        (np.eye(3), r"init must have shape \(4, 4\).*got \(3, 3\)"),
        (np.ones(4), r"init must have shape \(4, 4\).*got \(4,\)"),
        (np.ones((4, 4, 4)), r"init must have shape \(4, 4\).*got \(4, 4, 4\)"),
        (np.triu(np.ones((4, 4))), "symmetric"),
        (np.full((4, 4), np.nan), "init contains NaN"),
        (np.full((4, 4), np.inf), "init contains infinity"),
        (np.zeros((4, 4)), "all zeros"),
        (-np.eye(4), "no part in the cone 'nonneg'"),
    ],
)
def test_refuses_a_start_and_says_what_is_wrong(make_groups, init, message):
    X, y = make_groups(3)
    with pytest.raises(ValueError, match=message):
        IMMIGRATE(init=init).fit(X, y)


def test_start_on_a_constant_feature_alone(make_groups):
    X, y = make_groups(4)
    X = np.column_stack([np.ones(len(X)), 1e-9 * X])
    init = np.diag([1.0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="features that vary"):
        IMMIGRATE(init=init).fit(X, y)
    fitted = IMMIGRATE(init=init, solver="published").fit(X, y)
    assert np.linalg.norm(fitted.matrix_) == pytest.approx(1)
    with pytest.warns(RuntimeWarning, match="equal weights"):
        assert not IMMIGRATE(init=np.diag([1.0, 0.0])).fit(np.ones((4, 2)), [0, 0, 1, 1]).matrix_.any()


# No direction with a margin: hits differ in both varying features, misses in none

POLAR_X, POLAR_Y = np.array([[0.0, 0.0], [1.0, 1.2], [0.0, 0.0], [1.0, 1.2]]), np.array([0, 0, 1, 1])


@in_turn("solver", ["monotone", "published"])
@in_turn("cone", CONES)
def test_constant_features_are_no_ray(solver, cone):
    parameters = {"sigma": 0.1, "solver": solver, "cone": cone, "degenerate": "ray"}
    with pytest.warns(RuntimeWarning, match="least bad"):
        plain = IMMIGRATE(**parameters).fit(POLAR_X, POLAR_Y)
    with pytest.warns(RuntimeWarning, match="least bad"):
        fitted = IMMIGRATE(**parameters).fit(np.insert(POLAR_X, [0, 2], 7.0, axis=1), POLAR_Y)
    assert fitted.degenerate_
    assert np.linalg.norm(fitted.matrix_) == pytest.approx(1)
    assert_array_equal(fitted.matrix_[1:3, 1:3], plain.matrix_)
    assert not fitted.matrix_[[0, 3]].any()


@in_turn("cone", CONES)
def test_all_constant(cone):
    for degenerate in ("uniform", "ray"):
        with pytest.warns(RuntimeWarning):
            fitted = IMMIGRATE(cone=cone, degenerate=degenerate).fit(np.ones((6, 3)), [0, 1] * 3)
        assert not fitted.matrix_.any()
        assert fitted.predict(np.ones((2, 3))).tolist() == [0, 0]
        assert np.isfinite(fitted.predict_proba(np.ones((2, 3)))).all()


@in_turn("cone", ["psd", "nonneg", "diag"])
def test_ray_is_the_least_bad_of_its_cone(cone):
    rng = np.random.default_rng(2)
    B = rng.random((3, 3))
    G = -(B @ B.T + np.eye(3))
    direction = best_direction(G, cone)
    assert direction.polar
    best = (G * direction.W).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(2000):
            W = rng.normal(size=(3, 1)) * rng.normal(size=(1, 3))
            W = project(W + W.T, cone)
            if W.any():
                assert (G * W).sum() / np.linalg.norm(W) <= best + 1e-9
