"""Coordinate descent for the box-constrained problem, against general solvers and the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import scale

from mfbench_relevance import feature_kernel
from mfbench_relevance._box.descent import optimality_gap, path, solve_box


def problem(seed, m=12, rank=None):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(rank or 2 * m, m))
    # The response lies in the same space; with a singular kernel and any other k there would be no minimum.
    return factor.T @ factor / len(factor), factor.T @ rng.normal(size=len(factor)) / np.sqrt(len(factor))


def violations(K, k, epsilon, C, w):
    """The optimality conditions, from the Lagrangian."""
    slope = k - K @ w
    inside = (w != 0) & (np.abs(w) < C)
    return max(
        np.maximum(np.abs(slope[w == 0]) - epsilon, 0).max(initial=0),
        np.abs(slope[inside] - epsilon * np.sign(w[inside])).max(initial=0),
        np.maximum(epsilon - np.sign(w[np.abs(w) == C]) * slope[np.abs(w) == C], 0).max(initial=0),
        np.maximum(np.abs(w) - C, 0).max(),
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 1.5), st.sampled_from([0.1, 0.5, np.inf]), st.sampled_from([None, 5]))
def test_conditions_of_optimality(seed, epsilon, C, rank):
    K, k = problem(seed, rank=rank)
    w, _ = solve_box(K, k, epsilon, C, max_iter=100_000)
    assert violations(K, k, epsilon, C, w) < 1e-8
    assert optimality_gap(K, k, epsilon, C, w) == pytest.approx(violations(K, k, epsilon, C, w), abs=1e-12)


def test_conditions_on_mutual_information(make_regression):
    kernel = feature_kernel(*make_regression(0, 400, 60))
    k = kernel.cross[0]
    for epsilon in (0.003, 0.01, 0.03):
        for C in (0.005, 0.01, np.inf):
            assert violations(kernel.features, k, epsilon, C, solve_box(kernel.features, k, epsilon, C)[0]) < 1e-8


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_equals_a_general_solver(oracles, seed, C):
    K, k = problem(seed, m=6)
    for epsilon in (0.1, 0.6):
        w, _ = solve_box(K, k, epsilon, C)
        general = oracles.quadratic_program(K, k, epsilon, C)
        assert_allclose(w, general, atol=1e-4)
        assert oracles.objective(K, k, epsilon, w) <= oracles.objective(K, k, epsilon, general) + 1e-10


@pytest.mark.parametrize("part", [0.9, 0.3, 0.05])
def test_equals_the_lasso(make_regression, part):
    X, y = make_regression(1)
    X, y = scale(X), scale(y)
    K, k = X.T @ X, X.T @ y
    penalty = part * 2 * np.abs(k).max()
    lasso = Lasso(alpha=penalty / (2 * len(X)), fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, y)
    assert_allclose(solve_box(K, k, penalty / 2)[0], lasso.coef_, atol=1e-9)


def test_nothing_from_the_largest_penalty_on():
    K, k = problem(3)
    largest = np.abs(k).max()
    assert not solve_box(K, k, largest)[0].any()
    assert solve_box(K, k, 0.999 * largest)[0].any()
    assert not solve_box(K, np.zeros(12), 0.1)[0].any()


def test_a_feature_without_variance_stays_out():
    K, k = problem(4)
    K[2], K[:, 2], k[2] = 0, 0, 0
    w, _ = solve_box(K, k, 0.1, start=np.ones(12))
    assert w[2] == 0
    assert violations(K, k, 0.1, np.inf, w) < 1e-8


def test_path_equals_single_solutions():
    K, k = problem(5)
    epsilons = np.geomspace(np.abs(k).max(), 0.01, 8)
    expected = [solve_box(K, k, epsilon, 0.4)[0] for epsilon in epsilons]
    assert_allclose(path(K, k, epsilons, 0.4), expected, atol=1e-8)
    assert_array_equal(path(K, k, epsilons, 0.4)[0], np.zeros(12))


def test_too_few_passes_warn():
    K, k = problem(6)
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        solve_box(1e-3 * K + np.ones((12, 12)), k, 1e-6, max_iter=1)
