"""Active sets come to the minimum of all terms."""

import numpy as np
import pytest

from mfbench_baselines import _hiernet_active
from mfbench_baselines._hiernet_active import solve_weak_active
from mfbench_baselines._hiernet_solver import Problem, objective, prox, solve_weak


def problem_of(family, squares):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 12))
    X -= X.mean(axis=0)
    y = X[:, 0] + X[:, 1] * X[:, 2] - X[:, 3] ** 2 + rng.normal(size=150)
    return Problem(X, (y > 0).astype(float) if family == "logistic" else y, family, squares)


def largest_gradient(problem, variables, intercept, penalty):
    """The largest entry of the generalised gradient of all terms."""
    step = 1e-4
    gradient, slope = problem.gradient(problem.predictor(variables, intercept))
    moved = np.empty_like(variables)
    prox(variables - step * gradient, step, penalty, problem.squares, moved)
    return max(np.abs(moved - variables).max() / step, abs(slope))


@pytest.mark.parametrize(
    ("dense", "newton"), [(0.3, 80), (0.3, 0), (0.0, 80)], ids=["active", "active without Newton", "all terms at once"]
)
@pytest.mark.parametrize("squares", [True, False])
@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_minimum_of_all_terms(monkeypatch, family, squares, dense, newton):
    monkeypatch.setattr(_hiernet_active, "DENSE", dense)
    monkeypatch.setattr(_hiernet_active, "NEWTON", newton)
    ours, theirs = problem_of(family, squares), problem_of(family, squares)
    largest = ours.largest_penalty()
    start = ours.start()
    same = theirs.start()
    for share in (1.0, 0.7, 0.4, 0.2, 0.1):
        tol, penalty = 1e-5 * largest, share * largest
        *start, steps = solve_weak_active(ours, penalty, tuple(start), tol=tol, max_iter=10_000)
        *same, _ = solve_weak(theirs, penalty, tuple(same), tol=tol, max_iter=10_000)
        assert steps < 10_000
        assert largest_gradient(ours, *start, penalty) <= 3 * tol
        value, other = objective(ours, *start, penalty), objective(theirs, *same, penalty)
        assert value <= other * (1 + 1e-9)
        assert value == pytest.approx(other, rel=1e-5)
    assert (start[0][:, 2:] != 0).any()


def test_stops_after_the_allowed_steps():
    problem = problem_of("logistic", True)
    penalty = 0.1 * problem.largest_penalty()
    *_, steps = solve_weak_active(problem, penalty, problem.start(), tol=1e-12, max_iter=7)
    assert steps == 7


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_one_step_is_a_step(share):
    """Whether it goes on with the active terms or, as with a small penalty, with all: the limit holds, and it moves."""
    problem = problem_of("logistic", True)
    variables, _, steps = solve_weak_active(
        problem, share * problem.largest_penalty(), problem.start(), tol=1e-12, max_iter=1
    )
    assert steps == 1
    assert (variables != problem.start()[0]).any()
