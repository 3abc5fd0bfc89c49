"""Resolving the methods and datasets of a suite: every name exists, and every parameter belongs to its owner.

Nothing is loaded or fitted here. Every mistake becomes one sentence with the file and the key.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import Any

from mfbench.data.catalog import check_exists, resolved_reference
from mfbench.data.columns import APART, ROLES
from mfbench.data.lookup import Lookup
from mfbench.data.reference import (
    FileReference,
    OpenMLSuiteReference,
    Reference,
    RegisteredReference,
    parse_reference,
)
from mfbench.errors import DataError, PluginError, SuiteError, UsageError
from mfbench.host.expressions import Registered, parse
from mfbench.host.factories import check_parameters, check_requirements, path_of
from mfbench.host.registry import Registry
from mfbench.host.trying import check_usable
from mfbench.model.evaluation import CURVE_METRICS, ProtocolSpec, TaskSpec
from mfbench.model.specs import SelectorSpec
from mfbench.suite.loading import LoadedSuite, SuiteLocation
from mfbench.suite.methods import TOP, ResolvedMethod, Step, resolve_grid, thinned
from mfbench.suite.schema import Classes, Curve, Datasets, Method, ProtocolSettings, Search, check_points
from mfbench.suite.search import Grid, combinations
from mfbench.suite.tasks import misfit, stated_task
from mfbench.suite.validation_messages import at

Resolver = Callable[[Method, SuiteLocation, Registry, ProtocolSettings, str], ResolvedMethod]


def resolve_methods(loaded: LoadedSuite, registry: Registry) -> tuple[dict[str, ResolvedMethod], dict[str, str]]:
    """Resolve and check the methods of a suite; every mistake is reported with file and key."""
    resolved: dict[str, ResolvedMethod] = {}
    left_out: dict[str, str] = {}
    resolve: Resolver = resolve_name(loaded.spec.resolver)
    homes = _homes(loaded, registry)
    registry.probe(_entries_of(loaded.suite.methods, registry, homes))
    for position, method in enumerate(loaded.suite.methods):
        place = loaded.place_of_method(position)
        try:
            made = resolve(method, place, registry, loaded.protocol, homes[method.label])
            selector, learner = (_for_task(step, loaded.task, registry) for step in (made.selector, made.learner))
            resolved[method.label] = replace(made, selector=selector, learner=learner)
            if loaded.spec.draws_curves:
                _check_areas(resolved[method.label], place, loaded.protocol)
        except PluginError as error:
            if method.label in loaded.added_methods:  # the user added it explicitly, so it must not be missing
                raise PluginError(f"{place}: {error}") from error
            if registry.strict:
                raise
            left_out[method.label] = str(error)
    return resolved, left_out


def _for_task(step: Step | None, task: TaskSpec, registry: Registry) -> Step | None:
    """Return a step with the parameters that it takes in a task; raise `PluginError` if it does not suit the task."""
    if step is None:
        return None
    tasks = registry.entry(step.kind, step.expression.name).spec.tasks
    if not task.suits(tasks):
        raise PluginError(misfit(task, tasks, f"the {step.kind} {step.title!r}"))
    own = {name: value for name, value in task.parameters(tasks).items() if name not in step.expression.params}
    return replace(step, task=own)


def _homes(loaded: LoadedSuite, registry: Registry) -> dict[str, str]:
    """Return the package whose names a method prefers: the package of the suite's file, "" for an added method."""
    home = registry.home_of(loaded.path.resolve().parent)
    return {method.label: "" if method.label in loaded.added_methods else home for method in loaded.suite.methods}


def _entries_of(methods: Sequence[Method], registry: Registry, homes: Mapping[str, str]) -> Iterator[Registered]:
    """Yield the entries that the methods refer to; a wrong name is reported when its method is resolved."""
    for method in methods:
        for kind, text in method.steps.items():
            with suppress(UsageError):
                name = parse(text, references=True).name
                yield registry.entry(kind, registry.resolve(kind, name, homes[method.label]))


