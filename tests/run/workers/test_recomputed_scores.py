"""Scores computed again agree with those of scikit-learn, and a result that contradicts itself is named."""

import numpy as np
import pytest
from toy_metrics import METRICS

from mfbench.model.trials import Candidate, Curve, Interactions, Predictions, TrialResult
from mfbench_claims.recomputed_scores import Truth, scores_of, wrong_score
from mfbench_protocols.detection import detection_scores


def random_codes(rng):
    n_classes, n_rows = rng.integers(1, 6), rng.integers(1, 50)
    return rng.integers(n_classes, size=n_rows), rng.integers(n_classes, size=n_rows), np.arange(n_classes)


def test_they_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(100):
        labels, guesses, classes = random_codes(rng)
        for decisions in (None, rng.integers(2, size=(len(labels), len(classes)))):
            scores = scores_of(guesses, Truth(labels, len(classes)), decisions)
            predictions = Predictions(labels, guesses, None, classes, False, decisions)
            for name, score in scores.items():
                assert score == pytest.approx(METRICS[name].of(predictions), abs=1e-12), name


LABELS = np.array([0, 1, 2, 2])
RIGHT = Truth(LABELS, 3)
HALF = np.array([0, 1, 0, 1])


def curve(last=0.5):
    return Curve(np.array([1, 2]), ("accuracy", "log_loss"), np.array([[0.25, last], [1.0, 2.0]]), np.zeros(2))


@pytest.mark.parametrize(
    ("result", "truth", "clause"),
    [
        ({"scores": {"accuracy": 0.5}}, RIGHT, ""),
        ({"scores": {"accuracy": 0.6}}, Truth(LABELS, 3, has_weights=True), ""),
        ({"scores": {"accuracy": 0.5 + 1e-12, "roc_auc": 0.9, "log_loss": float("nan")}}, RIGHT, ""),
        ({"scores": {"accuracy": 1.0}}, RIGHT, "its score 'accuracy' is 1, but its predictions give 0.5"),
        ({"scores": {"accuracy": float("nan")}}, RIGHT, "its score 'accuracy' is nan, but its predictions give 0.5"),
        ({"scores": {"accuracy": 0.5, "mcc": 0.9}}, RIGHT, "its score 'mcc' is 0.9, but its predictions give 0.447"),
        (
            {"candidates": [Candidate(chosen={}, scores={"accuracy": s}, predictions=HALF) for s in (0.5, 0.75)]},
            RIGHT,
            "its score 'accuracy' is 0.75, but its predictions give 0.5",
        ),
        ({"scores": {"accuracy": 0.5, "log_loss": 2.0, "area_linear": 0.375}, "curve": curve()}, RIGHT, ""),
        (
            {"scores": {"accuracy": 0.5, "log_loss": 2.0, "area_linear": 0.9}, "curve": curve()},
            RIGHT,
            "its score 'area_linear' is 0.9, but its curve gives 0.375",
        ),
        (
            {"scores": {"accuracy": 0.5, "log_loss": 2.0}, "curve": curve(1.0)},
            RIGHT,
            "its score 'accuracy' is 1, but its largest size has 0.5",
        ),
        # Decisions count only where each class is a problem of its own.
        (
            {"scores": {"one_vs_rest_accuracy": 1.0}, "decisions": LABELS[:, None] == np.arange(3)},
            RIGHT,
            "its score 'one_vs_rest_accuracy' is 1, but its predictions give 0.666666666667",
        ),
        (
            {"scores": {"one_vs_rest_accuracy": 1.0}, "decisions": LABELS[:, None] == np.arange(3)},
            Truth(LABELS, 3, by_class=True),
            "",
        ),
    ],
)
def test_a_score_that_predictions_contradict_is_named(result, truth, clause):
    assert wrong_score(TrialResult(key="", predictions=HALF, **result), truth, predicts=True).startswith(clause)
    if not clause:
        assert wrong_score(TrialResult(key="", predictions=HALF, **result), truth, predicts=True) == ""


def test_a_score_that_features_contradict_is_named():
    truth = Truth(relevant=(0, 1), pairs=((0, 1),))
    weights, selected = np.array([0.9, 0.1, 0.2, 0.8]), np.array([0, 3])
    pairs = Interactions(np.array([[0, 1]]), np.array([0.5]), np.array([2]), None, 1.0, 6)
    scores = {**detection_scores(selected, weights, truth.relevant), "pair_detection": 0.0}

    def clause(**changes):
        result = TrialResult(
            key="", scores={**scores, **changes}, selected=selected, weights=weights, interactions=pairs
        )
        return wrong_score(result, truth, predicts=False)

    assert clause() == ""
    assert clause(detection=1.0) == "its score 'detection' is 1, but its features give 0.5"
    assert clause(area=0.9) == "its score 'area' is 0.9, but its features give 0.5"
    assert clause(pair_detection=1.0) == "its score 'pair_detection' is 1, but its pairs give 0"


@pytest.mark.parametrize("predicts", [True, False])
def test_what_is_needed_must_be_there(predicts):
    with pytest.raises(ValueError, match="there are no"):
        wrong_score(TrialResult(key="", scores={"accuracy": 1.0}), RIGHT, predicts=predicts)
    with pytest.raises(ValueError, match=r"\(1,\) predictions of \(4,\) test rows"):
        scores_of(np.array([0]), RIGHT)
