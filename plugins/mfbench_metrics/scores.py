"""Scores of the predictions for a test part; most are computed by scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench import Predictions

    Codes = NDArray[np.int64]
    Numbers = NDArray[np.float64]
    Weights = NDArray[np.float64] | None


def _mean(values: NDArray[Any], sample_weight: Weights) -> float:
    """Return the mean over rows, and columns if there are several."""
    if sample_weight is None:
        return float(np.mean(values))
    return float(np.average(values.reshape(len(values), -1).mean(axis=1), weights=sample_weight))


def accuracy(y_true: Codes, y_pred: Codes, sample_weight: Weights = None) -> float:
    """Return the share of correct predictions."""
    return _mean(y_true == y_pred, sample_weight)


def r2(y_true: Numbers, y_pred: Numbers, sample_weight: Weights = None) -> float:
    """Return the coefficient of determination; NaN if the true numbers are equal."""
    if np.ptp(y_true) == 0:
        return float("nan")
    return float(metrics.r2_score(y_true, y_pred, sample_weight=sample_weight))


def rmse(y_true: Numbers, y_pred: Numbers, sample_weight: Weights = None) -> float:
    """Return the root of the mean squared error."""
    return float(metrics.root_mean_squared_error(y_true, y_pred, sample_weight=sample_weight))


def mae(y_true: Numbers, y_pred: Numbers, sample_weight: Weights = None) -> float:
    """Return the mean absolute error."""
    return float(metrics.mean_absolute_error(y_true, y_pred, sample_weight=sample_weight))


def spearman(y_true: Numbers, y_pred: Numbers, sample_weight: Weights = None) -> float:
    """Return the rank correlation: 0 for constant predictions, which order nothing; NaN for equal true numbers."""
    if np.ptp(y_true) == 0 or np.ptp(y_pred) == 0:
        return float("nan") if np.ptp(y_true) == 0 else 0.0
    weights = np.ones(len(y_true)) if sample_weight is None else sample_weight
    moments = np.cov(_ranks(y_true, weights), _ranks(y_pred, weights), aweights=weights)
    return float(np.clip(moments[0, 1] / np.sqrt(moments[0, 0] * moments[1, 1]), -1.0, 1.0))


def _ranks(values: Numbers, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of each value, where a row of weight 2 counts as two rows; 1/2 less than usual."""
    _, inverse = np.unique(values, return_inverse=True)
    total = np.bincount(inverse, weights)
    return np.asarray((np.cumsum(total) - total / 2.0)[inverse])


def pinball(y_true: Numbers, y_pred: Numbers, alpha: float = 0.5, sample_weight: Weights = None) -> float:
    """Return the mean pinball loss of predicted quantiles of order `alpha`; half the absolute error for the median."""
    return float(metrics.mean_pinball_loss(y_true, y_pred, alpha=alpha, sample_weight=sample_weight))


def balanced_accuracy(y_true: Codes, y_pred: Codes, sample_weight: Weights = None) -> float:
    """Return the mean recall over the classes in `y_true`; a class without weight has a recall of 0."""
    codes = np.unique(y_true, return_inverse=True)[1]
    weights = np.ones(len(codes)) if sample_weight is None else sample_weight
    total, right = np.bincount(codes, weights), np.bincount(codes, weights * (y_true == y_pred))
    return float(np.mean(np.divide(right, total, out=np.zeros(len(total)), where=total > 0)))


def balanced_error_rate(y_true: Codes, y_pred: Codes, sample_weight: Weights = None) -> float:
    """Return 1 minus the balanced accuracy."""
    return 1.0 - balanced_accuracy(y_true, y_pred, sample_weight)


def f1_macro(y_true: Codes, y_pred: Codes, sample_weight: Weights = None) -> float:
    """Return the mean F1 score of the classes."""
    return float(metrics.f1_score(y_true, y_pred, average="macro", zero_division=0, sample_weight=sample_weight))


def fbeta(
    y_true: Codes, y_pred: Codes, beta: float = 1.0, average: str = "macro", sample_weight: Weights = None
) -> float:
    """Return the F score, in which recall counts `beta` times as much as precision, averaged over the classes."""
    how: dict[str, Any] = {"beta": beta, "average": average, "zero_division": 0}
    return float(metrics.fbeta_score(y_true, y_pred, sample_weight=sample_weight, **how))


def mcc(y_true: Codes, y_pred: Codes, sample_weight: Weights = None) -> float:
    """Return the Matthews correlation coefficient."""
    if len(np.union1d(y_true, y_pred)) < 2:
        return 0.0  # as scikit-learn does, but without its warning, since the method has done nothing wrong
    return float(metrics.matthews_corrcoef(y_true, y_pred, sample_weight=sample_weight))


def cohen_kappa(y_true: Codes, y_pred: Codes, weights: str | None = None, sample_weight: Weights = None) -> float:
    """Return Cohen's kappa: agreement beyond chance; 1 if there is one class and it is predicted everywhere."""
    if len(np.union1d(y_true, y_pred)) < 2:
        return 1.0
    return float(metrics.cohen_kappa_score(y_true, y_pred, weights=weights, sample_weight=sample_weight))


