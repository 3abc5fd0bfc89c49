"""mfbench: a plugin-based benchmark for feature selection.

The names below are loaded on first use, so that ``import mfbench`` in a plugin costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench.api import Run, load_dataset, load_run, make, power, run_suite
    from mfbench.bundling import bundle_run
    from mfbench.checking import check_plugins
    from mfbench.comparing import compare_results
    from mfbench.drawing import save_chart
    from mfbench.host.hookspecs import hookimpl
    from mfbench.merging import merge
    from mfbench.models import ClassifierSpec, Dataset, DatasetSpec, ExecutorSpec, SelectorSpec
    from mfbench.sections import Cell, Chart, Section, Table
    from mfbench.verifying import verify_bundle

__version__ = "0.1.0"

_HOMES = {
    "Cell": "mfbench.sections",
    "Chart": "mfbench.sections",
    "ClassifierSpec": "mfbench.models",
    "Dataset": "mfbench.models",
    "DatasetSpec": "mfbench.models",
    "ExecutorSpec": "mfbench.models",
    "Section": "mfbench.sections",
    "SelectorSpec": "mfbench.models",
    "Table": "mfbench.sections",
    "hookimpl": "mfbench.host.hookspecs",
    "Run": "mfbench.api",
    "bundle_run": "mfbench.bundling",
    "check_plugins": "mfbench.checking",
    "compare_results": "mfbench.comparing",
    "load_dataset": "mfbench.api",
    "load_run": "mfbench.api",
    "make": "mfbench.api",
    "merge": "mfbench.merging",
    "power": "mfbench.api",
    "run_suite": "mfbench.api",
    "save_chart": "mfbench.drawing",
    "verify_bundle": "mfbench.verifying",
}

__all__ = [
    "Cell",
    "Chart",
    "ClassifierSpec",
    "Dataset",
    "DatasetSpec",
    "ExecutorSpec",
    "Run",
    "Section",
    "SelectorSpec",
    "Table",
    "__version__",
    "bundle_run",
    "check_plugins",
    "compare_results",
    "hookimpl",
    "load_dataset",
    "load_run",
    "make",
    "merge",
    "power",
    "run_suite",
    "save_chart",
    "verify_bundle",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
