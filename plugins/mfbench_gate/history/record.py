"""From a stored run to the entry of a history: medians of times and memory, means of scores, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.errors import UsageError
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Place
from mfbench_gate.history.commits import Commit
from mfbench_gate.history.entries import Calibration, Entry, Machine, Measurement, digest
from mfbench_gate.readers.runs import sized_outcomes

_TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu")


def entry_of(run: Run, commit: Commit, calibration: Calibration | None, added: str) -> tuple[Entry, list[str]]:
    """Return what a history keeps of a run."""
    measurements, left_out = [], []
    trials = sized_outcomes(run)
    metrics = [name for name in trials.columns if name in SCORES]
    for (dataset, method, size), cell in trials.groupby(["dataset", "method", "size"], sort=False):
        place = Place(str(method), str(dataset), str(size))
        successful = cell[cell["status"] == Status.OK]
        n_pending = int(cell["status"].isna().sum())
        if n_pending or successful.empty:
            reason = f"{n_pending} of {len(cell)} trials have not run yet" if n_pending else "every trial failed"
            left_out.append(f"{place.name}: {reason}")
        else:
            identity = [run.meta.name, run.meta.profile, run.meta.seed]
            measurements.append(_measurement(identity, place, successful, len(cell) - len(successful), metrics))
    if not measurements:
        raise UsageError(f"{run.path} has no complete cell to add: {left_out[0] if left_out else 'it has no trials'}")
    environment, words = run.meta.environment, run.meta.command
    entry = Entry(
        suite=run.meta.name,
        profile=run.meta.profile,
        source=words[2] if len(words) > 2 else run.meta.name,
        commit=commit.name,
        commit_time=commit.time,
        added=added,
        machine=Machine.of(environment),
        system=environment.system,
        python=f"{environment.implementation} {environment.python}".strip(),
        versions={"mfbench": environment.mfbench, **environment.libraries},
        plugins=tuple(environment.plugins),
        calibration=calibration,
        measurements=tuple(measurements),
    )
    return entry, left_out


def _measurement(
    identity: Sequence[Any], place: Place, trials: pd.DataFrame, n_failed: int, metrics: Sequence[str]
) -> Measurement:
    times = trials[list(_TIMES)].astype(float).fillna(0.0)
    memory = trials["peak_memory"].astype(float).fillna(0.0)
    results = trials.sort_values(["repeat", "fold"])[["key", *_TIMES, "duration", "peak_memory", *metrics]]
    return Measurement(
        **place._asdict(),
        n_trials=len(trials),
        n_failed=n_failed,
        fit_cpu=float(np.median(times["select_cpu"] + times["fit_cpu"])),
        predict_cpu=float(np.median(times["predict_cpu"])),
        fit_wall=float(np.median(times["select_wall"] + times["fit_wall"])),
        predict_wall=float(np.median(times["predict_wall"])),
        # A system that does not report memory gives zero, and so does a trial that needed no more than the worker had.
        memory=float(np.median(memory)) if memory.any() else None,
        scores={name: float(trials[name].mean()) for name in metrics if trials[name].notna().any()},
        digest=digest([identity, place, results.astype(object).to_numpy().tolist()]),
    )
