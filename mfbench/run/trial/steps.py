"""The steps of a method on a fold: its selector's fit, the columns that leaves, its classifier's fit.

Selector fits are looked for among those that the fold has, and left there for others.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfbench.host.expressions import Expression
from mfbench.run.trial.folds import Fold, Selection
from mfbench.run.trial.interactions import read_interactions
from mfbench.run.trial.measure import Stopwatch
from mfbench.suite.resolve import TOP, ResolvedMethod, Step
from mfbench.suite.seeds import derive_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

MESSAGE_LENGTH = 500
TRACE_LENGTH = 4000
GridPoint = dict[tuple[str, str], Any]


class Maker(Protocol):
    """Builds an estimator from an expression: the registry's ``make``."""

    def __call__(self, expression: Expression, kind: str, **overrides: Any) -> Any:
        """Return a new estimator."""


class SelectorError(Exception):
    """A selector's fit raised, here or in the trial that this one shares the fit with."""

    def __init__(self, failure: tuple[str, str, str]) -> None:
        super().__init__(failure[1])
        self.failure = failure


def selector_key(method: ResolvedMethod) -> str:
    """Return what trials that can share selector fits have in common, "" for a method without a selector."""
    return "" if method.selector is None else method.selector.expression.canonical()


def describe_failure(error: BaseException) -> tuple[str, str, str]:
    """Return type, message (cut to a readable length) and the tail of the traceback."""
    trace = "".join(traceback.format_exception(error))
    return type(error).__name__, str(error)[:MESSAGE_LENGTH], trace[-TRACE_LENGTH:]


@dataclass(frozen=True)
class ClassifierInput:
    """The columns that a classifier is fitted on and predicts from, and the selection they come from.

    Attributes
    ----------
    train, test : ndarray of shape (n_rows, n_columns)
    groups : ndarray of shape (n_columns,)
        The feature behind each column.
    identity : bytes
        Equal for equal columns of one fold.
    selection : Selection or None
    selected : ndarray of int or None
        Features kept.
    """

    train: NDArray[np.float64]
    test: NDArray[np.float64]
    groups: NDArray[np.intp]
    identity: bytes = b""
    selection: Selection | None = None
    selected: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Fitted:
    """A fitted classifier with its input, and the time its fit took."""

    classifier: Any
    inputs: ClassifierInput
    watch: Stopwatch


