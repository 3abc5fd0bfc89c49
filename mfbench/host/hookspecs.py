"""The hooks of mfbench. A plugin implements any of them with ``@mfbench.hookimpl``; docs/plugins.md describes how."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pluggy

from mfbench.models import ClassifierSpec, DatasetSpec, ExecutorSpec, SelectorSpec
from mfbench.sections import Section

PROJECT = "mfbench"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def mfbench_selectors() -> Iterable[SelectorSpec]:  # type: ignore[empty-body]
    """Return the feature selectors of this plugin."""


@hookspec
def mfbench_classifiers() -> Iterable[ClassifierSpec]:  # type: ignore[empty-body]
    """Return the classifiers of this plugin."""


@hookspec
def mfbench_datasets() -> Iterable[DatasetSpec]:  # type: ignore[empty-body]
    """Return the datasets of this plugin."""


@hookspec
def mfbench_suites() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return folders with suite files (``*.toml``)."""


@hookspec
def mfbench_executors() -> Iterable[ExecutorSpec]:  # type: ignore[empty-body]
    """Return the engines of this plugin, which start trials on other machines."""


@hookspec
def mfbench_report_sections(run: Any) -> Iterable[Section]:  # type: ignore[empty-body]
    """Return sections to add to the report of a run (a `mfbench.Run`)."""


@hookspec(firstresult=True)
def mfbench_open_run(path: Path) -> Any:
    """Return the `mfbench.Run` that a file of another form holds, such as a bundle; None for other files."""
