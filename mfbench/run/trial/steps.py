"""The two steps of a method on a fold: fit the selector, then fit the learner on the selected columns.

Selector fits are stored with the fold, where other trials can use them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.data.prepare import Columns, largest_of
from mfbench.host.expressions import Expression
from mfbench.host.factories import SAMPLE_WEIGHT, accepts_weights
from mfbench.model.specs import Features
from mfbench.model.trials import Interactions
from mfbench.run.trial.folds import Fold, FoldPath, Selection, check_finite, choose, metric_weights, within_set
from mfbench.run.trial.guard import SelectorError, Stopwatch, describe_failure, rows_for
from mfbench.suite.methods import TOP, ResolvedMethod, Step
from mfbench.suite.protocols import derive_seed
from mfbench.suite.search import Grid, listed, random_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The parameters of a grid point by step (its kind, or "top") and name; empty without tuning.
GridPoint = dict[tuple[str, str], Any]


def grid_points(grid: Grid, n: int | None = None, seed: int = 0) -> Iterator[GridPoint]:
    """Yield every combination of a grid, or some drawn at random, in order; the last key varies fastest."""
    for values in itertools.product(*(values for _, _, values in grid)) if n is None else random_points(grid, n, seed):
        point: GridPoint = {}
        for (target, name, _), value in zip(grid, values, strict=True):
            names = name.split(",")  # parameters tuned together have one entry
            point |= {(target, part): v for part, v in zip(names, value if len(names) > 1 else [value], strict=True)}
        yield point


def parameters(point: GridPoint, target: str) -> dict[str, Any]:
    """Return a grid point's parameters for one step."""
    return {name: value for (owner, name), value in point.items() if owner == target}


def readable(point: GridPoint) -> dict[str, Any]:
    """Return a grid point with text keys: "top", or "selector.NAME", "classifier.NAME" and so on."""
    return {name if target == TOP else f"{target}.{name}": value for (target, name), value in point.items()}


PAIRS_KEPT = 64


def read_interactions(
    estimator: Any, groups: NDArray[np.intp], n_features: int, true_pairs: Sequence[tuple[int, int]] = ()
) -> Interactions | None:
    """Return the weights of pairs of original features, if an estimator has ``interaction_importances_``."""
    importances = getattr(estimator, "interaction_importances_", None)
    if importances is None:
        return None
    weights = np.asarray(importances, dtype=np.float64)
    shape = (len(groups), len(groups))
    if weights.shape != shape or not np.isfinite(weights).all():
        raise ValueError(
            f"{type(estimator).__name__} gave interaction_importances_ of shape {weights.shape} with "
            f"{int((~np.isfinite(weights)).sum())} that are not finite, expected numbers of shape {shape}"
        )
    p_values = getattr(estimator, "interaction_pvalues_", None)
    if p_values is not None and np.shape(p_values) != shape:
        raise ValueError(
            f"{type(estimator).__name__} gave interaction_pvalues_ of shape {np.shape(p_values)}, expected {shape}"
        )
    return _condense(weights, None if p_values is None else np.asarray(p_values, float), groups, n_features, true_pairs)


