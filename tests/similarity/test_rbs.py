"""RBS and RBS-PSD against brute force and a general optimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from mfbench_similarity import RBS, RBSPSD
from mfbench_similarity._cones import project_psd


def ones(X, Y):
    return np.ones((len(X), len(Y)))


def norms(X, Y):
    return np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)


def dice(X, Y):
    return ((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)) / 2


def parts(G, form):
    return {"square": G, "symmetric": (G + G.T) / 2, "diagonal": np.diag(np.diag(G))}[form]


@pytest.mark.parametrize("form", ["square", "symmetric", "diagonal"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("seed", range(3))
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


def test_projection_keeps_the_symmetric_part_of_semi_definite_matrices():
    root = np.random.default_rng(1).normal(size=(5, 2))
    A = root @ root.T
    skew = np.triu(np.ones((5, 5)), 1)
    assert_allclose(project_psd(A + skew - skew.T), A, atol=1e-12)
    assert_allclose(project_psd(np.array([2.0, -1, 0])), [2, 0, 0])


@pytest.mark.parametrize("eigenvalues", [[3, 2, 1], [3, 2, -1], [3, 0, 0], [1, -2, -3]])
def test_projection_equals_that_of_the_eigenvalues(eigenvalues):
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    A = turn * eigenvalues @ turn.T
    assert_allclose(project_psd(A), turn * np.maximum(eigenvalues, 0) @ turn.T, atol=1e-12)


@pytest.mark.parametrize("form", ["symmetric", "diagonal"])
def test_without_a_positive_eigenvalue_nothing_is_learned(form):
    """Every hit points the other way, every miss the same way."""
    X, y = [[1.0, 0], [-1, 0], [1, 0.1], [-1, 0.1]], ["a", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"RBSPSD: .*no positive eigenvalue.*without the projection"):
        RBSPSD(matrix=form).fit(np.array(X) * [1, 0], y)


def test_the_error_names_the_problem():
    X = [[1.0], [-1], [1], [-1], [0], [0]]
    with pytest.raises(ValueError, match="for class 'a' against the rest"):
        RBSPSD(mode="one-vs-rest").fit(X, ["a", "a", "b", "b", "c", "c"])


@pytest.mark.parametrize("estimator", [RBS(2), RBS(2, "symmetric"), RBS(2, mode="one-vs-rest")])
@pytest.mark.parametrize(("function", "name"), [(ones, "none"), (norms, "norms")])
def test_own_functions_equal_built_in_factors(make_numbers, estimator, function, name):
    X, y = make_numbers(7, n_classes=3)
    queries, _ = make_numbers(8)
    built_in = estimator.set_params(normalization=name).fit(X, y)
    matrices, margins, decisions = built_in.matrices_, built_in.margins_, built_in.decision_function(queries)
    own = estimator.set_params(normalization=function).fit(X, y)
    assert_allclose(own.matrices_, matrices, atol=1e-12)
    assert_allclose(own.margins_, margins, atol=1e-12)
    assert_allclose(own.decision_function(queries), decisions, atol=1e-9)


def test_own_function_equals_definition(oracles, make_numbers):
    X, y = make_numbers(9, n_classes=3)
    fitted = RBS(2, normalization=dice).fit(X, y)
    G = oracles.rbs_sum(X, y, 2, oracles.dice)
    assert_allclose(fitted.matrix_, G / np.linalg.norm(G), atol=1e-12)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X, Y: np.ones(len(X)), "one N per pair"),
        (lambda X, Y: -np.ones((len(X), len(Y))), "at least 0"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "finite"),
    ],
)
def test_bad_functions_are_told(make_numbers, function, words):
    with pytest.raises(ValueError, match=words):
        RBS(normalization=function).fit(*make_numbers(0))


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


def test_one_matrix_only_where_there_is_one(make_numbers):
    X, y = make_numbers(14, n_classes=3)
    fitted = RBS(mode="one-vs-rest").fit(X, y)
    assert fitted.matrices_.shape == (3, 4, 4)
    with pytest.raises(AttributeError, match="matrices_"):
        fitted.matrix_  # noqa: B018
