"""Whether runs can be joined, the metadata of the joined run, and remarks on what differs between its parts.

Runs can be joined if a report of one run could contain the trials of all of them: the suite, its seed, the protocol and
the settings of the report are the same, and a label of a dataset or method means the same in each. Limits of time and
memory, versions, machines and the reference may differ; the results of a trial do not depend on them, or its key does.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mfbench.base.wording import counted, listing
from mfbench.errors import RunError
from mfbench.run.store.metadata import Environment, RecordedFigures, RecordedSuite, Reused, RunMetadata
from mfbench.run.store.recorded_code import joined_code
from mfbench.suite.restriction import matching

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_LIMITS = ("timeout", "memory")
# They do not determine a result. What a form sets is compared key by key.
_MAY_DIFFER = ("form", "curve", *_LIMITS)  # the curve of each method is compared
_COUNTED = {"folds": "fold", "repeats": "repeat", "inner_folds": "inner fold", "rounds": "round", "steps": "size"}
ONE_PROTOCOL = "only runs of one protocol can be joined"
_ONE_MEANING = "only runs in which a label has one meaning can be joined"


@dataclass(frozen=True)
class RecordedRun:
    """What decides whether a run can be joined with others."""

    folder: Path  # the run folder, as messages name it
    meta: RunMetadata
    hashes: Mapping[str, str]  # the content hash of each dataset used, by its label


def check_compatible(runs: Sequence[RecordedRun]) -> None:
    """Check that runs can be joined."""
    for other in runs[1:]:
        for difference in _differences(runs[0], other):
            raise RunError(difference)
    _check_datasets(runs)
    _check_methods(runs)


def _differences(first: RecordedRun, other: RecordedRun) -> Iterator[str]:
    """Yield a sentence on each difference between two runs that does not depend on their datasets and methods."""
    here, there = first.meta, other.meta
    a, b = first.folder, other.folder
    if here.name != there.name:
        yield f"{a} is a run of the suite {here.name}, {b} of {there.name}; only runs of one suite can be joined"
    if here.seed != there.seed:
        yield f"{a} has seed {here.seed}, {b} {there.seed}; only runs with one seed can be joined"
    for name, ours, theirs in _unequal(here.protocol.model_dump(), there.protocol.model_dump(), _MAY_DIFFER):
        yield f"{a} has {_setting(name, ours)}, {b} {_value(theirs)}; {ONE_PROTOCOL}"
    if here.protocol_key != there.protocol_key:
        yield f"{a} has splits of {here.protocol_key}, {b} of {there.protocol_key}; {ONE_PROTOCOL}"
    for name, ours, theirs in _unequal(here.report.model_dump(), there.report.model_dump(), ("reference",)):
        yield (
            f"{a} has {_setting(name, ours)}, {b} {_value(theirs)} in [report]; only runs whose reports have the same "
            "settings can be joined"
        )


def _unequal(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], ignored: Sequence[str]
) -> Iterator[tuple[str, Any, Any]]:
    for name, value in ours.items():
        if name not in ignored and value != theirs[name]:
            yield name, value, theirs[name]


def _setting(name: str, value: Any) -> str:
    """Return a setting as part of a sentence."""
    if value is None:
        return f"{name} unset"
    return counted(value, _COUNTED[name]) if name in _COUNTED else f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    return "unset" if value is None else json.dumps(value, ensure_ascii=False)


def _check_datasets(runs: Sequence[RecordedRun]) -> None:
    holders: dict[str, RecordedRun] = {}
    for run in runs:
        for label, sha256 in run.hashes.items():
            holder = holders.setdefault(label, run)
            if holder.hashes[label] != sha256:
                raise RunError(
                    f"{label} has different data in {holder.folder} and {run.folder}; only runs on the same data can "
                    "be joined"
                )


def _check_methods(runs: Sequence[RecordedRun]) -> None:
    """Compare the definitions of each label with the first one, aspect by aspect, as far as they are recorded."""
    holders: dict[tuple[str, str], tuple[RecordedRun, Any]] = {}
    for run in runs:
        for label in run.meta.methods:
            for aspect, value in _definition(run.meta, label).items():
                holder, first = holders.setdefault((label, aspect), (run, value))
                if first != value:
                    what = f"is {first!r}" if aspect == "text" else f"has {aspect} = {_value(first)}"
                    second = repr(value) if aspect == "text" else _value(value)
                    raise RunError(f"{label} {what} in {holder.folder} and {second} in {run.folder}; {_ONE_MEANING}")


def _definition(meta: RunMetadata, label: str) -> dict[str, Any]:
    aspects: dict[str, Any] = {"text": meta.methods[label]}
    if label in meta.rules:
        aspects["top"] = meta.rules[label]
    if label in meta.curves:
        curve = meta.curves[label]
        aspects["curve"] = curve if isinstance(curve, list) else curve.model_dump()
    if label in meta.selection:
        aspects["selection"] = meta.selection[label]
        values = _tuned_values(meta, label)
        # The text shows the ends of a long list of values only. "default" is a name for values, which the text has.
        if isinstance(values, Mapping):
            aspects["tune"] = values
    return aspects


def _tuned_values(meta: RunMetadata, label: str) -> Any:
    """Return the entry ``tune`` of a method as the suite's file has it; None if it is not recorded."""
    for entry in (meta.suite.model_extra or {}).get("methods", ()):
        if entry["label"] == label and (not entry.get("profiles") or meta.profile in entry["profiles"]):
            return entry.get("tune")
    return None


