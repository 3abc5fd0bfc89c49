"""The fixed-point iteration, against rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_relevance._evidence.ascent import PRUNED, fixed_point
from mfbench_relevance._evidence.posterior import GramProblem


@pytest.mark.parametrize("seed", range(4))
def test_kernel_form_equals_rows(linear_problem, oracles, seed):
    X, y, problem = linear_problem(seed)
    mean, beta, noise, evidence = oracles.relevance_vector_machine(X, y, 10.0, problem.noise)
    found = fixed_point(problem, np.full(10, 10.0), 5000, 1e-12)
    assert found.converged
    assert_array_equal(np.isfinite(found.beta), np.isfinite(beta))
    assert_allclose(found.mean, mean, atol=1e-8)
    assert_allclose(1 / found.beta, 1 / beta, atol=1e-8)
    assert found.noise == pytest.approx(noise, rel=1e-8)
    # At every step, the evidence from the kernel equals the evidence from the rows.
    assert_allclose(found.trace[:50], evidence[:50], rtol=1e-9)
    assert (found.mean != 0)[:3].all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prune", [False, True])
def test_evidence_rises(linear_problem, information_problem, seed, prune):
    for problem in (linear_problem(seed)[2], information_problem(seed)):
        found = fixed_point(problem, np.full(len(problem.k), 10.0), 200, 1e-6, prune=prune)
        assert len(found.trace) == found.n_iter + 1
        assert found.fall < 1e-8
        assert found.trace[-1] > found.trace[0] + 1


def test_unit_of_the_kernel_does_not_matter(information_problem):
    problem = information_problem(3)
    c = 37.0
    scaled = GramProblem(c * problem.k, c * problem.kyy, problem.n, c * problem.noise, True, c * problem.K)
    one, other = (fixed_point(p, np.full(len(problem.k), 10.0), 100, 1e-9) for p in (problem, scaled))
    assert_allclose(other.mean, one.mean, rtol=1e-7, atol=1e-10)
    assert other.noise == pytest.approx(c * one.noise, rel=1e-8)


def test_initial_values_hardly_matter(information_problem):
    problem = information_problem(6)
    sets = []
    for beta in (0.001, 1.0, 10.0, 1000.0):
        for noise in (0.001, 0.1, 1.0):
            start = GramProblem(problem.k, problem.kyy, problem.n, noise, True, problem.K)
            sets.append(tuple(fixed_point(start, np.full(len(problem.k), beta), 2000, 1e-6).mean != 0))
    assert len(set(sets)) == 1


def test_noise_floor_is_reported():
    K, k = np.eye(3), np.ones(3)
    found = fixed_point(GramProblem(k, 3.0, 100.0, 0.03, True, K), np.full(3, 10.0), 500, 1e-6)
    assert found.floored
    assert found.noise == pytest.approx(3e-10)
    assert np.isfinite(found.mean).all()


def test_pruning_removes_for_good(linear_problem):
    _, _, problem = linear_problem(7)
    found = fixed_point(problem, np.array([np.inf, *[10.0] * 9]), 2000, 1e-6)
    assert found.mean[0] == 0
    assert (found.beta[np.isfinite(found.beta)] <= PRUNED).all()
