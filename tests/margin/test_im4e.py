import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from mfbench_margin import IM4E, IMMIGRATE, ImbalancedIM4E
from mfbench_margin._soft import manhattan

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def standardised(make_table, seed, n=30, n_classes=2, p=4):
    X, y, _ = make_table(seed, n, p - 1, 1, n_classes=n_classes)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def fitted(X, y, sample_weight=None, **parameters):
    return IM4E(**parameters).fit(X, y, sample_weight)


# Against the definition


@pytest.mark.parametrize("budget", [0, manhattan.BUDGET])
@pytest.mark.parametrize("sigma", [0.05, 0.5, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_definition(oracles_soft, make_table, monkeypatch, budget, sigma, n_classes):
    monkeypatch.setattr(manhattan, "BUDGET", budget)
    X, y = standardised(make_table, n_classes, n_classes=n_classes)
    X[3] = X[2]
    X, y = np.vstack([X, X[:1] + 0.5]), np.append(y, 9)
    factors = np.random.default_rng(0).uniform(0, 2, len(y))
    model = fitted(X, y, factors, sigma=sigma, max_iter=4, tol=0)
    weights, trace = oracles_soft.im4e(X, y, sigma, model.n_iter_, factors)
    assert_allclose(model.weights_, weights, **CLOSE)
    assert_allclose(model.objective_trace_, trace, **CLOSE)
    assert model.n_skipped_ == 1
    expected = [[oracles_soft.expected_distance(X, y, weights, sigma, c, x) for c in model.classes_] for x in X + 0.1]
    assert_allclose(model.expected_distances(X + 0.1), expected, **CLOSE)
    expected = [
        [oracles_soft.expected_distance(X, y, weights, sigma, c, X[i], i) for c in model.classes_]
        for i in range(len(X))
    ]
    assert_allclose(model.expected_distances(), expected, **CLOSE)
    assert_array_equal(model.predict_training(), model.classes_[np.argmin(expected, axis=1)])


def test_weights_of_classes_equal_sample_weights(make_table):
    X, y = standardised(make_table, 5, n_classes=3)
    names = np.array(["a", "b", "c"])
    for rho, factors in ((0.5, [0.5, 0.5, 1]), ({"a": 3, "c": 0.5}, [3, 1, 0.5])):
        model = ImbalancedIM4E(rho=rho).fit(X, names[y])
        expected = fitted(X, names[y], np.array(factors)[y])
        assert_allclose(model.weights_, expected.weights_, **CLOSE)
        assert_allclose(model.objective_trace_, expected.objective_trace_, **CLOSE)
        doubled = ImbalancedIM4E(rho=rho).fit(X, names[y], np.arange(30))
        assert_allclose(doubled.weights_, fitted(X, y, np.array(factors)[y] * np.arange(30)).weights_, **CLOSE)


def test_rho_of_one_is_im4e(make_table):
    X, y = standardised(make_table, 6)
    for rho in (1.0, {}):
        model = ImbalancedIM4E(rho=rho).fit(X, y)
        assert_array_equal(model.weights_, fitted(X, y).weights_)
        assert_array_equal(model.predict(X), fitted(X, y).predict(X))
    assert not np.allclose(ImbalancedIM4E(rho=0.3).fit(X, y).weights_, fitted(X, y).weights_)


def test_one_step_with_all_neighbours_alike_is_the_difference_of_means(make_table):
    X, y = standardised(make_table, 7)
    differences = np.abs(X[:, None] - X[None])
    same = y[:, None] == y[None]
    hits = same & ~np.eye(len(y), dtype=bool)
    v = sum(d[~s].mean(axis=0) - d[h].mean(axis=0) for d, s, h in zip(differences, same, hits, strict=True))
    expected = np.maximum(v, 0) / np.maximum(v, 0).sum()
    assert_allclose(fitted(X, y, sigma=1e9, max_iter=1).weights_, expected, rtol=1e-6)


@pytest.mark.parametrize("sigma", [0.05, 0.3, 4.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_diagonal_immigrate_on_zeros_and_ones(sigma, n_classes):
    """There |d| is d², so that both measure the same distance, up to the norm of the weights.

    One step each time, as the norms of the next starts differ: 1 for the sum, or for the sum of squares.
    """
    rng = np.random.default_rng(n_classes)
    y = np.append(rng.integers(0, n_classes, 40), 9)
    X = (rng.random((41, 6)) + 0.25 * (y[:, None] % n_classes == np.arange(6) % n_classes) > 0.6).astype(float)
    factors = rng.uniform(0, 2, 41)
    w = np.full(6, 1 / 6)
    for _ in range(4):
        im4e = fitted(X, y, factors, sigma=sigma, max_iter=1, init=w)
        norm = np.linalg.norm(im4e.weights_)
        immigrate = IMMIGRATE(sigma / norm, solver="published", cone="diag", max_iter=1, init=np.diag(w / norm)).fit(
            X, y, factors
        )
        assert_allclose(immigrate.matrix_, np.diag(im4e.weights_ / norm), rtol=0, atol=1e-12)
        assert_allclose(immigrate.objective_trace_, im4e.objective_trace_ / norm, rtol=1e-10, atol=1e-10)
        assert_allclose(immigrate.expected_distances(), im4e.expected_distances() / norm, **CLOSE)
        rows = rng.integers(0, 2, (30, 6)).astype(float)
        assert_allclose(immigrate.expected_distances(rows), im4e.expected_distances(rows) / norm, **CLOSE)
        w = im4e.weights_
    assert np.ptp(w) > 0.01


# By hand


def test_converges_and_stops(make_table):
    X, y = standardised(make_table, 11)
    model = fitted(X, y, max_iter=500, tol=1e-10)
    assert model.converged_
    assert model.n_iter_ == len(model.objective_trace_) - 1 < 500
    change = abs(np.diff(model.objective_trace_))
    bound = 1e-10 * np.maximum(1, abs(model.objective_trace_[1:]))
    assert_array_equal(change <= bound, np.arange(1, len(change) + 1) == model.n_iter_)
    short = fitted(X, y, max_iter=2, tol=0)
    assert not short.converged_
    assert short.n_iter_ == 2
    assert_allclose(short.objective_trace_, model.objective_trace_[:3], **CLOSE)


def test_sample_weights_count_targets_only(make_table):
    X, y = standardised(make_table, 13)
    weight = np.where(np.arange(30) < 15, 2.0, 1.0)
    assert_allclose(fitted(X, y, 7 * weight, tol=0).weights_, fitted(X, y, weight, tol=0).weights_, **CLOSE)
    copied = fitted(np.vstack([X, X[:15]]), np.append(y, y[:15]), tol=0).weights_
    assert np.abs(copied - fitted(X, y, weight, tol=0).weights_).max() > 1e-3


# Degenerate input


def test_constant_feature_weighs_exactly_nothing(make_table):
    X, y = standardised(make_table, 14)
    model = fitted(np.column_stack([X, np.full(30, 0.1)]), y)
    assert model.weights_[-1] == 0
    assert not model.get_support()[-1]
    model = fitted(np.column_stack([X, np.full(30, 0.1)]), y, init=[1, 1, 1, 1, 0])
    assert_allclose(model.weights_[:4], fitted(X, y).weights_, **CLOSE)


@pytest.mark.parametrize("p", [1, 60])
def test_one_feature_and_more_features_than_samples(oracles_soft, p):
    rng = np.random.default_rng(p)
    X, y = rng.normal(size=(12, p)), np.arange(12) % 3
    X[:, 0] += 5 * y
    model = fitted(X, y, max_iter=3, tol=0)
    assert_allclose(model.weights_, oracles_soft.im4e(X, y, 1.0, 3, np.ones(12))[0], **CLOSE)


@in_turn("sigma", [1e-300, 1e-6, 1e-3, 1e3, 1e6, 1e300])
def test_extreme_sigma(make_table, sigma):
    X, y = standardised(make_table, 15, n_classes=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(X, y, sigma=sigma)
        values = [model.weights_, model.objective_trace_, model.predict_proba(1e6 * X), model.decision_function(X)]
    assert all(np.isfinite(v).all() for v in values)
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        fitted(np.eye(4), y)


@in_turn(
    "parameters", [{"sigma": 0}, {"sigma": -1.0}, {"sigma": np.inf}, {"max_iter": 0}, {"tol": -1}, {"degenerate": "no"}]
)
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="must be"):
        fitted(np.eye(4), [0, 1, 0, 1], **parameters)


def test_refuses_wrong_sample_weights():
    X, y = np.arange(5.0)[:, None], [0, 0, 1, 1, 2]
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        fitted(X, y, [1, 1, -1, 1, 1])
    with pytest.raises(ValueError, match="positive weight"):
        fitted(X, y, [0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("rho", "message"),
    [(0, "must be"), ({"x": 1.0}, r"not in y: \['x'\]"), ({0: 0.0}, "positive number"), ({1: "2"}, "positive number")],
)
def test_refuses_wrong_rho(rho, message):
    with pytest.raises(ValueError, match=message):
        ImbalancedIM4E(rho=rho).fit(np.eye(4), [0, 1, 0, 1])


def test_refuses_missing_values():
    with pytest.raises(ValueError, match="NaN"):
        fitted([[0.0], [np.nan], [1.0], [2.0]], [0, 0, 1, 1])


# Properties


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), sigma=st.sampled_from([0.1, 1.0, 4.0]))
def test_invariances(make_table, seed, n_classes, sigma):
    X, y = standardised(make_table, seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    # Steps of a fixed number: the bound of the stopping rule does not scale with the data.
    parameters = {"sigma": sigma, "max_iter": 5, "tol": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        base = fitted(X, y, **parameters)
        order = rng.permutation(4)
        permuted = fitted(X[:, order], y, **parameters)
        renamed = fitted(X, np.array(["d", "b", "c", "a"])[y], **parameters)
        moved = fitted(X + rng.integers(-9, 9, 4), y, **parameters)
        scaled = fitted(7 * X, y, **{**parameters, "sigma": 7 * sigma})
    assert base.weights_.min() >= 0
    assert base.weights_.sum() == pytest.approx(1)
    loose = {"rtol": 0, "atol": 1e-7}
    assert_allclose(permuted.weights_, base.weights_[order], **loose)
    assert_allclose(renamed.weights_, base.weights_, **loose)
    assert_allclose(moved.weights_, base.weights_, **loose)
    assert_allclose(scaled.weights_, base.weights_, **loose)
    assert_allclose(scaled.expected_distances(7 * X), 7 * base.expected_distances(X), rtol=1e-6)


def test_same_bits_again(make_table):
    X, y = standardised(make_table, 16)
    assert_array_equal(fitted(X, y).weights_, fitted(X, y).weights_)


def test_finds_the_informative_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = rng.integers(0, 2, 200)
    X[:, :2] += 1.5 * y[:, None]
    model = fitted(X, y, sigma=0.5)
    assert set(np.argsort(model.weights_)[-2:]) == {0, 1}
    assert model.weights_[:2].sum() > 0.8
    assert model.score(X, y) > 0.75
