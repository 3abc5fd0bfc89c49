"""Scores of a test part, by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics

from mfbench.run.detection import DETECTION_SCORES, SMALLER_IS_BETTER

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcome:
    """The truth and what a classifier said of the same rows.

    Attributes
    ----------
    truth, predictions : ndarray of shape (n_rows,)
        Class codes.
    scores : ndarray or None
        Probabilities of shape (n_rows, n_seen_classes), or decision values; None if the classifier has neither.
    seen : ndarray
        The class codes that the columns of `scores` stand for.
    is_probability : bool
        Whether `scores` are probabilities.
    decisions : ndarray of shape (n_rows, n_classes) or None, default=None
        Where each class was a problem of its own: 1 if the row was said to be of that class, else 0.
    """

    truth: NDArray[np.int64]
    predictions: NDArray[np.int64]
    scores: NDArray[np.float64] | None
    seen: NDArray[np.int64]
    is_probability: bool
    decisions: NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True)
class Score:
    """What a report has to know of a score: its direction, and whether it is written in percent."""

    greater_is_better: bool = True
    percent: bool = True


@dataclass(frozen=True)
class Metric(Score):
    """A score of predictions: its function, and whether it needs more than predicted labels."""

    function: Callable[[Outcome], float]
    needs_scores: bool = False


def _balanced(outcome: Outcome) -> float:
    """Mean recall over the classes that occur in the truth (no warning if others were predicted)."""
    recall = metrics.recall_score(
        outcome.truth, outcome.predictions, labels=np.unique(outcome.truth), average="macro", zero_division=0
    )
    return float(recall)


def _f1(outcome: Outcome) -> float:
    return float(metrics.f1_score(outcome.truth, outcome.predictions, average="macro", zero_division=0))


def _mcc(outcome: Outcome) -> float:
    if len(np.union1d(outcome.truth, outcome.predictions)) < 2:
        return 0.0  # what scikit-learn returns too, with a warning that is no fault of the method
    return float(metrics.matthews_corrcoef(outcome.truth, outcome.predictions))


def _one_vs_rest(outcome: Outcome) -> float:
    """Mean accuracy of the decisions "this class or another one"; with two classes there is one such decision.

    Where the classes were no problems of their own, a predicted label says yes to one class and no to all others: with
    an error rate e among K > 2 classes that is 1 - 2e/K.
    """
    if outcome.decisions is not None:
        truth = outcome.truth[:, None] == np.arange(outcome.decisions.shape[1])
        return float(np.mean(truth == outcome.decisions))
    wrong = float(np.mean(outcome.truth != outcome.predictions))
    n_classes = len(np.union1d(outcome.seen, outcome.truth))
    return 1.0 - wrong * (2.0 / n_classes if n_classes > 2 else 1.0)


def _log_loss(outcome: Outcome) -> float:
    if outcome.scores is None or not outcome.is_probability:
        return float("nan")
    return float(metrics.log_loss(outcome.truth, _columns_for_all(outcome), labels=_all_classes(outcome)))


def _roc_auc(outcome: Outcome) -> float:
    """Area under the ROC curve; one against rest, averaged over classes, when there are more than two."""
    if outcome.scores is None or len(np.unique(outcome.truth)) < 2:
        return float("nan")
    if len(_all_classes(outcome)) == 2:
        second = outcome.scores if outcome.scores.ndim == 1 else outcome.scores[:, -1]
        return float(metrics.roc_auc_score(outcome.truth == outcome.seen[-1], second))
    columns = _columns_for_all(outcome)
    classes = _all_classes(outcome)
    areas = [
        metrics.roc_auc_score(outcome.truth == code, columns[:, position])
        for position, code in enumerate(classes)
        if (outcome.truth == code).any()
    ]
    return float(np.mean(areas))


def _all_classes(outcome: Outcome) -> NDArray[np.int64]:
    return np.union1d(outcome.seen, outcome.truth)


def _columns_for_all(outcome: Outcome) -> NDArray[np.float64]:
    """Add a column of zeros for a class of the test part that training never showed."""
    assert outcome.scores is not None
    classes = _all_classes(outcome)
    # One column of decision values stands for two classes: large for the second, small for the first.
    scores = outcome.scores if outcome.scores.ndim == 2 else np.column_stack([-outcome.scores, outcome.scores])
    columns = np.zeros((len(outcome.truth), len(classes)))
    columns[:, np.searchsorted(classes, outcome.seen)] = scores
    return columns


METRICS: dict[str, Metric] = {
    "accuracy": Metric(lambda o: float(np.mean(o.truth == o.predictions))),
    "balanced_accuracy": Metric(_balanced),
    "f1_macro": Metric(_f1),
    "mcc": Metric(_mcc, percent=False),
    "log_loss": Metric(_log_loss, greater_is_better=False, needs_scores=True, percent=False),
    "roc_auc": Metric(_roc_auc, needs_scores=True),
    "one_vs_rest_accuracy": Metric(_one_vs_rest),
}
# Whatever a protocol may measure.
SCORES: dict[str, Score] = {
    **METRICS,
    **{name: Score(greater_is_better=name not in SMALLER_IS_BETTER, percent=False) for name in DETECTION_SCORES},
}


def outcome_of(
    classifier: Any, X: NDArray[np.float64], truth: NDArray[np.int64], names: list[str], with_scores: bool = False
) -> Outcome:
    """Ask a fitted classifier for labels and, only if asked to or one of the metrics `names` needs them, for scores."""
    predictions = np.asarray(classifier.predict(X))
    scores: NDArray[np.float64] | None = None
    is_probability = False
    if with_scores or any(METRICS[name].needs_scores for name in names):
        for method in ("predict_proba", "decision_function"):
            if hasattr(classifier, method):
                scores = np.asarray(getattr(classifier, method)(X), dtype=np.float64)
                is_probability = method == "predict_proba"
                break
    seen = np.asarray(getattr(classifier, "classes_", np.unique(truth)))
    return Outcome(truth, predictions, scores, seen, is_probability)


def evaluate(outcome: Outcome, names: list[str]) -> dict[str, float]:
    """Return the scores by metric name; NaN where the classifier cannot give what a metric needs."""
    return {name: METRICS[name].function(outcome) for name in names}
