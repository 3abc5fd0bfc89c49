"""One problem: a method on a fold, tuned, fitted, tested and scored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from math import ceil
from operator import itemgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from mfbench.model.trials import Candidate, Predictions, TrialResult
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.guard import DescribedError, Stopwatch, rows_for
from mfbench.run.trial.metrics import Metric, evaluate, predict
from mfbench.run.trial.steps import Fitted, GridPoint, Maker, Steps, grid_points, read_interactions, readable
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.protocols import derive_seed
from mfbench.suite.search import halving

if TYPE_CHECKING:
    from numpy.typing import NDArray

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Best:
    """The best of several grid points: its mean inner score, and its fit if the fits of tuning are final."""

    score: float
    point: GridPoint
    fitted: Fitted | None


class TrialProblem:
    """A method on a fold."""

    def __init__(self, method: ResolvedMethod, seed: int, fold: Fold, metrics: Sequence[Metric], make: Maker) -> None:
        self.method, self.fold, self.metrics = method, fold, metrics
        self.steps = Steps(method, seed, make)
        self._scores: dict[tuple[int, bytes, str], float] = {}

    def into(self, result: TrialResult, *, with_scores: bool = False) -> Predictions | None:
        """Fill a result and return the predictions."""
        if self.method.selection == "per-dataset":
            with self._tuning(result):
                points = grid_points(self.method.grid)
                result.candidates = [candidate for _, candidate in self._each_point(points, self._candidate)]
            return None
        best = Best(0.0, {}, None)
        if self.method.grid:
            with self._tuning(result):
                best = self._tune()
            result.chosen = readable(best.point)
        predictions = self._measure(best.point, result, best.fitted, with_scores)
        if best.fitted is not None:  # fitted during tuning and reported as the final fit: its time must not count twice
            result.tune_wall = max(0.0, result.tune_wall - result.select_wall - result.fit_wall)
        return predictions

    @contextmanager
    def _tuning(self, result: TrialResult) -> Iterator[None]:
        """Record the time of a block that tries grid points."""
        self.steps.tuning = True
        with Stopwatch() as watch:
            yield
        self.steps.tuning = False
        # Fits made by other trials count too: a method's time must not depend on which trial came first.
        result.tune_wall = watch.wall + self.steps.adopted

    def _measure(
        self, point: GridPoint, result: Candidate, fitted: Fitted | None = None, with_scores: bool = False
    ) -> Predictions:
        """Fit on the training part, unless `fitted` is that fit, then predict and score the test part."""
        inputs = self.steps.learner_input(self.fold, point)
        if inputs.selection is not None:
            result.select_wall, result.select_cpu = inputs.selection.wall, inputs.selection.cpu
            result.weights, result.selected = inputs.selection.weights, inputs.selected
            result.interactions = inputs.selection.interactions
        n_features = self.fold.X.shape[1]
        result.n_selected = n_features if inputs.selected is None else len(inputs.selected)
        fitted = fitted or self.steps.fit(self.fold, point, inputs)
        if result.interactions is None:
            pairs = self.fold.true_pairs
            result.interactions = read_interactions(fitted.estimator, inputs.groups, n_features, pairs)
        rows = rows_for(fitted.estimator, inputs.test)
        with Stopwatch() as watch:
            predictions = predict(fitted.estimator, rows, self.fold.y_test, self.metrics, with_scores)
        predictions = _checked(predictions, self.fold, self.method)
        result.fit_wall, result.fit_cpu = fitted.watch.wall, fitted.watch.cpu
        result.predict_wall, result.predict_cpu = watch.wall, watch.cpu
        result.predictions = predictions.y_pred
        result.scores = evaluate(predictions, self.metrics)
        return predictions

    def _candidate(self, point: GridPoint) -> Candidate:
        """Measure a grid point on the outer fold; the analysis selects a point over all folds of the dataset."""
        candidate = Candidate(chosen=readable(point))
        self._measure(point, candidate)
        return candidate

    def _tune(self) -> Best:
        """Return the grid point with the best mean inner score; ties go to the first in grid order."""
        search, fold = self.method.search, self.fold
        n = None if search is None else search.n
        points: Iterable[GridPoint] = grid_points(self.method.grid, n, derive_seed(fold.seed, "search"))
        if not self._can_tune:
            return Best(0.0, next(iter(points)), None)
        rows = len(fold.train)
        if search is not None and search.kind == "halving":
            points = list(points)
            classes = len(np.unique(fold.codes[fold.train]))
            *rounds, (rows, _) = halving(len(points), rows, len(fold.inner), classes, search.factor)
            for sample, tried in rounds:
                points = self._first(ceil(tried / search.factor), points, fold.sampled(sample))
        return self._best(points, fold.sampled(rows))

    def _first(self, number: int, points: Iterable[GridPoint], folds: Sequence[Fold]) -> list[GridPoint]:
        """Return the grid points with the best mean scores, best first; ties keep their order."""
        score = partial(self._tuning_score, folds=folds)
        scored = [(score, point) for point, (score, _) in self._each_point(points, score)]
        return [point for _, point in nlargest(number, scored, key=itemgetter(0))]

    @property
    def _can_tune(self) -> bool:
        """Whether grid points can differ: with a single value to learn, all of them are equal."""
        return self.fold.tuning is None or len(np.unique(self.fold.inner[0].y_train)) > 1

    def _best(self, points: Iterable[GridPoint], folds: Sequence[Fold]) -> Best:
        """Return the grid point with the best mean inner score; ties go to the first."""
        best: Best | None = None
        is_final = self.fold.fits_are_final and folds is self.fold.inner
        for point, (score, fitted) in self._each_point(points, partial(self._tuning_score, folds=folds)):
            if best is None or score > best.score:
                best = Best(score, point, fitted if is_final else None)
        assert best is not None
        return best

    def _tuning_score(self, point: GridPoint, folds: Sequence[Fold]) -> tuple[float, Fitted | None]:
        """Return a grid point's mean score over inner folds, the larger the better, and the first fit."""
        scored = [self._inner_score(fold, point) for fold in folds]
        scores, metric = np.array([score for score, _ in scored]), self.metrics[0]
        if np.isnan(scores).all():
            needs = f"; it needs {metric.spec.needs} of the learner" if metric.needs_scores else ""
            raise ValueError(f"the score {metric.name!r} is undefined on every inner fold{needs}")
        # An inner fold that lacks a class may have no score, and then has none for any point. Differences below
        # rounding are ignored: equal scores must tie on every machine.
        return round(metric.spec.sign * float(np.nanmean(scores)), 12), scored[0][1]

    def _each_point(
        self, points: Iterable[GridPoint], measure: Callable[[GridPoint], Measured]
    ) -> Iterator[tuple[GridPoint, Measured]]:
        """Yield each grid point with the result of `measure`; skip points that fail, and fail if all of them do."""
        failure: Exception | None = None
        succeeded = False
        for point in points:
            try:
                measured = measure(point)
            except Exception as error:  # e.g. 15 neighbours of 12 rows: skip the point with a warning
                kind = error.failure[0] if isinstance(error, DescribedError) else type(error).__name__
                if isinstance(error, MemoryError) or kind == "MemoryError":
                    raise
                failure = error
                warnings.warn(f"grid point {readable(point)} failed: {kind}: {error}", stacklevel=2)
            else:
                succeeded = True
                yield point, measured
        if failure is not None and not succeeded:
            raise failure

    def _inner_score(self, inner: Fold, point: GridPoint) -> tuple[float, Fitted | None]:
        """Return a grid point's score on an inner fold, and the fit unless an equal one was scored before."""
        inputs = self.steps.learner_input(inner, point)
        # Points with different subset rules may keep the same columns, and the fit need not be repeated.
        key = (id(inner), inputs.identity, repr(sorted(self.steps.of_learner(point).items())))
        if key in self._scores:
            return self._scores[key], None
        fitted = self.steps.fit(inner, point, inputs)
        rows = rows_for(fitted.estimator, inputs.test)
        predictions = predict(fitted.estimator, rows, inner.y_test, self.metrics[:1])
        predictions = _checked(predictions, inner, self.method)
        self._scores[key] = evaluate(predictions, self.metrics[:1])[self.metrics[0].name]
        return self._scores[key], fitted