class Steps:
    """A method ready to be fitted.

    Parameters
    ----------
    method : ResolvedMethod
    seed : int
        Of the classifier.
    make : callable
        Builds estimators: ``make(expression, kind, **overrides)``.

    Attributes
    ----------
    tuning : bool
        Whether what is fitted now is only tried.
    adopted : float
        Seconds that others spent on selector fits that were tried and that this trial did not make.
    """

    def __init__(self, method: ResolvedMethod, seed: int, make: Maker) -> None:
        self.method, self.seed, self.make = method, seed, make
        self.tuning = False
        self.adopted = 0.0
        self._met: set[tuple[int, str]] = set()

    def fit(self, fold: Fold, chosen: GridPoint, inputs: ClassifierInput | None = None) -> Fitted:
        """Fit selector, unless `given` has its columns, and classifier on a fold's training rows."""
        inputs = inputs or self.classifier_input(fold, chosen)
        assert self.method.classifier is not None
        params = parameters(chosen, "classifier")
        expression = self.method.classifier.expression
        classifier = seeded(self.make(expression, "classifier", **params), self.seed, {**expression.params, **params})
        with Stopwatch() as watch:
            classifier.fit(inputs.train, fold.y_train)
        return Fitted(classifier, inputs, watch)

    def classifier_input(self, fold: Fold, chosen: GridPoint) -> ClassifierInput:
        """Return the training and test columns that the classifier gets, and what the selector said."""
        encoded = fold.encoded
        if self.method.selector is None:
            # Copies: the fold's arrays are shared, and an estimator may write into its input.
            return ClassifierInput(encoded.train.copy(), encoded.test.copy(), encoded.groups)
        selection = self.selection(fold, chosen)
        top = chosen.get((TOP, TOP), self.method.top)
        if top == "all-weighted":
            factor = _metric_weights(selection.column_weights)
            selected = np.unique(encoded.groups[factor > 0]).astype(np.int64)
            columns = (encoded.train * factor, encoded.test * factor, encoded.groups)
            return ClassifierInput(*columns, factor.tobytes(), selection, selected)
        selected = choose(selection.weights, top)
        kept = np.isin(encoded.groups, selected)
        columns = (encoded.train[:, kept], encoded.test[:, kept], encoded.groups[kept])
        return ClassifierInput(*columns, kept.tobytes(), selection, selected)

    def selection(self, fold: Fold, chosen: GridPoint) -> Selection:
        """Return what the selector said of a fold, from a fit that may be there already."""
        params = parameters(chosen, "selector")
        key = selector_key(self.method) + Expression("", params).canonical()
        place = id(fold.selections)
        if key not in fold.selections:
            fold.selections[key] = self._fit_selector(fold, params)
        elif self.tuning and (place, key) not in self._met:
            found = fold.selections[key]
            # One fit may stand behind many selections: its time counts once.
            if not found.path or (place, found.path) not in self._met:
                self.adopted += found.wall
        selection = fold.selections[key]
        self._met |= {(place, key)} | ({(place, selection.path)} if selection.path else set())
        if selection.failure is not None:
            raise SelectorError(selection.failure)
        return selection

    def _fit_selector(self, fold: Fold, params: Mapping[str, Any]) -> Selection:
        step = self.method.selector
        assert step is not None
        along = step.path if step.path is not None and step.path[0] in params else None
        try:
            if along is None:
                selector, watch = self._fitted_selector(step, fold, params)
                weights = selector.feature_importances_
                name = ""
            else:
                selector, watch, name = self._path(step, fold, params)
                weights = getattr(selector, along[1])(params[along[0]])
            columns = fold.X.shape[1] if step.raw_input else len(fold.encoded.groups)
            weights = _checked_weights(weights, step, columns)
            groups = np.arange(columns) if step.raw_input else fold.encoded.groups
            # What a selector says of pairs in an inner fold is not recorded, nor what it says along a path.
            wanted = fold.is_outer and along is None
            pairs = read_interactions(selector, groups, fold.X.shape[1], fold.true_pairs) if wanted else None
        except BaseException as error:  # noqa: BLE001 - the failure belongs to every method that shares this fit
            return Selection(np.empty(0), np.empty(0), 0.0, 0.0, describe_failure(error))
        if step.raw_input:
            by_feature, by_column = weights, weights[fold.encoded.groups]
        else:
            by_feature, by_column = by_original_feature(weights, groups, fold.X.shape[1]), weights
        return Selection(by_feature, by_column, watch.wall, watch.cpu, interactions=pairs, path=name)

    def _path(self, step: Step, fold: Fold, params: Mapping[str, Any]) -> tuple[Any, Stopwatch, str]:
        """Return a selector fitted along its whole path: up to the largest value of the grid, once for all of them."""
        assert step.path is not None
        tried = [
            value
            for target, name, values in self.method.grid
            if (target, name) == ("selector", step.path[0])
            for value in values
        ]
        params = {**params, step.path[0]: max(tried)}
        name = "path " + Expression("", params).canonical()
        if (selector_key(self.method) + name) not in fold.path_fits:
            fold.path_fits[selector_key(self.method) + name] = self._fitted_selector(step, fold, params)
        selector, watch = fold.path_fits[selector_key(self.method) + name]
        return selector, watch, name

    def _fitted_selector(self, step: Step, fold: Fold, params: Mapping[str, Any]) -> tuple[Any, Stopwatch]:
        # Not the trial's seed: the fit is shared by methods, so its seed must not depend on which of them comes first.
        seed = derive_seed(fold.seed, "selector", selector_key(self.method))
        fixed = {**step.expression.params, **params}
        selector = seeded(self.make(step.expression, "selector", **params), seed, fixed)
        if step.raw_input:
            X = fold.raw_train
            if "categorical_features" in selector.get_params(deep=False):
                selector.set_params(categorical_features=fold.columns.categorical)
        else:
            X = fold.encoded.train.copy()
        with Stopwatch() as watch:
            selector.fit(X, fold.target(numbers=step.numbers))
        return selector, watch


def by_original_feature(weights: NDArray[np.float64], groups: NDArray[np.intp], n_features: int) -> NDArray[np.float64]:
    """Return the largest weight among the columns of each original feature."""
    largest = np.full(n_features, -np.inf)
    np.maximum.at(largest, groups, weights)
    return largest


def _checked_weights(found: Any, step: Step, n_columns: int) -> NDArray[np.float64]:
    weights = np.asarray(found, dtype=np.float64)
    if weights.shape != (n_columns,) or np.isnan(weights).any():
        raise ValueError(
            f"selector {step.expression.name!r} gave feature_importances_ of shape {weights.shape} with "
            f"{int(np.isnan(weights).sum())} NaN, expected {n_columns} numbers"
        )
    return weights


def parameters(chosen: GridPoint, target: str) -> dict[str, Any]:
    """Return what a grid point sets of one step."""
    return {name: value for (owner, name), value in chosen.items() if owner == target}


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


def grid_points(method: ResolvedMethod) -> Iterator[GridPoint]:
    """Yield every combination of a method's grid, in its order; the last key changes fastest."""
    for values in itertools.product(*(values for _, _, values in method.grid)):
        point: GridPoint = {}
        for (target, name, _), value in zip(method.grid, values, strict=True):
            names = name.split(",")  # parameters that are tuned together have one entry
            point |= {(target, part): v for part, v in zip(names, value if len(names) > 1 else [value], strict=True)}
        yield point


def readable(chosen: GridPoint) -> dict[str, Any]:
    """Return a grid point with one text for each key: "top" or "selector.NAME" or "classifier.NAME"."""
    return {name if target == TOP else f"{target}.{name}": value for (target, name), value in chosen.items()}


def seeded(estimator: Any, seed: int, fixed: Mapping[str, Any]) -> Any:
    """Give an estimator its seed, unless it takes none or the suite sets one."""
    if "random_state" not in fixed and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator
