"""The elastic net and the lasso path: optimality conditions, scikit-learn's solvers, order of entry."""

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mfbench_baselines.classifiers import LassoClassifier
from mfbench_baselines.elastic_net import ElasticNet, LassoPath


def sample(n=120, p=8, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    scores = X[:, :n_classes] + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


@in_turn("l1_ratio", [0.0, 0.5, 1.0])
@in_turn("n_classes", [2, 3])
def test_optimality_conditions(n_classes, l1_ratio):
    X, y = sample(n_classes=n_classes)
    C = 0.1
    model = ElasticNet(C=C, l1_ratio=l1_ratio, tol=1e-8).fit(X, y)
    targets = [y == k for k in range(3)] if n_classes == 3 else [y == 1]
    for target, w, b in zip(targets, model.coef_, model.intercept_, strict=True):
        residual = C * (target - 1 / (1 + np.exp(-(X @ w + b))))
        assert abs(residual.sum()) < 1e-6, "the intercept is free"
        pull = X.T @ residual - (1 - l1_ratio) * w
        assert (np.abs(pull) <= l1_ratio + 1e-6).all()
        np.testing.assert_allclose(pull[w != 0], l1_ratio * np.sign(w[w != 0]), atol=1e-6)
    assert l1_ratio < 1 or (model.coef_ == 0).any()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_against_scikit_learn():
    X, y = sample()
    theirs = LogisticRegression(C=0.2, l1_ratio=0.3, solver="saga", tol=1e-9, max_iter=100_000)
    if hasattr(theirs, "penalty") and theirs.penalty != "deprecated":
        theirs.set_params(penalty="elasticnet")
    theirs.fit(X, y)
    ours = ElasticNet(C=0.2, l1_ratio=0.3, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("model", [ElasticNet(C=0.05), LassoClassifier(C=0.15, random_state=0)])
def test_sparse_classifiers_select(model):
    X, y = sample(n_classes=3)
    fitted = model.fit(X, y)
    expected = np.abs(fitted.coef_).max(axis=0)
    np.testing.assert_array_equal(fitted.feature_importances_, expected)
    assert 0 < fitted.get_support().sum() < 8
    assert fitted.transform(X).shape == (120, np.count_nonzero(expected))


def test_separated_and_constant_columns_are_harmless():
    X = np.column_stack([np.arange(20.0) - 10, np.full(20, 4.0), np.zeros(20)])
    model = ElasticNet(C=100.0).fit(X, X[:, 0] >= 0)
    assert np.isfinite(model.coef_).all() and model.score(X, X[:, 0] >= 0) == 1.0
    assert model.feature_importances_[1:].tolist() == [0, 0]


@in_turn("parameters", [{"C": 0.0}, {"l1_ratio": 1.1}, {"tol": 0.0}, {"max_iter": 0}])
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match="C and tol must be above 0"):
        ElasticNet(**parameters).fit(*sample())


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ElasticNet(C=100.0, max_iter=2).fit(*sample())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_path_matches_single_fits(n_classes):
    X, y = sample(n_classes=n_classes)
    path = LassoPath(n_penalties=15, tol=1e-7).fit(X, y)
    assert path.penalties_[-1] == pytest.approx(0.01 * path.penalties_[0])
    assert not path.active_[0].any(), "all weights are 0 at the first penalty"
    for penalty, active in list(zip(path.penalties_, path.active_, strict=True))[1::4]:
        single = ElasticNet(C=1 / penalty, l1_ratio=1.0, tol=1e-9).fit(X, y)
        np.testing.assert_array_equal(active, single.feature_importances_ > 1e-9)
    assert ElasticNet(C=1 / (0.99 * path.penalties_[0]), l1_ratio=1.0, tol=1e-8).fit(X, y).coef_.any()


def test_importance_is_the_penalty_at_entry():
    X, y = sample()
    path = LassoPath(n_penalties=15).fit(X, y)
    first = np.where(path.active_.any(axis=0), path.active_.argmax(axis=0), 15)
    shares = np.append(path.penalties_ / path.penalties_[0], 0.0)
    assert (path.feature_importances_ >= shares[first] - 1e-12).all()
    assert (path.feature_importances_ <= shares[np.maximum(first - 1, 0)]).all()
    assert set(np.argsort(-path.feature_importances_)[:2]) == {0, 1}


def test_path_of_more_features_than_rows_and_of_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 300)), np.arange(30) % 2
    X[:, 5] += 3 * y
    assert LassoPath().fit(X, y).feature_importances_.argmax() == 5
    assert not LassoPath().fit(np.ones((6, 2)), [0, 1] * 3).feature_importances_.any()


@in_turn("parameters", [{"n_penalties": 1}, {"smallest": 0.0}])
def test_invalid_path_parameters_raise(parameters):
    with pytest.raises(ValueError, match="n_penalties must be at least 2"):
        LassoPath(**parameters).fit(*sample())
