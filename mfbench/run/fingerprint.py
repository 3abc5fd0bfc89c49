"""The fingerprint of what computes a run's results: versions and hashes of code, compared between two processes.

It has the ingredients of trial keys that depend on what is installed. Another process computes its own for the same
plugins, without importing them; if the two differ, its results would not be those of the keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata

from mfbench.host.code_hashes import host_code, method_code, numeric_versions
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import Registry
from mfbench.model.specs import DatasetSpec, EstimatorSpec
from mfbench.suite.plan import Plan

# Read once: an installation may change while a process runs the code that it has loaded.
VERSION = metadata.version("mfbench")


@dataclass(frozen=True)
class Source:
    """Where a method or a dataset comes from."""

    plugin: Plugin
    module: str  # the module of its factory or loader


@dataclass(frozen=True)
class Fingerprint:
    """What a process computes with."""

    version: str  # of mfbench
    host: str  # hash of the files of mfbench that take part in computing a result
    libraries: Mapping[str, str]  # versions of the numeric libraries
    # The code of each method and dataset, as in `mfbench.host.code_hashes.method_code`; empty if the plugin is not
    # installed.
    code: Mapping[Source, Mapping[str, str]]


def fingerprint_of(sources: Iterable[Source]) -> Fingerprint:
    """Return what this process computes with."""
    return Fingerprint(VERSION, host_code(), numeric_versions(), {one: _code(one) for one in sources})


def sources_of(plan: Plan, registry: Registry) -> tuple[Source, ...]:
    """Return where the methods of a plan, and the datasets whose rounds workers generate, come from."""
    entries: list[Registered] = []
    for method in plan.methods.values():
        for kind, step in (("selector", method.selector), ("classifier", method.classifier)):
            entries += [] if step is None else registry.entries(kind, step.expression)
    for planned in plan.datasets.values():
        if planned.reference is not None:
            entries.append(registry.dataset(planned.reference.expression.name))
    return tuple(dict.fromkeys(Source(entry.plugin, _module(entry)) for entry in entries))


def differences(theirs: Fingerprint, here: Fingerprint) -> list[str]:
    """Return how this process differs from another one, a clause for each difference; none if results are the same."""
    reasons = code_differences(_versions(theirs), _versions(here))
    if theirs.version == here.version and theirs.host != here.host:
        reasons.insert(0, f"mfbench {here.version} with other code")
    for source, code in theirs.code.items():
        own = here.code.get(source, {})
        if not own and code:
            reasons.append(f"plugin {source.plugin.distribution or source.plugin.name} is not installed")
        elif source.plugin.distribution != "mfbench" or theirs.version == here.version:
            reasons += code_differences(code, own)
    return list(dict.fromkeys(reasons))


def _versions(fingerprint: Fingerprint) -> dict[str, str]:
    libraries = {f"package {name}": version for name, version in fingerprint.libraries.items()}
    return {"package mfbench": fingerprint.version, **libraries}


def code_differences(theirs: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Return a clause for each version and hash that differs, named as in `mfbench.host.code_hashes.method_code`."""
    clauses = []
    for key in dict.fromkeys([*theirs, *here]):
        before, now = theirs.get(key), here.get(key)
        kind, _, name = key.partition(" ")
        name = name or f"the {kind} of the method"
        if not now and before:
            clauses.append(f"{name} is not installed")
        elif not before and now:
            clauses.append(f"{name} is installed in addition")
        elif before != now:
            is_version = kind in ("distribution", "package", "requirement")
            clauses.append(f"{name} {now} instead of {before}" if is_version else f"{name} with other code")
    return clauses


def _module(entry: Registered) -> str:
    target = entry.spec.loader if isinstance(entry.spec, DatasetSpec) else entry.spec.factory
    return target.partition(":")[0] if isinstance(target, str) else str(getattr(target, "__module__", ""))


def _code(source: Source) -> dict[str, str]:
    plugin = source.plugin
    if plugin.distribution:
        try:
            plugin = dataclasses.replace(plugin, version=metadata.version(plugin.distribution))
        except metadata.PackageNotFoundError:
            return {}
    spec = EstimatorSpec(name="any", summary="", factory=f"{source.module}:any")
    code = method_code(Registered(spec, plugin))
    # A module without a distribution that does not exist here has no hash.
    return code if any(value for name, value in code.items() if name != "adapter") else {}
