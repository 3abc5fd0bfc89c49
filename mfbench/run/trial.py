"""A trial: tune, select, fit, predict, score one method on one fold. Whatever it raises becomes its result."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mfbench.host.expressions import Expression
from mfbench.models import Candidate, Status, Trial, TrialResult
from mfbench.run.folds import Fold, Selection
from mfbench.run.interactions import read_interactions
from mfbench.run.measure import PeakMemory, Stopwatch
from mfbench.run.metrics import METRICS, evaluate, outcome_of
from mfbench.run.selecting import (
    MESSAGE_LENGTH,
    Maker,
    SelectorError,
    describe_failure,
    fit_selector,
    seeded,
    selector_key,
)
from mfbench.suite.resolve import TOP, ResolvedMethod

if TYPE_CHECKING:
    from numpy.typing import NDArray

Chosen = dict[tuple[str, str], Any]
Measured = TypeVar("Measured")


def run_trial(trial: Trial, method: ResolvedMethod, fold: Fold, metrics: list[str], make: Maker) -> TrialResult:
    """Run one trial in this process.

    Parameters
    ----------
    trial : Trial
        Coordinates and seed.
    method : ResolvedMethod
        What to run.
    fold : Fold
        Data; selector fits found there are used, new ones are left there.
    metrics : list of str
        Scores to compute; the first one tunes.
    make : callable
        Builds estimators: ``make(expression, kind, **overrides)``.

    Returns
    -------
    TrialResult
        Status "ok", "error" or "memory"; never raises for a failure of the method.
    """
    return guarded(trial, _Run(trial, method, fold, metrics, make).into)


def guarded(trial: Trial, work: Callable[[TrialResult], None]) -> TrialResult:
    """Let `work` fill a trial's result; time, memory, warnings and whatever it raises are recorded."""
    result = TrialResult(key=trial.key)
    with Stopwatch() as watch, PeakMemory() as peak, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            work(result)
        except MemoryError as error:
            _fail(result, Status.MEMORY, "MemoryError", str(error) or "the trial's memory limit was reached", "")
        except SelectorError as error:
            status = Status.MEMORY if error.failure[0] == "MemoryError" else Status.ERROR
            _fail(result, status, *error.failure)
        except BaseException as error:  # noqa: BLE001 - even sys.exit() in a method is its own failure, told in its row
            _fail(result, Status.ERROR, *describe_failure(error))
    result.duration, result.peak_memory = watch.wall, peak.bytes
    result.n_warnings = len(caught)
    if caught:
        result.warning = f"{caught[0].category.__name__}: {caught[0].message}"[:MESSAGE_LENGTH]
    return result


def _fail(result: TrialResult, status: Status, kind: str, message: str, trace: str) -> None:
    result.status, result.error_type, result.error_message, result.error_trace = status, kind, message, trace
    result.scores, result.predictions, result.selected, result.weights = {}, None, None, None
    result.candidates, result.interactions = [], None


@dataclass(frozen=True)
class _Given:
    """What the classifier is given: columns, the feature behind each, and the selection they come from."""

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    groups: NDArray[np.intp]
    selection: Selection | None = None
    selected: NDArray[np.int64] | None = None


