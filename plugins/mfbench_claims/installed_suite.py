"""Differences between a bundle's suite and the installed suite of that name, since the name alone proves little."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

from mfbench.base.text import plain_text
from mfbench.data.catalog import resolved_reference
from mfbench.data.reference import RegisteredReference, parse_reference
from mfbench.errors import PluginError, SuiteError, UsageError
from mfbench.host.registry import Registry
from mfbench.run.store.metadata import PublishedHeading, RecordedFigures, RecordedSuite, RunMetadata
from mfbench.run.store.store import Store
from mfbench.suite.loading import LoadedSuite, load_suite
from mfbench.suite.published import (
    PublishedFigure,
    PublishedTable,
    load_published,
    match,
    match_counts,
    read_published,
    shipped_tables,
)
from mfbench.suite.schema import Profile, ProtocolSettings, standard_profiles
from mfbench_claims.agreement import RunLimits
from mfbench_claims.reading import OpenedBundle
from mfbench_claims.writing import public_suite

LONGEST_VALUE = 200  # in characters
LEAST_MEMORY = 1.0  # in GiB: with less, even the libraries may not fit
Entries = Mapping[str, Mapping[str, Any]]


def differences_from_installed(meta: RunMetadata, registry: Registry) -> list[str]:
    """Return a clause on each difference that may affect results or verdicts; empty if the suites are the same."""
    loaded = _installed(meta, registry)
    if isinstance(loaded, str):
        return [loaded]
    installed = public_suite(RecordedSuite.model_validate(loaded.suite.model_dump(mode="json")))
    clauses = list(_of_tables("the ", {"seed": meta.seed}, {"seed": installed.suite.seed}))
    recorded, own = (each.model_dump(mode="json") for each in (meta.protocol, loaded.protocol))
    clauses += _of_tables("protocol.", recorded, own)
    score = meta.scores.get(next(iter(meta.protocol.metrics or ()), ""))
    usual = None if score is None else score.margin  # what an unset rope means
    margins = [usual if report.rope is None else report.rope for report in (meta.report, installed.report)]
    theirs, ours = (
        {**report.model_dump(mode="json", exclude={"labels"}), "rope": margin}
        for report, margin in zip((meta.report, installed.report), margins, strict=True)
    )
    clauses += _of_tables("report.", theirs, ours)
    clauses += _of_entries("method", _methods(meta.suite), _methods(installed))
    clauses += _of_entries("dataset", _datasets(meta.suite), _datasets(installed))
    parts = [(suite.model_extra or {}).get("parts", {}).get(meta.part) for suite in (meta.suite, installed)]
    return [*clauses, *_of_tables("the part ", {meta.part: parts[0]}, {meta.part: parts[1]})]


def _installed(meta: RunMetadata, registry: Registry) -> LoadedSuite | str:
    """Return the installed suite of this name with the profile, or the reason why there is none."""
    if meta.name not in registry.suites():
        return "no suite of this name is installed here"
    try:
        return load_suite(meta.name, registry, meta.profile)
    except SuiteError:
        return "the installed one cannot be read"
    except UsageError:
        return f"the installed one has no profile {meta.profile!r}"


def installed_methods(meta: RunMetadata, registry: Registry) -> set[str]:
    """Return the labels of the methods of the installed suite of this name; empty if there is none."""
    loaded = _installed(meta, registry)
    return set() if isinstance(loaded, str) else {method.label for method in loaded.suite.methods}


def recorded_protocol(meta: RunMetadata, registry: Registry) -> ProtocolSettings:
    """Return the protocol according to the recorded suite and profile, from which the run's may deviate."""
    content = meta.suite.model_extra or {}
    try:
        protocol = ProtocolSettings.model_validate(content.get("protocol"))
        own = {name: Profile.model_validate(table) for name, table in (content.get("profiles") or {}).items()}
        spec = registry.entry("protocol", protocol.kind).spec
        metrics = registry.entry("task", meta.task.name).spec.metrics
        return protocol.completed(spec, {**standard_profiles(spec), **own}[meta.profile], metrics)
    except (ValidationError, AttributeError, KeyError, UsageError):  # written by another version, or manipulated
        return meta.protocol


def limits_of(meta: RunMetadata, registry: Registry) -> RunLimits:
    """Return the limits of a run, with a clause on each unusually low one, which alone may explain a failure."""
    loaded = _installed(meta, registry)
    usual = [recorded_protocol(meta, registry), ProtocolSettings() if isinstance(loaded, str) else loaded.protocol]
    recorded = [each.memory_limit_bytes / 2**30 for each in (meta.environment, *meta.other_environments)]
    # Unless the suite sets the limit, it depends on the machine.
    memory = meta.protocol.memory or min(filter(None, recorded), default=0.0)
    lowered = [
        f"{limit:.3g} {unit} instead of {least:g} {unit}"
        for unit, limit, least in (
            ("s", meta.protocol.timeout, max(each.timeout for each in usual)),
            ("GiB", memory, max([LEAST_MEMORY, *(each.memory for each in usual)])),
        )
        if 0 < limit < least
    ]
    return RunLimits(meta.protocol.timeout, memory * 2**30, tuple(lowered))


