"""RBS and RBS-PSD against brute force and a general optimiser."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from mfbench_similarity import (
    RBS,
    RBSPSD,
)


def parts(G, form):
    return {"square": G, "symmetric": (G + G.T) / 2, "diagonal": np.diag(np.diag(G))}[form]


@in_turn("form", ["square", "symmetric", "diagonal"])
@in_turn("k", [1, 3])
@in_turn("seed", range(3))
def test_equals_definition(oracles, make_numbers, form, k, seed):
    X, y = make_numbers(seed, n_classes=3)
    fitted = RBS(k, form).fit(X, y)
    G = parts(oracles.rbs_sum(X, y, k, oracles.product_of_norms), form)
    assert_allclose(fitted.matrix_, G / np.linalg.norm(G), atol=1e-12)
    assert_allclose(fitted.margins_, oracles.margins(X, y, k, fitted.matrix_, oracles.product_of_norms), atol=1e-12)
    assert_allclose(np.linalg.norm(fitted.matrix_), 1)
    assert_allclose(fitted.margins_.sum(), np.linalg.norm(G))
    assert_allclose(fitted.feature_importances_, np.diag(fitted.matrix_))


@pytest.mark.parametrize("seed", range(4))
def test_equals_definition_with_ties(oracles, make_ties, seed):
    X, y = make_ties(seed, n_classes=4)
    fitted = RBS(2, normalization="none").fit(X, y)
    G = oracles.rbs_sum(X, y, 2)
    assert_allclose(fitted.matrix_, G / np.linalg.norm(G), atol=1e-12)
    assert_allclose(fitted.margins_, oracles.margins(X, y, 2, fitted.matrix_), atol=1e-9)


@pytest.mark.parametrize("form", ["square", "symmetric", "diagonal"])
def test_equals_a_constrained_optimiser(oracles, make_numbers, form):
    X, y = make_numbers(4, p=3)
    G = oracles.rbs_sum(X, y, 1, oracles.product_of_norms)

    def matrix(a):
        return np.diag(a) if form == "diagonal" else parts(a.reshape(3, 3), form)

    start = np.random.default_rng(0).normal(size=3 if form == "diagonal" else 9)
    found = minimize(
        lambda a: -(G * matrix(a)).sum(),
        start / np.linalg.norm(start),
        constraints={"type": "eq", "fun": lambda a: (matrix(a) ** 2).sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert_allclose(RBS(1, form).fit(X, y).matrix_, matrix(found.x), atol=1e-6)


def test_semi_definite_equals_a_constrained_optimiser(oracles, make_numbers):
    X, y = make_numbers(5, p=3)
    G = oracles.rbs_sum(X, y, 1, oracles.product_of_norms)
    best = -np.inf
    for seed in range(5):
        found = minimize(
            lambda a: -(G * scaled_square(a)).sum(), np.random.default_rng(seed).normal(size=9), options={"gtol": 1e-9}
        )
        if -found.fun > best:
            best, A = -found.fun, scaled_square(found.x)
    fitted = RBSPSD().fit(X, y)
    assert_allclose(fitted.margins_.sum(), best, rtol=1e-8)
    assert_allclose(fitted.matrix_, A, atol=1e-4)


def scaled_square(a):
    A = a.reshape(3, 3) @ a.reshape(3, 3).T
    return A / np.linalg.norm(A)


@pytest.mark.parametrize("form", ["symmetric", "diagonal"])
def test_no_semi_definite_matrix_has_a_larger_margin(oracles, make_numbers, form):
    X, y = make_numbers(6)
    fitted = RBSPSD(3, form).fit(X, y)
    assert np.linalg.eigvalsh(fitted.matrix_).min() > -1e-12
    assert_allclose(np.linalg.norm(fitted.matrix_), 1)
    G = oracles.rbs_sum(X, y, 3, oracles.product_of_norms)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        root = rng.normal(size=(4, rng.integers(1, 5)))
        other = parts(root @ root.T, "square" if form == "symmetric" else form)
        assert (G * other).sum() / np.linalg.norm(other) <= fitted.margins_.sum() + 1e-12


@pytest.mark.parametrize("form", ["symmetric", "diagonal"])
def test_without_a_positive_eigenvalue_the_identity_stays(form):
    """Every hit points the other way, every miss the same way."""
    X, y = [[1.0, 0], [-1, 0], [1, 0.1], [-1, 0.1]], ["a", "a", "b", "b"]
    with pytest.warns(RuntimeWarning, match=r"RBSPSD: .*no positive eigenvalue.*the identity is used"):
        fitted = RBSPSD(matrix=form).fit(np.array(X) * [1, 0], y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, np.eye(2) / np.sqrt(2))
    assert_allclose(fitted.weights_, [np.sqrt(0.5)] * 2)
    assert (fitted.margins_ <= 0).all()


def test_with_a_positive_eigenvalue_nothing_is_degenerate(make_numbers):
    assert not RBSPSD().fit(*make_numbers(0)).degenerate_


def test_the_warning_names_the_problem():
    X = [[1.0], [-1], [1], [-1], [0], [0]]
    with pytest.warns(RuntimeWarning, match="for class 'a' against the rest"):
        RBSPSD(mode="one-vs-rest").fit(X, ["a", "a", "b", "b", "c", "c"])


def test_psd_with_equal_hits_and_misses_leaves_the_identity():
    with pytest.warns(RuntimeWarning, match="hits and misses do not differ"):
        assert RBSPSD().fit([[1.0, 2]] * 4, [0, 1, 0, 1]).degenerate_


def test_equal_hits_and_misses_leave_the_identity():
    X, y = [[1.0, 2], [1, 2], [1, 2], [1, 2]], [0, 1, 0, 1]
    with pytest.warns(RuntimeWarning, match="hits and misses do not differ"):
        fitted = RBS().fit(X, y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, np.eye(2) / np.sqrt(2))


def test_a_sample_alone_in_its_class_has_no_margin(oracles, make_numbers):
    X, y = make_numbers(10)
    y[4] = 7
    for mode in ("multiclass", "one-vs-rest"):
        fitted = RBS(mode=mode).fit(X, y)
        assert fitted.n_skipped_ == 1
        if mode == "multiclass":
            assert_array_equal(np.flatnonzero(np.isnan(fitted.margins_)), [4])
        else:
            assert np.argwhere(np.isnan(fitted.margins_)).tolist() == [[4, 2]]


@pytest.mark.parametrize("n", [6, 12])
def test_more_features_than_samples_and_one_feature(make_numbers, n):
    X, y = make_numbers(11, n=n, p=40)
    assert RBS().fit(X, y).matrix_.shape == (40, 40)
    assert RBS().fit(X[:, :1] + 0.1, y).matrix_.shape == (1, 1)


def test_a_constant_feature_of_centred_data_has_no_weight(make_numbers):
    X, y = make_numbers(12)
    fitted = RBS().fit(np.column_stack([X, np.zeros(len(X))]), y)
    assert_array_equal(fitted.matrix_[4], 0)
    assert_array_equal(fitted.matrix_[:, 4], 0)
    assert not fitted.get_support()[4]


def test_order_of_features_and_names_of_classes_do_not_matter(make_numbers):
    X, y = make_numbers(13, n_classes=3)
    fitted = RBS(2).fit(X, y)
    order = [2, 0, 3, 1]
    assert_allclose(RBS(2).fit(X[:, order], y).matrix_, fitted.matrix_[np.ix_(order, order)], atol=1e-12)
    assert_allclose(RBS(2).fit(X, np.array(["z", "m", "a"])[y]).matrix_, fitted.matrix_, atol=1e-12)


def test_matrix_attribute_needs_a_single_matrix(make_numbers):
    X, y = make_numbers(14, n_classes=3)
    fitted = RBS(mode="one-vs-rest").fit(X, y)
    assert fitted.matrices_.shape == (3, 4, 4)
    with pytest.raises(AttributeError, match="matrices_"):
        fitted.matrix_  # noqa: B018