def _checked(predictions: Predictions, fold: Fold, method: ResolvedMethod) -> Predictions:
    """Reject predictions that are not class codes of the training part, or not numbers: they cannot be scored."""
    labels, n_rows = predictions.y_pred, len(fold.test)
    assert method.learner is not None
    owner, weights = f"{method.learner.kind} {method.learner.title!r}", fold.weights_of(fold.test)
    if not fold.n_classes:
        if labels.shape != (n_rows,) or labels.dtype.kind not in "iuf" or not np.isfinite(labels).all():
            raise ValueError(
                f"{owner} predicted an array of shape {labels.shape} and type {labels.dtype}, expected {n_rows} finite "
                "numbers"
            )
        return replace(predictions, y_pred=labels.astype(np.float64), sample_weight=weights)
    if labels.shape != (n_rows,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"{owner} predicted an array of shape {labels.shape} and type {labels.dtype}, expected {n_rows} of the "
            "class codes it was fitted on"
        )
    codes = np.unique(fold.y_train)
    others = np.setdiff1d(labels, codes)
    if len(others):
        raise ValueError(f"{owner} predicted the class code {others[0]}, but it was fitted on {_listed(codes)}")
    # Without per-class scores, only the number of classes that a classifier reports matters.
    classes = codes if predictions.y_score is None else predictions.classes
    return replace(predictions, y_pred=labels.astype(np.int64), classes=classes, sample_weight=weights)


