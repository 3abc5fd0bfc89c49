"""The sequential variant, and what both algorithms have in common."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import scale

from mfbench_relevance._evidence.ascent import empty, factors, fixed_point, sequential
from mfbench_relevance._evidence.posterior import GramProblem


def _solve(problem, algorithm, tol=1e-9):
    if algorithm == "sequential":
        return sequential(problem, empty(problem), 5000, tol)
    return fixed_point(problem, np.full(len(problem.k), 10.0), 5000, tol)


@pytest.mark.parametrize("seed", range(6))
def test_sequential_reaches_the_same_evidence(linear_problem, information_problem, seed):
    for problem in (linear_problem(seed)[2], information_problem(seed)):
        one, other = _solve(problem, "fixed-point"), _solve(problem, "sequential")
        assert other.trace[-1] == pytest.approx(one.trace[-1], abs=1e-6)
        assert_allclose(other.mean, one.mean, atol=1e-5 * np.abs(one.mean).max())
        assert other.fall < 1e-8


@pytest.mark.parametrize("inside", [[], [0], [0, 3, 5]])
def test_gains_equal_differences_of_the_evidence(linear_problem, inside):
    _, _, problem = linear_problem(2)
    beta = np.full(10, np.inf)
    beta[inside] = 3.0

    def evidence(values):
        active = np.flatnonzero(np.isfinite(values))
        return problem.posterior(active, values[active], 0.7).evidence

    active = np.flatnonzero(np.isfinite(beta))
    table = factors(problem, problem.posterior(active, beta[active], 0.7), beta, 0.7)
    for i in range(10):
        changed = beta.copy()
        changed[i] = table.best[i]
        assert table.gain[i] == pytest.approx(evidence(changed) - evidence(beta), abs=1e-9)
        for other in (table.best[i] * 1.1, table.best[i] / 1.1, 1.0):
            changed[i] = other
            assert evidence(changed) - evidence(beta) <= table.gain[i] + 1e-9


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_stationary_at_the_end(information_problem, algorithm):
    problem = information_problem(1)
    found = _solve(problem, algorithm)
    assert found.converged
    active = np.flatnonzero(np.isfinite(found.beta))
    assert 0 < len(active) < len(problem.k)

    def evidence(log_beta, log_noise):
        return problem.posterior(active, np.exp(log_beta), np.exp(log_noise)).evidence

    at, noise, h = np.log(found.beta[active]), np.log(found.noise), 1e-4
    for i in range(len(active)):
        step = h * np.eye(len(active))[i]
        assert abs(evidence(at + step, noise) - evidence(at - step, noise)) / (2 * h) < 1e-4
    assert abs(evidence(at, noise + h) - evidence(at, noise - h)) / (2 * h) < 1e-4


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_keep_rule_of_a_diagonal_kernel(algorithm):
    rng = np.random.default_rng(0)
    diagonal, k = rng.uniform(1, 4, 30), rng.uniform(-0.4, 0.4, 30)
    found = _solve(GramProblem(k, 3.0, 100.0, 0.03, True, np.diag(diagonal)), algorithm)
    assert_array_equal(found.mean != 0, k**2 > found.noise * diagonal)
    assert 0 < (found.mean != 0).sum() < 30


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_nothing_to_select(algorithm):
    found = _solve(GramProblem(np.zeros(5), 2.0, 50.0, 0.02, True, np.eye(5)), algorithm)
    assert not found.mean.any()
    assert np.isinf(found.beta).all()
    assert found.noise == pytest.approx(2.0 / 50)
    assert found.converged


def test_order_of_features_does_not_matter(information_problem):
    problem = information_problem(4)
    order = np.random.default_rng(0).permutation(len(problem.k))
    turned = GramProblem(problem.k[order], problem.kyy, problem.n, problem.noise, True, problem.K[np.ix_(order, order)])
    for algorithm in ("fixed-point", "sequential"):
        assert_allclose(_solve(turned, algorithm).mean, _solve(problem, algorithm).mean[order], atol=1e-7)


def test_duplicates_share_and_constants_stay_out(linear_problem):
    X, y, problem = linear_problem(5)
    X = np.column_stack([X, X[:, 0], np.zeros(60)])
    doubled = GramProblem(X.T @ y, problem.kyy, problem.n, problem.noise, True, X.T @ X)
    one, both = fixed_point(problem, np.full(10, 10.0), 3000, 1e-9), fixed_point(doubled, np.full(12, 10.0), 3000, 1e-9)
    assert both.mean[0] == pytest.approx(both.mean[10])
    assert both.mean[0] + both.mean[10] == pytest.approx(one.mean[0], abs=1e-5)
    assert both.trace[-1] == pytest.approx(one.trace[-1], abs=1e-5)
    assert both.mean[11] == 0
    last = sequential(doubled, empty(doubled), 3000, 1e-9)
    assert last.mean[0] + last.mean[10] == pytest.approx(one.mean[0], abs=1e-5)
    assert last.trace[-1] == pytest.approx(one.trace[-1], abs=1e-5)


def test_stops_where_it_is_told_and_says_so(row_problem):
    problem = row_problem(0)
    for steps in (1, 3):
        found = sequential(problem, empty(problem), steps, 1e-6)
        assert (found.n_iter, found.converged, len(found.trace)) == (steps, False, steps + 1)


@pytest.mark.parametrize("shape", [(300, 200, 20), (80, 100, 20)])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_dependent_columns_do_no_harm_without_noise(shape, noise):
    n, m, rank = shape
    rng = np.random.default_rng(0)
    X = scale(rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)))
    y = scale(X[:, :3] @ [2.0, -1.5, 1.0] + noise * rng.normal(size=n))
    problem = GramProblem(X.T @ y, float(y @ y), float(n), float(y @ y) / 100, True, X.T @ X)
    found = sequential(problem, empty(problem), 500, 1e-6)
    assert found.converged
    assert found.n_iter < 100
    assert found.floored == (noise == 0)
