"""LMNN against its formula, numerical derivatives, a generic optimiser and another program's results; NCA's wrapper."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from in_turn import in_turn
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

from mfbench_baselines._lmnn import Terms, collect, conditions, derivative, find_targets, objective, with_direction
from mfbench_baselines.metric import LMNN, NCA

REFERENCE = json.loads((Path(__file__).parent / "data" / "lmnn_reference.json").read_text(encoding="utf-8"))


def sample(n=40, p=3, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n, p)) * np.array([1, 2, 0.5, 1, 1])[:p] + 0.7 * (y[:, None] == np.arange(p)), y


def by_definition(L, X, y, k, push):
    """The objective, with a loop over every triple."""
    D, E = cdist(X @ L.T, X @ L.T, "sqeuclidean"), cdist(X, X, "sqeuclidean")
    total = 0.0
    for i in range(len(X)):
        same = [j for j in range(len(X)) if y[j] == y[i] and j != i]
        for j in sorted(same, key=lambda j: E[i, j])[:k]:
            total += (1 - push) * D[i, j]
            for other in range(len(X)):
                if y[other] != y[i]:
                    total += push * max(0.0, 1 + D[i, j] - D[i, other])
    return total


def everything(L, X, y, k, push):
    targets = find_targets(X, y, k)
    return objective(L, Terms(X, targets, push, *collect(X @ L.T, y, targets, 0.1)))


@in_turn("n_classes", [2, 3])
@in_turn("k", [1, 3])
def test_objective_is_the_sum_over_all_triples(k, n_classes):
    X, y = sample(n_classes=n_classes)
    for seed in range(4):
        L = np.random.default_rng(seed).normal(size=(3, 3))
        assert everything(L, X, y, k, 0.3)[0] == pytest.approx(by_definition(L, X, y, k, 0.3), rel=1e-12)


def test_gradient_matches_finite_differences():
    X, y = sample()
    L = np.random.default_rng(1).normal(size=(3, 3))
    value = lambda flat: everything(flat.reshape(3, 3), X, y, 3, 0.5)[0]  # noqa: E731
    numerical = approx_fprime(L.ravel(), value, 1e-7)
    np.testing.assert_allclose(everything(L, X, y, 3, 0.5)[1].ravel(), numerical, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_no_generic_optimiser_finds_a_better_metric(seed):
    """The simplex method on the three entries of the metric of two features, in which the problem is convex."""
    X, y = sample(n=30, p=2, seed=seed)

    def value(flat):
        return by_definition(np.array([[flat[0], flat[1]], [0.0, flat[2]]]), X, y, 2, 0.5)

    best = min(
        minimize(value, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000}).fun
        for start in ([1.0, 0.0, 1.0], [0.3, 0.2, 1.5])
    )
    model = LMNN(n_neighbors=2, tol=1e-7).fit(X, y)
    assert by_definition(model.components_, X, y, 2, 0.5) == pytest.approx(best, rel=1e-5)
    assert model.objective_trace_[-1] == pytest.approx(best, rel=1e-5)


def standardised(name):
    if name == "1000x20":
        rng = np.random.default_rng(1)
        X = rng.normal(size=(1000, 20))
        y = X[:, 0] + rng.normal(size=1000) > 0
    else:
        X, y = {"iris": load_iris, "wine": load_wine, "wdbc": load_breast_cancer}[name](return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("name", REFERENCE["data"])
def test_as_good_as_another_program(name):
    X, y = standardised(name)
    theirs = REFERENCE["data"][name]
    model = LMNN().fit(X, y)
    assert model.objective_trace_[0] == pytest.approx(theirs["identity"], rel=1e-9)
    assert model.objective_trace_[-1] <= min(theirs[run]["objective"] for run in ("defaults", "faster_steps"))
    assert model.converged_


@pytest.mark.parametrize("name", ["iris", "wine", "wdbc", "nearly collinear"])
def test_the_default_tolerance_reaches_the_minimum(name):
    """The objective of a far longer run is lower by less than 1e-4 of it."""
    if name == "nearly collinear":
        X, y = sample(n=120, p=5, n_classes=3)
        X = np.column_stack([X, X[:, :3] + 0.02 * np.random.default_rng(0).normal(size=(120, 3))])
    else:
        X, y = standardised(name)
    model = LMNN().fit(X, y)
    # That of wdbc takes 2400 steps: tol=1e-6.
    least = 1555.69751 if name == "wdbc" else LMNN(tol=1e-6, max_iter=20_000).fit(X, y).objective_trace_[-1]
    assert model.converged_
    assert model.objective_trace_[-1] == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("width", [0.3, 1e-3])
def test_smoothing_rounds_off_the_kinks_alone(width):
    X, y = sample()
    targets = find_targets(X, y, 3)
    L = np.random.default_rng(2).normal(size=(3, 3))
    terms = Terms(X, targets, 0.5, *collect(X @ L.T, y, targets, 0.5))
    smooth = lambda flat: objective(flat.reshape(3, 3), terms, width)[0]  # noqa: E731
    plain = objective(L, terms)[0]
    n_triples = len(terms.pairs) * 3
    assert plain <= smooth(L.ravel()) <= plain + 0.5 * n_triples * width / 8
    numerical = approx_fprime(L.ravel(), smooth, 1e-7)
    gradient = objective(L, terms, width)[1]
    np.testing.assert_allclose(gradient.ravel(), numerical, rtol=1e-4, atol=1e-3)


def test_conditions_bound_the_distance_from_the_minimum():
    X, y = sample()
    best = LMNN(tol=1e-6).fit(X, y)
    targets = find_targets(X, y, 3)
    for share in (0.0, 0.1, 1.0):
        L = (1 - share) * best.components_ + share * np.eye(3)
        terms = Terms(X, targets, 0.5, *collect(X @ L.T, y, targets, 0.5))
        value = objective(L, terms)[0]
        smoothing, complementarity, negativity = conditions(L, terms, 1e-4, 1.0)
        bound = (smoothing + complementarity) * value + negativity * np.trace(best.matrix_)
        assert 0 <= value - best.objective_trace_[-1] * (1 - 1e-7) <= bound
        if share == 0:
            assert bound < 1e-2 * value


def test_objective_falls_and_the_matrix_is_positive():
    X, y = sample(n=90, p=4, n_classes=3)
    model = LMNN().fit(X, y)
    assert (np.diff(model.objective_trace_) < 0).all()
    assert np.linalg.eigvalsh(model.matrix_).min() > -1e-10
    np.testing.assert_allclose(model.feature_importances_, np.diag(model.matrix_))
    order = np.random.default_rng(0).permutation(4)
    turned = LMNN().fit(X[:, order], y)
    assert turned.objective_trace_[-1] == pytest.approx(model.objective_trace_[-1], rel=1e-3)


def test_without_push_everything_shrinks_to_a_point():
    X, y = sample()
    assert LMNN(push=0.0).fit(X, y).objective_trace_[-1] < 1e-6


def test_a_direction_that_the_descent_has_lost_is_found_again():
    """With one row of L zero, the gradient in L is zero along it, although the objective falls there."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.column_stack([rng.normal(size=40), rng.normal(size=40) + 3.0 * y])
    targets = find_targets(X, y, 1)
    L = np.diag([1.0, 0.0])
    terms = Terms(X, targets, 0.5, *collect(X @ L.T, y, targets, 1e9))
    G, _ = derivative(L, terms, 1e-3)
    assert np.linalg.eigvalsh(G)[0] < 0.0
    value, gradient = objective(L, terms, 1e-3)
    assert np.all(gradient[1] == 0.0)
    assert objective(with_direction(L, G), terms, 1e-3)[0] < value