def joined_metadata(runs: Sequence[RecordedRun]) -> RunMetadata:
    """Return the metadata of the run that joins others."""
    # Datasets, methods, published figures and the patterns of `--only` are those of all runs, in the order of the
    # first run, then of the next. The reference is the first that a run names. Whatever else may differ is that of the
    # first.
    metas = [run.meta for run in runs]
    part = _shared_part(metas)
    only = _restriction(runs)
    environments = _environments(runs)
    return metas[0].model_copy(
        update={
            "suite": _joined_suite([meta.suite for meta in metas]),
            "published": _joined_figures([meta.published for meta in metas]),
            "selection": _union(meta.selection for meta in metas),
            "methods": _union(meta.methods for meta in metas),
            "rules": _union(meta.rules for meta in metas),
            "curves": _union(meta.curves for meta in metas),
            "classifiers": _union(meta.classifiers for meta in metas),
            "weighted": _distinct(name for meta in metas for name in meta.weighted),
            "takes_numbers": _distinct(name for meta in metas for name in meta.takes_numbers),
            "real_valued": _distinct(name for meta in metas for name in meta.real_valued),
            "classes": _union(meta.classes for meta in metas),
            "dropped_classes": _union(meta.dropped_classes for meta in metas),
            "unsuited": {
                label: _distinct(name for meta in metas for name in meta.unsuited.get(label, ()))
                for label in _distinct(label for meta in metas for label in meta.unsuited)
            },
            "reused": _joined_reuse([meta.reused for meta in metas]),
            "machines": _union(meta.machines for meta in metas),
            "code": joined_code([meta.code for meta in metas]),
            "ended_budget": max(meta.ended_budget for meta in metas),
            "part": part,
            "part_patterns": metas[0].part_patterns if part else [],
            "only": only,
            # No command that was typed makes the joined run.
            "environment": metas[0].environment.model_copy(update={"command": []}),
            "other_environments": other_environments(metas[0].environment, environments),
            "command": _joined_command(metas, only),
        }
    )


def _union(tables: Iterable[Mapping[K, V]]) -> dict[K, V]:
    """Return the entries of all tables; of two with the same key the first."""
    union: dict[K, V] = {}
    for table in tables:
        for key, value in table.items():
            union.setdefault(key, value)
    return union


def _distinct(values: Iterable[K]) -> list[K]:
    return list(dict.fromkeys(values))


def _joined_suite(suites: Sequence[RecordedSuite]) -> RecordedSuite:
    """Return the first suite with the datasets and methods of all files, which an edit may have made different."""
    content = suites[0].model_dump(mode="json")
    content["report"]["reference"] = next(iter(_references(suites)), None)
    for name in ("datasets", "methods"):
        entries = [entry for suite in suites for entry in (suite.model_extra or {}).get(name, ())]
        if entries:
            content[name] = list(_union({json.dumps(entry, sort_keys=True): entry} for entry in entries).values())
    return RecordedSuite.model_validate(content)


def _references(suites: Iterable[RecordedSuite]) -> list[str]:
    return _distinct(suite.report.reference for suite in suites if suite.report.reference is not None)


def _joined_figures(recorded: Sequence[RecordedFigures]) -> RecordedFigures:
    figures = _union({(f.table, f.dataset, f.method): f for f in each.figures} for each in recorded)
    counts = _union({(c.table, c.reference, c.method): c for c in each.counts} for each in recorded)
    tables = _union(each.tables for each in recorded)
    return RecordedFigures(tables=tables, figures=list(figures.values()), counts=list(counts.values()))


def _joined_reuse(recorded: Sequence[Reused]) -> Reused:
    keys: dict[str, list[str]] = {}
    for reused in recorded:
        for name, own in reused.keys.items():
            keys[name] = _distinct([*keys.get(name, ()), *own])
    differences = _union(reused.differences for reused in recorded)
    passed_over = _distinct(sentence for reused in recorded for sentence in reused.passed_over)
    bundles = _distinct(name for reused in recorded for name in reused.bundles)
    return Reused(keys=keys, differences=differences, passed_over=passed_over, bundles=bundles)


