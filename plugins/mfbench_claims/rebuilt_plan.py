"""Rebuild the plan of a bundle's trials from its metadata, with a reason for each part that cannot run here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mfbench.data.lookup import Lookup
from mfbench.data.reference import FileReference
from mfbench.errors import PluginError, UnknownNameError, UsageError
from mfbench.host.expressions import is_reference, parse
from mfbench.host.registry import Registry
from mfbench.run.store.metadata import RunMetadata
from mfbench.suite.loading import LoadedSuite, scores_of, shared_entries
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.plan import Plan, make_plan
from mfbench.suite.resolve import resolve_datasets, resolve_methods
from mfbench.suite.schema import Datasets, Method, ProtocolSettings, Suite
from mfbench.suite.tasks import task_named

_UNSET_WITHOUT_SELECTOR = ("top", "curve", "weights")


@dataclass
class Rebuilt:
    """A rebuilt part of a bundle's suite."""

    plan: Plan | None = None  # None if no method or no dataset is usable here
    reasons: dict[str, str] = field(default_factory=dict)  # why methods and datasets are not usable here, by label


@dataclass(frozen=True)
class Surroundings:
    """Local resources that a bundle may use."""

    registry: Registry  # installed plugins
    lookup: Lookup  # mirror, cache and network for datasets
    files: Path | None = None  # folder with the files of `file:` datasets; None means none
    # Whether to import classes that methods name by import path, although the bundle's author chose the names.
    import_classes: bool = False


def rebuilt_plan(meta: RunMetadata, datasets: Collection[str], methods: Collection[str], here: Surroundings) -> Rebuilt:
    """Return the plan that the local mfbench makes for part of a bundle's suite."""
    loaded = recorded_suite(meta, here.registry)
    chosen = [method for method in loaded.suite.methods if method.label in methods]
    reasons = {method.label: _reason_against(method, loaded, here) for method in chosen}
    usable = [method for method in chosen if not reasons[method.label]]
    rebuilt = Rebuilt(reasons={label: reason for label, reason in reasons.items() if reason})
    groups = list(_groups(loaded, datasets, here, rebuilt.reasons))
    if usable and groups:
        suite = loaded.suite.model_copy(update={"methods": usable, "datasets": groups})
        rebuilt.plan = make_plan(replace(loaded, suite=suite), here.registry, (), here.lookup)
        rebuilt.reasons |= rebuilt.plan.left_out
    return rebuilt


def recorded_suite(meta: RunMetadata, registry: Registry) -> LoadedSuite:
    """Return the suite of a run as it was loaded, as far as it was recorded."""
    content = meta.suite.model_dump(mode="json")
    content["methods"] = [_as_written(method, meta) for method in content.get("methods", [])]
    content |= {"profiles": {}, "protocol": {}, "report": {}}
    try:
        suite = Suite.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"the bundle's suite is not one that this mfbench reads: {place}: {first['msg']}") from None
    # For an installed suite, names in its own package take precedence; no other file is read.
    path = registry.suites().get(meta.name, Path(f"{meta.name}.toml"))
    spec = registry.entry("protocol", meta.protocol.kind).spec
    task = task_named(meta.task.name, registry)
    scores = scores_of(meta.protocol, spec, task, registry, file=meta.name)
    request = (meta.name, "--profile", meta.profile)
    return LoadedSuite(suite, path, meta.profile, meta.protocol, request, spec, task, scores)


def _as_written(method: dict[str, Any], meta: RunMetadata) -> dict[str, Any]:
    """Return a method without the keys that its suite did not set, since a record contains all keys."""
    written = {key: value for key, value in method.items() if value is not None}
    if "selector" not in written and meta.design.predicts:
        written = {key: value for key, value in written.items() if key not in _UNSET_WITHOUT_SELECTOR}
    if written.get("label") in meta.curves:
        written.pop("top", None)
        written["curve"] = method["curve"] or meta.model_dump(mode="json")["curves"][written["label"]]
    return written


def _reason_against(method: Method, loaded: LoadedSuite, here: Surroundings) -> str:
    """Return why a method is not usable here; empty if it is."""
    try:
        for kind, text in method.steps.items():
            expression = parse(text, references=True)
            for name in (expression.name, *(part.name for part in expression.parts())):
                if is_reference(name) and not here.import_classes:
                    return f"it is the class {name}, which is imported only with --import-classes"
            here.registry.declare_expression(kind, expression)
            try:
                here.registry.resolve(kind, expression.name, here.registry.home_of(loaded.path.parent))
            except UnknownNameError:
                return f"the {kind} {expression.name} is not installed here"
        alone = replace(loaded, suite=loaded.suite.model_copy(update={"methods": [method]}))
        _, left_out = resolve_methods(alone, here.registry)
    except (UsageError, PluginError) as error:
        return _reason(error)
    return left_out.get(method.label, "")


def _groups(
    loaded: LoadedSuite, labels: Collection[str], here: Surroundings, reasons: dict[str, str]
) -> Iterator[Datasets]:
    """Yield a table for each dataset of the suite that has one of the labels and exists here."""
    for group in loaded.suite.datasets:
        for text in group.use:
            label = text.removeprefix(FileReference.prefix)
            if label != text:
                if label not in labels:
                    continue
                if here.files is None or Path(label).name != label:
                    reasons[label] = "its data are a file that the bundle does not have; name its folder with --files"
                    continue
                text = f"{FileReference.prefix}{here.files.resolve() / label}"
            alone = group.model_copy(update={"use": [text]})
            try:
                part = loaded.suite.model_copy(update={"datasets": [alone]})
                entries = resolve_datasets(replace(loaded, suite=part), here.registry, here.lookup)
            except UsageError as error:
                reasons[label] = _reason(error)
                continue
            if any(name in labels for name in entries):
                yield alone


def _reason(error: Exception) -> str:
    """Strip a file location from a message, since that file does not exist here."""
    text = str(error)
    place, separator, rest = text.partition(": ")
    return rest if separator and (".toml" in place or "methods[" in place) else text


def code_of_run(methods: Iterable[ResolvedMethod], settings: ProtocolSettings, registry: Registry) -> list[str]:
    """Return the third-party code that trials run: distributions with their packages, and import paths of classes."""
    entries = shared_entries(settings, registry)
    for method in methods:
        entries += [registry.entry(step.kind, step.expression.name) for step in method.steps]
    packages: dict[str, set[str]] = {}
    for registered in entries:
        plugin, factory = registered.plugin, registered.spec.factory
        if plugin.declared is not None:
            packages.setdefault(f"{plugin.declared.reference} by its import path", set())
            continue
        name = f"{plugin.distribution} {plugin.version}" if plugin.distribution else f"module {plugin.module}"
        module = factory if isinstance(factory, str) else factory.__module__
        packages.setdefault(name, set()).add(module.partition(":")[0].partition(".")[0])
    return [f"{name} ({', '.join(sorted(roots))})" if roots else name for name, roots in sorted(packages.items())]
