import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from mfbench_margin import MulRelief, Relief
from mfbench_margin._nearest.search import hits_and_misses

EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_definition(neighbours, messy_table, seed, n_classes):
    X, y = messy_table(seed, n_classes)
    fitted = MulRelief(max_iter=8).fit(X, y)
    iterates = neighbours.mulrelief(X, y, fitted.n_iter_)
    margins = [np.dot(w, neighbours.mean_margin(X, y, w)) for w in iterates]
    assert_allclose(fitted.weights_, iterates[int(np.argmax(margins))], **EXACT)
    assert_allclose(fitted.objective_trace_, margins, **EXACT)
    assert fitted.n_skipped_ == 1
    assert fitted.weights_[-1] == 0


def test_first_loop_is_relief(messy_table):
    X, y = messy_table(5)
    relief = Relief(diff="sq", scale="none").fit(X, y).weights_
    assert_allclose(MulRelief(max_iter=1).fit(X, y).weights_, relief / relief.sum(), **EXACT)


@pytest.mark.parametrize("seed", [32, 33, 75, 100, 187, 189])
def test_reaches_a_fixed_point_or_a_cycle(neighbours, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 6)), np.repeat([0, 1, 2], 10)
    X[:, 0] += (1 if seed == 32 else 2) * y
    fitted = MulRelief().fit(X, y)
    assert fitted.converged_ != fitted.cycled_
    last, following = neighbours.mulrelief(X, y, fitted.n_iter_ + 1)[-2:]
    assert np.allclose(last, following, rtol=0, atol=1e-9) == fitted.converged_
    assert fitted.weights_.sum() == pytest.approx(1)
    margin = fitted.weights_ @ neighbours.mean_margin(X, y, fitted.weights_)
    assert margin == pytest.approx(max(fitted.objective_trace_), abs=1e-9)


def test_stops_where_no_feature_is_left():
    rng = np.random.default_rng(80)
    X, y = rng.normal(size=(30, 6)), np.repeat([0, 1, 2], 10)
    X[:, 0] += y
    fitted = MulRelief().fit(X, y)
    assert not (fitted.converged_ or fitted.cycled_ or fitted.degenerate_)
    assert fitted.n_iter_ == len(fitted.objective_trace_) < 100


def test_draws(messy_table):
    X, y = messy_table(6)
    first, again, other = (MulRelief(5, n_samples=20, random_state=s).fit(X, y) for s in (1, 1, 2))
    assert_array_equal(first.weights_, again.weights_)
    assert not np.array_equal(first.weights_, other.weights_)
    assert first.n_iter_ == len(first.objective_trace_) == 5
    assert not first.converged_
    assert not first.cycled_


def test_first_draw_equals_definition(messy_table):
    X, y = messy_table(7)
    weights = MulRelief(1, n_samples=13, random_state=4).fit(X, y).weights_
    targets = np.flatnonzero(y != 3)
    draws = targets[np.random.RandomState(4).randint(len(targets), size=13)]
    hits, misses = hits_and_misses(X, y, draws)
    raw = np.maximum(((X[draws] - X[misses]) ** 2 - (X[draws] - X[hits]) ** 2).mean(axis=0), 0)
    assert_allclose(weights, raw / raw.sum(), **EXACT)


def test_many_draws_come_near_the_full_pass(messy_table):
    X, y = messy_table(8)
    full = MulRelief(1).fit(X, y).weights_
    assert_allclose(MulRelief(1, n_samples=200_000, random_state=0).fit(X, y).weights_, full, atol=0.01)


def test_no_feature_keeps_misses_away():
    X = np.array([[0.0, 1, 3], [0, 1, 3], [1, 0, 3], [1, 0, 3]])
    with pytest.warns(RuntimeWarning, match="no feature keeps misses"):
        fitted = MulRelief().fit(X, [0, 1, 0, 1])
    assert fitted.degenerate_
    assert fitted.weights_.tolist() == [0.5, 0.5, 0]
    assert fitted.n_iter_ == 0


def test_nothing_varies():
    with pytest.warns(RuntimeWarning, match="no feature"):
        fitted = MulRelief().fit(np.ones((4, 2)), ["b", "a", "b", "a"])
    assert fitted.weights_.tolist() == [0, 0]
    assert fitted.predict([[1.0, 2.0]]).tolist() == ["b"]


@pytest.mark.parametrize("k", [1, 4])
def test_predicts_by_nearest_neighbours(neighbours, messy_table, k):
    X, y = messy_table(9)
    fitted = MulRelief(n_neighbors=k).fit(X, y)
    expected = [neighbours.knn(X, y, q, k, fitted.weights_) for q in 0.9 * X]
    assert_array_equal(fitted.predict(0.9 * X), [winner for winner, _ in expected])
    assert_allclose(fitted.predict_proba(0.9 * X), [votes for _, votes in expected], **EXACT)


@pytest.mark.parametrize("n_features", [1, 60])
def test_one_feature_and_more_features_than_samples(neighbours, n_features):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 4)
    X = rng.normal(size=(12, n_features)) + 3 * y[:, None]
    fitted = MulRelief(max_iter=1).fit(X, y)
    assert_allclose(fitted.weights_, neighbours.mulrelief(X, y, 1)[0], **EXACT)


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_units_do_not_matter(messy_table, factor):
    X, y = messy_table(10)
    assert_allclose(MulRelief().fit(X * factor, y).weights_, MulRelief().fit(X, y).weights_, **EXACT)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_invariances(messy_table, seed, n_classes):
    X, y = messy_table(seed, n_classes)
    rng = np.random.default_rng(seed)
    base = MulRelief(2).fit(X, y).weights_
    order = rng.permutation(X.shape[1])
    assert_allclose(MulRelief(2).fit(X[:, order], y).weights_, base[order], **EXACT)
    assert_allclose(MulRelief(2).fit(X, np.array(list("decab"))[y]).weights_, base, **EXACT)
    assert_allclose(MulRelief(2).fit(X + rng.integers(-9, 9, X.shape[1]), y).weights_, base, **EXACT)


def test_classifies_wine():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    assert MulRelief().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        MulRelief().fit(np.eye(4), y)


@pytest.mark.parametrize("parameters", [{"max_iter": 0}, {"n_samples": 0}, {"n_neighbors": 0}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="parameter of MulRelief"):
        MulRelief(**parameters).fit(np.eye(4), [0, 1, 0, 1])
