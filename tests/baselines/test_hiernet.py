"""The hierarchical lasso against a general solver for constrained problems, and its optimality conditions."""

import numpy as np
import pytest
from in_turn import in_turn
from scipy.optimize import LinearConstraint, approx_fprime, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from mfbench_baselines._hiernet_solver import QUADRATIC, Problem, objective, prox, solve_strong, solve_weak
from mfbench_baselines.hiernet import HierNet, first_minimum

TIGHT = {"tol": 1e-7, "max_iter": 20_000}


def sample(family, n=60, p=3, seed=0, squares=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    signal = X[:, 0] - 0.5 * X[:, 1] + 1.5 * X[:, 0] * X[:, 1] + 0.7 * X[:, 2] ** 2
    y = signal + rng.normal(size=n) if family == "gaussian" else (signal + rng.logistic(size=n) > 0.5).astype(float)
    return Problem(X, y, family, squares)


def by_definition(problem, main, pairs, intercept, parts, penalty):
    """The criterion as the paper states it, one product at a time."""
    n, p = problem.X.shape
    eta = np.full(n, intercept)
    for i in range(n):
        for j in range(p):
            eta[i] += main[j] * problem.X[i, j]
            for k in range(p):
                product = problem.X[i, j] * problem.X[i, k] - (problem.X[:, j] * problem.X[:, k]).mean()
                eta[i] += product * pairs[j, k] * (1.0 if j == k else 0.5)
    y = problem.y
    loss = 0.5 * ((y - eta) ** 2).sum() if problem.family == "gaussian" else (np.logaddexp(0, eta) - y * eta).sum()
    linear, quadratic = penalty * (1 - QUADRATIC), penalty * QUADRATIC
    size = np.abs(pairs).sum() + np.abs(np.diag(pairs)).sum()
    return loss + linear * (parts.sum() + size / 2) + quadratic * ((parts**2).sum() + (pairs**2).sum())


def by_general_solver(problem, penalty, strong):
    """The smallest criterion that SLSQP reaches, with every variable split into two non-negative ones."""
    p = problem.X.shape[1]
    count = 2 * p + 2 * p * p

    def unpack(flat):
        return flat[0], flat[1 : 1 + 2 * p].reshape(2, p), flat[1 + 2 * p :].reshape(2, p, p)

    products = np.einsum("ij,ik->ijk", problem.X, problem.X)
    products = (products - products.mean(axis=0)) * problem.share

    def value(flat):
        intercept, parts, halves = unpack(flat)
        eta = intercept + problem.X @ (parts[0] - parts[1]) + np.tensordot(products, halves[0] - halves[1], 2)
        residual = eta - problem.y if problem.family == "gaussian" else 1 / (1 + np.exp(-eta)) - problem.y
        linear, quadratic = penalty * (1 - QUADRATIC), penalty * QUADRATIC
        weights = linear * (0.5 + 0.5 * np.eye(p))
        total = problem.loss(eta) + linear * parts.sum() + (weights * halves.sum(axis=0)).sum()
        total += quadratic * ((parts**2).sum() + (halves**2).sum())
        slope, pull = problem.X.T @ residual, np.tensordot(residual, products, 1)
        gradient = [np.array([residual.sum()]), slope + linear, -slope + linear]
        gradient += [(pull + weights).ravel(), (-pull + weights).ravel()]
        return total, np.concatenate(gradient) + 2 * quadratic * np.append(0.0, flat[1:])

    rows = np.zeros((p, count + 1))
    for j in range(p):
        rows[j, [1 + j, 1 + p + j]] = 1
        for half in range(2):
            begin = 1 + 2 * p + half * p * p + j * p
            rows[j, begin : begin + p] = -1
    constraints = [LinearConstraint(rows, 0, np.inf)]
    if strong:
        equal = []
        for j in range(p):
            for k in range(j):
                row = np.zeros((2, p, p))
                row[0, j, k] = row[1, k, j] = 1
                row[0, k, j] = row[1, j, k] = -1
                equal.append(np.concatenate([np.zeros(1 + 2 * p), row.ravel()]))
        constraints.append(LinearConstraint(np.array(equal), 0, 0))
    bounds = [(None, None)] + [(0, None)] * count
    best = minimize(
        value,
        np.append(problem.start()[1], np.full(count, 0.01)),
        jac=True,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    return best.fun


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("hierarchy", ["weak", "strong"])
@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_objective_matches_a_general_solver(family, hierarchy, share):
    problem = sample(family)
    penalty = share * problem.largest_penalty()
    solve = solve_strong if hierarchy == "strong" else solve_weak
    variables, intercept, _ = solve(problem, penalty, problem.start(), **TIGHT)
    parts, pairs = variables[:, :2].T, variables[:, 2:]
    ours = by_definition(problem, parts[0] - parts[1], pairs, intercept, parts, penalty)
    assert objective(problem, variables, intercept, penalty) == pytest.approx(ours, rel=1e-12)
    assert ours == pytest.approx(by_general_solver(problem, penalty, hierarchy == "strong"), rel=1e-5)
    assert (variables[:, :2] >= 0).all()
    assert (np.abs(pairs).sum(axis=1) <= parts.sum(axis=0) + 1e-12).all()
    if hierarchy == "strong":
        np.testing.assert_array_equal(pairs, pairs.T)


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("share", [0.1, 0.01])
def test_strong_hierarchy_reaches_the_minimum_at_the_default_tolerance(seed, share):
    """Few rows of two classes: both copies of the pairs agree long before the objective is at its minimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    signal = X[:, 0] - 0.5 * X[:, 1] + 1.5 * X[:, 0] * X[:, 1] + 0.7 * X[:, 2] ** 2
    y = (signal + rng.logistic(size=25) > 0.5).astype(float)
    problem = Problem(X, y, "gaussian", True)
    largest = problem.largest_penalty()
    variables, intercept, steps = solve_strong(
        problem, share * largest, problem.start(), tol=1e-4 * largest, max_iter=10_000
    )
    least = by_general_solver(problem, share * largest, strong=True)
    assert steps < 10_000
    assert objective(problem, variables, intercept, share * largest) == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_lower_bound_is_below_the_minimum_and_meets_it(family):
    problem = sample(family)
    penalty = 0.1 * problem.largest_penalty()
    least = by_general_solver(problem, penalty, strong=True)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.1, 1.0):
        prices = scale * penalty * rng.normal(size=(3, 3))
        eta = problem.predictor(scale * rng.normal(size=(3, 5)), rng.normal())
        assert problem.lower_bound(eta, prices - prices.T, penalty) <= least
    variables, intercept, _ = solve_strong(problem, penalty, problem.start(), **TIGHT, largest_gap=1e-7)
    assert objective(problem, variables, intercept, penalty) == pytest.approx(least, rel=2e-7)


@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_gradient_matches_finite_differences(family):
    problem = sample(family)
    at = np.random.default_rng(1).normal(size=(3, 5)) * 0.3

    def value(flat):
        return problem.loss(problem.predictor(flat[1:].reshape(3, 5), flat[0]))

    gradient, slope = problem.gradient(problem.predictor(at, 0.2))
    numerical = approx_fprime(np.append(0.2, at.ravel()), value, 1e-7)
    np.testing.assert_allclose(np.append(slope, gradient.ravel()), numerical, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("squares", [True, False])
def test_proximal_point_matches_a_general_solver(squares):
    rng = np.random.default_rng(0)
    p, penalty, step = 4, 1.3, 0.4
    linear, quadratic = step * penalty * (1 - QUADRATIC), step * penalty * QUADRATIC

    def value(v, target, weights):  # a pair's absolute value; its sign is the target's
        distance = 0.5 * ((v - np.append(target[:2], np.abs(target[2:]))) ** 2).sum()
        return distance + linear * v[:2].sum() + weights @ v[2:] + quadratic * (v**2).sum()

    for _ in range(20):
        point = rng.normal(size=(p, p + 2)) * 1.5
        out = np.empty_like(point)
        prox(point, step, penalty, squares, out)
        for j in range(p):
            used = [k for k in range(p) if squares or k != j]
            weights = np.array([linear if k == j else linear / 2 for k in used])
            target = np.concatenate([point[j, :2], point[j, 2:][used]])
            best = minimize(
                value,
                np.full(len(target), 0.1),
                args=(target, weights),
                bounds=[(0, None)] * len(target),
                constraints=LinearConstraint(np.append([1.0, 1.0], -np.ones(len(used))), 0, np.inf),
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 500},
            )
            mine = np.concatenate([out[j, :2], np.abs(out[j, 2:][used])])
            assert value(mine, target, weights) == pytest.approx(best.fun, abs=1e-7)
            assert mine[2:].sum() <= mine[:2].sum() + 1e-12
            assert (out[j, 2:] * point[j, 2:] >= 0).all()
            assert squares or out[j, 2 + j] == 0


@in_turn("family", ["logistic", "gaussian"])
@in_turn("seed", range(3))
def test_largest_penalty_is_where_the_first_term_enters(family, seed):
    problem = sample(family, seed=seed, p=3)
    largest = problem.largest_penalty()
    above, _, _ = solve_weak(problem, 1.001 * largest, problem.start(), **TIGHT)
    below, _, _ = solve_weak(problem, 0.99 * largest, problem.start(), **TIGHT)
    assert not above.any()
    assert below.any()


@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_at_the_largest_penalty_no_term_enters(family):
    """Not even by a rounding error: the empty model is empty on every machine."""
    for seed in range(20):
        problem = sample(family, seed=seed, p=4)
        variables, _, _ = solve_weak(problem, problem.largest_penalty(), problem.start(), **TIGHT)
        assert not variables.any()


def test_proximal_point_of_a_row_whose_parts_are_negative_is_zero():
    """The multiplier is then exactly the largest margin of the row's pairs."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        point = np.column_stack([-3.0 - rng.random((4, 2)), rng.normal(size=(4, 4))])
        out = np.empty_like(point)
        prox(point, 0.3, 1.1, True, out)
        assert not out.any()


def test_losses_equal_up_to_rounding_are_ties():
    assert first_minimum([3.0, 2.0 + 1e-12, 2.0, 2.5]) == 1
    assert first_minimum([3.0, 2.0 + 1e-6, 2.0]) == 2
    assert first_minimum([0.0, 0.0]) == 0


def test_without_pairs_it_is_the_lasso():
    """One feature without its square has no pair."""
    problem = sample("gaussian", p=3, squares=False)
    single = Problem(problem.X[:, :1], problem.y, "gaussian", False)
    variables, intercept, _ = solve_weak(single, 10.0, single.start(), **TIGHT)
    lasso = Lasso(alpha=10.0 / 60, tol=1e-10).fit(single.X, single.y)
    assert variables[0, 0] - variables[0, 1] == pytest.approx(lasso.coef_[0], rel=1e-5)
    assert intercept == pytest.approx(lasso.intercept_, rel=1e-5)


def planted(n=300, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 3 + 5
    Z = (X - 5) / 3
    return X, Z[:, 0] + Z[:, 1] + 2 * Z[:, 0] * Z[:, 1] > rng.normal(size=n)


@pytest.mark.parametrize("hierarchy", ["weak", "strong"])
@pytest.mark.parametrize("family", ["logistic", "gaussian"])
def test_planted_pair_is_selected_and_hierarchy_kept(family, hierarchy):
    X, y = planted()
    model = HierNet(family=family, hierarchy=hierarchy, relative_penalty=0.1).fit(X, y)
    weights = model.interaction_importances_
    assert np.unravel_index(weights.argmax(), weights.shape) == (0, 1)
    np.testing.assert_array_equal(weights, weights.T)
    assert not np.diag(weights).any()
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}
    assert model.score(X, y) > 0.75
    main = model.coef_[0] != 0
    for j, k in np.argwhere(weights > 1e-3):
        assert main[j] and main[k] if hierarchy == "strong" else main[j] or main[k]


def test_penalty_depends_on_the_folds_and_their_seed():
    X, y = planted(n=150, p=4)
    one, same = (HierNet(cv=5, n_penalties=8, random_state=1).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))
    chosen = one.penalties_[0]
    fits = [HierNet(relative_penalty=share).fit(X, y) for share in (1.0, 0.01)]
    assert fits[1].penalties_[0] < chosen < fits[0].penalties_[0]
    assert not fits[0].feature_importances_.any(), "the largest penalty leaves the intercept alone"
    assert one.interaction_importances_[0, 1] > 0.5


def test_shifts_and_scales_change_nothing():
    X, y = planted(n=120, p=3)
    one, other = (HierNet(relative_penalty=0.1).fit(Z, y) for Z in (X, 1000 + 7 * X))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-8)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(1000 + 7 * X), atol=1e-8)