def _condense(
    weights: NDArray[np.float64],
    p_values: NDArray[np.float64] | None,
    groups: NDArray[np.intp],
    n_features: int,
    true_pairs: Sequence[tuple[int, int]],
) -> Interactions:
    rows, columns = np.nonzero(weights)
    first, second = np.minimum(groups[rows], groups[columns]), np.maximum(groups[rows], groups[columns])
    values = weights[rows, columns]
    # The largest entry of each pair: sorted by pair, then by size, take the first of each run; ties in index order.
    order = np.lexsort((columns, rows, -np.abs(values), second, first))
    order = order[first[order] != second[order]]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    order = order[begins]
    order = order[np.argsort(-np.abs(values[order]), kind="stable")]
    # From a pair to the position of its entry.
    entries: dict[tuple[int, int], int | None]
    entries = {(int(first[k]), int(second[k])): int(k) for k in order[:PAIRS_KEPT]}
    for one, other in true_pairs:
        pair = (min(one, other), max(one, other))
        if pair not in entries:
            matches = order[(first[order] == pair[0]) & (second[order] == pair[1])]
            entries[pair] = int(matches[0]) if len(matches) else None  # None: its weight is 0
    sizes = np.sort(np.abs(values[order]))
    n_pairs = n_features * (n_features - 1) // 2
    kept = np.array([0.0 if k is None else values[k] for k in entries.values()])
    # The number of pairs that weigh as much or more: ties count against a pair, so equal weights rank none of them
    # first.
    ranks = np.where(kept == 0, n_pairs, len(sizes) - np.searchsorted(sizes, np.abs(kept), side="left"))
    return Interactions(
        pairs=np.array(list(entries), dtype=np.int64).reshape(-1, 2),
        values=kept,
        ranks=ranks.astype(np.int64),
        p_values=None
        if p_values is None
        else np.array([np.nan if k is None else p_values[rows[k], columns[k]] for k in entries.values()]),
        norm=float(np.linalg.norm(weights)),
        n_pairs=n_pairs,
    )


# Makes an estimator from an expression, its kind and parameters that override the expression's, as the registry does.
Maker = Callable[..., Any]


def selector_key(method: ResolvedMethod) -> str:
    """Return the text that methods with the same selector share; "" without a selector."""
    return "" if method.selector is None else method.selector.expression.identity


def seeded(estimator: Any, seed: int, fixed: Mapping[str, Any]) -> Any:
    """Set the seed of an estimator, unless the suite sets it, and of its parts that have no seed yet."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    own = ["random_state"] if "random_state" in params and "random_state" not in fixed else []
    parts = [name for name, value in params.items() if name.endswith("__random_state") and value is None]
    if own or parts:
        estimator.set_params(**dict.fromkeys(own + parts, seed))
    return estimator


def made(make: Maker, step: Step, seed: int, params: Mapping[str, Any] | None = None) -> Any:
    """Return a new estimator of a step, with its seed and the parameters that it takes in the suite's task."""
    own = {**step.task, **(params or {})}
    return seeded(make(step.expression, step.kind, **own), seed, {**step.expression.params, **own})


