import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import ortho_group
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from mfbench_margin import LFE, Relief

EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_equals_definition(neighbours, messy_table, seed, n_classes):
    X, y = messy_table(seed, n_classes)
    fitted = LFE().fit(X, y)
    assert_allclose(fitted.matrix_, neighbours.lfe(X, y), **EXACT)
    assert_allclose(fitted.weights_, np.diag(fitted.matrix_), **EXACT)
    assert_array_equal(fitted.interaction_importances_, fitted.matrix_)
    margin = (neighbours.lfe_scatter(X, y) * fitted.matrix_).sum() / (len(y) - 1)
    assert_allclose(fitted.objective_trace_, [margin], **EXACT)
    assert fitted.n_skipped_ == 1
    assert_array_equal(fitted.matrix_[-1], 0)


def test_no_other_metric_has_a_larger_margin(neighbours, messy_table):
    X, y = messy_table(1)
    fitted = LFE().fit(X, y)
    scatter = neighbours.lfe_scatter(X, y)
    best = (scatter * fitted.matrix_).sum()
    assert np.linalg.norm(fitted.matrix_) == pytest.approx(1)
    assert np.linalg.eigvalsh(fitted.matrix_).min() > -1e-12
    rng = np.random.default_rng(0)
    for rank in range(1, 7):
        factors = rng.normal(size=(2000, 6, rank))
        others = factors @ factors.transpose(0, 2, 1)
        others /= np.linalg.norm(others, axis=(1, 2), keepdims=True)
        assert (np.einsum("ab,kab->k", scatter, others) <= best + 1e-9).all()
        nearby = fitted.matrix_ + 1e-3 * others
        nearby /= np.linalg.norm(nearby, axis=(1, 2), keepdims=True)
        assert (np.einsum("ab,kab->k", scatter, nearby) <= best + 1e-9).all()


@pytest.mark.parametrize("rank", [1, 2, 99])
def test_rank(neighbours, messy_table, rank):
    X, y = messy_table(2)
    fitted = LFE(n_components=rank).fit(X, y)
    assert_allclose(fitted.matrix_, neighbours.lfe(X, y, rank), **EXACT)
    assert len(fitted.components_) <= rank
    assert (np.diff(fitted.eigenvalues_) <= 0).all()
    assert np.linalg.norm(fitted.eigenvalues_) == pytest.approx(1)
    assert_allclose((fitted.components_**2).sum(axis=1), fitted.eigenvalues_, **EXACT)


def test_turns_with_the_axes():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 3, 60)
    X[:, 0] += 2 * y
    R = ortho_group.rvs(5, random_state=1)
    assert_allclose(LFE().fit(X @ R, y).matrix_, R.T @ LFE().fit(X, y).matrix_ @ R, **EXACT)


def test_more_features_than_samples_equals_the_dense_path(neighbours):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(15, 60)), np.repeat([0, 1, 2], 5)
    X[:, :3] += 2 * np.eye(3)[y]
    X[3] = X[2]
    X[:, 7] = 0.3
    fitted = LFE().fit(X, y)
    assert_allclose(fitted.matrix_, neighbours.lfe(X, y), **EXACT)
    assert fitted.weights_[7] == 0


def test_many_features_form_no_matrix():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 4000)), np.repeat([0, 1], 15)
    LFE().fit(X[:, :20], y)
    tracemalloc.start()
    LFE().fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6 < 8 * 4000**2


def test_diagonal_resembles_relief_where_features_are_independent():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 4)) + y[:, None] * [4, 3, 0, 0]
    relief = Relief(diff="sq", scale="none").fit(X, y).feature_importances_
    weights = LFE().fit(X, y).weights_
    assert_array_equal(np.argsort(-weights)[:2], np.argsort(-relief)[:2])
    assert weights[:2].sum() > 5 * weights[2:].sum()


def test_diagonal_of_the_scatter_is_relief(neighbours, messy_table):
    X, y = messy_table(7)
    relief = Relief(diff="sq", scale="none").fit(X, y).feature_importances_
    assert_allclose(np.diag(neighbours.lfe_scatter(X, y)) / (len(y) - 1), relief, **EXACT)


@pytest.mark.parametrize("n_features", [1, 3, 40])
def test_no_direction_keeps_misses_away(n_features):
    X, y = np.array([[0.0] * n_features, [0] * n_features, [1] * n_features, [1] * n_features]), [0, 1, 0, 1]
    X = np.column_stack([X, np.ones(4)])
    with pytest.warns(RuntimeWarning, match="no feature keeps misses"):
        fitted = LFE(output="metric").fit(X, y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, np.diag([1.0] * n_features + [0]) / np.sqrt(n_features), **EXACT)
    assert_allclose(fitted.transform(X), X @ fitted.components_.T, **EXACT)
    assert fitted.get_feature_names_out().shape == (n_features,)
    assert fitted.predict(X).tolist() == [0, 0, 0, 0]


def test_nothing_varies():
    with pytest.warns(RuntimeWarning, match="no feature"):
        fitted = LFE().fit(np.ones((4, 2)), ["b", "a", "b", "a"])
    assert_array_equal(fitted.weights_, 0)
    assert fitted.predict([[1.0, 2.0]]).tolist() == ["b"]


@pytest.mark.parametrize("factor", [1e-150, 1e-6, 1e6, 1e150])
def test_units_do_not_matter(messy_table, factor):
    X, y = messy_table(10)
    assert_allclose(LFE().fit(X * factor, y).matrix_, LFE().fit(X, y).matrix_, **EXACT)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_invariances(messy_table, seed, n_classes):
    X, y = messy_table(seed, n_classes)
    rng = np.random.default_rng(seed)
    base = LFE().fit(X, y)
    order = rng.permutation(X.shape[1])
    assert_allclose(LFE().fit(X[:, order], y).matrix_, base.matrix_[np.ix_(order, order)], **EXACT)
    assert_allclose(LFE().fit(X, np.array(list("decab"))[y]).matrix_, base.matrix_, **EXACT)
    assert_allclose(LFE().fit(X + rng.integers(-9, 9, X.shape[1]), y).matrix_, base.matrix_, **EXACT)


def test_classifies_wine():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    fitted = LFE().fit(X[::2], y[::2])
    assert fitted.score(X[1::2], y[1::2]) > 0.93


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        LFE().fit(np.eye(4), y)


@pytest.mark.parametrize("parameters", [{"output": "all"}, {"n_components": 0}, {"n_neighbors": 0}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="parameter of LFE"):
        LFE(**parameters).fit(np.eye(4), [0, 1, 0, 1])
