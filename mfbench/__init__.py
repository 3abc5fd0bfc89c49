"""mfbench: a plugin-based benchmark for feature selection.

The names below, and those added by features through the entry-point group ``mfbench.names``, are imported lazily, so
that ``import mfbench`` costs a plugin next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench.api import Run, load_dataset, load_run, make, power, run_suite
    from mfbench.host.features import CommandSpec
    from mfbench.host.hookspecs import hookimpl
    from mfbench.model.sections import Cell, Chart, Section, Table
    from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, ExecutorSpec, SelectorSpec
    from mfbench.report.charts.drawing import save_chart

__version__ = "0.1.0"

_HOMES = {
    "Cell": "mfbench.model.sections",
    "Chart": "mfbench.model.sections",
    "ClassifierSpec": "mfbench.model.specs",
    "CommandSpec": "mfbench.host.features",
    "Dataset": "mfbench.model.specs",
    "DatasetSpec": "mfbench.model.specs",
    "ExecutorSpec": "mfbench.model.specs",
    "Section": "mfbench.model.sections",
    "SelectorSpec": "mfbench.model.specs",
    "Table": "mfbench.model.sections",
    "hookimpl": "mfbench.host.hookspecs",
    "Run": "mfbench.api",
    "load_dataset": "mfbench.api",
    "load_run": "mfbench.api",
    "make": "mfbench.api",
    "power": "mfbench.api",
    "run_suite": "mfbench.api",
    "save_chart": "mfbench.report.charts.drawing",
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
    return sorted({*__all__, *(name for name in _added() if not name.startswith("_"))})


def _added() -> dict[str, Any]:
    from mfbench.host.features import added_names

    return added_names()[0]
