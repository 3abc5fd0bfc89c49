import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import scale

from mfbench_relevance import feature_kernel
from mfbench_relevance._evidence.fixed_point import PRUNED, fixed_point
from mfbench_relevance._evidence.posterior import Problem, posterior
from mfbench_relevance._evidence.sequential import factors, sequential


def linear_problem(seed, n=60, m=10, strong=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    y = X[:, :strong] @ [2.0, -1.5, 1.0][:strong] + rng.normal(size=n)
    X, y = scale(X), scale(y)
    return X, y, Problem(X.T @ X, X.T @ y, float(y @ y), float(n), float(y @ y) / 100, True)


def information_problem(make_regression, seed, bins=8, n=300, m=12):
    X, y = make_regression(seed, n, m)
    kernel = feature_kernel(X, y, bins=bins, target_bins=4)
    assert np.linalg.eigvalsh(kernel.matrix)[0] > 0
    kyy = float(kernel.target[0])
    return Problem(kernel.features, kernel.cross[0], kyy, float(n), kyy / 100, True)


@pytest.mark.parametrize("seed", range(4))
def test_kernel_form_equals_rows(oracles, seed):
    X, y, problem = linear_problem(seed)
    mean, beta, noise, evidence = oracles.relevance_vector_machine(X, y, 10.0, problem.noise)
    found = fixed_point(problem, np.full(10, 10.0), 5000, 1e-12)
    assert found.converged
    assert_array_equal(np.isfinite(found.beta), np.isfinite(beta))
    assert_allclose(found.mean, mean, atol=1e-8)
    assert_allclose(1 / found.beta, 1 / beta, atol=1e-8)
    assert found.noise == pytest.approx(noise, rel=1e-8)
    # Step by step: the evidence through the kernel is the evidence of the rows.
    assert_allclose(found.trace[:50], evidence[:50], rtol=1e-9)
    assert (found.mean != 0)[:3].all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prune", [False, True])
def test_evidence_rises(make_regression, seed, prune):
    for problem in (linear_problem(seed)[2], information_problem(make_regression, seed)):
        found = fixed_point(problem, np.full(len(problem.k), 10.0), 200, 1e-6, prune=prune)
        assert len(found.trace) == found.n_iter + 1
        assert found.fall < 1e-8
        assert found.trace[-1] > found.trace[0] + 1


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_stationary_at_the_end(make_regression, algorithm):
    problem = information_problem(make_regression, 1)
    found = _solve(problem, algorithm)
    assert found.converged
    active = np.flatnonzero(np.isfinite(found.beta))
    assert 0 < len(active) < len(problem.k)

    def evidence(log_beta, log_noise):
        return posterior(problem, active, np.exp(log_beta), np.exp(log_noise)).evidence

    at, noise, h = np.log(found.beta[active]), np.log(found.noise), 1e-4
    for i in range(len(active)):
        step = h * np.eye(len(active))[i]
        assert abs(evidence(at + step, noise) - evidence(at - step, noise)) / (2 * h) < 1e-4
    assert abs(evidence(at, noise + h) - evidence(at, noise - h)) / (2 * h) < 1e-4


def _solve(problem, algorithm, tol=1e-9):
    if algorithm == "sequential":
        return sequential(problem, 5000, tol)
    return fixed_point(problem, np.full(len(problem.k), 10.0), 5000, tol)


@pytest.mark.parametrize("seed", range(6))
def test_sequential_reaches_the_same_evidence(make_regression, seed):
    for problem in (linear_problem(seed)[2], information_problem(make_regression, seed)):
        one, other = _solve(problem, "fixed-point"), _solve(problem, "sequential")
        assert other.trace[-1] == pytest.approx(one.trace[-1], abs=1e-6)
        assert_allclose(other.mean, one.mean, atol=1e-5 * np.abs(one.mean).max())
        assert other.fall < 1e-8


@pytest.mark.parametrize("inside", [[], [0], [0, 3, 5]])
def test_gains_equal_differences_of_the_evidence(inside):
    _, _, problem = linear_problem(2)
    beta = np.full(10, np.inf)
    beta[inside] = 3.0

    def evidence(values):
        active = np.flatnonzero(np.isfinite(values))
        return posterior(problem, active, values[active], 0.7).evidence

    active = np.flatnonzero(np.isfinite(beta))
    table = factors(problem, posterior(problem, active, beta[active], 0.7), beta, 0.7)
    for i in range(10):
        changed = beta.copy()
        changed[i] = table.best[i]
        assert table.gain[i] == pytest.approx(evidence(changed) - evidence(beta), abs=1e-9)
        for other in (table.best[i] * 1.1, table.best[i] / 1.1, 1.0):
            changed[i] = other
            assert evidence(changed) - evidence(beta) <= table.gain[i] + 1e-9


def test_unit_of_the_kernel_does_not_matter(make_regression):
    problem = information_problem(make_regression, 3)
    c = 37.0
    scaled = Problem(c * problem.K, c * problem.k, c * problem.kyy, problem.n, c * problem.noise, True)
    one, other = (fixed_point(p, np.full(len(problem.k), 10.0), 100, 1e-9) for p in (problem, scaled))
    assert_allclose(other.mean, one.mean, rtol=1e-7, atol=1e-10)
    assert other.noise == pytest.approx(c * one.noise, rel=1e-8)


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_keep_rule_of_a_diagonal_kernel(algorithm):
    rng = np.random.default_rng(0)
    diagonal, k = rng.uniform(1, 4, 30), rng.uniform(-0.4, 0.4, 30)
    found = _solve(Problem(np.diag(diagonal), k, 3.0, 100.0, 0.03, True), algorithm)
    assert_array_equal(found.mean != 0, k**2 > found.noise * diagonal)
    assert 0 < (found.mean != 0).sum() < 30


@pytest.mark.parametrize("algorithm", ["fixed-point", "sequential"])
def test_nothing_to_select(algorithm):
    found = _solve(Problem(np.eye(5), np.zeros(5), 2.0, 50.0, 0.02, True), algorithm)
    assert not found.mean.any()
    assert np.isinf(found.beta).all()
    assert found.noise == pytest.approx(2.0 / 50)
    assert found.converged


def test_order_of_features_does_not_matter(make_regression):
    problem = information_problem(make_regression, 4)
    order = np.random.default_rng(0).permutation(len(problem.k))
    turned = Problem(problem.K[np.ix_(order, order)], problem.k[order], problem.kyy, problem.n, problem.noise, True)
    for algorithm in ("fixed-point", "sequential"):
        assert_allclose(_solve(turned, algorithm).mean, _solve(problem, algorithm).mean[order], atol=1e-7)


def test_duplicates_share_and_constants_stay_out():
    X, y, problem = linear_problem(5)
    X = np.column_stack([X, X[:, 0], np.zeros(60)])
    doubled = Problem(X.T @ X, X.T @ y, problem.kyy, problem.n, problem.noise, True)
    one, both = fixed_point(problem, np.full(10, 10.0), 3000, 1e-9), fixed_point(doubled, np.full(12, 10.0), 3000, 1e-9)
    assert both.mean[0] == pytest.approx(both.mean[10])
    assert both.mean[0] + both.mean[10] == pytest.approx(one.mean[0], abs=1e-5)
    assert both.trace[-1] == pytest.approx(one.trace[-1], abs=1e-5)
    assert both.mean[11] == 0
    last = sequential(doubled, 3000, 1e-9)
    assert last.mean[0] + last.mean[10] == pytest.approx(one.mean[0], abs=1e-5)
    assert last.trace[-1] == pytest.approx(one.trace[-1], abs=1e-5)


def test_initial_values_hardly_matter(make_regression):
    problem = information_problem(make_regression, 6)
    sets = []
    for beta in (0.001, 1.0, 10.0, 1000.0):
        for noise in (0.001, 0.1, 1.0):
            start = Problem(problem.K, problem.k, problem.kyy, problem.n, noise, True)
            sets.append(tuple(fixed_point(start, np.full(len(problem.k), beta), 2000, 1e-6).mean != 0))
    assert len(set(sets)) == 1


def test_noise_floor_is_told():
    K, k = np.eye(3), np.ones(3)
    found = fixed_point(Problem(K, k, 3.0, 100.0, 0.03, True), np.full(3, 10.0), 500, 1e-6)
    assert found.floored
    assert found.noise == pytest.approx(3e-10)
    assert np.isfinite(found.mean).all()


def test_too_indefinite_for_a_posterior():
    problem = Problem(np.array([[1.0, 3.0], [3.0, 1.0]]), np.ones(2), 2.0, 50.0, 0.01, True)
    with pytest.raises(ValueError, match="set repair='clip'"):
        posterior(problem, np.arange(2), np.ones(2), 0.01)


def test_pruning_removes_for_good():
    _, _, problem = linear_problem(7)
    found = fixed_point(problem, np.array([np.inf, *[10.0] * 9]), 2000, 1e-6)
    assert found.mean[0] == 0
    assert (found.beta[np.isfinite(found.beta)] <= PRUNED).all()
