"""Compiled Newton steps against numerical derivatives, LAPACK and long searches."""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.optimize import approx_fprime

from mfbench_baselines._newton import (
    climb,
    descend,
    factorise,
    information,
    log_likelihood,
    lowest_deviance,
    pair_products,
    score,
    solve_factorised,
)


def problem(n_classes, n=90, width=4, seed=0):
    """Return a design with a row for the constant, the codes of the classes, and coefficients."""
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(n), rng.normal(size=(width - 1, n))])
    codes = rng.integers(0, n_classes, n)
    codes[design[1] > 0.7] = 0
    return design, codes, rng.normal(size=(n_classes - 1, width)) * 0.3


def value(coefficients, design, codes):
    eta = coefficients @ design
    return log_likelihood(eta, codes, np.empty_like(eta))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_derivatives(n_classes):
    design, codes, at = problem(n_classes)
    shares = np.empty((n_classes - 1, len(codes)))
    log_likelihood(at @ design, codes, shares)
    scores = np.vstack([np.zeros(len(codes)), at @ design])
    expected = scores[codes, np.arange(len(codes))].sum() - np.log(np.exp(scores).sum(axis=0)).sum()
    assert value(at, design, codes) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(shares, np.exp(scores[1:]) / np.exp(scores).sum(axis=0), rtol=1e-12)
    numerical = approx_fprime(at.ravel(), lambda flat: value(flat.reshape(at.shape), design, codes), 1e-7)
    np.testing.assert_allclose(score(design, codes, shares, at).ravel(), numerical, atol=1e-4)

    def slopes(flat):
        moved, eta = np.empty_like(shares), flat.reshape(at.shape) @ design
        log_likelihood(eta, codes, moved)
        return score(design, codes, moved, flat.reshape(at.shape)).ravel()

    second = -approx_fprime(at.ravel(), slopes, 1e-7)
    for products in (np.empty((0, len(codes))), pair_products(design)):
        np.testing.assert_allclose(information(design, shares, products), second, atol=1e-4)
    huge = log_likelihood(1e4 * at @ design, codes, shares)
    assert np.isfinite(huge) and np.isfinite(shares).all()


@pytest.mark.parametrize("size", [5, 40])
def test_factors(size):
    rows = np.random.default_rng(0).normal(size=(size, 2 * size))
    matrix, right = rows @ rows.T, rows[:, 0].copy()
    factor = matrix.copy()
    assert factorise(factor)
    np.testing.assert_allclose(solve_factorised(factor, right), np.linalg.solve(matrix, right), rtol=1e-8)
    assert not factorise(-matrix)


@in_turn("n_classes", [2, 3])
@in_turn("limit", [0.0, 0.9, 1.0, 1.1])
def test_a_limit_stops_only_searches_that_end_above_it(n_classes, limit):
    design, codes, at = problem(n_classes)
    _, lowest, converged = climb(design, codes, 0.0 * at, 50, 1e-7, np.inf)
    assert converged
    ends = [climb(design, codes, start, 50, 1e-7, limit * lowest + 1e-6)[1] for start in (0.0 * at, at)]
    if limit >= 1.0:
        assert ends == pytest.approx([lowest, lowest], rel=1e-8)
    else:
        assert np.inf in ends


@pytest.mark.parametrize("n_classes", [2, 3])
def test_dual_bound_is_below_the_minimum_and_reaches_it(n_classes):
    design, codes, at = problem(n_classes)
    best, lowest, _ = climb(design, codes, 0.0 * at, 50, 1e-7, np.inf)
    shares, gaps = np.empty((n_classes - 1, len(codes))), []
    for distance in (0.5, 0.1, 1e-4):
        near = best + distance * at
        log_likelihood(near @ design, codes, shares)
        matrix = information(design, shares, np.empty((0, len(codes))))
        step = np.linalg.solve(matrix, score(design, codes, shares, near).ravel()).reshape(at.shape)
        gaps.append(lowest - lowest_deviance(shares, shares, step @ design, 1e-8 * ((near + step) ** 2).sum()))
    assert min(gaps) > 0
    assert gaps[2] < 1e-6 < gaps[0]
    assert lowest_deviance(shares, shares, np.full_like(shares, -1e3) * codes, 0.0) == 0.0, "too long a step"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_without_a_term_approach_the_smaller_maximum(n_classes):
    design, codes, at = problem(n_classes, n=400)
    best, _, _ = climb(design, codes, 0.0 * at, 50, 1e-10, np.inf)
    eta = best @ design
    shares = np.empty_like(eta)
    log_likelihood(eta, codes, shares)
    inverse = np.linalg.inv(information(design, shares, np.empty((0, len(codes)))))
    for term in (2, 3):
        smaller, lowest, _ = climb(np.delete(design, term, 0), codes, np.delete(0.0 * at, term, 1), 50, 1e-10, np.inf)
        reached, deviance, converged = descend(term, design, codes, best, inverse, eta, shares, np.inf, 1e-7)
        assert converged and deviance == pytest.approx(lowest, rel=1e-9)
        np.testing.assert_allclose(np.delete(reached, term, 1), smaller, atol=1e-5)
        assert descend(term, design, codes, best, inverse, eta, shares, lowest - 0.1, 1e-7)[1] == np.inf