@dataclass(frozen=True)
class LearnerInput:
    """The columns for fitting and predicting with a learner, and the selection behind them."""

    train: Features
    test: Features
    groups: NDArray[np.intp]  # the original feature of each column
    identity: bytes = b""  # equal for equal columns of one fold
    selection: Selection | None = None
    selected: NDArray[np.int64] | None = None  # features kept


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator and the time of its fit."""

    estimator: Any
    watch: Stopwatch


def fit_on(rows: Features, target: NDArray[Any], estimator: Any, weights: NDArray[np.float64] | None = None) -> Fitted:
    """Fit a new estimator on possibly shared rows (see `rows_for`), with their weights if it accepts them."""
    rows = rows_for(estimator, rows)
    options = {} if weights is None or not accepts_weights(estimator) else {SAMPLE_WEIGHT: weights}
    with Stopwatch() as watch:
        estimator.fit(rows, target, **options)
    return Fitted(estimator, watch)


class Steps:
    """The steps of a method, ready to be fitted."""

    def __init__(self, method: ResolvedMethod, seed: int, make: Maker) -> None:
        self.method, self.seed, self.make = method, seed, make
        self.tuning = False
        self.adopted = 0.0
        self._counted: set[tuple[FoldPath, str]] = set()
        # Learners fitted in tuning that serve other values of a parameter, each with the value that it was fitted
        # for.
        self._path_fits: dict[tuple[int, bytes, str], tuple[str, Fitted]] = {}

    def fit(self, fold: Fold, point: GridPoint, inputs: LearnerInput) -> Fitted:
        """Fit the learner on the training rows of a fold."""
        step = self.method.learner
        assert step is not None
        params = self.of_learner(point)
        if self.tuning and step.path is not None and step.path[0] in params:
            return self._along_path(step.path, fold, params, inputs)
        return self._fitted_learner(fold, params, inputs)

    def _fitted_learner(self, fold: Fold, params: Mapping[str, Any], inputs: LearnerInput) -> Fitted:
        assert self.method.learner is not None
        learner = made(self.make, self.method.learner, self.seed, params)
        return fit_on(inputs.train, fold.y_train, learner, fold.weights_of(fold.train))

    def of_learner(self, point: GridPoint) -> dict[str, Any]:
        """Return a grid point's parameters for the learner."""
        return {} if self.method.learner is None else parameters(point, self.method.learner.kind)

    def _along_path(self, path: tuple[str, str], fold: Fold, params: Mapping[str, Any], inputs: LearnerInput) -> Fitted:
        """Return a learner derived from a fit with another value of the path's parameter, if possible."""
        # Its time includes the underlying fit: a point's time must not depend on the order of the grid.
        parameter, method = path
        own = Expression("", {parameter: params[parameter]}).canonical()
        others = {name: value for name, value in params.items() if name != parameter}
        key = (id(fold), inputs.identity, Expression("", others).canonical())
        if key not in self._path_fits:
            self._path_fits[key] = own, self._fitted_learner(fold, params, inputs)
        value, fitted = self._path_fits[key]
        if value == own:
            return fitted
        serve = getattr(fitted.estimator, method, None)
        if serve is None:  # this value's fit serves no others, but the next one may
            self._path_fits[key] = own, self._fitted_learner(fold, params, inputs)
            return self._path_fits[key][1]
        with Stopwatch() as watch:
            learner = serve(params[parameter])
        watch.wall, watch.cpu = watch.wall + fitted.watch.wall, watch.cpu + fitted.watch.cpu
        return Fitted(learner, watch)

    def learner_input(self, fold: Fold, point: GridPoint) -> LearnerInput:
        """Return the columns that the selector passes to the learner."""
        encoded = fold.encoded
        if self.method.selector is None:
            return LearnerInput(encoded.train, encoded.test, encoded.groups)
        selection = self.selection(fold, point)
        top = point.get((TOP, TOP), self.method.top)
        top, weights = ("all", "euclidean") if top == "all-weighted" else (top, self.method.weights)
        by_unit = fold.columns.by_unit(selection.weights)
        units = choose(by_unit, top)
        if selection.is_set and top != "positive":
            own = within_set(by_unit, units, f"selector {self.method.selector.title!r}")
            units = own if len(own) else units[:1]
        selected = fold.columns.features_of(units)
        kept = np.isin(encoded.groups, selected)
        train, test, groups = encoded.train[:, kept], encoded.test[:, kept], encoded.groups[kept]
        if weights is None:
            return LearnerInput(train, test, groups, kept.tobytes(), selection, selected)
        factor = metric_weights(selection.column_weights, weights)[kept]
        selected = np.unique(groups[factor > 0]).astype(np.int64)
        identity = kept.tobytes() + factor.tobytes()
        train, test = train * factor, test * factor
        if not isinstance(train, np.ndarray):
            train, test = train.tocsr(), test.tocsr()
        return LearnerInput(train, test, groups, identity, selection, selected)

    def selection(self, fold: Fold, point: GridPoint) -> Selection:
        """Return the selector's weights on a fold, from a new fit or from one stored with the fold."""
        params = parameters(point, "selector")
        key = fold.path, selector_key(self.method) + Expression("", params).canonical()
        if key not in fold.selections:
            fold.selections[key] = self._fit_selector(fold, params)
        elif self.tuning and key not in self._counted:
            shared = fold.selections[key]
            # Many selections can share one fit, whose time counts once.
            if not shared.path or (fold.path, shared.path) not in self._counted:
                self.adopted += shared.wall
        selection = fold.selections[key]
        self._counted |= {key} | ({(fold.path, selection.path)} if selection.path else set())
        if selection.failure is not None:
            raise SelectorError(selection.failure)
        return selection

    def _fit_selector(self, fold: Fold, params: Mapping[str, Any]) -> Selection:
        step = self.method.selector
        assert step is not None
        try:
            along = self._path(step, fold, params)
            if along is None:
                selector, watch = self._fitted_selector(step, fold, params)
                importances, name = _importances(selector, step), ""
                is_set = getattr(selector, "selects_a_set", False) is True
            else:
                assert step.path is not None
                selector, watch, name = along
                importances, is_set = getattr(selector, step.path[1])(params[step.path[0]]), False
            groups = np.arange(fold.X.shape[1]) if step.raw_input else fold.encoded.groups
            weights = _checked_weights(importances, step, groups, fold.columns)
            # Pair weights are recorded neither on inner folds nor along a path.
            is_recorded = fold.is_outer and along is None
            pairs = read_interactions(selector, groups, fold.X.shape[1], fold.true_pairs) if is_recorded else None
        except BaseException as error:  # noqa: BLE001 - every method that shares this fit gets the failure
            return Selection(np.empty(0), np.empty(0), 0.0, 0.0, describe_failure(error))
        if step.raw_input:
            by_feature, by_column = weights, weights[fold.encoded.groups]
        else:
            by_feature, by_column = largest_of(weights, groups, fold.X.shape[1]), weights
        return Selection(by_feature, by_column, watch.wall, watch.cpu, interactions=pairs, path=name, is_set=is_set)

    def _path(self, step: Step, fold: Fold, params: Mapping[str, Any]) -> tuple[Any, Stopwatch, str] | None:
        """Return a selector fitted along its whole path: once, up to the largest value of the grid."""
        # None if there is no path, or if only one value is needed, i.e. after tuning, unless the fits of tuning are
        # final.
        if step.path is None or step.path[0] not in params:
            return None
        tried = [
            value
            for target, name, values in self.method.grid
            if (target, name) == ("selector", step.path[0])
            for value in listed(values)
        ]
        params = {**params, step.path[0]: max(tried)}
        name = "path " + Expression("", params).canonical()
        key = fold.path, selector_key(self.method) + name
        if key not in fold.path_fits:
            if not self.tuning:
                return None
            try:
                fold.path_fits[key] = self._fitted_selector(step, fold, params)
            except Exception:  # noqa: BLE001 - fitting each value separately shows which ones fail, and why
                fold.path_fits[key] = None
        fitted = fold.path_fits[key]
        return None if fitted is None else (*fitted, name)

    def _fitted_selector(self, step: Step, fold: Fold, params: Mapping[str, Any]) -> tuple[Any, Stopwatch]:
        # Not the trial's seed: methods share the fit, so its seed must not depend on which method comes first.
        seed = derive_seed(fold.seed, "selector", selector_key(self.method))
        selector = made(self.make, step, seed, params)
        if step.raw_input and "categorical_features" in selector.get_params(deep=False):
            selector.set_params(categorical_features=fold.columns.categorical)
        X = fold.raw_train if step.raw_input else fold.encoded.train
        fitted = fit_on(X, fold.target(numbers=step.numbers), selector, fold.weights_of(fold.train))
        return fitted.estimator, fitted.watch


def _importances(selector: Any, step: Step) -> Any:
    try:
        return selector.feature_importances_
    except AttributeError as error:
        raise AttributeError(
            f"selector {step.expression.name!r} has no feature_importances_ after fit, by which features are ranked "
            f"({error})"
        ) from error


def _checked_weights(importances: Any, step: Step, groups: NDArray[np.intp], columns: Columns) -> NDArray[np.float64]:
    owner = f"selector {step.title!r}"
    try:
        weights = np.asarray(importances, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner} gave feature_importances_ that are not numbers: {error}") from error
    if weights.shape != groups.shape:
        raise ValueError(f"{owner} gave feature_importances_ of shape {weights.shape}, expected {len(groups)} numbers")
    check_finite(weights, owner, groups, columns)
    return weights
