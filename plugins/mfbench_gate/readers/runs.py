"""Stored runs of mfbench as results to compare: time and memory of every trial that succeeded."""

from __future__ import annotations

import pandas as pd

from mfbench.model.trials import Status
from mfbench.run.store.metadata import Environment
from mfbench.stats.results import Run
from mfbench.stats.summary import TIMES
from mfbench_gate.comparison import Side
from mfbench_gate.readers.result import Place, Series, StoredResult

TIMING_RUN = "timing run"
_KINDS = {"timing": TIMING_RUN, "ground-truth": "ground-truth run"}


def read_run(run: Run, name: str) -> StoredResult:
    """Return a stored run as a result to compare."""
    # The time of a trial is that of tuning, selecting, fitting and predicting together. A timing run has a place for
    # each size of the subsample.
    trials = run.outcomes[run.outcomes["status"] == Status.OK].copy()
    trials["seconds"] = trials[TIMES].astype(float).fillna(0.0).sum(axis=1)
    trials["bytes"] = trials["peak_memory"].astype(float).fillna(0.0)
    kind = _KINDS.get(run.meta.protocol.kind, "run")
    trials["size"] = ""
    if kind == TIMING_RUN:
        trials = trials.drop(columns="size").merge(_size_names(run), on=["dataset", "repeat", "fold"])
    environment = run.meta.environment
    return StoredResult(
        Side(name, _version(environment), _machine(environment)),
        kind,
        run.meta.title,
        times=_series(trials, "seconds"),
        # Zero is what a trial reports that did not raise the memory of its worker, or whose system counts none.
        memory=_series(trials[trials["bytes"] > 0], "bytes"),
        run=run,
        libraries=_libraries(environment),
    )


def _size_names(run: Run) -> pd.DataFrame:
    sizes = run.sizes
    names = "n=" + sizes["n_train"].astype(str) + ", p=" + sizes["n_features"].astype(str)
    return sizes[["dataset", "repeat", "fold"]].assign(size=names)


def _series(trials: pd.DataFrame, column: str) -> dict[Place, Series]:
    series: dict[Place, Series] = {}
    for (method, dataset, size), group in trials.groupby(["method", "dataset", "size"], sort=False):
        coordinates = zip(group["repeat"].astype(int), group["fold"].astype(int), strict=True)
        series[Place(str(method), str(dataset), str(size))] = dict(zip(coordinates, group[column], strict=True))
    return series


def _version(environment: Environment) -> str:
    commit = f" at {environment.git_commit[:12]}" if environment.git_commit else ""
    return f"mfbench {environment.mfbench}{commit}"


def _machine(environment: Environment) -> str:
    cpus = f"{environment.cpus} processors" if environment.cpus else ""
    return ", ".join(part for part in (environment.cpu, cpus, environment.system) if part)


def _libraries(environment: Environment) -> dict[str, str]:
    """Return the versions of Python, of libraries and of the distributions that provide plugins."""
    versions = {"Python": environment.python, **{name: text for name, text in environment.libraries.items() if text}}
    for plugin in environment.plugins:  # "distribution version (module)", or a module without a distribution
        distribution, version, *_ = [*plugin.split(" "), ""]
        if version:
            versions[distribution] = version
    return versions
