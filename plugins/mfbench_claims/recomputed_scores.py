"""Recompute scores from a result's predictions or features, to check the scores in a bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.model.evaluation import CURVE_METRICS
from mfbench.model.trials import Candidate, TrialResult
from mfbench.run.trial.curve import area_under
from mfbench_protocols.detection import detection_scores, pair_detection

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Truth:
    """Everything besides the result that the scores of a fold depend on."""

    # Class codes or numbers of the test rows.
    labels: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    n_classes: int = 0  # number of classes in the training and test rows; 0 if the targets are numbers
    relevant: tuple[int, ...] = ()  # relevant features, for a protocol without predictions
    pairs: tuple[tuple[int, int], ...] = ()  # true pairs of features
    by_class: bool = False  # whether each class is a separate one-vs-rest problem
    has_weights: bool = False  # whether the scores depend on sample weights, which a bundle does not have

    @classmethod
    def of_rows(
        cls,
        y: NDArray[Any],
        train: NDArray[np.integer],
        test: NDArray[np.integer],
        *,
        by_class: bool,
        has_weights: bool,
    ) -> Truth:
        """Return the truth of a fold from a dataset's class codes or numbers."""
        if y.dtype.kind == "f":
            return cls(y[test], has_weights=has_weights)
        used = len(np.unique(y[np.concatenate([train, test])]))
        return cls(y[test].astype(np.int32), used, by_class=by_class, has_weights=has_weights)


def wrong_score(result: TrialResult, truth: Truth, *, predicts: bool) -> str:
    """Return a clause on the first score that contradicts the result itself; empty if there is none."""
    # Scores that need probabilities or decision values are not recomputed, nor are curves at sizes other than the
    # largest.
    for claimed, computed, source in _of_predictions(result, truth) if predicts else _of_features(result, truth):
        for name, value in computed.items():
            if name in claimed and not np.isclose(claimed[name], value, rtol=_ROUNDING, atol=_ROUNDING, equal_nan=True):
                return f"its score {name!r} is {claimed[name]:.12g}, but its {source} {value:.12g}"
    return ""


_Compared = tuple[dict[str, float], dict[str, float], str]


def _of_predictions(result: TrialResult, truth: Truth) -> Iterator[_Compared]:
    """Yield claimed scores with their recomputed values, and the source of the latter."""
    parts: Sequence[TrialResult | Candidate] = result.candidates or [result]
    for part in parts:
        if part.predictions is None:
            raise ValueError("there are no predictions")
        decisions = part.decisions if truth.by_class and isinstance(part, TrialResult) else None
        score = partial(scores_of, decisions=decisions) if truth.n_classes else scores_of_numbers
        computed = {} if truth.has_weights else score(part.predictions, truth)
        yield part.scores, computed, "predictions give"
    curve = result.curve
    if curve is not None:
        largest = dict(zip(curve.metrics, map(float, curve.scores[:, -1]), strict=True))
        yield largest, {name: result.scores[name] for name in largest}, "largest size has"
        sizes, scores = curve.sizes.astype(np.float64), curve.scores[0]
        areas = [area_under(np.log(sizes), scores), area_under(sizes, scores)]
        yield result.scores, dict(zip(CURVE_METRICS, areas, strict=True)), "curve gives"


def _of_features(result: TrialResult, truth: Truth) -> Iterator[_Compared]:
    if result.selected is None or result.weights is None:
        raise ValueError("there are no selected features or no weights")
    yield result.scores, detection_scores(result.selected, result.weights, truth.relevant), "features give"
    if "pair_detection" in result.scores:
        if result.interactions is None:
            raise ValueError("there are no weights of pairs")
        yield result.scores, {"pair_detection": pair_detection(result.interactions, truth.pairs)}, "pairs give"


def scores_of_numbers(predictions: NDArray[Any], truth: Truth) -> dict[str, float]:
    """Return the scores determined by predicted numbers."""
    y = truth.labels
    if predictions.shape != y.shape:
        raise ValueError(f"{predictions.shape} predictions of {y.shape} test rows")
    errors, spread = predictions - y, float(((y - y.mean()) ** 2).sum())
    squared = float((errors**2).sum())
    return {
        "r2": 1.0 - squared / spread if np.ptp(y) else np.nan,
        "rmse": float(np.sqrt(squared / len(y))),
        "mae": float(np.abs(errors).mean()),
    }


def scores_of(
    predictions: NDArray[np.integer], truth: Truth, decisions: NDArray[np.integer] | None = None
) -> dict[str, float]:
    """Return the scores determined by predicted class codes, from the counts of each class."""
    # `mfbench.run.trial.metrics` computes the same with scikit-learn, but fifty times as slowly: too slow for large
    # bundles.
    if predictions.shape != truth.labels.shape:
        raise ValueError(f"{predictions.shape} predictions of {truth.labels.shape} test rows")
    codes, where = np.unique(np.concatenate([truth.labels, predictions]), return_inverse=True)
    labels, guesses = np.split(where, 2)
    hits, of_label, of_guess = (
        np.bincount(rows, minlength=len(codes)).astype(np.float64)
        for rows in (labels[labels == guesses], labels, guesses)
    )
    total = len(labels)
    wrong = 1.0 - hits.sum() / total
    spread = (total**2 - of_label @ of_label) * (total**2 - of_guess @ of_guess)
    covariance = hits.sum() * total - of_label @ of_guess
    if decisions is None:
        one_vs_rest = 1.0 - wrong * (2.0 / truth.n_classes if truth.n_classes > 2 else 1.0)
    else:
        one_vs_rest = np.mean((truth.labels[:, None] == np.arange(decisions.shape[1])) == decisions)
    scores = {
        "accuracy": 1.0 - wrong,
        "balanced_accuracy": np.mean(hits[of_label > 0] / of_label[of_label > 0]),
        "f1_macro": np.mean(2.0 * hits / (of_label + of_guess)),
        "mcc": covariance / np.sqrt(spread) if spread else 0.0,
        "one_vs_rest_accuracy": one_vs_rest,
    }
    return {name: float(score) for name, score in scores.items()}
