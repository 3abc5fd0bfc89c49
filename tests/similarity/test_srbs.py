"""sRBS: its cost, gradient and steps against the definition and finite differences."""

import warnings

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mfbench_similarity import SRBS, SRBSPSD, SimilarityKNN
from mfbench_similarity.srbs import Cost

FORMS = ["square", "symmetric", "diagonal"]


def random_cost(seed, form, beta=3.0, l2=0.2):
    rng = np.random.default_rng(seed)
    cost = Cost(rng.normal(size=(20, 4)), rng.normal(size=(20, 4)), beta, l2, form)
    A = rng.normal(size=4) if form == "diagonal" else rng.normal(size=(4, 4))
    return cost, (A + A.T if form == "symmetric" else A)


@in_turn("form", ["square", "diagonal"])
@in_turn("seed", range(5))
def test_gradient_equals_finite_differences(form, seed):
    cost, A = random_cost(seed, form)
    step = 1e-6
    numeric = np.empty(A.size)
    for entry in range(A.size):
        e = np.zeros(A.size)
        e[entry] = step
        e = e.reshape(A.shape)
        numeric[entry] = (cost.value(A + e) - cost.value(A - e)) / (2 * step)
    assert_allclose(cost.gradient(A).ravel(), numeric, atol=1e-6)


@in_turn("seed", range(5))
def test_gradient_of_symmetric_matrices(seed):
    """Along any symmetric direction it gives the slope, and it is symmetric itself."""
    cost, A = random_cost(seed, "symmetric")
    direction = np.random.default_rng(seed).normal(size=(4, 4))
    direction += direction.T
    slope = approx_fprime([0.0], lambda t: cost.value(A + t[0] * direction), 1e-7)[0]
    assert_allclose((cost.gradient(A) * direction).sum(), slope, rtol=1e-5, atol=1e-5)
    assert_allclose(cost.gradient(A), cost.gradient(A).T)


@pytest.mark.parametrize("k", [1, 3])
def test_cost_equals_definition(oracles, make_numbers, k):
    X, y = make_numbers(0, n_classes=3)
    fitted = SRBS(k, beta=5.0, l2=0.3, max_iter=3, tol=0.0).fit(X, y)
    N = oracles.product_of_norms
    assert_allclose(fitted.objective_traces_[0][0], oracles.srbs_cost(np.eye(4), X, y, k, 5.0, 0.3, N))
    assert_allclose(fitted.objective_traces_[0][-1], oracles.srbs_cost(fitted.matrix_, X, y, k, 5.0, 0.3, N))
    assert len(fitted.objective_traces_[0]) == 4
    assert fitted.n_iter_ == 3
    assert not fitted.converged_


