"""More than two classes as one problem for each class: this class or another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.model.trials import TrialResult
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.metrics import Predictions, evaluate
from mfbench.run.trial.problem import Problem
from mfbench.run.trial.steps import Maker
from mfbench.suite.methods import ResolvedMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall")


def solve_one_vs_rest(
    method: ResolvedMethod, seed: int, fold: Fold, metrics: list[str], make: Maker, result: TrialResult
) -> None:
    """Tune, fit and test a method once for each class, and combine the classes in one result."""
    # `decisions` has a column of zeros and ones for each class. `predictions` is the class whose problem scores
    # highest (by probability or decision value, or else by the decision); among equals the class with more training
    # rows, then the one with the lower code. A class without training rows is never predicted. Times are sums over the
    # classes, weights are means, selected features those of any class. `chosen` has one entry for each class.
    n_classes, n_rows = fold.n_classes, len(fold.test)
    decisions = np.zeros((n_rows, n_classes), dtype=np.int64)
    scores = np.full((n_rows, n_classes), -np.inf)
    parts: list[TrialResult] = []
    for code in range(n_classes):
        problem = fold.against_the_rest(code)
        codes = np.unique(problem.y_train)
        if len(codes) < 2:  # nothing to learn: never predicted, or always if it is the only class that trains
            decisions[:, code] = codes[0]
            scores[:, code] = np.inf if codes[0] else -np.inf
            continue
        part = TrialResult(key=result.key)
        predictions = Problem(method, seed, problem, metrics, make).into(part, with_scores=True)
        assert predictions is not None  # a protocol with these decisions tunes within the trial
        decisions[:, code], scores[:, code] = predictions.y_pred, _score_of_class(predictions)
        if part.chosen:
            result.chosen[str(code)] = part.chosen
        parts.append(part)
    for name in TIMES:
        setattr(result, name, sum(getattr(part, name) for part in parts))
    _merge_selections(parts, fold, result)
    y_pred = _largest(scores, np.bincount(fold.y_train, minlength=n_classes))
    combined = Predictions(fold.y_test, y_pred, scores, np.arange(n_classes), False, decisions)
    result.predictions, result.decisions = y_pred, decisions
    result.scores = evaluate(combined, metrics)


def _score_of_class(predictions: Predictions) -> NDArray[np.float64]:
    if predictions.y_score is None:
        return predictions.y_pred.astype(np.float64)
    return predictions.y_score if predictions.y_score.ndim == 1 else predictions.y_score[:, -1]


def _merge_selections(parts: list[TrialResult], fold: Fold, result: TrialResult) -> None:
    selected = [part.selected for part in parts if part.selected is not None]
    weights = [part.weights for part in parts if part.weights is not None]
    result.n_selected = fold.X.shape[1]
    if selected:
        result.selected = np.unique(np.concatenate(selected))
        result.n_selected = len(result.selected)
    if weights:
        result.weights = np.mean(weights, axis=0)


def _largest(scores: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the column of each row's largest score; among equals the one with the larger count, then the first."""
    order = np.argsort(-counts, kind="stable")
    largest: NDArray[np.int64] = order[np.argmax(scores[:, order], axis=1)]
    return largest
