"""One problem: a method on a fold, tuned, fitted, tested and scored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mfbench.run.trial.folds import Fold
from mfbench.run.trial.interactions import read_interactions
from mfbench.run.trial.measure import Stopwatch
from mfbench.run.trial.metrics import METRICS, Predictions, evaluate, predict
from mfbench.run.trial.steps import Fitted, GridPoint, Maker, SelectorError, Steps, grid_points, parameters, readable
from mfbench.suite.resolve import ResolvedMethod
from mfbench.trials import Candidate, TrialResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

Measured = TypeVar("Measured")


class Problem:
    """A method on a fold.

    Parameters
    ----------
    method : ResolvedMethod
    seed : int
        Of the classifier.
    fold : Fold
        Data; selector fits found there are used, new ones are left there.
    metrics : list of str
        Scores to compute; the first one tunes.
    make : callable
        Builds estimators: ``make(expression, kind, **overrides)``.
    """

    def __init__(self, method: ResolvedMethod, seed: int, fold: Fold, metrics: list[str], make: Maker) -> None:
        self.method, self.fold, self.metrics = method, fold, metrics
        self.steps = Steps(method, seed, make)
        self.scored: dict[tuple[int, bytes, str], float] = {}

    def into(self, result: TrialResult, *, with_scores: bool = False) -> Predictions | None:
        """Fill a result; return what the classifier said, with its scores if asked, None if a choice is yet to come."""
        if self.method.selection == "per-dataset":
            self.steps.tuning = True
            with Stopwatch() as watch:
                result.candidates = [candidate for _, candidate in self._each_point(self._candidate)]
            result.tune_wall = watch.wall + self.steps.adopted
            return None
        chosen: GridPoint = {}
        fitted: Fitted | None = None
        if self.method.grid:
            self.steps.tuning = True
            with Stopwatch() as watch:
                chosen, fitted = self._tune()
            self.steps.tuning = False
            # Fits that another trial made count too: the time of a method must not depend on who came first.
            result.tune_wall = watch.wall + self.steps.adopted
            result.chosen = readable(chosen)
        outcome = self._measure(chosen, result, fitted, with_scores)
        if fitted is not None:  # made while tuning, told as the final one: not twice
            result.tune_wall = max(0.0, result.tune_wall - result.select_wall - result.fit_wall)
        return outcome

    def _measure(
        self,
        chosen: GridPoint,
        result: TrialResult | Candidate,
        fitted: Fitted | None = None,
        with_scores: bool = False,
    ) -> Predictions:
        """Fit on the training part, unless `fitted` is that fit, predict and score the test part."""
        inputs = self.steps.classifier_input(self.fold, chosen)
        if inputs.selection is not None:
            result.select_wall, result.select_cpu = inputs.selection.wall, inputs.selection.cpu
            result.weights, result.selected = inputs.selection.weights, inputs.selected
            result.interactions = inputs.selection.interactions
        n_features = self.fold.X.shape[1]
        result.n_selected = n_features if inputs.selected is None else len(inputs.selected)
        fitted = fitted or self.steps.fit(self.fold, chosen, inputs)
        if result.interactions is None:
            pairs = self.fold.true_pairs
            result.interactions = read_interactions(fitted.classifier, inputs.groups, n_features, pairs)
        with Stopwatch() as watch:
            outcome = predict(fitted.classifier, inputs.test, self.fold.y_test, self.metrics, with_scores)
        result.fit_wall, result.fit_cpu = fitted.watch.wall, fitted.watch.cpu
        result.predict_wall, result.predict_cpu = watch.wall, watch.cpu
        result.predictions = _checked_predictions(outcome.y_pred, len(self.fold.test), self.method)
        result.scores = evaluate(outcome, self.metrics)
        return outcome

    def _candidate(self, point: GridPoint) -> Candidate:
        """Measure a grid point on the outer fold; analysis chooses among them, by all folds of the dataset."""
        candidate = Candidate(chosen=readable(point))
        self._measure(point, candidate)
        return candidate

    def _tune(self) -> tuple[GridPoint, Fitted | None]:
        """Return the grid point with the best mean inner score; the first in the grid's order among equals.

        If the fits of tuning are final, its fit comes along.
        """
        inner = self.fold.inner
        if self.fold.tuning is not None and len(np.unique(inner[0].y_train)) < 2:
            return next(grid_points(self.method)), None  # with one class to learn no point is better than another
        sign = 1.0 if METRICS[self.metrics[0]].greater_is_better else -1.0
        best: tuple[float, GridPoint, Fitted | None] | None = None

        def inner_score(point: GridPoint) -> tuple[float, Fitted | None]:
            scored = [self._inner_score(fold, point) for fold in inner]
            scores = np.array([score for score, _ in scored])
            if np.isnan(scores).all():
                raise ValueError(f"the score {self.metrics[0]!r} is not defined for it")
            # An inner fold that lacks a class may have no score, and then has none for any point.
            # Differences below rounding are no differences: equal scores must tie on every machine.
            return round(sign * float(np.nanmean(scores)), 12), scored[0][1]

        for point, (score, fitted) in self._each_point(inner_score):
            if best is None or score > best[0]:
                best = score, point, fitted if self.fold.fits_are_final else None
        assert best is not None
        return best[1], best[2]

    def _each_point(self, measure: Callable[[GridPoint], Measured]) -> Iterator[tuple[GridPoint, Measured]]:
        """Yield each grid point with what `measure` makes of it; one that fails is out, if all fail the trial does."""
        failure: Exception | None = None
        succeeded = False
        for point in grid_points(self.method):
            try:
                measured = measure(point)
            except MemoryError:
                raise
            except SelectorError as error:
                if error.failure[0] == "MemoryError":
                    raise
                failure = error
                warnings.warn(f"grid point {readable(point)} failed: {error.failure[0]}: {error}", stacklevel=2)
                continue
            except Exception as error:  # noqa: BLE001 - such as 15 neighbours of 12 rows: that point is out, and said so
                failure = error
                warnings.warn(f"grid point {readable(point)} failed: {type(error).__name__}: {error}", stacklevel=2)
                continue
            succeeded = True
            yield point, measured
        if not succeeded:
            assert failure is not None
            raise failure

    def _inner_score(self, inner: Fold, point: GridPoint) -> tuple[float, Fitted | None]:
        """Return the score of a grid point on an inner fold, and the fit unless an equal one was scored before."""
        inputs = self.steps.classifier_input(inner, point)
        # Points that differ in what they remove may keep the same columns; the same fit need not be made twice.
        same = (id(inner), inputs.identity, repr(sorted(parameters(point, "classifier").items())))
        if same in self.scored:
            return self.scored[same], None
        fitted = self.steps.fit(inner, point, inputs)
        outcome = predict(fitted.classifier, inputs.test, inner.y_test, self.metrics[:1])
        self.scored[same] = evaluate(outcome, self.metrics[:1])[self.metrics[0]]
        return self.scored[same], fitted


def _checked_predictions(predictions: NDArray[Any], n_rows: int, method: ResolvedMethod) -> NDArray[np.int64]:
    if predictions.shape != (n_rows,) or not np.issubdtype(predictions.dtype, np.integer):
        assert method.classifier is not None
        raise ValueError(
            f"classifier {method.classifier.expression.name!r} predicted an array of shape {predictions.shape} and "
            f"type {predictions.dtype}, expected {n_rows} of the class codes it was fitted on"
        )
    return predictions.astype(np.int64)
