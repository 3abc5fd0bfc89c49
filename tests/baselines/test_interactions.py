"""Logistic regression with products: against an optimiser, numerical derivatives, and cases without a maximum."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from mfbench_baselines.interactions import LogisticInteractions


def sample(n=150, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.array([1.0, 5.0, 0.2, 1.0])[:p] + np.array([0.0, 3.0, -1.0, 2.0])[:p]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (0.8 * Z[:, 0] * Z[:, 1] + 0.5 * Z[:, -1] + rng.logistic(size=n) > 0).astype(int)


def terms(X):
    j, k = np.triu_indices(X.shape[1], 1)
    return np.column_stack([np.ones(len(X)), X, X[:, j] * X[:, k]])


def second_derivatives(loss, at, scale):
    """Central differences, with a separate step for each coordinate."""
    count, steps = len(at), 1e-3 * np.diag(scale)
    hessian = np.empty((count, count))
    for i in range(count):
        for j in range(count):
            values = [loss(at + a * steps[i] + b * steps[j]) for a in (1, -1) for b in (1, -1)]
            hessian[i, j] = (values[0] - values[1] - values[2] + values[3]) / (4 * steps[i, i] * steps[j, j])
    return hessian


def test_against_an_optimiser_and_a_numerical_hessian():
    X, y = sample()
    T, sign = terms(X), 2 * y - 1
    scale = 1 / np.maximum(T.std(axis=0), 1)
    loss = lambda b: np.logaddexp(0, -sign * (T @ b)).sum()  # noqa: E731
    gradient = lambda b: -T.T @ (sign / (1 + np.exp(sign * (T @ b))))  # noqa: E731
    best = minimize(lambda c: loss(c * scale), np.zeros(7), jac=lambda c: gradient(c * scale) * scale, tol=1e-12)
    model = LogisticInteractions(tol=1e-14).fit(X, y)
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_[0]], best.x * scale, rtol=1e-4, atol=1e-5)
    errors = np.sqrt(np.diag(np.linalg.inv(second_derivatives(loss, best.x * scale, scale))))[1:]
    np.testing.assert_allclose(model.z_[0], model.coef_[0] / errors, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.pvalues_, 2 * norm.sf(np.abs(model.z_)))
    assert not model.separated_


def test_against_statsmodels():
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y = sample()
    theirs = statsmodels.Logit(y, terms(X)).fit(disp=False)
    ours = LogisticInteractions().fit(X, y)
    np.testing.assert_allclose(ours.coef_[0], theirs.params[1:], rtol=1e-5)
    np.testing.assert_allclose(ours.pvalues_[0], theirs.pvalues[1:], rtol=1e-4)


def test_the_matrices_hold_the_products():
    X, y = sample(p=4)
    model = LogisticInteractions().fit(X, y)
    for (j, k), z, p in zip(model.terms_, model.z_[0, 4:], model.pvalues_[0, 4:], strict=True):
        assert model.interaction_importances_[j, k] == model.interaction_importances_[k, j] == abs(z)
        assert model.interaction_pvalues_[j, k] == model.interaction_pvalues_[k, j] == p
    assert (np.diag(model.interaction_importances_) == 0).all()
    assert np.isnan(np.diag(model.interaction_pvalues_)).all()
    assert np.unravel_index(model.interaction_importances_.argmax(), (4, 4)) == (0, 1)


def test_shifts_and_scales_change_neither_predictions_nor_products():
    X, y = sample()
    one, other = LogisticInteractions().fit(X, y), LogisticInteractions().fit(1000 + 7 * X, y)
    np.testing.assert_allclose(one.interaction_importances_, other.interaction_importances_, rtol=1e-6)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(1000 + 7 * X), atol=1e-8)


def test_the_test_has_its_level():
    """Without any effect, p-values are uniform: 5 % of them are below 0.05."""
    rng = np.random.default_rng(0)
    found = [
        LogisticInteractions().fit(rng.normal(size=(200, 2)), rng.integers(0, 2, 200)).interaction_pvalues_[0, 1]
        for _ in range(400)
    ]
    assert 0.025 < np.mean(np.array(found) < 0.05) < 0.085


@pytest.mark.parametrize("seed", range(3))
def test_complete_separation_is_reported_and_finite(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    y = X[:, 0] * X[:, 1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticInteractions().fit(X, y)
    assert model.separated_
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.coef_).all() and np.isfinite(model.z_).all()
    assert model.pvalues_.min() > 0.05, "no evidence: the documented paradox"


@pytest.mark.parametrize("kind", ["constant", "twin", "one-hot", "more terms than samples"])
def test_terms_determined_by_others_show_no_evidence(kind):
    X, y = sample()
    if kind == "constant":
        X = np.column_stack([X, np.full(len(X), 7.0)])
    elif kind == "twin":
        X = np.column_stack([X, X[:, 0]])
    elif kind == "one-hot":
        X = np.column_stack([X, np.eye(3)[np.arange(len(X)) % 3]])
    else:
        X, y = np.random.default_rng(0).normal(size=(40, 12)), np.arange(40) % 2
    model = LogisticInteractions().fit(X, y)
    assert np.isfinite(model.z_).all() and np.isfinite(model.coef_).all()
    if kind in ("constant", "twin"):
        assert np.abs(model.z_[0, 3]) < 0.1
    if kind in ("constant", "one-hot"):
        plain = LogisticInteractions().fit(X[:, :3], y)
        assert model.score(X, y) >= plain.score(X[:, :3], y) - 0.05


def test_more_classes_are_fitted_one_against_the_rest():
    X, y = sample()
    y = y + (X[:, 1] > 6)
    model = LogisticInteractions().fit(X, y)
    assert model.coef_.shape == (3, 6) and model.intercept_.shape == (3,)
    single = [LogisticInteractions().fit(X, y == code) for code in range(3)]
    np.testing.assert_allclose(model.z_, np.vstack([one.z_ for one in single]), rtol=1e-6)
    expected = np.max([one.interaction_importances_ for one in single], axis=0)
    np.testing.assert_allclose(model.interaction_importances_, expected, rtol=1e-6)
    smallest = np.min([one.interaction_pvalues_[0, 1] for one in single])
    assert model.interaction_pvalues_[0, 1] == pytest.approx(min(1.0, 3 * smallest), rel=1e-6)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


def test_too_many_features_raise_with_the_count():
    with pytest.raises(ValueError, match=r"at most 30 features.*got 31 columns, which makes 497 coefficients"):
        LogisticInteractions().fit(np.zeros((4, 31)), [0, 1, 0, 1])


@pytest.mark.parametrize("parameters", [{"max_iter": 0}, {"tol": 0.0}])
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match="max_iter must be at least 1 and tol above 0"):
        LogisticInteractions(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="after 1 steps"):
        LogisticInteractions(max_iter=1).fit(*sample())


def test_importance_is_that_of_the_strongest_term():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))
    fitted = LogisticInteractions().fit(X, y)
    z = np.abs(fitted.z_[0])
    pair = fitted.terms_.tolist().index([0, 1])
    assert fitted.feature_importances_[:2].tolist() == [z[3 + pair]] * 2
    assert fitted.feature_importances_[2] == max(z[2], *(z[3 + k] for k, term in enumerate(fitted.terms_) if 2 in term))