def _restriction(runs: Sequence[RecordedRun]) -> list[str]:
    """Return patterns of ``--only`` that match every dataset and method of runs."""
    # Patterns of different runs cannot simply be joined: "iris" and "A" match all methods on iris and A on all
    # datasets; both together match A on iris alone.
    if len({_identity_of_part(run.meta) for run in runs}) == 1:
        return list(runs[0].meta.only)
    patterns: list[str] = []
    for groups in ([list(run.hashes) for run in runs], [list(run.meta.methods) for run in runs]):
        if all(
            matching([*run.meta.part_patterns, *run.meta.only], labels)
            for run, labels in zip(runs, groups, strict=True)
        ):
            patterns += _distinct(glob.escape(label) for labels in groups for label in labels)
    return patterns


def _identity_of_part(meta: RunMetadata) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    return meta.part, tuple(meta.part_patterns), tuple(meta.only)


def _shared_part(metas: Sequence[RunMetadata]) -> str:
    """Return the part of the suite that all runs have; empty if it takes labels to say what they have together."""
    return metas[0].part if len({_identity_of_part(meta) for meta in metas}) == 1 else ""


def _joined_command(metas: Sequence[RunMetadata], only: Sequence[str]) -> list[str]:
    """Return the first run's command with the patterns of all; it starts a run that contains at least its trials."""
    command = list(metas[0].command)
    if only == metas[0].only and _shared_part(metas) == metas[0].part:
        return command
    if metas[0].part:
        place = command.index("--part")
        del command[place : place + 2]
    if "--only" in command:  # the patterns are its last words
        command = command[: command.index("--only")]
    return [*command, *(word for pattern in only for word in ("--only", pattern))]


def other_environments(first: Environment, environments: Iterable[Environment]) -> list[Environment]:
    """Return the environments that differ from the first and from each other in versions, machine or workers."""
    differing = {_identity(first): first}
    for each in environments:
        differing.setdefault(_identity(each), each)
    return [each.model_copy(update={"command": []}) for each in list(differing.values())[1:]]


def _identity(environment: Environment) -> str:
    return json.dumps([_versions(environment), machine_of(environment), environment.jobs], sort_keys=True)


def _environments(runs: Sequence[RecordedRun]) -> list[Environment]:
    return [each for run in runs for each in (run.meta.environment, *run.meta.other_environments)]


def remarks_on_environments(environments: Sequence[Environment]) -> list[str]:
    """Return a sentence on each difference between the machines and the software of runs that were joined."""
    remarks = []
    if versions := _several(_versions(each) for each in environments):
        listed = "; ".join(f"{name} {listing(values)}" for name, values in versions.items())
        remarks.append(f"The joined runs were made with different versions: {listed}.")
    machines = _distinct(machine_of(each) for each in environments)
    if len(machines) > 1:
        remarks.append(
            f"The joined runs were made on different kinds of machine: {listing(machines)}; their times do not compare."
        )
    workers = _distinct(str(each.jobs) for each in environments)
    if len(workers) > 1:
        remarks.append(f"The joined runs had {listing(workers)} workers, which affects times and memory.")
    return remarks


def remarks_on(runs: Sequence[RecordedRun]) -> list[str]:
    """Return a sentence on each difference between runs that a reader of their joined report should know."""
    remarks = remarks_on_environments(_environments(runs))
    if limits := _several({name: f"{getattr(run.meta.protocol, name):g}" for name in _LIMITS} for run in runs):
        listed = ", ".join(f"{name} = {listing(values)}" for name, values in limits.items())
        remarks.append(
            f"The joined runs had different limits: {listed}; a trial that failed in one may succeed in another."
        )
    references = _references(run.meta.suite for run in runs)
    if len(references) > 1:
        remarks.append(
            f"The joined runs have the references {listing(references)}; it is {references[0]} unless another one is "
            "chosen."
        )
    return remarks


def _several(tables: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return each key that has several values, with these."""
    values: dict[str, list[str]] = {}
    for table in tables:
        for key, value in table.items():
            values.setdefault(key, []).append(value)
    return {key: _distinct(entries) for key, entries in values.items() if len(set(entries)) > 1}


def _versions(environment: Environment) -> dict[str, str]:
    """Return the version of everything that is installed, by its name."""
    versions = {"mfbench": environment.mfbench}
    if environment.git_commit:
        versions["commit"] = environment.git_commit[:7]
    versions["Python"] = environment.python
    versions |= {name: version for name, version in environment.libraries.items() if version is not None}
    for plugin in environment.plugins:  # "package version (module)", or a module that no package contains
        words = plugin.split()
        if len(words) == 3:
            versions.setdefault(words[0], words[1])
    return versions


def machine_of(environment: Environment) -> str:
    """Return the kind of machine: processor, number of processors and system."""
    number = f" × {environment.cpus}" if environment.cpus else ""
    system = f" ({environment.system})" if environment.system else ""
    return f"{environment.cpu}{number}{system}"
