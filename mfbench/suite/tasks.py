"""The task of a suite: which datasets, methods and metrics it has, how rows are stratified, and its constant guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.base.text import listing
from mfbench.data.catalog import resolved_reference
from mfbench.data.reference import RegisteredReference, parse_reference
from mfbench.errors import DataError, SuiteError, UsageError, plugin_code
from mfbench.host.factories import import_object
from mfbench.host.registry import Registry
from mfbench.model.evaluation import TaskSpec
from mfbench.model.specs import CLASSIFICATION, Factory
from mfbench.model.trials import Predictions
from mfbench.suite.schema import Datasets
from mfbench.suite.validation_messages import at

if TYPE_CHECKING:
    from numpy.typing import NDArray


def stated_task(text: str, group: Datasets, registry: Registry, home: str = "") -> str:
    """Return the task of a dataset by its suite or its description; empty if neither states one."""
    with suppress(UsageError):  # a wrong name is reported when the dataset is resolved
        reference = resolved_reference(parse_reference(text), registry, home)
        if isinstance(reference, RegisteredReference):
            return str(registry.entry("dataset", reference.expression.name).spec.task)
    return group.task or ""


def task_of(groups: Iterable[Datasets], registry: Registry, file: str, home: str = "") -> TaskSpec:
    """Return the task of a suite, that of its data; raise `SuiteError` if they pose several."""
    datasets: dict[str, list[str]] = {}
    for group in groups:
        for text in group.use:
            if name := stated_task(text, group, registry, home):
                datasets.setdefault(name, []).append(text)
    if len(datasets) > 1:
        parts = [f"{name} ({listing(texts[:3])}{', …' if len(texts) > 3 else ''})" for name, texts in datasets.items()]
        raise SuiteError(f"{file}: datasets: they pose different tasks, {listing(parts)}; make a suite of each")
    with at(f"{file}: datasets"):
        return task_named(next(iter(datasets), CLASSIFICATION), registry)


def task_named(name: str, registry: Registry) -> TaskSpec:
    """Return a task by its name."""
    spec: TaskSpec = registry.entry("task", name).spec
    return spec


def strata_of(task: TaskSpec, y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the codes whose shares stratified splits preserve; all 0 if rows are split without regard to targets."""
    if not task.strata:
        return np.zeros(len(y), dtype=np.int64)
    codes = np.asarray(_called(task, "strata", task.strata, y))
    if codes.shape != y.shape or codes.dtype.kind not in "iu" or codes.min(initial=0) < 0:
        raise DataError(f"the task {task.name!r} gives strata that are not {len(y)} whole numbers from 0")
    return codes.astype(np.int64)


def constant_guess(task: TaskSpec, y: NDArray[Any]) -> Predictions | None:
    """Return the predictions of the best constant; None if the task has none."""
    return _called(task, "guess", task.guess, y) if task.guess else None


def _called(task: TaskSpec, what: str, function: Factory, y: NDArray[Any]) -> Any:
    with plugin_code(DataError, f"the {what} of the task {task.name!r} cannot be computed:"):
        return (import_object(function) if isinstance(function, str) else function)(y)


def misfit(task: TaskSpec, tasks: Iterable[str] | Mapping[str, Any], what: str) -> str:
    """Return why an estimator or metric has no place in a suite of a task."""
    return f"{what} is for {listing([*tasks])}, and the suite is one of {task.name}"
