"""mfbench: a plugin-based benchmark for feature selection.

The names below, and those that features add by entry points of the group ``mfbench.names``, are loaded on first use, so
that ``import mfbench`` in a plugin costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench.api import Run, load_dataset, load_run, make, power, run_suite
    from mfbench.drawing import save_chart
    from mfbench.host.features import CommandSpec
    from mfbench.host.hookspecs import hookimpl
    from mfbench.models import ClassifierSpec, Dataset, DatasetSpec, ExecutorSpec, SelectorSpec
    from mfbench.sections import Cell, Chart, Section, Table

__version__ = "0.1.0"

_HOMES = {
    "Cell": "mfbench.sections",
    "Chart": "mfbench.sections",
    "ClassifierSpec": "mfbench.models",
    "CommandSpec": "mfbench.host.features",
    "Dataset": "mfbench.models",
    "DatasetSpec": "mfbench.models",
    "ExecutorSpec": "mfbench.models",
    "Section": "mfbench.sections",
    "SelectorSpec": "mfbench.models",
    "Table": "mfbench.sections",
    "hookimpl": "mfbench.host.hookspecs",
    "Run": "mfbench.api",
    "load_dataset": "mfbench.api",
    "load_run": "mfbench.api",
    "make": "mfbench.api",
    "power": "mfbench.api",
    "run_suite": "mfbench.api",
    "save_chart": "mfbench.drawing",
}

__all__ = [
    "Cell",
    "Chart",
    "ClassifierSpec",
    "CommandSpec",
    "Dataset",
    "DatasetSpec",
    "ExecutorSpec",
    "Run",
    "Section",
    "SelectorSpec",
    "Table",
    "__version__",
    "hookimpl",
    "load_dataset",
    "load_run",
    "make",
    "power",
    "run_suite",
    "save_chart",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name.startswith("_") or (entry := _added().get(name)) is None:
        raise AttributeError(f"module 'mfbench' has no attribute {name!r}")
    else:
        value = entry.load()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_added()})


def _added() -> dict[str, Any]:
    from mfbench.host.features import NAMES, entries

    return entries(NAMES)[0]
