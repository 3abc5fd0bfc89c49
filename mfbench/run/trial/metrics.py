"""The metrics of a run, resolved to functions that score the predictions for a test part."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.errors import describe_error
from mfbench.host.expressions import parse
from mfbench.host.factories import SAMPLE_WEIGHT, check_parameters, has_weights, resolve_factory
from mfbench.host.registry import Registry
from mfbench.model.evaluation import MetricSpec
from mfbench.model.specs import Features
from mfbench.model.trials import Predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters."""

    name: str  # as in the suite
    spec: MetricSpec
    function: Callable[..., Any]

    @property
    def needs_scores(self) -> bool:
        """Whether it needs probabilities or decision values."""
        return self.spec.needs in ("scores", "probabilities")

    def of(self, predictions: Predictions) -> float:
        """Return the score of predictions; NaN if the learner lacks what the metric needs."""
        if self.needs_scores and predictions.y_score is None:
            return float("nan")
        if self.spec.needs == "probabilities" and not predictions.is_probability:
            return float("nan")
        is_of_labels, weights = self.spec.needs == "labels", predictions.sample_weight
        arguments = (predictions.y_true, predictions.y_pred) if is_of_labels else (predictions,)
        takes_weights = is_of_labels and weights is not None and has_weights(self.function)
        value = float(self.function(*arguments, **({SAMPLE_WEIGHT: weights} if takes_weights else {})))
        lowest, highest = self.spec.range
        is_possible = np.isfinite(value) and lowest - _ROUNDING <= value <= highest + _ROUNDING
        if not np.isnan(value) and not is_possible:
            raise ValueError(f"it returned {value:g}, expected a number from {lowest:g} to {highest:g}")
        return value


def resolve_metrics(names: Iterable[str], registry: Registry) -> list[Metric]:
    """Return the metrics of a suite; raises `UsageError` for an unknown name or parameter."""
    metrics = []
    for name in names:
        expression = parse(name, references=True)
        registered = registry.entry("metric", expression.name)
        check_parameters(registered, expression.params)
        function = partial(resolve_factory(registered), **{**registered.spec.defaults, **expression.params})
        metrics.append(Metric(name, registered.spec, function))
    return metrics


def predict(
    learner: Any,
    X: Features,
    y_true: NDArray[Any],
    metrics: Sequence[Metric],
    with_scores: bool = False,
) -> Predictions:
    """Return the predictions of a fitted learner."""
    y_pred = np.asarray(learner.predict(X))
    if y_pred.shape == (X.shape[0], 1):  # CatBoost's shape for more than two classes
        y_pred = y_pred[:, 0]
    y_score: NDArray[np.float64] | None = None
    is_probability = False
    if with_scores or any(metric.needs_scores for metric in metrics):
        for method in ("predict_proba", "decision_function"):
            if hasattr(learner, method):
                y_score = np.asarray(getattr(learner, method)(X), dtype=np.float64)
                is_probability = method == "predict_proba"
                break
    classes = np.asarray(getattr(learner, "classes_", np.unique(y_true)))
    return Predictions(y_true, y_pred, y_score, classes, is_probability)


def _counted(predictions: Predictions, rows: NDArray[np.bool_]) -> Predictions:
    """Return the predictions of some rows; a row of weight 0 is as good as absent."""
    names = ("y_true", "y_pred", "y_score", "decisions", SAMPLE_WEIGHT)
    arrays = {name: getattr(predictions, name) for name in names}
    return replace(predictions, **{name: array[rows] for name, array in arrays.items() if array is not None})


def evaluate(predictions: Predictions, metrics: Iterable[Metric]) -> dict[str, float]:
    """Return the scores by metric name; NaN, with a warning, if a metric fails."""
    if predictions.sample_weight is not None:
        predictions = _counted(predictions, predictions.sample_weight > 0)
    for array in (predictions.y_true, predictions.y_pred, predictions.y_score):
        if array is not None:
            array.flags.writeable = False  # the predictions are stored, and the next metric reads them too
    scores = {}
    for metric in metrics:
        try:
            scores[metric.name] = metric.of(predictions)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, the other scores are valid
            warnings.warn(f"metric {metric.name!r} failed: {describe_error(error)}", stacklevel=2)
            scores[metric.name] = float("nan")
    return scores