class _Run:
    """The steps of one trial; holds what they all need."""

    def __init__(self, trial: Trial, method: ResolvedMethod, fold: Fold, metrics: list[str], make: Maker) -> None:
        self.trial, self.method, self.fold, self.metrics, self.make = trial, method, fold, metrics, make
        self.known: set[tuple[int, str]] = set()  # selector fits met so far while tuning
        self.adopted = 0.0  # seconds that others spent on those of them that this trial did not make

    def into(self, result: TrialResult) -> None:
        if self.method.selection == "per-dataset":
            with Stopwatch() as watch:
                result.candidates = [candidate for _, candidate in self._each_point(self._candidate)]
            result.tune_wall = watch.wall + self.adopted
            return
        chosen: Chosen = {}
        if self.method.grid:
            with Stopwatch() as watch:
                chosen = self._tune()
            # Fits that another trial made count too: the time of a method must not depend on who came first.
            result.tune_wall = watch.wall + self.adopted
            result.chosen = _readable(chosen)
        self._measure(chosen, result)

    def _measure(self, chosen: Chosen, result: TrialResult | Candidate) -> None:
        """Fit on the training part, predict and score the test part."""
        given = self._columns(self.fold, chosen)
        if given.selection is not None:
            result.select_wall, result.select_cpu = given.selection.wall, given.selection.cpu
            result.weights, result.selected = given.selection.weights, given.selected
            result.interactions = given.selection.interactions
        n_features = self.fold.X.shape[1]
        result.n_selected = n_features if given.selected is None else len(given.selected)
        classifier = self._classifier(chosen)
        with Stopwatch() as fit:
            classifier.fit(given.train, self.fold.y_train)
        if result.interactions is None:
            result.interactions = read_interactions(classifier, given.groups, n_features, self.fold.true_pairs)
        with Stopwatch() as predict:
            outcome = outcome_of(classifier, given.test, self.fold.y_test, self.metrics)
        result.fit_wall, result.fit_cpu = fit.wall, fit.cpu
        result.predict_wall, result.predict_cpu = predict.wall, predict.cpu
        result.predictions = _checked_predictions(outcome.predictions, len(self.fold.test), self.method)
        result.scores = evaluate(outcome, self.metrics)

    def _candidate(self, point: Chosen) -> Candidate:
        """Measure a grid point on the outer fold; analysis chooses among them, by all folds of the dataset."""
        candidate = Candidate(chosen=_readable(point))
        self._measure(point, candidate)
        return candidate

    def _tune(self) -> Chosen:
        """Return the grid point with the best mean inner score; the first in the grid's order among equals."""
        sign = 1.0 if METRICS[self.metrics[0]].greater_is_better else -1.0

        def inner_score(point: Chosen) -> float:
            scores = np.array([self._inner_score(inner, point) for inner in self.fold.inner])
            if np.isnan(scores).all():
                raise ValueError(f"the score {self.metrics[0]!r} is not defined for it")
            # An inner fold that lacks a class may have no score, and then has none for any point.
            # Differences below rounding are no differences: equal scores must tie on every machine.
            return round(sign * float(np.nanmean(scores)), 12)

        best, _ = max(self._each_point(inner_score), key=lambda found: found[1])
        return best

    def _each_point(self, measure: Callable[[Chosen], Measured]) -> Iterator[tuple[Chosen, Measured]]:
        """Yield each grid point with what `measure` makes of it; one that fails is out, if all fail the trial does."""
        failure: Exception | None = None
        succeeded = False
        for point in _grid_points(self.method):
            try:
                measured = measure(point)
            except MemoryError:
                raise
            except SelectorError as error:
                if error.failure[0] == "MemoryError":
                    raise
                failure = error
                warnings.warn(f"grid point {_readable(point)} failed: {error.failure[0]}: {error}", stacklevel=2)
                continue
            except Exception as error:  # noqa: BLE001 - such as 15 neighbours of 12 rows: that point is out, and said so
                failure = error
                warnings.warn(f"grid point {_readable(point)} failed: {type(error).__name__}: {error}", stacklevel=2)
                continue
            succeeded = True
            yield point, measured
        if not succeeded:
            assert failure is not None
            raise failure

    def _inner_score(self, inner: Fold, point: Chosen) -> float:
        given = self._columns(inner, point)
        classifier = self._classifier(point)
        classifier.fit(given.train, inner.y_train)
        return evaluate(outcome_of(classifier, given.test, inner.y_test, self.metrics[:1]), self.metrics[:1])[
            self.metrics[0]
        ]

    def _classifier(self, chosen: Chosen) -> Any:
        params = {name: value for (target, name), value in chosen.items() if target == "classifier"}
        assert self.method.classifier is not None
        expression = self.method.classifier.expression
        fixed = {**expression.params, **params}
        return seeded(self.make(expression, "classifier", **params), self.trial.seed, fixed)

    def _columns(self, fold: Fold, chosen: Chosen) -> _Given:
        """Return the training and test columns that the classifier gets, and what the selector said."""
        encoded = fold.encoded
        if self.method.selector is None:
            # Copies: the fold's arrays are shared, and an estimator may write into what it is given.
            return _Given(encoded.train.copy(), encoded.test.copy(), encoded.groups)
        selection = self._selection(fold, chosen)
        top = chosen.get((TOP, TOP), self.method.top)
        if top == "all-weighted":
            factor = _metric_weights(selection.column_weights)
            selected = np.unique(encoded.groups[factor > 0]).astype(np.int64)
            return _Given(encoded.train * factor, encoded.test * factor, encoded.groups, selection, selected)
        selected = choose(selection.weights, top)
        kept = np.isin(encoded.groups, selected)
        return _Given(encoded.train[:, kept], encoded.test[:, kept], encoded.groups[kept], selection, selected)

    def _selection(self, fold: Fold, chosen: Chosen) -> Selection:
        assert self.method.selector is not None
        params = {name: value for (target, name), value in chosen.items() if target == "selector"}
        key = selector_key(self.method) + Expression("", params).canonical()
        if key not in fold.selections:
            fold.selections[key] = fit_selector(self.method, fold, params, self.make, told=fold is self.fold)
        elif (id(fold), key) not in self.known and (fold is not self.fold or self.method.selection == "per-dataset"):
            self.adopted += fold.selections[key].wall
        self.known.add((id(fold), key))
        selection = fold.selections[key]
        if selection.failure is not None:
            raise SelectorError(selection.failure)
        return selection