def resolve_predictor(
    method: Method, location: SuiteLocation, registry: Registry, protocol: ProtocolSettings, home: str
) -> ResolvedMethod:
    """Resolve a method of a predicting protocol: a learner, optionally preceded by a selector."""
    spec = registry.entry("protocol", protocol.kind).spec
    _check_tuning(method, location, spec)
    if method.top == "relevant":
        raise SuiteError(f"{location.key('top')}: 'relevant' is only for the protocol 'ground-truth'")
    steps = resolve_steps(method, location, registry, home)
    selector = steps.pop("selector", None)
    (learner,) = steps.values()  # loading a suite rejects a method without one
    for key in ("top", "curve"):
        if selector is None and key in method.model_fields_set:
            raise SuiteError(f"{location}.{key}: {key!r} needs a selector; add selector = … or leave it out")
    _check_weights(method, location)
    for key in ("selection", "search"):
        if getattr(method, key) is not None and method.tune is None:
            raise SuiteError(f"{location}.{key}: {key!r} is for tuned methods; add tune = … or leave it out")
    both = (learner, selector) if selector is not None else (learner,)
    registered = {step.kind: registry.entry(step.kind, step.expression.name) for step in both}
    grid = resolve_grid(method, registered, f"{location}.tune")
    if protocol.grid_values is not None:
        grid = tuple((owner, name, thinned(values, protocol.grid_values)) for owner, name, values in grid)
    search = _search_of(method, grid, location)
    curve = _curve_of(method, location, protocol, spec)
    top = "all" if selector is None or curve is not None else method.top
    # Without a grid the setting has no effect, so it must not make two equal methods differ.
    selection = (method.selection or protocol.selection or "nested") if grid else "nested"
    if curve is not None and selection == "per-dataset":
        raise SuiteError(
            f"{location.key('selection')}: a method with a curve is tuned at each size in the training part; set "
            "selection = 'nested'"
        )
    if method.search is not None and (curve is not None or selection == "per-dataset"):
        raise SuiteError(
            f"{location}.search: a method with a curve or selection = 'per-dataset' tries every combination; set "
            "selection = 'nested' without a curve, or leave 'search' out"
        )
    return ResolvedMethod(method.label, selector, learner, top, grid, selection, method.weights, curve, search)


def _search_of(method: Method, grid: Grid, location: SuiteLocation) -> Search | None:
    """Return the search of a method; None if every point of its grid is tried anyway."""
    points, search = combinations(axis for _, _, axis in grid), method.search
    if search is None or search.n is None:
        check_points(points, f"{location}.tune")
        return search if grid else None
    if search.n >= points:
        return None
    if math.isfinite(points) and points >= 2**63:
        raise SuiteError(f"{location}.tune: more combinations of values than can be drawn from; list fewer values")
    return search


def _curve_of(method: Method, location: SuiteLocation, protocol: ProtocolSettings, spec: ProtocolSpec) -> Curve | None:
    """Return the curve of a method: its own, or the protocol's unless the method sets the number of features."""
    is_tuned = isinstance(method.tune, dict) and TOP in method.tune
    if method.curve is not None:
        if TOP in method.model_fields_set or is_tuned:
            key = "tune.top" if is_tuned else TOP
            raise SuiteError(f"{location.key(key)}: 'top' and 'curve' both set how many features are kept; remove one")
        if not spec.draws_curves:
            raise SuiteError(f"{location.key('curve')}: the protocol {protocol.kind!r} has no curves; leave it out")
        curve = method.curve
    elif protocol.curve is None or method.selector is None or TOP in method.model_fields_set or is_tuned:
        return None
    else:
        curve = protocol.curve
    if protocol.decisions == "one-vs-rest":
        raise SuiteError(
            f"{location.key('curve')}: with decisions = 'one-vs-rest' each class has a ranking of its own, so there is "
            "no curve; set decisions = 'multi-class' or leave it out"
        )
    return curve


def _check_areas(method: ResolvedMethod, location: SuiteLocation, protocol: ProtocolSettings) -> None:
    """Reject a curve metric if a method has no curve."""
    area = next((metric for metric in protocol.metrics if metric in CURVE_METRICS), None)
    if area is not None and method.curve is None:
        raise SuiteError(
            f"{location.key('curve')}: the metric {area!r} needs a curve of every method; add a selector and curve = … "
            f"to {method.label!r}, or leave the metric out"
        )


def _check_weights(method: Method, location: SuiteLocation) -> None:
    """Reject weights without a selector, and weights already set by the subset rule."""
    if method.weights is None:
        return
    if method.selector is None:
        raise SuiteError(f"{location}.weights: 'weights' needs a selector; add selector = … or leave it out")
    tops = method.tune.get("top", ()) if isinstance(method.tune, dict) else ()
    if "all-weighted" in (method.top, *(tops if isinstance(tops, list) else ())):
        raise SuiteError(f"{location}.weights: 'all-weighted' already weights the features; write top = 'all'")


def _check_tuning(method: Method, location: SuiteLocation, spec: ProtocolSpec) -> None:
    """Reject settings that the protocol does not support, e.g. selection by outer folds with validation rows."""
    if method.tune is not None and not spec.tunes:
        raise SuiteError(f"{location}.tune: the protocol {spec.name!r} does not tune; set parameters in the expression")
    if method.selection is not None and "selection" not in spec.keys:
        raise SuiteError(f"{location}.selection: the protocol {spec.name!r} has no such key; leave it out")


def resolve_steps(method: Method, location: SuiteLocation, registry: Registry, home: str) -> dict[str, Step]:
    """Return the steps of a method by kind; raises as `resolve_step` does."""
    return {kind: resolve_step(text, kind, registry, home, location.key(kind)) for kind, text in method.steps.items()}


