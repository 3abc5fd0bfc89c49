"""Scores of a test part, computed by scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics

from mfbench.suite.forms import METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Predictions:
    """A classifier's predictions for some rows, and the truth."""

    y_true: NDArray[np.int64]  # y_true, y_pred: class codes
    y_pred: NDArray[np.int64]
    # Probabilities of shape (n_rows, n_seen_classes), or decision values; None if the classifier provides neither.
    y_score: NDArray[np.float64] | None
    classes: NDArray[np.int64]  # the class code of each column of `y_score`
    is_probability: bool  # whether `y_score` holds probabilities
    # If each class is a separate one-vs-rest problem: 1 if the row was assigned to the class, else 0.
    decisions: NDArray[np.int64] | None = None


def accuracy(predictions: Predictions) -> float:
    """Return the share of correct predictions."""
    return float(np.mean(predictions.y_true == predictions.y_pred))


def balanced_accuracy(predictions: Predictions) -> float:
    """Mean recall over the classes in `y_true` (without a warning if other classes were predicted)."""
    recall = metrics.recall_score(
        predictions.y_true, predictions.y_pred, labels=np.unique(predictions.y_true), average="macro", zero_division=0
    )
    return float(recall)


def f1_macro(predictions: Predictions) -> float:
    """Return the mean F1 score of the classes."""
    return float(metrics.f1_score(predictions.y_true, predictions.y_pred, average="macro", zero_division=0))


def mcc(predictions: Predictions) -> float:
    """Return the Matthews correlation coefficient."""
    if len(np.union1d(predictions.y_true, predictions.y_pred)) < 2:
        return 0.0  # as scikit-learn does, but without its warning, since the method has done nothing wrong
    return float(metrics.matthews_corrcoef(predictions.y_true, predictions.y_pred))


def one_vs_rest_accuracy(predictions: Predictions) -> float:
    """Mean accuracy of the one-vs-rest decisions; with two classes there is one such decision."""
    # Unless each class was a separate problem, a prediction is a yes to one class and a no to all others: with an error
    # rate e and K > 2 classes the score is 1 - 2e/K.
    if predictions.decisions is not None:
        truth = predictions.y_true[:, None] == np.arange(predictions.decisions.shape[1])
        return float(np.mean(truth == predictions.decisions))
    wrong = float(np.mean(predictions.y_true != predictions.y_pred))
    n_classes = len(np.union1d(predictions.classes, predictions.y_true))
    return 1.0 - wrong * (2.0 / n_classes if n_classes > 2 else 1.0)


def log_loss(predictions: Predictions) -> float:
    """Return the mean negative log-likelihood; NaN without probabilities."""
    if predictions.y_score is None or not predictions.is_probability:
        return float("nan")
    return float(metrics.log_loss(predictions.y_true, _columns_for_all(predictions), labels=_all_classes(predictions)))


def roc_auc(predictions: Predictions) -> float:
    """Area under the ROC curve; with more than two classes, the one-vs-rest mean."""
    if predictions.y_score is None or len(np.unique(predictions.y_true)) < 2:
        return float("nan")
    if len(_all_classes(predictions)) == 2:
        second = predictions.y_score if predictions.y_score.ndim == 1 else predictions.y_score[:, -1]
        return float(metrics.roc_auc_score(predictions.y_true == predictions.classes[-1], second))
    columns = _columns_for_all(predictions)
    classes = _all_classes(predictions)
    areas = [
        metrics.roc_auc_score(predictions.y_true == code, columns[:, position])
        for position, code in enumerate(classes)
        if (predictions.y_true == code).any()
    ]
    return float(np.mean(areas))


def _all_classes(predictions: Predictions) -> NDArray[np.int64]:
    return np.union1d(predictions.classes, predictions.y_true)


def _columns_for_all(predictions: Predictions) -> NDArray[np.float64]:
    """Add a column of zeros for each test class without training rows."""
    assert predictions.y_score is not None
    classes = _all_classes(predictions)
    # With two classes there is one column of decision values: large for the second class, small for the first.
    scores = (
        predictions.y_score
        if predictions.y_score.ndim == 2
        else np.column_stack([-predictions.y_score, predictions.y_score])
    )
    columns = np.zeros((len(predictions.y_true), len(classes)))
    columns[:, np.searchsorted(classes, predictions.classes)] = scores
    return columns


def predict(
    classifier: Any, X: NDArray[np.float64], y_true: NDArray[np.int64], names: list[str], with_scores: bool = False
) -> Predictions:
    """Return the predictions of a fitted classifier."""
    y_pred = np.asarray(classifier.predict(X))
    if y_pred.shape == (len(X), 1):  # CatBoost's shape for more than two classes
        y_pred = y_pred[:, 0]
    y_score: NDArray[np.float64] | None = None
    is_probability = False
    if with_scores or any(METRICS[name].needs_scores for name in names):
        for method in ("predict_proba", "decision_function"):
            if hasattr(classifier, method):
                y_score = np.asarray(getattr(classifier, method)(X), dtype=np.float64)
                is_probability = method == "predict_proba"
                break
    classes = np.asarray(getattr(classifier, "classes_", np.unique(y_true)))
    return Predictions(y_true, y_pred, y_score, classes, is_probability)


def evaluate(predictions: Predictions, names: list[str]) -> dict[str, float]:
    """Return the scores by metric name; NaN if the classifier lacks what a metric needs."""
    return {name: METRICS[name].function(predictions) for name in names}