def _listed(codes: NDArray[np.int64]) -> str:
    shown = ", ".join(map(str, codes[:8]))
    return shown + (f", … (up to {codes[-1]})" if len(codes) > 8 else "")


TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall")


def solve_one_vs_rest(
    method: ResolvedMethod, seed: int, fold: Fold, metrics: Sequence[Metric], make: Maker, result: TrialResult
) -> None:
    """Tune, fit and test a method once per class, and combine the classes in one result."""
    # `decisions` has a column of zeros and ones per class. `predictions` is the class whose problem scores highest (by
    # probability or decision value, or else by decision); ties go to the class with more training rows, then to the
    # lower code. A class without training rows is never predicted. Times are sums over the classes, weights are means,
    # and a feature is selected if any class selects it. `chosen` has one entry per class.
    n_classes, n_rows = fold.n_classes, len(fold.test)
    decisions = np.zeros((n_rows, n_classes), dtype=np.int64)
    scores = np.full((n_rows, n_classes), -np.inf)
    parts: list[TrialResult] = []
    for code in range(n_classes):
        problem = fold.against_the_rest(code)
        codes = np.unique(problem.y_train)
        if len(codes) < 2:  # nothing to learn: never predicted, or always if it is the only training class
            decisions[:, code] = codes[0]
            scores[:, code] = np.inf if codes[0] else -np.inf
            continue
        part = TrialResult(key=result.key)
        predictions = TrialProblem(method, seed, problem, metrics, make).into(part, with_scores=True)
        assert predictions is not None  # a protocol with these decisions tunes within the trial
        decisions[:, code], scores[:, code] = predictions.y_pred, _score_of_class(predictions)
        if part.chosen:
            result.chosen[str(code)] = part.chosen
        parts.append(part)
    for name in TIMES:
        setattr(result, name, sum(getattr(part, name) for part in parts))
    _merge_selections(parts, fold, result)
    y_pred = _largest(scores, np.bincount(fold.y_train, minlength=n_classes))
    combined = Predictions(
        fold.y_test, y_pred, scores, np.arange(n_classes), False, decisions, fold.weights_of(fold.test)
    )
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
    """Return the column of each row's largest score; ties go to the larger count, then to the first column."""
    order = np.argsort(-counts, kind="stable")
    largest: NDArray[np.int64] = order[np.argmax(scores[:, order], axis=1)]
    return largest
