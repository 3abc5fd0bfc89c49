"""Several classes as one problem each: what is fitted, what is decided, and what is kept for tests from the store."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from spies import Spy
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.host.expressions import parse
from mfbench.model.trials import Status, Trial
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench_protocols.splits import NestedCV

X, Y = load_iris(return_X_y=True)


def fold_of(y=Y, data=X, *, refit=False, fold=0):
    splits = NestedCV(5, 1, 0.2, stratified=False, refit=refit, decisions="one-vs-rest", seed=3).splits("iris", y, 0)
    split = splits[fold]
    columns = Columns(np.zeros(data.shape[1], bool))
    return Fold(data, y, columns, split.train, split.test, "none", 0, 1, (), split.tuning)


def run(fold, classifier, *, grid=(), metrics=("one_vs_rest_accuracy", "accuracy"), decisions="one-vs-rest", spy=None):
    how = ResolvedMethod(
        "m", None if spy is None else Step(parse("spy"), "selector"), Step(parse("c"), "classifier"), "all", grid
    )

    def make(expression, kind, **overrides):
        return spy() if kind == "selector" else classifier(**overrides)

    trial = Trial("key", "iris", "m", 0, 0, 1)
    return run_trial(trial, how, fold, metrics_of(*metrics), make, decisions=decisions)


def by_hand(fold, k):
    """Accuracy of each of the binary problems, read off scikit-learn."""
    found = []
    for code in range(3):
        model = KNeighborsClassifier(k).fit(fold.X[fold.train], fold.y[fold.train] == code)
        found.append(model.predict(fold.X[fold.test]))
    return np.array(found).T


def test_decisions_are_those_of_the_binary_problems_and_the_score_is_their_mean_accuracy():
    fold = fold_of()
    result = run(fold, lambda: KNeighborsClassifier(5))
    expected = by_hand(fold, 5)
    assert result.status is Status.OK, result.error_trace
    assert np.array_equal(result.decisions, expected)
    truth = fold.y_test[:, None] == np.arange(3)
    accuracies = [np.mean(expected[:, code] == truth[:, code]) for code in range(3)]
    assert result.scores["one_vs_rest_accuracy"] == pytest.approx(np.mean(accuracies), abs=1e-15)
    assert result.scores["accuracy"] == np.mean(result.predictions == fold.y_test)


def test_the_class_of_the_highest_probability_is_predicted():
    fold = fold_of()
    result = run(fold, lambda: LogisticRegression(max_iter=1000))
    models = [
        LogisticRegression(max_iter=1000).fit(fold.X[fold.train], fold.y[fold.train] == code) for code in range(3)
    ]
    sure = np.array([model.predict_proba(fold.X[fold.test])[:, 1] for model in models])
    assert np.array_equal(result.predictions, sure.argmax(axis=0))


def test_among_equals_the_class_with_more_training_rows_is_predicted():
    class Never(KNeighborsClassifier):
        def predict_proba(self, X):
            return np.tile([0.7, 0.3], (len(X), 1))

    fold = fold_of()
    result = run(fold, Never)
    assert set(result.predictions) == {np.bincount(fold.y_train).argmax()}


def test_each_class_is_tuned_by_itself():
    fold = fold_of()
    result = run(fold, KNeighborsClassifier, grid=(("classifier", "n_neighbors", (1, 5, 25, 80)),))
    learn, validation = fold.tuning
    for code in range(3):
        y = code == Y
        scores = [
            np.mean(KNeighborsClassifier(k).fit(X[learn], y[learn]).predict(X[validation]) == y[validation])
            for k in (1, 5, 25, 80)
        ]
        best = (1, 5, 25, 80)[int(np.argmax(scores))]
        assert result.chosen[str(code)] == {"classifier.n_neighbors": best}


def test_a_class_that_training_rows_lack_is_never_claimed():
    rare = Y.copy()
    rare[fold_of().test[0]] = 3  # one row of a fourth class, and it is tested
    fold = fold_of(rare)
    assert 3 not in fold.y_train
    result = run(fold, NearestCentroid)
    assert result.status is Status.OK, result.error_trace
    assert result.decisions.shape == (30, 4)
    assert not result.decisions[:, 3].any()
    assert 3 not in result.predictions


def test_two_classes_are_one_problem():
    two = Y[Y < 2], X[Y < 2]
    fold = fold_of(*two)
    result = run(fold, KNeighborsClassifier)
    assert result.decisions is None
    assert result.scores["one_vs_rest_accuracy"] == result.scores["accuracy"]


def test_a_predicted_label_says_yes_once_and_no_otherwise():
    fold = fold_of()
    result = run(fold, KNeighborsClassifier, decisions="multi-class")
    wrong = 1 - result.scores["accuracy"]
    assert result.decisions is None
    assert result.scores["one_vs_rest_accuracy"] == pytest.approx(1 - 2 * wrong / 3)


def test_a_selector_is_fitted_for_each_class_and_its_fits_are_handed_on():
    fold, log = fold_of(), []

    class Selector(Spy):
        def fit(self, X, y):
            log.append(frozenset(y.tolist()))
            self.feature_importances_ = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
            return self

    first = run(fold, KNeighborsClassifier, spy=Selector)
    assert log == [{0, 1}] * 3
    shared = fold.export("spy")
    assert {place for place, _ in shared} == {("class", code) for code in range(3)}
    other = fold_of()
    other.adopt(shared)
    second = run(other, KNeighborsClassifier, spy=Selector)
    assert len(log) == 3
    assert second.select_wall == first.select_wall
    np.testing.assert_array_equal(first.weights, second.weights)
    means = [
        np.abs(X[fold.train][fold.y_train == c].mean(0) - X[fold.train][fold.y_train != c].mean(0)) for c in (0, 1, 2)
    ]
    np.testing.assert_allclose(first.weights, np.mean(means, axis=0))


def test_a_failure_of_one_class_is_the_trials():
    class Picky(KNeighborsClassifier):
        def fit(self, X, y):
            if y.sum() == (fold.y_train == 1).sum() and y[0] == (fold.y_train[0] == 1):
                raise ValueError("not this one")
            return super().fit(X, y)

    fold = fold_of()
    result = run(fold, Picky)
    assert (result.status, result.error_message) == (Status.ERROR, "not this one")
    assert (result.decisions, result.predictions) == (None, None)