def choose(weights: NDArray[np.float64], top: str | int | float) -> NDArray[np.int64]:
    """Return the features that a rule keeps, in ascending order.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Importance of each feature.
    top : "positive", "all", int or float
        Positive weights only, everything, a count, or a fraction (rounded up). At least one feature is always kept:
        the one with the largest weight. Ties go to the lower index.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> choose(np.array([0.1, -0.2, 0.7, 0.1]), "positive")
    array([0, 2, 3])
    >>> choose(np.array([0.1, -0.2, 0.7, 0.1]), 2)
    array([0, 2])
    >>> choose(np.array([-1.0, -0.5]), "positive")
    array([1])
    """
    order = np.argsort(-weights, kind="stable")
    if top == "positive":
        count = int((weights > 0).sum())
    elif top == "all":
        count = len(weights)
    elif isinstance(top, float):
        count = int(np.ceil(top * len(weights) - 1e-9))
    else:
        count = int(top)
    return np.sort(order[: max(1, count)]).astype(np.int64)


def _metric_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the factors that turn Euclidean distance into the weighted one; all ones if no weight is positive."""
    positive = np.maximum(weights, 0.0)
    # Over the largest first: the scale of a metric is free, and an importance may be as large as a double can be.
    return np.sqrt(positive / positive.max()) if positive.any() else np.ones_like(positive)


def _grid_points(method: ResolvedMethod) -> Iterator[Chosen]:
    keys = [(target, name) for target, name, _ in method.grid]
    for values in itertools.product(*(values for _, _, values in method.grid)):
        yield dict(zip(keys, values, strict=True))


def _readable(chosen: Chosen) -> dict[str, Any]:
    return {name if target == TOP else f"{target}.{name}": value for (target, name), value in chosen.items()}


def _checked_predictions(predictions: NDArray[Any], n_rows: int, method: ResolvedMethod) -> NDArray[np.int64]:
    if predictions.shape != (n_rows,) or not np.issubdtype(predictions.dtype, np.integer):
        assert method.classifier is not None
        raise ValueError(
            f"classifier {method.classifier.expression.name!r} predicted an array of shape {predictions.shape} and "
            f"type {predictions.dtype}, expected {n_rows} of the class codes it was fitted on"
        )
    return predictions.astype(np.int64)
