"""The form of the algebra for more features than rows, against the form for kernels and against plain formulas."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_relevance._evidence.ascent import fixed_point
from mfbench_relevance._evidence.posterior import GramProblem


@pytest.mark.parametrize("n", [20.0, 50.0])
@pytest.mark.parametrize("inside", [[], [4], [0, 3, 7, 20]])
def test_both_forms_are_the_same_model(row_problem, n, inside):
    problem = replace(row_problem(0, 20, 30), n=n)
    kernel = GramProblem(problem.k, problem.kyy, n, problem.noise, True, problem.Z.T @ problem.Z)
    active, beta = np.array(inside, dtype=np.intp), np.linspace(0.5, 2, len(inside))
    one, other = problem.posterior(active, beta, 0.7), kernel.posterior(active, beta, 0.7)
    assert one.evidence == pytest.approx(other.evidence, abs=1e-9)
    assert one.residual == pytest.approx(other.residual, rel=1e-9)
    assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
    assert_allclose(one.gamma, other.gamma, rtol=1e-9)
    for left, right in zip(problem.pull(one, 0.7), kernel.pull(other, 0.7), strict=True):
        assert_allclose(left, right, rtol=1e-8, atol=1e-8)
    assert_allclose(problem.diagonal, kernel.diagonal)


def test_digits_survive_little_noise(row_problem):
    problem = row_problem(1, 20, 60)
    noise, beta = 1e-10 * problem.kyy, np.full(60, 3.0)
    covariance = noise * np.eye(20) + problem.Z @ problem.Z.T / 3.0
    S, Q = problem.pull(problem.posterior(np.arange(60), beta, noise), noise)
    assert_allclose(S, np.einsum("ij,ij->j", problem.Z, np.linalg.solve(covariance, problem.Z)), rtol=1e-6)
    assert_allclose(Q, problem.Z.T @ np.linalg.solve(covariance, problem.t), rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_fixed_point_is_the_same_from_rows_and_from_their_kernel(row_problem, seed):
    problem = row_problem(seed, 40, 60)
    kernel = GramProblem(problem.k, problem.kyy, problem.n, problem.noise, True, problem.Z.T @ problem.Z)
    one, other = (fixed_point(p, np.full(60, 10.0), 100, 1e-6) for p in (problem, kernel))
    assert_allclose(one.trace[:10], other.trace[:10], rtol=1e-9)
    assert one.trace[-1] == pytest.approx(other.trace[-1], abs=1e-3)
    assert_array_equal(np.isfinite(one.beta), np.isfinite(other.beta))
