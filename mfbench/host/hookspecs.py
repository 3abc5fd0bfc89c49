"""The hooks of mfbench. A plugin implements any of them with ``@mfbench.hookimpl``; docs/plugins.md describes how."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pluggy

from mfbench.engines import Engine, Executor
from mfbench.errors import ExitCode
from mfbench.model.earlier import EarlierRun
from mfbench.model.evaluation import MetricSpec, ProtocolSpec, SplitterSpec, TaskSpec
from mfbench.model.sections import Section
from mfbench.model.specs import ClassifierSpec, DatasetSpec, ExecutorSpec, RegressorSpec, SelectorSpec

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
def mfbench_regressors() -> Iterable[RegressorSpec]:  # type: ignore[empty-body]
    """Return the regressors of this plugin, which predict numbers."""


@hookspec
def mfbench_tasks() -> Iterable[TaskSpec]:  # type: ignore[empty-body]
    """Return the tasks of this plugin: what is predicted, by which learners, and how that is scored."""


@hookspec
def mfbench_datasets() -> Iterable[DatasetSpec]:  # type: ignore[empty-body]
    """Return the datasets of this plugin."""


@hookspec
def mfbench_metrics() -> Iterable[MetricSpec]:  # type: ignore[empty-body]
    """Return the metrics of this plugin, which score the predictions of a trial."""


@hookspec
def mfbench_protocols() -> Iterable[ProtocolSpec]:  # type: ignore[empty-body]
    """Return the protocols of this plugin: which rows train and test, and what a trial does."""


@hookspec
def mfbench_suites() -> Iterable[Path]:  # type: ignore[empty-body]
    """Return folders with suite files (``*.toml``)."""


@hookspec
def mfbench_executors() -> Iterable[ExecutorSpec]:  # type: ignore[empty-body]
    """Return the engines of this plugin, which run trials on other machines."""


@hookspec
def mfbench_splitters() -> Iterable[SplitterSpec]:  # type: ignore[empty-body]
    """Return the splitters of this plugin, which divide rows into training and test parts."""


@hookspec
def mfbench_report_sections(run: Any) -> Iterable[Section]:  # type: ignore[empty-body]
    """Return sections to add to the report of a run (a `mfbench.Run`)."""


@hookspec(firstresult=True)
def mfbench_open_run(path: Path) -> Any:
    """Return the `mfbench.Run` in a file of another format, e.g. a bundle; None for other files."""


@hookspec(firstresult=True)
def mfbench_part_of_plan(request: Any, plan: Any, folder: Path, registry: Any) -> Any:
    """Return the part of a plan that a request selects, or the plan in stages; None if the whole plan runs at once.

    Parameters
    ----------
    request : object
        What the user asked for.
    plan : Plan
        The whole plan.
    folder : Path
        The folder of the whole run.
    registry : Registry
        The registry of the loaded plugins.

    Returns
    -------
    Plan or None
        Its `folder` is the name of the run's folder. It may have `stages` to run in its place.
    """


@hookspec(firstresult=True)
def mfbench_finished(request: Any) -> tuple[str, ExitCode] | None:
    """Return a line for the user and the exit code if a request has nothing left to run, else None.

    Called before anything is loaded, for requests whose results can be found without their plan.

    Parameters
    ----------
    request : object
        What the user asked for.

    Returns
    -------
    (str, ExitCode) or None
    """


@hookspec(firstresult=True)
def mfbench_pool(engine: Engine, job: Any, plan: Any, registry: Any, options: Any) -> Executor | None:
    """Return the executor that runs a job's trials on an engine's workers; the first result is used.

    Parameters
    ----------
    engine : mfbench.engines.Engine
        The engine built by the factory of an `ExecutorSpec`, not yet entered.
    job : Job
        The job shared by all trials; the executor receives it again when it starts.
    plan : Plan
        The plan behind the job.
    registry : Registry
        The registry of the loaded plugins.
    options : object
        The options of the run, e.g. the seconds ``wait_for_workers``.

    Returns
    -------
    mfbench.engines.Executor or None
    """


@hookspec
def mfbench_earlier_results(request: Any, plan: Any) -> Iterable[EarlierRun]:  # type: ignore[empty-body]
    """Yield runs whose results need not be computed again.

    Parameters
    ----------
    request : object
        What the user asked for, including the options that the plugin added.
    plan : Plan
        The trials.

    Yields
    ------
    EarlierRun
        Each is used until the next one is requested. A generator is closed after its runs have been used or if the
        start of the run fails, so it can release its resources. The first run is requested before anything is written:
        unusable sources should be rejected by then.
    """