def one_vs_rest_accuracy(predictions: Predictions) -> float:
    """Return the mean accuracy of the one-vs-rest decisions; with two classes there is one such decision."""
    # Unless each class was a separate problem, a prediction is a yes to one class and a no to all others: with an error
    # rate e and K > 2 classes the score is 1 - 2e/K.
    if predictions.decisions is not None:
        truth = predictions.y_true[:, None] == np.arange(predictions.decisions.shape[1])
        return _mean(truth == predictions.decisions, predictions.sample_weight)
    wrong = _mean(predictions.y_true != predictions.y_pred, predictions.sample_weight)
    n_classes = len(all_classes(predictions))
    return 1.0 - wrong * (2.0 / n_classes if n_classes > 2 else 1.0)


def log_loss(predictions: Predictions) -> float:
    """Return the mean negative log-likelihood."""
    columns, classes = score_columns(predictions), all_classes(predictions)
    weights = predictions.sample_weight
    return float(metrics.log_loss(predictions.y_true, columns, labels=classes, sample_weight=weights))


def brier_score(predictions: Predictions) -> float:
    """Return the mean squared difference between probabilities and outcomes, half its sum over the classes."""
    # Halved, the score lies between 0 and 1, and with two classes it is the squared error of one probability.
    outcomes = predictions.y_true[:, None] == all_classes(predictions)
    return _mean(np.sum((score_columns(predictions) - outcomes) ** 2, axis=1), predictions.sample_weight) / 2.0


def expected_calibration_error(predictions: Predictions, bins: int = 10) -> float:
    """Return the mean gap between confidence and accuracy, over equally wide bins of the largest probability."""
    # Guo et al., On calibration of modern neural networks, ICML 2017, equation (3): bins ((m - 1)/M, m/M], each
    # weighted by its share of the rows.
    if bins < 1:
        raise ValueError(f"bins = {bins}: use a whole number from 1")
    columns = score_columns(predictions)
    confidence, right = columns.max(axis=1), all_classes(predictions)[columns.argmax(axis=1)] == predictions.y_true
    member = np.clip(np.ceil(confidence * bins - 1e-12).astype(int) - 1, 0, bins - 1)
    weights = np.ones(len(member)) if predictions.sample_weight is None else predictions.sample_weight
    gaps = np.bincount(member, weights=weights * (confidence - right), minlength=bins)
    return float(np.abs(gaps).sum() / weights.sum())


def roc_auc(predictions: Predictions) -> float:
    """Return the area under the ROC curve; with more than two classes, the one-vs-rest mean."""
    return _of_each_class(predictions, metrics.roc_auc_score)


def average_precision(predictions: Predictions) -> float:
    """Return the average precision of the second class; with more than two classes, the one-vs-rest mean."""
    return _of_each_class(predictions, metrics.average_precision_score)


def _of_each_class(predictions: Predictions, score: Any) -> float:
    """Return a score of the ranking by the second class, or the mean over the classes that occur; NaN for one class."""
    if len(np.unique(predictions.y_true)) < 2:
        return float("nan")
    classes, weights = all_classes(predictions), predictions.sample_weight
    if len(classes) == 2:
        y_score = predictions.y_score
        assert y_score is not None  # the metric needs scores
        second = y_score if y_score.ndim == 1 else y_score[:, -1]
        return float(score(predictions.y_true == predictions.classes[-1], second, sample_weight=weights))
    columns = score_columns(predictions)
    values = [
        score(predictions.y_true == code, columns[:, position], sample_weight=weights)
        for position, code in enumerate(classes)
        if (predictions.y_true == code).any()
    ]
    return float(np.mean(values))


def all_classes(predictions: Predictions) -> Codes:
    """Return the classes of the training and the test part."""
    return np.union1d(predictions.classes, predictions.y_true)


def score_columns(predictions: Predictions) -> NDArray[np.float64]:
    """Return a column of scores for each of `all_classes`: zeros for a class without training rows."""
    assert predictions.y_score is not None  # the metric needs scores
    classes = all_classes(predictions)
    # With two classes there is one column of decision values: large for the second class, small for the first.
    scores = (
        predictions.y_score
        if predictions.y_score.ndim == 2
        else np.column_stack([-predictions.y_score, predictions.y_score])
    )
    columns = np.zeros((len(predictions.y_true), len(classes)))
    columns[:, np.searchsorted(classes, predictions.classes)] = scores
    return columns


class _Predicted(ClassifierMixin, BaseEstimator):
    """A stand-in for the classifier, from which a scorer of scikit-learn reads the predictions."""

    def __init__(self, predictions: Any = None) -> None:
        self.predictions = predictions

    @property
    def classes_(self) -> Codes:
        return all_classes(self.predictions) if self.predictions.is_probability else self.predictions.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Codes:
        codes: Codes = self.predictions.y_pred
        return codes

    @available_if(lambda self: self.predictions.is_probability)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return score_columns(self.predictions)

    @available_if(lambda self: not self.predictions.is_probability and self.predictions.y_score is not None)
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.predictions.y_score
        return values


def sklearn_score(predictions: Predictions, name: str) -> float:
    """Return the value of scikit-learn's scorer of a name, as in ``cross_val_score(scoring=name)``."""
    rows = np.empty((len(predictions.y_true), 0))
    weights = {} if predictions.sample_weight is None else {"sample_weight": predictions.sample_weight}
    return float(metrics.get_scorer(name)(_Predicted(predictions), rows, predictions.y_true, **weights))