def resolve_step(text: str, kind: str, registry: Registry, home: str, location: str) -> Step:
    """Return a step of a method; a wrong name or parameter is a `SuiteError` that starts with the location."""
    with at(location):
        written = parse(text, references=True)
        expression = replace(written, name=registry.resolve(kind, written.name, home))
        registered, *_ = registry.entries(kind, expression)
        check_parameters(registered, expression.params)
        check_requirements(registered)
        check_usable(registered, expression.params)
    spec = registered.spec
    path = path_of(registered, expression.params)
    step = Step(expression, kind, path=path, written=None if written == expression else written)
    return replace(step, raw_input=spec.raw_input) if isinstance(spec, SelectorSpec) else step


@dataclass(frozen=True)
class DatasetEntry:
    """A dataset as listed in a suite."""

    reference: Reference
    place: str  # file and key, for messages
    task: str  # name of the task that its target poses
    added: bool = False  # whether it was added to the file's datasets
    classes: Classes = "all"  # the classes to keep
    columns: Mapping[str, Any] = field(default_factory=dict)  # names of columns by their role


def resolve_datasets(loaded: LoadedSuite, registry: Registry, lookup: Lookup | None = None) -> dict[str, DatasetEntry]:
    """Check the names of a suite's datasets without loading them."""
    # The label in tables is the reference itself, or the last part of a file's path if that is unique. An OpenML suite
    # is replaced by its datasets; if its list is unavailable, the suite stays, to be left out with the reason.
    lookup = lookup or Lookup()
    entries = _parse_entries(loaded, registry)
    file_names = Counter(_file_name(entry.reference) for entry in entries)
    resolved: dict[str, DatasetEntry] = {}
    for entry in entries:
        reference = entry.reference
        if isinstance(reference, OpenMLSuiteReference):
            for member in _members(reference, lookup):
                resolved.setdefault(member.text, replace(entry, reference=member))
        else:
            name = _file_name(reference)
            resolved[name if name and file_names[name] == 1 else reference.text] = entry
    return resolved


def _parse_entries(loaded: LoadedSuite, registry: Registry) -> list[DatasetEntry]:
    """Return the datasets of a suite in order; each must exist and be listed once."""
    folder = loaded.path.resolve().parent
    own = registry.home_of(folder)
    homes = ["" if position in loaded.added_data else own for position in range(len(loaded.suite.datasets))]
    registry.probe(_loaders_of(loaded.suite.datasets, registry, homes))
    entries: dict[str, DatasetEntry] = {}
    for position, group in enumerate(loaded.suite.datasets):
        for index, text in enumerate(group.use):
            place = loaded.place_of_dataset(position, index)
            with at(place):
                reference = parse_reference(text, folder=folder, target=group.target, categorical=group.categorical)
                columns = {name: getattr(group, name) for name in ROLES}
                task = stated_task(text, group, registry, homes[position]) or loaded.task.name
                if group.task and group.task != task:
                    raise UsageError(f"{text!r} poses the task {task}, not {group.task}: leave 'task' out")
                if task != loaded.task.name:
                    raise UsageError(f"{text!r} poses the task {task}, and the suite is one of {loaded.task.name}")
                if isinstance(reference, FileReference):
                    reference = replace(reference, as_written=tuple(columns[name] for name in APART if columns[name]))
                reference = resolved_reference(reference, registry, homes[position])
                with suppress(PluginError):  # a loader that fails to import is reported when the data are loaded
                    check_exists(reference, registry)
                if reference.identity in entries:
                    other = entries[reference.identity].reference.text
                    raise UsageError(f"{text!r} is listed twice{'' if other == text else f', also as {other!r}'}")
            added, classes = position in loaded.added_data, group.classes or loaded.protocol.classes
            entries[reference.identity] = DatasetEntry(reference, place, task, added, classes, columns)
    return list(entries.values())


def _loaders_of(groups: Sequence[Datasets], registry: Registry, homes: Sequence[str]) -> Iterator[Registered]:
    """Yield the registered entries of the references; a mistake is reported when its reference is resolved."""
    for text, home in ((text, home) for group, home in zip(groups, homes, strict=True) for text in group.use):
        with suppress(UsageError):
            reference = resolved_reference(parse_reference(text), registry, home)
            if isinstance(reference, RegisteredReference):
                yield registry.entry("dataset", reference.expression.name)


def _file_name(reference: Reference) -> str:
    return reference.path.name if isinstance(reference, FileReference) else ""


def _members(reference: OpenMLSuiteReference, lookup: Lookup) -> Sequence[Reference]:
    """Return the datasets of an OpenML suite, or the suite itself if its list is unavailable."""
    try:
        return lookup.suite(reference)
    except DataError:
        return [reference]
