"""The two wrapped classifiers."""

import numpy as np
import pytest
from in_turn import in_turn
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from mfbench_baselines.classifiers import LassoClassifier, XGBoostClassifier


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@in_turn("labels", [[0, 1, 2], [0, 2, 7], [-3, 10, 4], ["setosa", "versicolor", "a"]])
@in_turn("classifier", [LassoClassifier(random_state=0), XGBoostClassifier(n_estimators=20)])
def test_labels_of_any_type(iris, classifier, labels):
    X, codes = iris
    y = np.array(labels)[codes]
    fitted = classifier.fit(X, y)
    assert fitted.classes_.tolist() == sorted(labels)
    assert fitted.score(X, y) > 0.9
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))


@pytest.mark.parametrize("classifier", [LassoClassifier(random_state=0), XGBoostClassifier(n_estimators=20)])
def test_fold_that_lacks_the_middle_class(iris, classifier):
    X, y = iris
    kept = y != 1
    assert set(classifier.fit(X[kept], y[kept]).predict(X)) == {0, 2}


def test_xgboost_matches_the_package(iris):
    from xgboost import XGBClassifier

    X, y = iris
    theirs = XGBClassifier(n_estimators=15, max_depth=3, tree_method="hist", n_jobs=1).fit(X, y)
    ours = XGBoostClassifier(n_estimators=15, max_depth=3).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)


def test_xgboost_depends_on_its_seed(iris):
    def probabilities(seed):
        return XGBoostClassifier(n_estimators=10, subsample=0.5, random_state=seed).fit(*iris).predict_proba(iris[0])

    np.testing.assert_array_equal(probabilities(1), probabilities(1))
    assert (probabilities(1) != probabilities(2)).any()


def test_lasso_satisfies_its_optimality_conditions(iris):
    X, y = iris
    C, scaling = 0.5, 10.0
    lasso = LassoClassifier(C=C, tol=1e-8, max_iter=10000, intercept_scaling=scaling, random_state=0).fit(X, y)
    for k, (w, b) in enumerate(zip(lasso.coef_, lasso.intercept_, strict=True)):
        t = np.where(y == k, 1, -1)
        pull = C * t / (1 + np.exp(t * (X @ w + b)))  # minus the gradient of the loss, by sample
        gradient, threshold = np.append(X.T @ pull, pull.sum()), np.append(np.ones(4), 1 / scaling)
        weights = np.append(w, b)
        # At 0 the gradient stays below the penalty's slope; elsewhere it equals it, with the weight's sign.
        assert (np.abs(gradient) <= threshold + 1e-3).all()
        moved = weights != 0
        np.testing.assert_allclose(gradient[moved], (threshold * np.sign(weights))[moved], atol=1e-3)


def test_lasso_drops_features_as_the_penalty_grows(iris):
    used = [np.count_nonzero(LassoClassifier(C=C, random_state=0).fit(*iris).coef_) for C in (0.001, 0.1, 10)]
    assert used[0] == 0 < used[1] < used[2]


def test_lasso_of_two_classes_has_one_row(iris):
    X, y = iris
    lasso = LassoClassifier().fit(X[y > 0], y[y > 0])
    assert lasso.coef_.shape == (1, 4)
    assert lasso.intercept_.shape == (1,)
