"""Scores equal scikit-learn's, and classes that training or test part lacks do not break them."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle
from toy_metrics import METRICS, metrics_of

from mfbench.model.trials import Predictions
from mfbench.run.trial.metrics import evaluate, predict

SEVEN = ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "log_loss", "roc_auc", "one_vs_rest_accuracy")


def outcome(truth, predictions=None, scores=None, seen=None, is_probability=True):
    truth = np.asarray(truth)
    predictions = truth if predictions is None else np.asarray(predictions)
    seen = np.unique(truth) if seen is None else np.asarray(seen)
    scores = None if scores is None else np.asarray(scores, dtype=float)
    return Predictions(truth, predictions, scores, seen, is_probability)


def random_outcome(seed, n_classes, n=60):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    truth[:n_classes] = np.arange(n_classes)
    scores = rng.dirichlet(np.ones(n_classes), n)
    return outcome(truth, scores.argmax(axis=1), scores)


def test_scores_are_scikit_learns(subtests):
    for seed in range(3):
        for n_classes in [2, 3, 5]:
            with subtests.test(seed=seed, n_classes=n_classes):
                o = random_outcome(seed, n_classes)
                auc = (
                    oracle.roc_auc_score(o.y_true, o.y_score[:, 1])
                    if n_classes == 2
                    else oracle.roc_auc_score(o.y_true, o.y_score, multi_class="ovr", average="macro")
                )
                assert evaluate(o, metrics_of(*SEVEN)) == pytest.approx(
                    {
                        "accuracy": oracle.accuracy_score(o.y_true, o.y_pred),
                        "balanced_accuracy": oracle.balanced_accuracy_score(o.y_true, o.y_pred),
                        "f1_macro": oracle.f1_score(o.y_true, o.y_pred, average="macro"),
                        "mcc": oracle.matthews_corrcoef(o.y_true, o.y_pred),
                        "log_loss": oracle.log_loss(o.y_true, o.y_score),
                        "roc_auc": auc,
                        "one_vs_rest_accuracy": np.mean(
                            [
                                oracle.accuracy_score(o.y_true == code, o.y_pred == code)
                                for code in (np.union1d(o.classes, o.y_true) if n_classes > 2 else [1])
                            ]
                        ),
                    },
                    rel=1e-12,
                )


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20))
def test_label_scores_are_scikit_learns_for_any_labels_and_silent(pairs):
    truth, predictions = np.array(pairs).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = evaluate(outcome(truth, predictions), metrics_of("accuracy", "balanced_accuracy", "f1_macro"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a predicted class that the truth lacks
        expected = oracle.balanced_accuracy_score(truth, predictions)
        found |= evaluate(outcome(truth, predictions), metrics_of("mcc"))
    assert found["accuracy"] == pytest.approx(oracle.accuracy_score(truth, predictions))
    assert found["balanced_accuracy"] == pytest.approx(expected)
    assert found["f1_macro"] == pytest.approx(oracle.f1_score(truth, predictions, average="macro", zero_division=0))
    assert found["mcc"] == pytest.approx(matthews(truth, predictions))


def matthews(truth, predictions):
    """By its definition for several classes: the correlation of indicators (Gorodkin, 2004)."""
    one, other = (np.eye(4)[labels] - np.eye(4)[labels].mean(axis=0) for labels in (truth, predictions))
    norm = np.sqrt((one**2).sum() * (other**2).sum())
    return (one * other).sum() / norm if norm else 0.0


def test_a_test_part_of_one_class_is_no_fault_of_the_method():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert METRICS["mcc"].of(outcome([1, 1], [1, 1])) == 0.0


def test_the_direction_of_each_score():
    losses = {"log_loss", "brier_score", "expected_calibration_error", "balanced_error_rate", "rmse", "mae", "pinball"}
    assert {name for name, metric in METRICS.items() if not metric.spec.greater_is_better} == losses
    good = outcome([0, 0, 1, 1], [0, 0, 1, 1], [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]])
    bad = outcome([0, 0, 1, 1], [1, 1, 0, 1], [[0.1, 0.9], [0.2, 0.8], [0.9, 0.1], [0.2, 0.8]])
    for name, metric in METRICS.items():
        better, worse = metric.of(good), metric.of(bad)
        assert (better > worse) == metric.spec.greater_is_better, name


class TestClassesThatTrainingLacked:
    truth = np.array([0, 1, 2, 2, 0])
    scores = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [0.6, 0.4], [0.9, 0.1]])

    def test_they_have_probability_zero(self):
        found = METRICS["log_loss"].of(outcome(self.truth, None, self.scores, seen=[0, 1]))
        filled = np.column_stack([self.scores, np.zeros(5)])
        assert found == pytest.approx(oracle.log_loss(self.truth, filled, labels=[0, 1, 2]))

    def test_a_class_in_the_middle_keeps_the_columns_in_place(self):
        truth, seen = np.array([0, 1, 2, 0]), [0, 2]
        scores = np.array([[0.7, 0.3], [0.5, 0.5], [0.1, 0.9], [0.8, 0.2]])
        found = METRICS["log_loss"].of(outcome(truth, None, scores, seen=seen))
        filled = np.column_stack([scores[:, 0], np.zeros(4), scores[:, 1]])
        assert found == pytest.approx(oracle.log_loss(truth, filled, labels=[0, 1, 2]))

    def test_the_area_of_such_a_class_is_one_half(self):
        truth = np.array([0, 1, 2, 3])
        scores = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]])
        assert METRICS["roc_auc"].of(outcome(truth, None, scores, seen=[0, 1, 2])) == pytest.approx(
            (1.0 + 1.0 + 1.0 + 0.5) / 4
        )

    def test_the_average_is_over_all_classes_of_the_truth(self):
        areas = [oracle.roc_auc_score(self.truth == code, self.scores[:, code]) for code in (0, 1)] + [0.5]
        found = METRICS["roc_auc"].of(outcome(self.truth, None, self.scores, seen=[0, 1]))
        assert found == pytest.approx(np.mean(areas))


class TestClassesThatTheTestPartLacks:
    def test_the_area_is_over_those_that_are_there(self):
        truth = np.array([0, 0, 1, 1])
        scores = np.array([[0.8, 0.1, 0.1], [0.2, 0.2, 0.6], [0.3, 0.6, 0.1], [0.1, 0.7, 0.2]])
        expected = np.mean([oracle.roc_auc_score(truth == code, scores[:, code]) for code in (0, 1)])
        assert METRICS["roc_auc"].of(outcome(truth, None, scores, seen=[0, 1, 2])) == pytest.approx(expected)

    def test_one_class_alone_has_no_area_but_a_loss(self):
        o = outcome([1, 1], None, [[0.4, 0.6], [0.2, 0.8]], seen=[0, 1])
        assert np.isnan(METRICS["roc_auc"].of(o))
        assert METRICS["log_loss"].of(o) == pytest.approx(-np.log([0.6, 0.8]).mean())


class TestOtherScores:
    def test_decision_values_of_two_classes_rank_the_second(self):
        o = outcome([0, 1, 1, 0], None, [-1.0, 2.0, -0.5, -0.7], is_probability=False)
        assert METRICS["roc_auc"].of(o) == pytest.approx(oracle.roc_auc_score([0, 1, 1, 0], [-1.0, 2.0, -0.5, -0.7]))

    def test_decision_values_have_no_loss(self):
        assert np.isnan(METRICS["log_loss"].of(outcome([0, 1], None, [-1.0, 2.0], is_probability=False)))

    def test_labels_alone_have_neither(self):
        found = evaluate(outcome([0, 1]), metrics_of("roc_auc", "log_loss", "accuracy"))
        assert np.isnan([found["roc_auc"], found["log_loss"]]).all()
        assert found["accuracy"] == 1.0


class TestAsking:
    class Full:
        classes_ = np.array([0, 1])

        def __init__(self):
            self.calls = []

        def predict(self, X):
            self.calls.append("predict")
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            self.calls.append("predict_proba")
            return np.full((len(X), 2), 0.5)

        def decision_function(self, X):
            self.calls.append("decision_function")
            return np.zeros(len(X))

    X, truth = np.zeros((3, 1)), np.array([0, 1, 1])

    def test_scores_are_asked_for_when_a_metric_needs_them(self):
        classifier = self.Full()
        o = predict(classifier, self.X, self.truth, metrics_of("accuracy", "balanced_accuracy"))
        assert classifier.calls == ["predict"]
        assert o.y_score is None

    def test_probabilities_come_before_decision_values(self):
        classifier = self.Full()
        o = predict(classifier, self.X, self.truth, metrics_of("accuracy", "roc_auc"))
        assert classifier.calls == ["predict", "predict_proba"]
        assert o.is_probability
        assert o.y_score.shape == (3, 2)

    def test_decision_values_do_where_there_are_no_probabilities(self):
        class Partial:
            predict, decision_function = self.Full.predict, self.Full.decision_function

            def __init__(self):
                self.calls = []

        o = predict(Partial(), self.X, self.truth, metrics_of("roc_auc"))
        assert not o.is_probability
        assert o.y_score.shape == (3,)
        assert o.classes.tolist() == [0, 1]

    def test_the_order_of_the_scores_is_the_order_asked_for(self):
        assert list(evaluate(outcome([0, 1]), metrics_of("mcc", "accuracy"))) == ["mcc", "accuracy"]