def differing_figures(bundle: OpenedBundle, registry: Registry) -> list[str]:
    """Return a clause on each published figure in a bundle that differs from the installed table of that name."""
    meta = bundle.meta
    loaded = _installed(meta, registry)
    names = set(meta.published.tables) & set(shipped_tables(registry))
    printed = {figure.method for figure in meta.published.figures}
    if not isinstance(loaded, str):
        names.update(table.name for table in load_published(loaded, registry))
        printed.update(method.label for method in loaded.suite.methods)
    methods = [label for label in meta.methods if label in printed]
    planned: dict[str, Any] = {}
    with Store(bundle.folder, read_only=True) as store:
        datasets = list(store.raw("SELECT label, n_samples, n_features, class_names FROM datasets"))
    for label, rows, features, classes in datasets:
        with suppress(UsageError, PluginError):  # the papers' labels are unknown for datasets that are not installed
            reference = resolved_reference(parse_reference(label), registry)
            collections: Mapping[str, str] = {}
            # With parameters, or from another source, it is not the papers' dataset.
            if isinstance(reference, RegisteredReference) and not reference.expression.params:
                collections = registry.entry("dataset", reference.expression.name).spec.collections
            n_classes = len(json.loads(classes or "null") or ())
            data = SimpleNamespace(n_samples=rows, n_features=features, n_classes=n_classes)
            planned[label] = SimpleNamespace(data=data, collections=collections)
    tables = [read_published(name, registry, Path()) for name in sorted(names)]
    ours = RecordedFigures(
        tables={table.name: PublishedHeading(title=table.title, metric=table.about.metric) for table in tables},
        figures=[each for table in tables for each in _figures(table, planned, methods, meta)],
        counts=[each for table in tables for each in match_counts(table, methods)],
    )
    theirs, installed = (dict(_of_figures(each, names, planned)) for each in (meta.published, ours))
    return list(_of_tables("", theirs, installed))


def _figures(
    table: PublishedTable, datasets: Mapping[str, Any], methods: list[str], meta: RunMetadata
) -> list[PublishedFigure]:
    """Return a table's figures, if the run has its score."""
    score = meta.scores.get(table.about.metric)
    return [] if score is None else match(table, datasets, methods, score, meta.protocol.decisions or "")


def _of_figures(
    published: RecordedFigures, names: Collection[str], datasets: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the entries of the named tables for the given datasets: each subject with its figure."""
    for name, heading in published.tables.items():
        if name in names:
            yield name, f"{heading.title} ({heading.metric})"
    for figure in published.figures:
        if figure.table in names and figure.dataset in datasets:
            rounding = f" ± {figure.rounding:g}" if figure.rounding else ""
            obstacle = f", which {figure.obstacle}" if figure.obstacle else ""
            subject = f"{figure.method} on {figure.dataset} in {figure.table}"
            yield subject, f"{figure.value:g}{rounding} for {figure.label}{obstacle}"
    for count in published.counts:
        if count.table in names:
            subject = f"{count.reference} against {count.method} in {count.table}"
            yield subject, f"{count.wins}/{count.ties}/{count.losses}"


def _methods(suite: RecordedSuite) -> Entries:
    return {
        method["label"]: {**method, "label": None, "name": None}
        for method in (suite.model_extra or {}).get("methods", ())
    }


def _datasets(suite: RecordedSuite) -> Entries:
    groups = (suite.model_extra or {}).get("datasets", ())
    return {use: {**group, "use": None, "replicates": None} for group in groups for use in group["use"]}


def _of_entries(noun: str, theirs: Entries, installed: Entries) -> Iterator[str]:
    for label in dict.fromkeys((*theirs, *installed)):
        if label in theirs and label in installed:
            yield from _of_tables(f"{noun} {label}: ", theirs[label], installed[label])
        else:
            yield f"the {noun} {label} is {'added' if label in theirs else 'missing'}"


def _of_tables(place: str, theirs: Mapping[str, Any], installed: Mapping[str, Any]) -> Iterator[str]:
    """Yield a clause for each key whose values differ."""
    for key in dict.fromkeys((*theirs, *installed)):
        # Ignore which profiles an entry belongs to: both suites are already reduced to one profile.
        if key != "profiles" and theirs.get(key) != installed.get(key):
            yield f"{place}{key} is {_text(theirs.get(key))} instead of {_text(installed.get(key))}"


def _text(value: Any) -> str:
    """Return a value as text, truncated because the bundle is untrusted."""
    return "not set" if value is None else plain_text(str(value), LONGEST_VALUE)