def test_first_step_equals_definition(oracles, make_numbers):
    X, y = make_numbers(1)
    cost = lambda a: oracles.srbs_cost(a.reshape(4, 4), X, y, 1, 2.0, 0.5, oracles.product_of_norms)  # noqa: E731
    slope = approx_fprime(np.eye(4).ravel(), cost, 1e-7).reshape(4, 4)
    fitted = SRBS(beta=2.0, l2=0.5, max_iter=1).fit(X, y)
    assert_allclose(fitted.matrix_, np.eye(4) - slope / len(X), atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_a_stationary_point_balances_pull_and_penalty(make_numbers, form):
    """2 l2 A = + beta sum x v' s(1 - s); the condition in the paper has a minus sign."""
    X, y = make_numbers(2)
    fitted = SRBS(beta=3.0, l2=0.5, matrix=form, solver="lbfgs", tol=1e-10).fit(X, y)
    A = fitted._matrices[0]
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    S = unit @ unit.T
    np.fill_diagonal(S, -np.inf)
    hit = np.where(y[:, None] == y, S, -np.inf).argmax(axis=1)
    miss = np.where(y[:, None] != y, S, -np.inf).argmax(axis=1)
    V = unit[hit] - unit[miss]
    m = ((unit * A if form == "diagonal" else unit @ A) * V).sum(axis=1)
    pull = 3.0 * (unit * (expit(3 * m) * expit(-3 * m))[:, None]).T @ V
    pull = {"square": pull, "symmetric": (pull + pull.T) / 2, "diagonal": np.diag(pull)}[form]
    assert_allclose(2 * 0.5 * A, pull, atol=1e-6)
    trace = np.array(fitted.objective_traces_[0])
    assert (np.diff(trace) <= 1e-12).all()
    assert fitted.converged_


@pytest.mark.parametrize("estimator", [SRBS, SRBSPSD])
def test_without_steepness_the_penalty_shrinks_the_identity(make_numbers, estimator):
    X, y = make_numbers(3)
    fitted = estimator(beta=0.0, l2=2.0, max_iter=5, tol=0.0).fit(X, y)
    factor = np.prod([1 - 2 * 2.0 / (t * len(X)) for t in range(1, 6)])
    assert_allclose(fitted.matrix_, factor * np.eye(4), rtol=1e-12)


def test_a_large_penalty_leaves_little(make_numbers):
    X, y = make_numbers(4)
    small, large = (
        np.linalg.norm(SRBS(beta=1.0, l2=l2, solver="lbfgs", tol=1e-9).fit(X, y).matrix_) for l2 in (1.0, 1e4)
    )
    assert large < 1e-3 * small


def test_stops_when_the_matrix_hardly_changes(make_numbers):
    X, y = make_numbers(5)
    fitted = SRBS(beta=5.0, tol=1e-2).fit(X, y)
    assert fitted.converged_
    assert fitted.n_iter_ < 500
    assert SRBS(beta=5.0, tol=1e-4).fit(X, y).n_iter_ > fitted.n_iter_


def test_steep_sigmoids_do_not_overflow(make_numbers):
    X, y = make_numbers(6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for beta in (300.0, 1e5, 1e300):
            assert np.isfinite(SRBS(beta=beta).fit(X, y).matrix_).all()
    with pytest.warns(ConvergenceWarning, match="smaller beta"):
        SRBS(beta=1e15, l2=0.0).fit(X, y)


def test_automatic_steepness(oracles, make_numbers):
    X, y = make_numbers(7)
    median = np.median(np.abs(oracles.margins(X, y, 1, np.eye(4), oracles.product_of_norms)))
    assert_allclose(SRBS().fit(X, y).beta_, [4 / median])


@pytest.mark.parametrize("form", ["symmetric", "diagonal"])
def test_semi_definite_version(make_numbers, form):
    X, y = make_numbers(8)
    A = SRBSPSD(beta=1e3, matrix=form).fit(X, y).matrix_
    assert_allclose(A, A.T, atol=1e-12)
    assert np.linalg.eigvalsh(A).min() > -1e-10


def test_semi_definite_version_without_a_positive_eigenvalue(make_numbers):
    X, y = make_numbers(9)
    with pytest.raises(ValueError, match=r"SRBSPSD: .*no positive eigenvalue"):
        SRBSPSD(beta=0.0, l2=100.0).fit(X, y)


@pytest.mark.parametrize("rule", ["knn-a", "sknn-a"])
def test_starts_at_the_cosine(make_numbers, rule):
    X, y = make_numbers(10, n_classes=3)
    queries, _ = make_numbers(11, n=100)
    fitted = SRBS(3, beta=0.0, l2=0.0, rule=rule).fit(X, y)
    cosine = SimilarityKNN("cosine", 3, rule=rule).fit(X, y)
    assert_allclose(fitted.matrix_, np.eye(4))
    assert (fitted.predict(queries) == cosine.predict(queries)).all()


def test_learns_what_the_cosine_cannot_see():
    """The sign of one feature separates the classes; four larger features are noise."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 200)
    X = np.column_stack([np.where(y == 0, 1, -1) * rng.uniform(0.5, 1, 400), 2 * rng.normal(size=(400, 4))])
    cosine, learned = (
        estimator.fit(X[:200], y[:200]).score(X[200:], y[200:])
        for estimator in (SimilarityKNN("cosine", 5), SRBS(5, solver="lbfgs", l2=1e-3))
    )
    assert cosine < 0.9
    assert learned > 0.95