def test_more_classes_are_fitted_one_against_the_rest():
    X, y = planted(n=150, p=3)
    y = y.astype(int) + (X[:, 2] > 6)
    model = HierNet(relative_penalty=0.1).fit(X, y)
    for code in range(3):
        single = HierNet(relative_penalty=0.1).fit(X, y == code)
        np.testing.assert_allclose(model.coef_[code], single.coef_[0], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_class_of_one_row(monkeypatch):
    """A fold without the class teaches nothing, and one whose largest penalties leave no term does no harm."""
    X, y = np.random.default_rng(0).normal(size=(31, 4)), np.r_[np.zeros(15), np.ones(15), 2]
    model = HierNet(random_state=2).fit(X, y)
    monkeypatch.setattr("mfbench_baselines.hiernet.solve_weak_active", solve_weak)
    general = HierNet(random_state=2).fit(X, y)
    np.testing.assert_allclose(model.penalties_, general.penalties_)
    np.testing.assert_allclose(model.predict_proba(X), general.predict_proba(X), atol=1e-3)
    # No fold can be used: the largest penalty, which leaves the intercept, is as good as any.
    np.testing.assert_allclose(HierNet().fit(X[:2], [0, 1]).predict_proba(X[:2]), 0.5)


def test_constants_singletons_and_many_features_are_harmless():
    X, y = planted(n=60, p=4)
    X = np.column_stack([X, np.full(60, 2.0), X[:, 0]])
    labels = np.where(y, "a", "b")
    labels[0] = "alone"
    model = HierNet(cv=3, n_penalties=4).fit(X, labels)
    assert np.isfinite(model.coef_).all()
    assert not model.coef_[:, 4].any()
    few = HierNet(max_features=3, relative_penalty=0.1).fit(X, y)
    assert len(few.kept_) == 3
    assert few.interaction_importances_.shape == (6, 6)
    assert not HierNet(relative_penalty=0.5).fit(np.ones((6, 2)), [0, 1] * 3).feature_importances_.any()


@in_turn(
    "parameters",
    [
        {"hierarchy": "none"},
        {"family": "poisson"},
        {"relative_penalty": 0.0},
        {"relative_penalty": 1.5},
        {"n_penalties": 1},
        {"cv": 1},
        {"max_features": 0},
        {"max_iter": 0},
        {"tol": 0.0},
    ],
)
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} must be"):
        HierNet(**parameters).fit(*planted(n=20))


@pytest.mark.parametrize("hierarchy", ["weak", "strong"])
def test_too_few_steps_warn(hierarchy):
    with pytest.warns(ConvergenceWarning, match="HierNet has not converged after 2 steps; raise max_iter") as caught:
        model = HierNet(relative_penalty=0.01, max_iter=2, hierarchy=hierarchy).fit(*planted(n=60, p=3))
    assert len(caught) == 1
    assert not model.converged_
    assert HierNet(relative_penalty=0.5, hierarchy=hierarchy).fit(*planted(n=60, p=3)).converged_
