"""One fit of a selector, whoever shares it, and how its failure is told."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from mfbench.host.expressions import Expression
from mfbench.run.folds import Fold, Selection
from mfbench.run.interactions import read_interactions
from mfbench.run.measure import Stopwatch
from mfbench.suite.resolve import ResolvedMethod
from mfbench.suite.seeds import derive_seed

MESSAGE_LENGTH = 500
TRACE_LENGTH = 4000


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


def seeded(estimator: Any, seed: int, fixed: Mapping[str, Any]) -> Any:
    """Give an estimator its seed, unless it takes none or the suite sets one."""
    if "random_state" not in fixed and "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


def fit_selector(
    method: ResolvedMethod, fold: Fold, params: Mapping[str, Any], make: Maker, *, told: bool
) -> Selection:
    """Fit the selector of a method on the training part of a fold.

    Parameters
    ----------
    method : ResolvedMethod
        With a selector.
    fold : Fold
    params : mapping
        Go over the parameters that the suite names.
    make : callable
        Builds estimators.
    told : bool
        Whether what it says of pairs of features is recorded.

    Returns
    -------
    Selection
        Whatever was raised is its failure.
    """
    step = method.selector
    assert step is not None
    # Not the trial's seed: the fit is shared by methods, so its seed must not depend on which of them comes first.
    seed = derive_seed(fold.seed, "selector", selector_key(method))
    try:
        fixed = {**step.expression.params, **params}
        selector = seeded(make(step.expression, "selector", **params), seed, fixed)
        if step.raw_input:
            X = fold.raw_train
            if "categorical_features" in selector.get_params(deep=False):
                selector.set_params(categorical_features=fold.columns.categorical)
        else:
            X = fold.encoded.train.copy()
        with Stopwatch() as watch:
            selector.fit(X, fold.target(numbers=step.numbers))
        weights = np.asarray(selector.feature_importances_, dtype=np.float64)
        if weights.shape != (X.shape[1],) or np.isnan(weights).any():
            raise ValueError(
                f"selector {step.expression.name!r} gave feature_importances_ of shape {weights.shape} with "
                f"{int(np.isnan(weights).sum())} NaN, expected {X.shape[1]} numbers"
            )
        groups = np.arange(X.shape[1]) if step.raw_input else fold.encoded.groups
        pairs = read_interactions(selector, groups, fold.X.shape[1], fold.true_pairs) if told else None
    except BaseException as error:  # noqa: BLE001 - the failure belongs to every method that shares this fit
        return Selection(np.empty(0), np.empty(0), 0.0, 0.0, describe_failure(error))
    if step.raw_input:
        by_feature, by_column = weights, weights[fold.encoded.groups]
    else:
        by_feature, by_column = by_original_feature(weights, groups, fold.X.shape[1]), weights
    return Selection(by_feature, by_column, watch.wall, watch.cpu, interactions=pairs)


def by_original_feature(weights: Any, groups: Any, n_features: int) -> Any:
    """Return the largest weight among the columns of each original feature."""
    largest = np.full(n_features, -np.inf)
    np.maximum.at(largest, groups, weights)
    return largest
