"""Stored runs of mfbench as results to compare: time and memory of every trial that succeeded."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.stats.summary import TIMES
from mfbench.suite.forms import KINDS
from mfbench_gate.comparison import Place, Side
from mfbench_gate.readers.result import Series, StoredResult

TIMING_RUN = "timing run"
_KINDS = {"timing": TIMING_RUN, "ground-truth": "ground-truth run"}


def read_run(run: Run, name: str) -> StoredResult:
    """Return a stored run as a result to compare."""
    # The time of a trial is that of tuning, selecting, fitting and predicting together. A timing run has a place for
    # each size of the subsample.
    trials = sized_outcomes(run)
    trials = trials[trials["status"] == Status.OK]
    seconds, peaks = trials[TIMES].astype(float).sum(axis=1), trials["peak_memory"].astype(float)
    environment = run.meta.environment
    commit = f" at {environment.git_commit[:12]}" if environment.git_commit else ""
    cpus = f"{environment.cpus} processors" if environment.cpus else ""
    machine = ", ".join(filter(None, (environment.cpu, cpus, environment.system)))
    libraries = {"Python": environment.python, **{name: text for name, text in environment.libraries.items() if text}}
    for plugin in environment.plugins:  # "distribution version (module)", or a module without a distribution
        distribution, version, *_ = [*plugin.split(" "), ""]
        if version:
            libraries[distribution] = version
    return StoredResult(
        Side(name, f"mfbench {environment.mfbench}{commit}", machine),
        _KINDS.get(run.meta.protocol.kind, "run"),
        run.meta.title,
        times=_series(trials, seconds),
        # Zero is what a trial reports that did not raise the memory of its worker, or whose system counts none.
        memory=_series(trials[peaks > 0], peaks[peaks > 0]),
        run=run,
        libraries=libraries,
    )


def sized_outcomes(run: Run) -> pd.DataFrame:
    """Return the outcomes of a run with a column "size": empty unless its protocol is ``timing``."""
    trials = run.outcomes.assign(size="")
    if KINDS[run.meta.protocol.kind].times and len(trials):
        keys = ["dataset", "repeat", "fold"]
        sizes = trials[keys].merge(run.sizes, on=keys, how="left")
        # The trials of a dataset that the run has not begun have no size, and no result.
        trials["size"] = [
            "" if np.isnan(n) else f"n={int(n)}, p={int(p)}"
            for n, p in zip(sizes["n_train"], sizes["n_features"], strict=True)
        ]
    return trials


def _series(trials: pd.DataFrame, values: pd.Series[float]) -> dict[Place, Series]:
    columns = (trials[name] for name in ("method", "dataset", "size", "repeat", "fold"))
    series: dict[Place, dict[tuple[int, int], float]] = {}
    for method, dataset, size, repeat, fold, value in zip(*columns, values, strict=True):
        series.setdefault(Place(method, dataset, size), {})[int(repeat), int(fold)] = value
    return dict(series)
