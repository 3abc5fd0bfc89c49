"""mfbench: a plugin-based benchmark for feature selection.

The names below, and those added by features through the entry-point group ``mfbench.names``, are imported lazily, so
that ``import mfbench`` costs a plugin next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench.api import Run, load_dataset, load_run, make, run_suite
    from mfbench.host.features import CommandSpec
    from mfbench.host.hookspecs import hookimpl
    from mfbench.model.evaluation import MetricSpec, ProtocolSpec, Score, SplitterSpec, TaskSpec
    from mfbench.model.sections import Cell, Chart, Section, Table
    from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, ExecutorSpec, RegressorSpec, SelectorSpec
    from mfbench.model.trials import Predictions
    from mfbench.report.charts.drawing import save_chart
    from mfbench.suite.protocols import EvaluationProtocol, Split

__version__ = "0.2.0"

_NAMES = {
    "mfbench.api": ("Run", "load_dataset", "load_run", "make", "run_suite"),
    "mfbench.host.features": ("CommandSpec",),
    "mfbench.host.hookspecs": ("hookimpl",),
    "mfbench.model.evaluation": ("MetricSpec", "ProtocolSpec", "Score", "SplitterSpec", "TaskSpec"),
    "mfbench.model.sections": ("Cell", "Chart", "Section", "Table"),
    "mfbench.model.specs": (
        "ClassifierSpec",
        "Dataset",
        "DatasetSpec",
        "ExecutorSpec",
        "RegressorSpec",
        "SelectorSpec",
    ),
    "mfbench.model.trials": ("Predictions",),
    "mfbench.report.charts.drawing": ("save_chart",),
    "mfbench.suite.protocols": ("EvaluationProtocol", "Split"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Cell", "Chart", "ClassifierSpec", "CommandSpec", "Dataset", "DatasetSpec", "EvaluationProtocol", "ExecutorSpec",
    "MetricSpec", "Predictions", "ProtocolSpec", "RegressorSpec", "Run", "Score", "Section", "SelectorSpec", "Split",
    "SplitterSpec", "Table", "TaskSpec", "__version__", "hookimpl", "load_dataset", "load_run", "make", "run_suite",
    "save_chart",
]  # fmt: skip


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
