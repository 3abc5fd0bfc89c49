"""Entries in and out of a history: nothing is stored twice, whoever writes and in whichever order."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mfbench_gate.history.entries import Calibration, Entry, Machine, Measurement
from mfbench_gate.history.file import open_history

_RUN = (
    "id", "suite", "profile", "source", "commit_id", "commit_time", "added", "machine", "system", "python",
    "versions", "plugins", "gemm", "memory", "loop",
)  # fmt: skip
_MEASUREMENT = (
    "digest", "run", "method", "dataset", "size", "n_trials", "n_failed", "fit_cpu", "predict_cpu", "fit_wall",
    "predict_wall", "memory", "scores",
)  # fmt: skip


@dataclass(frozen=True)
class Addition:
    """What an addition changed."""

    n_runs: int = 0  # runs of which anything is new
    n_measurements: int = 0  # new measurements
    n_stored: int = 0  # measurements that the history had already
    commits: tuple[str, ...] = ()  # commits under which it has them


def add_entries(path: Path, entries: Iterable[Entry]) -> Addition:
    """Add runs to a history, in one transaction; the file is created if it does not exist."""
    # A measurement that the history has already is not stored again, and neither is a run without a new measurement.
    total = Addition()
    commits: dict[str, None] = {}
    with open_history(path, write=True) as db:
        for entry in entries:
            stored = _commits_by_digest(db, entry)
            new = tuple(one for one in entry.measurements if one.digest not in stored)
            if new:
                _insert(db, entry, new)
            commits |= dict.fromkeys(stored.values())
            total = replace(
                total,
                n_runs=total.n_runs + bool(new),
                n_measurements=total.n_measurements + len(new),
                n_stored=total.n_stored + len(stored),
            )
    return replace(total, commits=tuple(commits))


def read_entries(path: Path) -> list[Entry]:
    """Return the runs of a history in the order of their commits."""
    # Commits whose time is unknown are placed by the time at which the run was added.
    with open_history(path) as db:
        machines = {row["id"]: _machine(row) for row in _rows(db, "SELECT * FROM machines")}
        measurements: dict[str, list[Measurement]] = {}
        for row in _rows(db, "SELECT * FROM measurements"):
            measurements.setdefault(row["run"], []).append(_measurement(row))
        runs = _rows(db, "SELECT * FROM runs ORDER BY COALESCE(commit_time, added), added, id")
    return [_entry(row, machines[row["machine"]], measurements.get(row["id"], [])) for row in runs]


def _commits_by_digest(db: sqlite3.Connection, entry: Entry) -> dict[str, str]:
    query = "SELECT r.commit_id FROM measurements m JOIN runs r ON r.id = m.run WHERE m.digest = ?"
    answers = {one.digest: db.execute(query, (one.digest,)).fetchone() for one in entry.measurements}
    return {name: answer[0] for name, answer in answers.items() if answer is not None}


def _insert(db: sqlite3.Connection, entry: Entry, measurements: Iterable[Measurement]) -> None:
    machine, kernels = entry.machine, entry.calibration
    db.execute(
        "INSERT OR IGNORE INTO machines VALUES (?, ?, ?, ?)", (machine.id, machine.cpu, machine.cpus, machine.system)
    )
    values = (
        entry.id, entry.suite, entry.profile, entry.source, entry.commit, entry.commit_time, entry.added, machine.id,
        entry.system, entry.python, json.dumps(dict(entry.versions)), json.dumps(entry.plugins),
        *(kernels.kernels if kernels else (None, None, None)),
    )  # fmt: skip
    db.execute(f"INSERT OR IGNORE INTO runs ({', '.join(_RUN)}) VALUES ({_marks(_RUN)})", values)
    db.executemany(
        f"INSERT INTO measurements ({', '.join(_MEASUREMENT)}) VALUES ({_marks(_MEASUREMENT)})",
        [
            (
                one.digest, entry.id, one.method, one.dataset, one.size, one.n_trials, one.n_failed, one.fit_cpu,
                one.predict_cpu, one.fit_wall, one.predict_wall, one.memory, json.dumps(dict(one.scores)),
            )
            for one in measurements
        ],
    )  # fmt: skip


def _marks(columns: tuple[str, ...]) -> str:
    return ", ".join("?" * len(columns))


def _rows(db: sqlite3.Connection, query: str) -> list[dict[str, Any]]:
    cursor = db.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _machine(row: dict[str, Any]) -> Machine:
    return Machine(row["cpu"], row["cpus"], row["system"])


def _measurement(row: dict[str, Any]) -> Measurement:
    plain = {name: value for name, value in row.items() if name != "run"}
    return Measurement(**{**plain, "scores": json.loads(row["scores"])})


def _entry(row: dict[str, Any], machine: Machine, measurements: list[Measurement]) -> Entry:
    calibration = None if row["gemm"] is None else Calibration(row["gemm"], row["memory"], row["loop"])
    return Entry(
        suite=row["suite"],
        profile=row["profile"],
        source=row["source"],
        commit=row["commit_id"],
        commit_time=row["commit_time"],
        added=row["added"],
        machine=machine,
        system=row["system"],
        python=row["python"],
        versions=json.loads(row["versions"]),
        plugins=tuple(json.loads(row["plugins"])),
        calibration=calibration,
        measurements=tuple(sorted(measurements, key=_order)),
    )


def _order(one: Measurement) -> tuple[str, str, list[int]]:
    """Return what measurements are sorted by: sizes by their numbers."""
    return one.method, one.dataset, [int(number) for number in re.findall(r"\d+", one.size)]