def test_more_features_than_rows_are_learned_in_their_span():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    few = rng.normal(size=(20, 4)) + y[:, None]
    many = few @ np.linalg.qr(rng.normal(size=(30, 30)))[0][:4]
    one, other = LMNN(n_neighbors=2).fit(few, y), LMNN(n_neighbors=2).fit(many, y)
    assert other.components_.shape == (4, 30)
    assert one.objective_trace_[-1] == pytest.approx(other.objective_trace_[-1], rel=1e-3)
    np.testing.assert_array_equal(one.predict(few), other.predict(many))


def test_duplicates_singletons_and_constants_are_harmless():
    X, y = sample(n=20)
    X, y = np.vstack([X, X[:3], [[9.0, 9.0, 9.0]]]), np.append(np.append(y, y[:3]), 7)
    X = np.column_stack([X, np.full(len(X), 5.0)])
    model = LMNN().fit(X, y)
    assert model.n_skipped_ == 1
    assert np.isfinite(model.components_).all()
    assert model.predict(X[-1:])[0] in model.classes_
    with pytest.raises(ValueError, match="alone in its class"):
        LMNN().fit(X[:3], [0, 1, 2])


@in_turn("parameters", [{"push": 1.0}, {"max_iter": 0}, {"tol": 0.0}, {"n_neighbors": 0}])
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        LMNN(**parameters).fit(*sample())


def test_too_few_steps_warn():
    with pytest.warns(
        ConvergenceWarning, match="LMNN's metric has not converged after 1 steps; .* raise max_iter"
    ) as caught:
        assert not LMNN(max_iter=1).fit(*sample()).converged_
    assert len(caught) == 1


def test_nca_matches_scikit_learn_and_its_neighbours():
    X, y = sample(n=80, p=4)
    theirs = NeighborhoodComponentsAnalysis(init="identity", random_state=0).fit(X[:60], y[:60])
    ours = NCA(random_state=0).fit(X[:60], y[:60])
    np.testing.assert_allclose(ours.components_, theirs.components_)
    votes = KNeighborsClassifier(1).fit(theirs.transform(X[:60]), y[:60])
    np.testing.assert_array_equal(ours.predict(X[60:]), votes.predict(theirs.transform(X[60:])))


def test_nca_of_more_features_than_rows_ends_without_a_warning():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 500))
    X[:, 0] += 4 * y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NCA(n_neighbors=3, random_state=0).fit(X, y)
    assert model.components_.shape == (29, 500)
    assert model.feature_importances_.argmax() == 0
