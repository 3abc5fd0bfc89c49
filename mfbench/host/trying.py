"""What child processes try before a run: building factories, and fitting what a user names by its import path."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfbench.errors import MfbenchError, PluginError, UsageError, describe_error
from mfbench.host.adapter import NoSelectorError
from mfbench.host.expressions import Facts, Plugin, Registered
from mfbench.host.factories import (
    build,
    is_for_two_classes,
    parameter_names,
    takes_numbers,
    takes_sparse,
    takes_weights,
)
from mfbench.host.registry import load_registry
from mfbench.model.evaluation import MetricSpec
from mfbench.model.specs import ClassifierSpec, EstimatorSpec, SelectorSpec


def check_usable(registered: Registered, params: Mapping[str, Any]) -> None:
    """Refuse a class or function that a user names by its import path and that can be no step of a method."""
    if registered.plugin.declared is None:
        return
    prober = registered.prober
    problem = (tried(registered, params) if prober is None else prober.tried(registered, params)).problem
    if problem:
        raise UsageError(f"{registered.title!r} cannot be used as a {registered.plugin.declared.kind}: {problem}")


def tried(registered: Registered, params: Mapping[str, Any]) -> Facts:
    """Return whether a selector takes numbers, and why the class or function cannot be used."""
    # A fit that fails says nothing, because a method may refuse these few rows: its trials report what it says.
    declared = registered.plugin.declared
    assert declared is not None
    try:
        estimator = build(registered, params)
        numbers = declared.kind == "selector" and takes_numbers(registered, params)
    except (UsageError, PluginError) as error:
        return Facts(problem=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a constructor raises
        return Facts(problem=f"it cannot be built: {describe_error(error)}")
    if declared.kind != "selector":
        missing = " and no ".join(name for name in ("fit", "predict") if not hasattr(estimator, name))
        kind = declared.kind
        advice = f"a {kind} has fit and predict, and is written after a selector: SELECTOR -> {kind.upper()}"
        return Facts(problem=f"it has no {missing}; {advice}" if missing else "")
    rows = np.random.default_rng(0).normal(size=(60, 8))
    target = np.arange(60) % 2
    rows[:, 0] += 2.0 * target
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            estimator.fit(rows, target)
        except NoSelectorError as error:
            return Facts(takes_numbers=numbers, problem=str(error))
        except Exception:  # noqa: BLE001 - see above
            pass
    return Facts(takes_numbers=numbers)


def answer(plugin: Plugin, requests: Sequence[tuple[str, str]]) -> list[Facts]:
    """Return each factory's parameters, what it takes, and why it cannot be used."""
    registry = load_registry(exactly=[plugin])
    answers = []
    for kind, name in requests:
        try:
            registered = registry.entry(kind, name)
            names = parameter_names(registered)
            # A class that a user names may need parameters to be built at all; see `try_out`.
            is_selector = isinstance(registered.spec, SelectorSpec) and plugin.declared is None
            numbers = is_selector and takes_numbers(registered)
            two = isinstance(registered.spec, ClassifierSpec) and is_for_two_classes(registered)
            weights = isinstance(registered.spec, EstimatorSpec | MetricSpec) and takes_weights(registered)
            sparse = isinstance(registered.spec, EstimatorSpec) and takes_sparse(registered)
            answers.append(Facts(tuple(names), numbers, two, takes_weights=weights, takes_sparse=sparse))
        except MfbenchError as error:
            answers.append(Facts(problem=str(error)))
    return answers


def try_out(plugin: Plugin, kind: str, name: str, params: Mapping[str, Any]) -> Facts:
    """Return what `tried` does of a class that a user names."""
    registry = load_registry(exactly=[plugin])
    return tried(registry.entry(kind, name), params)
