"""Convert a stored run to a history entry: medians of times and memory, means of scores, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.git import GitError, run_git
from mfbench.errors import UsageError
from mfbench.model.trials import Status
from mfbench.run.environment import is_mfbench
from mfbench.stats.results import Run
from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.history.storage import Calibration, HistoryEntry, Machine, Measurement, digest
from mfbench_gate.readers import sized_outcomes

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True)
class Commit:
    """A commit of the measured project."""

    name: str  # its hash
    time: str | None  # commit time in UTC (ISO 8601); None if unknown to Git


def project_commit(folder: Path, name: str | None = None, recorded: str | None = None) -> Commit:
    """Return the commit measured by a run."""
    if name is None:
        try:
            top, name = run_git(folder, "rev-parse", "--show-toplevel", "HEAD").splitlines()
        except GitError as error:
            raise UsageError(
                f"the measured commit cannot be read from a Git repository ({error}); name it with --commit"
            ) from error
        name = recorded if recorded and is_mfbench(Path(top)) else name
    elif not _COMMIT.fullmatch(name.lower()):
        raise UsageError(f"--commit {name!r} is not the hash of a commit: 7 to 64 hexadecimal digits")
    try:
        seconds, _ = run_git(folder, "rev-list", "--max-count=1", "--timestamp", name.lower()).split()
    except GitError:
        return Commit(name.lower(), None)  # the time only orders the entries, and there is a fallback
    return Commit(name.lower(), datetime.fromtimestamp(int(seconds), UTC).isoformat(timespec="seconds"))


_TIMES = ("select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu")


def entry_of(run: Run, commit: Commit, calibration: Calibration | None, added: str) -> tuple[HistoryEntry, list[str]]:
    """Return the history entry of a run."""
    measurements, left_out = [], []
    trials = sized_outcomes(run)
    metrics = [name for name in trials.columns if name in run.meta.scores]
    for (dataset, method, size), cell in trials.groupby(["dataset", "method", "size"], sort=False):
        place = MeasuredCase(str(method), str(dataset), str(size))
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
    entry = HistoryEntry(
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
        scores={name: run.meta.scores[name] for name in metrics},
    )
    return entry, left_out


def _measurement(
    identity: Sequence[Any], place: MeasuredCase, trials: pd.DataFrame, n_failed: int, metrics: Sequence[str]
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
        # Zero means that the system does not report memory, or that the trial needed no more than the worker had.
        memory=float(np.median(memory)) if memory.any() else None,
        scores={name: float(trials[name].mean()) for name in metrics if trials[name].notna().any()},
        digest=digest([identity, place, results.astype(object).to_numpy().tolist()]),
    )
