import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

from mfbench_margin import IRelief
from mfbench_margin._soft import manhattan

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture
def clouds():
    """Two clouds apart in two of six features."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 2
    X[:, :2] += 3.0 * y[:, None]
    return X, y


def fitted(X, y, **parameters):
    return IRelief(**parameters).fit(X, y)


@pytest.mark.parametrize("budget", [0, manhattan.BUDGET])
@pytest.mark.parametrize("sigma", [0.1, 0.5, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_definition(oracles_soft, make_table, monkeypatch, budget, sigma, n_classes):
    monkeypatch.setattr(manhattan, "BUDGET", budget)
    X, y, _ = make_table(n_classes, 25, 3, 1, n_classes=n_classes)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[3] = X[2]
    X, y = np.vstack([X, X[:1] + 0.5]), np.append(y, 9)
    model = fitted(X, y, sigma=sigma, max_iter=4, tol=0)
    _, trace = oracles_soft.irelief(X, y, sigma, 4)
    assert_allclose(model.objective_trace_, trace, **CLOSE)
    weights, _ = oracles_soft.irelief(X, y, sigma, 1 + int(np.argmax(trace[1:])))
    assert_allclose(model.weights_, weights, **CLOSE)
    assert_allclose(model.inlier_weights_, oracles_soft.hit_shares(X, y, weights, sigma), **CLOSE)
    assert model.inlier_weights_[-1] == 0
    assert model.n_skipped_ == 1
    expected = [[oracles_soft.expected_distance(X, y, weights, sigma, c, x) for c in model.classes_] for x in X + 0.1]
    assert_allclose(model.expected_distances(X + 0.1), expected, **CLOSE)


def test_fixed_point_does_not_depend_on_the_start(clouds):
    X, y = clouds
    sigma = 5 * np.median(pdist(X / np.sqrt(6), "cityblock"))
    rng = np.random.default_rng(1)
    models = [fitted(X, y, sigma=sigma, init=init) for init in [None, *rng.dirichlet(np.full(6, 0.3), 5)]]
    for model in models:
        assert model.converged_
        assert_allclose(model.weights_, models[0].weights_, atol=1e-5)
    again = fitted(X, y, sigma=sigma, max_iter=1, init=models[0].weights_)
    assert_allclose(again.weights_, models[0].weights_, atol=1e-5)


def test_outlier_counts_little(clouds):
    X, y = clouds
    X = np.vstack([X, X[y == 1].mean(axis=0)])
    model = fitted(X, np.append(y, 0), sigma=0.5)
    assert model.inlier_weights_[-1] < 0.1
    assert np.median(model.inlier_weights_) > 0.9
    assert ((model.inlier_weights_ >= 0) & (model.inlier_weights_ <= 1)).all()


def test_keeps_the_best_iterate(make_table):
    """With little softness and no structure, the steps wander; the largest mean margin is kept."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 8)), rng.integers(0, 2, 30)
    model = fitted(X, y, sigma=0.05, max_iter=15, tol=0)
    assert not model.converged_
    best = model.objective_trace_[1:].max()
    table = manhattan.SoftManhattan(X, y)
    inliers = table.soften(model.weights_, 0.05).hit_shares()
    assert_array_equal(inliers, model.inlier_weights_)
    assert model.weights_ @ table.margins(inliers) / 30 == pytest.approx(best, rel=1e-12)
    # What is kept is not just the last.
    assert model.objective_trace_[-1] < best


def test_finds_the_informative_features(clouds):
    X, y = clouds
    model = fitted(X, y, sigma=0.5)
    assert set(np.argsort(model.weights_)[-2:]) == {0, 1}
    assert np.linalg.norm(model.weights_) == pytest.approx(1)
    assert (model.predict_training() == y).mean() > 0.9
    assert_array_equal(model.transform(X), X[:, model.weights_ > 0])


def test_no_positive_margin():
    X, y = np.array([[0.0, 0, 5], [3, 1, 5], [0, 0.1, 5], [3, 1.1, 5]]), np.array([0, 0, 1, 1])
    with pytest.warns(RuntimeWarning, match="IRelief: on average no feature"):
        model = fitted(X, y)
    assert model.degenerate_
    assert_allclose(model.weights_, [0.5**0.5, 0.5**0.5, 0])
    with pytest.warns(RuntimeWarning):
        assert fitted(X, y, degenerate="ray").weights_.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="no feature"):
        fitted(X, y, degenerate="raise")


def test_all_features_constant():
    with pytest.warns(RuntimeWarning, match="constant"):
        model = fitted(np.full((6, 2), 0.1), [0, 1, 0, 1, 1, 1])
    assert model.weights_.tolist() == [0, 0]


@in_turn("sigma", [1e-300, 1e-6, 1e-3, 1e3, 1e6, 1e300])
def test_extreme_sigma(clouds, sigma):
    X, y = clouds
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(X, y, sigma=sigma)
        values = [model.weights_, model.inlier_weights_, model.objective_trace_, model.predict_proba(1e6 * X)]
    assert all(np.isfinite(v).all() for v in values)


def test_constant_feature_weighs_exactly_nothing(clouds):
    X, y = clouds
    assert fitted(np.column_stack([X, np.full(60, 0.1)]), y).weights_[-1] == 0


def test_one_feature_and_more_features_than_samples(oracles_soft):
    for p in (1, 40):
        X, y = np.random.default_rng(p).normal(size=(12, p)), np.arange(12) % 3
        X[:, 0] += 5 * y
        assert_allclose(fitted(X, y, max_iter=1).weights_, oracles_soft.irelief(X, y, 1.0, 1)[0], **CLOSE)


@pytest.mark.parametrize("parameters", [{"sigma": 0}, {"max_iter": 0}, {"tol": -1}, {"degenerate": None}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="must be"):
        fitted(np.eye(4), [0, 1, 0, 1], **parameters)


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        fitted(np.eye(4), y)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), sigma=st.sampled_from([0.3, 1.0, 4.0]))
def test_invariances(make_table, seed, n_classes, sigma):
    X, y, _ = make_table(seed, 30, 3, 1, n_classes=n_classes)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(seed)
    parameters = {"sigma": sigma, "max_iter": 4, "tol": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        base = fitted(X, y, **parameters).objective_trace_
        order = rng.permutation(4)
        permuted = fitted(X[:, order], y, **parameters).objective_trace_
        renamed = fitted(X, np.array(["d", "b", "c", "a"])[y], **parameters).objective_trace_
        moved = fitted(X + rng.integers(-9, 9, 4), y, **parameters).objective_trace_
        scaled = fitted(7 * X, y, **{**parameters, "sigma": 7 * sigma}).objective_trace_
    for trace in (permuted, renamed, moved, scaled / 7):
        assert_allclose(trace, base, rtol=0, atol=1e-7)
