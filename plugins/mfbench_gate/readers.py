"""Read pytest-benchmark JSON files and stored runs for a comparison; the files are untrusted.

The format is the output of ``pytest --benchmark-json=FILE``; pytest-benchmark publishes no schema for it.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from mfbench.base.text import plain_text
from mfbench.errors import UsageError, explained
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.stats.summary import TIMES
from mfbench_gate.comparison import BENCHMARK_FILE, MeasuredCase, Omission, Series, Side, StoredResult

LARGEST_FILE = 100_000_000
MOST_BENCHMARKS = 100_000
MOST_ROUNDS = 1_000
"""Maximum number of rounds to keep; a longer benchmark is reduced to its median."""
_NO_COMMIT = ("", "unversioned", "unknown")
_Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False, strict=True)]


class _Stats(BaseModel):
    """The times of a benchmark: its rounds, or a summary of them."""

    data: list[_Seconds] | None = None
    median: _Seconds | None = None
    mean: _Seconds | None = None


class _File(BaseModel):
    """The relevant parts of a file; each benchmark is validated separately."""

    version: Annotated[str, Field(pattern=r"^[345]\.\d")]
    benchmarks: Annotated[list[Any], Field(max_length=MOST_BENCHMARKS)]
    machine_info: Any = None
    commit_info: Any = None


def read_benchmark_file(path: Path) -> StoredResult:
    """Return the benchmarks in a pytest-benchmark JSON file as a result to compare."""
    # The time of a benchmark is the median of its rounds, or the stated median if the file has no rounds. A benchmark
    # without a usable time becomes an omission.
    content = _load(path)
    times: dict[MeasuredCase, Series] = {}
    omissions = []
    for entry in map(_table, content.benchmarks):
        name = plain_text(entry.get("fullname") or entry.get("name"), 300) or "a benchmark without a name"
        seconds = _rounds(entry.get("stats"))
        if MeasuredCase(name) in times:
            omissions.append(Omission(name, "appears more than once in the file; the first one is compared."))
        elif seconds:
            times[MeasuredCase(name)] = {(0, number): value for number, value in enumerate(seconds)}
        else:
            omissions.append(Omission(name, "has no usable time in the file."))
    machine = _table(content.machine_info)
    return StoredResult(
        Side(plain_text(path), _commit(_table(content.commit_info)), _machine(machine)),
        BENCHMARK_FILE,
        plain_text(path.name),
        times=times,
        libraries={"Python": python} if (python := plain_text(machine.get("python_version"), 40)) else {},
        omissions=omissions,
    )


def _load(path: Path) -> _File:
    """Return a file's content after checking that it has the pytest-benchmark format."""
    shown = plain_text(path)
    with explained(UsageError, lambda reason: f"cannot read {shown}: {reason}", OSError):
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise UsageError(f"{shown} has {size / 1e6:.0f} MB; files up to {LARGEST_FILE / 1e6:.0f} MB are read")
        data = path.read_bytes()
    try:
        return _File.model_validate_json(data)
    except ValidationError as error:
        problem = error.errors()[0]
        reason = plain_text(": ".join([*map(str, problem["loc"]), problem["msg"]]), 200)
        raise UsageError(
            f"{shown} is neither a run folder nor a JSON file of pytest-benchmark, versions 3 to 5 ({reason})"
        ) from None


def _rounds(stats: object) -> list[float]:
    """Return the seconds of a benchmark's rounds, or their median; empty if none is usable."""
    try:
        times = _Stats.model_validate(stats)
    except ValidationError:
        return []
    rounds = times.data or [value for value in (times.median, times.mean) if value is not None][:1]
    return rounds if len(rounds) <= MOST_ROUNDS else [median(rounds)]


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _commit(table: dict[str, Any]) -> str:
    commit = plain_text(table.get("id"), 40)
    if commit in _NO_COMMIT:
        return ""
    return commit[:12] + (" with uncommitted changes" if table.get("dirty") is True else "")


def _machine(table: dict[str, Any]) -> str:
    cpu = _table(table.get("cpu"))
    names = (cpu.get("brand_raw"), cpu.get("brand"), table.get("processor"), table.get("machine"))
    processor = next(filter(None, (plain_text(name, 100) for name in names if isinstance(name, str))), "")
    system = " ".join(filter(None, (plain_text(table.get(key), 60) for key in ("system", "release"))))
    return ", ".join(filter(None, (processor, system)))


TIMING_RUN = "timing run"
_KINDS = {"timing": TIMING_RUN, "ground-truth": "ground-truth run"}


def read_run(run: Run, name: str) -> StoredResult:
    """Return a stored run as a result to compare."""
    # A trial's time covers tuning, selecting, fitting and predicting. A timing run has an entry per size of the
    # subsample.
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
        # Zero means that a trial did not raise its worker's memory, or that the system does not report it.
        memory=_series(trials[peaks > 0], peaks[peaks > 0]),
        run=run,
        libraries=libraries,
    )


def sized_outcomes(run: Run) -> pd.DataFrame:
    """Return the outcomes of a run with a column "size", which is empty unless the protocol is ``timing``."""
    trials = run.outcomes.assign(size="")
    if run.protocol.times and len(trials):
        keys = ["dataset", "repeat", "fold"]
        sizes = trials[keys].merge(run.sizes, on=keys, how="left")
        # Trials of a dataset that has not started have no size and no result.
        trials["size"] = [
            "" if np.isnan(n) else f"n={int(n)}, p={int(p)}"
            for n, p in zip(sizes["n_train"], sizes["n_features"], strict=True)
        ]
    return trials


def _series(trials: pd.DataFrame, values: pd.Series[float]) -> dict[MeasuredCase, Series]:
    columns = (trials[name] for name in ("method", "dataset", "size", "repeat", "fold"))
    series: dict[MeasuredCase, dict[tuple[int, int], float]] = {}
    for method, dataset, size, repeat, fold, value in zip(*columns, values, strict=True):
        series.setdefault(MeasuredCase(method, dataset, size), {})[int(repeat), int(fold)] = value
    return dict(series)
