import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin._nearest.simba_ascent import MarginProblem, climb_batch, mean_utility

EXACT = {"rtol": 0, "atol": 1e-9}

UTILITIES = [("linear", 1.0), ("sigmoid", 1.0), ("sigmoid", 7.0)]


def make_problem(X, y, utility="linear", beta=1.0, length=1.0):
    targets = np.flatnonzero(np.bincount(y)[y] > 1)
    return MarginProblem(X / length, y, targets, length, utility == "sigmoid", beta)


def two_gaussians(seed, n=120, n_features=6):
    """Only the first two features are informative."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, n_features))
    X[:, :2] += 2.5 * y[:, None]
    return X, y


@pytest.mark.parametrize(("utility", "beta"), UTILITIES)
@pytest.mark.parametrize("seed", range(3))
def test_objective_equals_definition(neighbours, messy_table, utility, beta, seed):
    X, y = messy_table(seed)
    w = np.random.default_rng(seed).uniform(-1.5, 1.5, X.shape[1])
    w[1] = 0
    expected = neighbours.simba_objective(X, y, w, utility, beta)
    for length in (1.0, 0.25):
        value, gradient = mean_utility(make_problem(X, y, utility, beta, length), w)
        assert value == pytest.approx(expected[0], abs=1e-9)
        assert_allclose(gradient, expected[1], **EXACT)


@pytest.mark.parametrize(("utility", "beta"), UTILITIES)
def test_gradient_is_the_derivative(neighbours, utility, beta):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 3, 40)
    problem = make_problem(X, y, utility, beta)
    w = rng.uniform(0.5, 1.5, 5)
    numeric = neighbours.finite_differences(lambda v: mean_utility(problem, np.array(v))[0], w)
    assert_allclose(mean_utility(problem, w)[1], numeric, rtol=0, atol=1e-8)


@pytest.mark.parametrize(("utility", "beta"), UTILITIES)
def test_batch_climbs(utility, beta):
    X, y = two_gaussians(5, 60)
    problem = make_problem(X, y, utility, beta)
    w, trace, converged = climb_batch(problem, np.ones(6), 100, 1e-3)
    assert (np.diff(trace) > 0).all()
    assert len(trace) > 2
    assert w @ w == pytest.approx(6)
    assert trace[-1] == pytest.approx(mean_utility(problem, w)[0], abs=1e-12)
    assert converged == (len(trace) <= 100)
    few = climb_batch(problem, np.ones(6), 2, 1e-3)
    assert len(few[1]) == 3
    assert not few[2]


def test_duplicates_of_another_class_add_no_gradient(neighbours):
    X = np.array([[0.0, 0], [0, 0], [1, 2], [1, 2], [3, 1]])
    y = np.array([0, 1, 0, 1, 1])
    value, gradient = mean_utility(make_problem(X, y), np.ones(2))
    expected = neighbours.simba_objective(X, y, [1.0, 1.0])
    assert np.isfinite(gradient).all()
    assert value == pytest.approx(expected[0])
    assert_allclose(gradient, expected[1], **EXACT)
