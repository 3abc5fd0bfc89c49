"""The hooks of mfbench. A plugin implements any of them with ``@mfbench.hookimpl``; docs/plugins.md tells how."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pluggy

from mfbench.models import ClassifierSpec, DatasetSpec, SelectorSpec

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
    """Return folders that hold suite files (``*.toml``)."""
