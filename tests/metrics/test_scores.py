"""The built-in metrics: scikit-learn's functions, closed forms and brute force as oracles; facts of their specs."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from mfbench import MetricSpec, Predictions, hookimpl
from mfbench.errors import UsageError
from mfbench.host.registry import load_registry
from mfbench.run.trial.metrics import evaluate, predict, resolve_metrics
from mfbench_metrics import scores
from mfbench_metrics.plugin import mfbench_metrics

REGISTRY = load_registry(only=())
NAMES = list(REGISTRY.listed("metric"))
OF_TWO_CLASSES = [f"sklearn:{name}" for name in ("f1", "jaccard", "precision", "recall", "roc_auc")]
OF_MORE = ["sklearn:top_k_accuracy"]


def drawn(n_classes=3, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y_true = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    y_score = rng.dirichlet(np.ones(n_classes), n_rows) + 0.3 * np.eye(n_classes)[y_true]
    y_score /= y_score.sum(axis=1, keepdims=True)
    return Predictions(y_true, y_score.argmax(axis=1), y_score, np.arange(n_classes), True)


def score(name, predictions):
    (metric,) = resolve_metrics([name], REGISTRY)
    return metric.of(predictions)


def fitted(classifier, n_classes):
    X, y = make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=1)
    classifier.fit(X[:120], y[:120])
    return classifier, X[120:], y[120:]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("sklearn:")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_scorer_of_scikit_learn_gives_what_it_gives_on_the_fitted_classifier(name, n_classes):
    if name in (OF_TWO_CLASSES if n_classes > 2 else OF_MORE):
        pytest.skip("not a score of this number of classes")
    classifier, X, y = fitted(GaussianNB(), n_classes)
    predictions = predict(classifier, X, y, resolve_metrics([name], REGISTRY))
    assert score(name, predictions) == pytest.approx(
        metrics.get_scorer(name.removeprefix("sklearn:"))(classifier, X, y), abs=1e-12
    )


def test_a_scorer_reads_decision_values():
    classifier, X, y = fitted(LinearSVC(), 2)
    predictions = predict(classifier, X, y, resolve_metrics(["sklearn:average_precision"], REGISTRY))
    assert not predictions.is_probability
    expected = metrics.average_precision_score(y, classifier.decision_function(X))
    assert score("sklearn:average_precision", predictions) == pytest.approx(expected)
    assert score("average_precision", predictions) == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_of_labels_are_those_of_scikit_learn(n_classes):
    p = drawn(n_classes)
    both = p.y_true, p.y_pred
    assert score("accuracy", p) == metrics.accuracy_score(*both)
    assert score("balanced_accuracy", p) == pytest.approx(metrics.balanced_accuracy_score(*both))
    assert score("balanced_error_rate", p) == pytest.approx(1 - metrics.balanced_accuracy_score(*both))
    assert score("f1_macro", p) == pytest.approx(metrics.f1_score(*both, average="macro"))
    assert score("fbeta(beta=2)", p) == pytest.approx(metrics.fbeta_score(*both, beta=2, average="macro"))
    assert score("fbeta", p) == pytest.approx(score("f1_macro", p))
    assert score("mcc", p) == pytest.approx(metrics.matthews_corrcoef(*both))
    assert score("cohen_kappa", p) == pytest.approx(metrics.cohen_kappa_score(*both))
    weighted = metrics.cohen_kappa_score(*both, weights="quadratic")
    assert score("cohen_kappa(weights='quadratic')", p) == pytest.approx(weighted)


def test_brier_score_of_two_classes_is_the_squared_error_of_one_probability():
    p = drawn(2)
    assert score("brier_score", p) == pytest.approx(metrics.brier_score_loss(p.y_true, p.y_score[:, 1]))


def test_brier_score_is_half_the_squared_distance_to_the_outcome():
    p = drawn(4)
    distances = [np.sum((row - np.eye(4)[code]) ** 2) for row, code in zip(p.y_score, p.y_true, strict=True)]
    assert score("brier_score", p) == pytest.approx(np.mean(distances) / 2)
    wrong = Predictions(np.zeros(3, int), np.ones(3, int), np.tile([0.0, 1.0], (3, 1)), np.arange(2), True)
    assert score("brier_score", wrong) == 1.0


def test_average_precision_of_several_classes_is_the_mean_over_them():
    p = drawn(3)
    each = [metrics.average_precision_score(p.y_true == code, p.y_score[:, code]) for code in range(3)]
    assert score("average_precision", p) == pytest.approx(np.mean(each))


def test_calibration_error_by_hand():
    # Two rows with confidence .6 (one right) and two with .9 (both right): gaps .1 and .1.
    y_score = np.array([[0.6, 0.4], [0.4, 0.6], [0.9, 0.1], [0.1, 0.9]])
    p = Predictions(np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1]), y_score, np.arange(2), True)
    assert score("expected_calibration_error", p) == pytest.approx(0.1)
    # One bin: mean confidence .75, accuracy .75.
    assert score("expected_calibration_error(bins=1)", p) == pytest.approx(0.0)


def test_calibration_error_by_brute_force():
    p = drawn(3, n_rows=300)
    confidence, right = p.y_score.max(axis=1), p.y_score.argmax(axis=1) == p.y_true
    gap = 0.0
    for number in range(15):
        inside = (confidence > number / 15) & (confidence <= (number + 1) / 15)
        if inside.any():
            gap += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    assert score("expected_calibration_error(bins=15)", p) == pytest.approx(gap)


def test_the_confidence_on_the_edge_of_a_bin_belongs_to_the_lower_one():
    y_score = np.array([[0.7, 0.3], [0.75, 0.25]])
    p = Predictions(np.array([0, 1]), np.array([0, 0]), y_score, np.arange(2), True)
    assert score("expected_calibration_error", p) == pytest.approx((0.3 + 0.75) / 2)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_MORE])
def test_values_lie_in_the_declared_range_and_follow_the_declared_direction(name):
    spec = REGISTRY.entry("metric", name).spec
    perfect = np.array([0, 1] * 10)
    sure = Predictions(perfect, perfect, np.eye(2)[perfect] * 0.98 + 0.01, np.arange(2), True)
    drawn_by_chance = drawn(2)
    best, other = score(name, sure), score(name, drawn_by_chance)
    lowest, highest = spec.range
    for value in (best, other):
        assert np.isnan(value) or lowest <= value <= highest
    if not np.isnan(best):
        assert spec.sign * best > spec.sign * other


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "expected_calibration_error", "roc_auc"])
def test_a_class_without_training_rows_has_the_probability_zero(name):
    y_score = np.array([[0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
    p = Predictions(np.array([0, 1, 2]), np.array([0, 1, 0]), y_score, np.arange(2), True)
    padded = Predictions(p.y_true, p.y_pred, np.c_[y_score, np.zeros(3)], np.arange(3), True)
    assert score(name, p) == pytest.approx(score(name, padded))


def test_one_class_in_the_test_part():
    p = Predictions(np.zeros(4, int), np.zeros(4, int), np.tile([0.7, 0.3], (4, 1)), np.arange(2), True)
    assert np.isnan([score("roc_auc", p), score("average_precision", p)]).all()
    assert (score("mcc", p), score("cohen_kappa", p)) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "roc_auc", "sklearn:neg_log_loss"])
def test_a_classifier_without_scores_has_no_score_that_needs_them(name):
    p = Predictions(np.array([0, 1]), np.array([0, 1]), None, np.arange(2), False)
    assert np.isnan(score(name, p))


def test_decision_values_are_no_probabilities():
    p = Predictions(np.array([0, 1]), np.array([0, 1]), np.array([-1.0, 2.0]), np.arange(2), False)
    assert np.isnan(score("log_loss", p))
    assert score("roc_auc", p) == 1.0


def test_a_failing_metric_has_no_score_and_a_warning():
    p, names = drawn(3), ["accuracy", "sklearn:f1", "expected_calibration_error(bins=0)"]
    with pytest.warns(UserWarning) as caught:
        values = evaluate(p, resolve_metrics(names, REGISTRY))
    assert values["accuracy"] == score("accuracy", p)
    assert np.isnan([values[name] for name in names[1:]]).all()
    texts = sorted(str(one.message) for one in caught)
    assert texts[0].startswith("metric 'expected_calibration_error(bins=0)' failed: ValueError: bins = 0")
    assert "average='binary'" in texts[1]


class Plugin:
    """Metrics of a third party that misbehave."""

    @hookimpl
    def mfbench_metrics(self):
        def too_large(y_true, y_pred):
            return 1.5

        def overwriting(y_true, y_pred):
            y_pred[:] = y_true
            return 1.0

        yield MetricSpec(name="too_large", summary="", function=too_large)
        yield MetricSpec(name="overwriting", summary="", function=overwriting)


def test_a_value_outside_of_the_range_and_overwritten_predictions_are_failures():
    registry = load_registry(only=(), extra=[("theirs", Plugin())])
    p = drawn(3)
    before = p.y_pred.copy()
    with pytest.warns(UserWarning) as caught:
        values = evaluate(p, resolve_metrics(["overwriting", "too_large", "accuracy"], registry))
    assert [np.isnan(value) for value in values.values()] == [True, True, False]
    assert "read-only" in str(caught[0].message)
    assert (
        str(caught[1].message)
        == "metric 'too_large' failed: ValueError: it returned 1.5, expected a number from 0 to 1"
    )
    np.testing.assert_array_equal(p.y_pred, before)


def test_specs():
    assert set(scores.__dict__) >= {spec.name for spec in mfbench_metrics() if ":" not in spec.name}
    assert {spec.name.partition(":")[2] for spec in mfbench_metrics()} - {""} <= set(metrics.get_scorer_names())
    with pytest.raises(ValueError, match="is not a valid name of a metric"):
        MetricSpec(name="Average-Precision", summary="", function="a:b")
    with pytest.raises(ValueError, match="needs 'votes': use 'labels', 'scores', 'probabilities' or 'predictions'"):
        MetricSpec(name="votes", summary="", function="a:b", needs="votes")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("acuracy", "unknown metric 'acuracy': did you mean 'accuracy'"),
        ("sklearn:r2", "unknown metric 'sklearn:r2'"),
        ("fbeta(gamma=1)", "unknown parameter 'gamma' of 'fbeta'"),
        ("fbeta(y_true=1)", "unknown parameter 'y_true' of 'fbeta'"),
        ("brier_score(predictions=1)", "unknown parameter 'predictions' of 'brier_score'"),
    ],
)
def test_unknown_names_and_parameters(name, message):
    with pytest.raises(UsageError) as caught:
        resolve_metrics([name], REGISTRY)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_integer_weights_are_repeated_rows(name, n_classes):
    p, weights = drawn(n_classes), np.random.default_rng(1).integers(0, 4, 60)
    weights[p.y_pred == 0] *= 2  # no weights by which the score stays as it is
    times = np.repeat(np.arange(60), weights)
    repeated = Predictions(p.y_true[times], p.y_pred[times], p.y_score[times], p.classes, True)
    metric = resolve_metrics([name], REGISTRY)
    with warnings.catch_warnings(record=True) as caught:
        weighted = evaluate(replace(p, sample_weight=weights.astype(float)), metric)[name]
        expected = evaluate(repeated, metric)[name]
    if name.startswith("sklearn:roc_auc_ovo") and n_classes > 2:
        assert np.isnan(weighted)
        assert "sample_weight is not supported for multiclass one-vs-one" in str(caught[0].message)
    else:
        assert weighted == pytest.approx(expected, nan_ok=True)
        if not np.isnan(expected) and expected < 1:
            assert weighted != pytest.approx(score(name, p)), "the weights count"


def test_weights_of_one_vs_rest_decisions():
    p, weights = drawn(3), np.random.default_rng(1).integers(1, 4, 60)
    decisions = np.random.default_rng(2).integers(0, 2, (60, 3))
    times = np.repeat(np.arange(60), weights)
    repeated = Predictions(p.y_true[times], p.y_pred[times], None, p.classes, False, decisions[times])
    weighted = replace(p, decisions=decisions, sample_weight=weights.astype(float))
    assert score("one_vs_rest_accuracy", weighted) == pytest.approx(score("one_vs_rest_accuracy", repeated))
