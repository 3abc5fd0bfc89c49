"""Whether runs can be joined, the metadata of the joined run, and remarks on what differs between its parts.

Runs can be joined if a report of one run could contain the trials of all of them: the suite, its seed, the protocol and
the settings of the report are the same, and a label of a dataset or method means the same in each. Limits of time and
memory, versions, machines and the reference may differ; the results of a trial do not depend on them, or its key does.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench.base.documents import diff, first_clauses, union
from mfbench.base.wording import listing
from mfbench.errors import RunError
from mfbench.run.store.metadata import Environment, RunMetadata
from mfbench.run.store.recorded_code import joined_code

_LIMITS = ("timeout", "memory")
# They do not determine a result: what a form sets is compared key by key, and the curve of each method.
_MAY_DIFFER = {"form", "curve", *_LIMITS}
_UNITED = (
    "published", "selection", "methods", "rules", "curves", "classifiers", "weighted", "takes_numbers", "real_valued",
    "classes", "dropped_classes", "unsuited", "reused", "machines",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedRun:
    """What decides whether a run can be joined with others."""

    folder: Path  # the run folder, as messages name it
    meta: RunMetadata
    hashes: Mapping[str, str]  # the content hash of each dataset used, by its label


def check_compatible(runs: Sequence[RecordedRun]) -> None:
    """Check that runs can be joined."""
    united: dict[str, Any] = {}
    for run in runs:
        own = _identity(run)
        if any(diff(united, own, shared=True)):
            pairs = ((other, list(diff(_identity(other), own, shared=True))) for other in runs)
            other, differences = next(pair for pair in pairs if pair[1])
            clauses = first_clauses(each.clause("in the first", "in the second") for each in differences)
            raise RunError(f"{other.folder} and {run.folder} cannot be joined: {clauses}")
        united = union([united, own])


def _identity(run: RecordedRun) -> dict[str, Any]:
    """Return the document in which runs that are joined must agree, as far as they have the same labels."""
    meta = run.meta
    return {
        "suite": meta.name,
        "seed": meta.seed,
        "protocol": meta.protocol.model_dump(exclude=_MAY_DIFFER),
        "splits": meta.protocol_key,
        "report": meta.report.model_dump(exclude={"reference"}),
        "sha256 of": dict(run.hashes),
        "method": {label: _definition(meta, label) for label in meta.methods},
    }


def _definition(meta: RunMetadata, label: str) -> dict[str, Any]:
    aspects: dict[str, Any] = {"steps": meta.methods[label]}
    for name, recorded in (("top", meta.rules), ("curve", meta.curves), ("selection", meta.selection)):
        if label in recorded:
            value = recorded[label]
            aspects[name] = value if isinstance(value, str | int | float | list) else value.model_dump()
    if label in meta.selection:
        # The steps show the ends of a long list of values only.
        for entry in (meta.suite.model_extra or {}).get("methods", ()):
            if entry["label"] == label and (not entry.get("profiles") or meta.profile in entry["profiles"]):
                aspects["tune"] = entry.get("tune")
    return aspects


def joined_metadata(runs: Sequence[RecordedRun]) -> RunMetadata:
    """Return the metadata of the run that joins others."""
    # Datasets, methods and published figures are those of all runs, in the order of the first run, then of the next.
    # The reference is the first that a run names. Whatever else may differ is that of the first.
    metas = [run.meta for run in runs]
    first, columns = metas[0], [meta.to_columns() for meta in metas]
    content = [each["suite"] for each in columns]
    references = [meta.report.reference for meta in metas if meta.report.reference is not None]
    # Its file may have been edited between the runs.
    suite = content[0] | union(
        {name: each[name] for name in ("datasets", "methods") if name in each} for each in content
    )
    suite["report"]["reference"] = references[0] if references else None
    return RunMetadata.model_validate(
        {
            **columns[0],
            **union({name: each[name] for name in _UNITED} for each in columns),
            **_restriction(runs),
            "suite": suite,
            "code": joined_code([meta.code for meta in metas]),
            "ended_budget": max(meta.ended_budget for meta in metas),
            # No command that was typed makes the joined run.
            "environment": first.environment.model_copy(update={"command": []}),
            "other_environments": other_environments(first.environment, _environments(runs)),
        }
    )


def _restriction(runs: Sequence[RecordedRun]) -> dict[str, Any]:
    """Return the fields that restrict the joined run to what its parts have; none if all parts have the same."""
    # Patterns of different runs cannot simply be joined: "iris" and "A" match all methods on iris and A on all
    # datasets; both together match A on iris alone. So the labels take their place, unless a part has the whole suite.
    first = runs[0].meta
    restrictions = [(run.meta.part_patterns, run.meta.only, run.meta.part) for run in runs]
    if all(each == restrictions[0] for each in restrictions):
        return {}
    labels = [label for run in runs for label in run.hashes] + [label for run in runs for label in run.meta.methods]
    is_whole = any(not (patterns or only) for patterns, only, _ in restrictions)
    patterns = [] if is_whole else [glob.escape(label) for label in dict.fromkeys(labels)]
    command = list(first.command)
    if first.part:
        place = command.index("--part")
        del command[place : place + 2]
    if "--only" in command:  # the patterns are its last words
        command = command[: command.index("--only")]
    command += [word for pattern in patterns for word in ("--only", pattern)]
    return {"part": "", "part_patterns": [], "only": patterns, "command": command}


def other_environments(first: Environment, environments: Iterable[Environment]) -> list[Environment]:
    """Return the environments that differ from the first and from each other in versions, machine or workers."""
    differing: dict[tuple[tuple[str, str], ...], Environment] = {}
    for each in (first, *environments):
        differing.setdefault(tuple(_facts(each).items()), each)
    return [each.model_copy(update={"command": []}) for each in list(differing.values())[1:]]


def _environments(runs: Sequence[RecordedRun]) -> list[Environment]:
    return [each for run in runs for each in (run.meta.environment, *run.meta.other_environments)]


def remarks_on_environments(environments: Iterable[Environment]) -> list[str]:
    """Return the sentence on what differs between machines and software of joined runs; none if nothing does."""
    return _remark(map(_facts, environments), "their times and memory may not compare")


def remarks_on(runs: Sequence[RecordedRun]) -> list[str]:
    """Return a sentence on each kind of difference that a reader of the joined report should know."""
    limits = [{name: f"{getattr(run.meta.protocol, name):g}" for name in _LIMITS} for run in runs]
    references = [{"reference": run.meta.report.reference} for run in runs if run.meta.report.reference is not None]
    return [
        *remarks_on_environments(_environments(runs)),
        *_remark(limits, "a trial that failed in one may succeed in another"),
        *_remark(references, "the first one is used unless another is chosen"),
    ]


def _remark(tables: Iterable[Mapping[str, str]], consequence: str) -> list[str]:
    values: dict[str, dict[str, None]] = {}
    for table in tables:
        for name, value in table.items():
            values.setdefault(name, {})[value] = None
    several = [f"{name} ({listing(each)})" for name, each in values.items() if len(each) > 1]
    return [f"The joined runs differ in {listing(several)}; {consequence}."] if several else []


def _facts(environment: Environment) -> dict[str, str]:
    """Return versions, machine and number of workers by their names."""
    facts = {"mfbench": environment.mfbench, "Python": environment.python}
    if environment.git_commit:
        facts["commit"] = environment.git_commit[:7]
    facts |= {name: version for name, version in environment.libraries.items() if version is not None}
    for plugin in environment.plugins:  # "package version (module)", or a module that no package contains
        words = plugin.split()
        if len(words) == 3:
            facts.setdefault(words[0], words[1])
    return facts | {"machine": machine_of(environment), "workers": str(environment.jobs)}


def machine_of(environment: Environment) -> str:
    """Return the kind of machine: processor, number of processors and system."""
    number = f" × {environment.cpus}" if environment.cpus else ""
    system = f" ({environment.system})" if environment.system else ""
    return f"{environment.cpu}{number}{system}"
