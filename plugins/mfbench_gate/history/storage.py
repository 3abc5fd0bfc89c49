"""Entries in and out of a history: nothing is stored twice, whoever writes and in whichever order."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench_gate.history.entries import Calibration, Entry, Machine, Measurement
from mfbench_gate.history.file import open_history

# The columns of `runs` that have the name and the value of a field of `Entry`, and those of the kernels.
_FIELDS = ("suite", "profile", "source", "commit_time", "added", "system", "python")
_KERNELS = ("gemm", "memory", "loop")


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
    n_runs = n_measurements = 0
    commits: list[str] = []
    with open_history(path, write=True) as db:
        for entry in entries:
            new = []
            for one in entry.measurements:
                query = "SELECT r.commit_id FROM measurements m JOIN runs r ON r.id = m.run WHERE m.digest = ?"
                stored = db.execute(query, (one.digest,)).fetchone()
                if stored is None:
                    new.append({**vars(one), "run": entry.id, "scores": json.dumps(dict(one.scores))})
                else:
                    commits.append(stored[0])
            if not new:
                continue
            n_runs += 1
            n_measurements += len(new)
            run = {
                **{name: getattr(entry, name) for name in _FIELDS},
                "id": entry.id,
                "commit_id": entry.commit,
                "machine": entry.machine.id,
                "versions": json.dumps(dict(entry.versions)),
                "plugins": json.dumps(entry.plugins),
            }
            if entry.calibration is not None:
                run |= zip(_KERNELS, entry.calibration.kernels, strict=True)
            _insert(db, "OR IGNORE INTO machines", {"id": entry.machine.id, **vars(entry.machine)})
            _insert(db, "OR IGNORE INTO runs", run)
            for row in new:
                _insert(db, "INTO measurements", row)
    return Addition(n_runs, n_measurements, len(commits), tuple(dict.fromkeys(commits)))


def _insert(db: sqlite3.Connection, into: str, row: Mapping[str, Any]) -> None:
    db.execute(f"INSERT {into} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def read_entries(path: Path) -> list[Entry]:
    """Return the runs of a history in the order of their commits."""
    # Commits whose time is unknown are placed by the time at which the run was added.
    with open_history(path) as db:
        db.row_factory = sqlite3.Row
        machines = {key: Machine(*fields) for key, *fields in db.execute("SELECT id, cpu, cpus, system FROM machines")}
        measurements: dict[str, list[Measurement]] = {}
        for row in map(dict, db.execute("SELECT * FROM measurements")):
            own = measurements.setdefault(row.pop("run"), [])
            own.append(Measurement(**row | {"scores": json.loads(row["scores"])}))
        runs = db.execute("SELECT * FROM runs ORDER BY COALESCE(commit_time, added), added, id").fetchall()
    return [
        Entry(
            **{name: run[name] for name in _FIELDS},
            commit=run["commit_id"],
            machine=machines[run["machine"]],
            versions=json.loads(run["versions"]),
            plugins=tuple(json.loads(run["plugins"])),
            calibration=None if run["gemm"] is None else Calibration(*(run[name] for name in _KERNELS)),
            measurements=tuple(sorted(measurements.get(run["id"], []), key=_order)),
        )
        for run in runs
    ]


def _order(one: Measurement) -> tuple[str, str, list[int]]:
    """Return what measurements are sorted by: sizes by their numbers."""
    return one.method, one.dataset, [int(number) for number in re.findall(r"\d+", one.size)]
