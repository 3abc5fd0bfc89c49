"""Read and write histories: nothing is stored twice, regardless of writers and their order."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mfbench.errors import MfbenchError, UsageError, explained
from mfbench.model.evaluation import Score
from mfbench.run.store.metadata import Environment

APPLICATION_ID = 0x6D666268
"""The letters "mfbh" in the file header, which distinguish a history from other SQLite files."""
SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0

SCHEMA = (
    """CREATE TABLE machines (id TEXT PRIMARY KEY, cpu TEXT NOT NULL, cpus INTEGER NOT NULL, system TEXT NOT NULL)
    WITHOUT ROWID""",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, suite TEXT NOT NULL, profile TEXT NOT NULL, source TEXT NOT NULL,
        commit_id TEXT NOT NULL, commit_time TEXT, added TEXT NOT NULL, machine TEXT NOT NULL REFERENCES machines,
        system TEXT NOT NULL, python TEXT NOT NULL, versions TEXT NOT NULL, plugins TEXT NOT NULL,
        scores TEXT NOT NULL,
        gemm REAL, memory REAL, loop REAL
    ) WITHOUT ROWID""",
    """CREATE TABLE measurements (
        digest TEXT PRIMARY KEY, run TEXT NOT NULL REFERENCES runs,
        method TEXT NOT NULL, dataset TEXT NOT NULL, size TEXT NOT NULL,
        n_trials INTEGER NOT NULL, n_failed INTEGER NOT NULL,
        fit_cpu REAL NOT NULL, predict_cpu REAL NOT NULL, fit_wall REAL NOT NULL, predict_wall REAL NOT NULL,
        memory REAL, scores TEXT NOT NULL,
        UNIQUE (run, method, dataset, size)
    ) WITHOUT ROWID""",
)


class HistoryError(MfbenchError):
    """A history cannot be read or written to; the message names the file."""


@contextmanager
def open_history(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a history in one transaction that ends with the block."""
    # There is no write-ahead log, so the file alone can be copied or cached when idle. Writers wait for each other.
    if path.is_dir():
        raise UsageError(f"{path} is a folder; --history names a file")
    if not write and not path.exists():
        raise UsageError(f"there is no history {path}; 'mfbench track add RUN --history {path}' creates it")
    with (
        explained(HistoryError, partial(_reason_of, path), sqlite3.Error),
        explained(HistoryError, lambda reason: f"cannot write to {path}: {reason}", OSError),
    ):
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
        db = _connect(path, write)
        try:
            # A writer locks out others from the start, so its reads are still valid when it writes.
            db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            _check(db, path, write)
            yield db
            db.execute("COMMIT")
        finally:
            db.close()  # an unfinished transaction leaves no trace


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode={'rwc' if write else 'ro'}"
    return sqlite3.connect(uri, timeout=BUSY_SECONDS, isolation_level=None, uri=True)


def _check(db: sqlite3.Connection, path: Path, write: bool) -> None:
    """Create the tables in an empty writable file; reject any other file that is not a history of this version."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (n_tables,) = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if application == version == n_tables == 0:
        if not write:
            raise HistoryError(f"{path} is empty; 'mfbench track add RUN --history {path}' adds a run to it")
        for statement in SCHEMA:
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif (application, version) != (APPLICATION_ID, SCHEMA_VERSION):
        raise HistoryError(f"{path} is another SQLite file, not a history of schema version {SCHEMA_VERSION}")


def _reason_of(path: Path, text: str) -> str:
    """Return the sentence that explains an SQLite error."""
    reasons = {
        "not a database": "is not a history: it is not an SQLite file; name a history with --history",
        "malformed": f"is damaged ({text}); restore a copy, or merge earlier histories into a new file",
        "readonly": "cannot be written to; make the file and its folder writable, or copy it elsewhere",
        "locked": f"is in use: another process has been writing to it for {BUSY_SECONDS:g} s; try again",
    }
    reason = next((reason for part, reason in reasons.items() if part in text), f"cannot be used: {text}")
    return f"{path} {reason}"


@dataclass(frozen=True)
class Machine:
    """A kind of machine. Times of different kinds are not comparable."""

    # The operating system's version is not part of the kind: an update would end every series.

    cpu: str  # processor model
    cpus: int  # number of processors available to a run
    system: str  # operating system name, without its version

    @classmethod
    def of(cls, environment: Environment) -> Machine:
        """Return the kind of machine recorded by a run."""
        # `platform.platform` starts with the system name, and separates its parts by hyphens.
        return cls(environment.cpu, environment.cpus, environment.system.partition("-")[0])

    @property
    def id(self) -> str:
        """A hash that is the same in every process."""
        return digest([self.cpu, self.cpus, self.system])[:12]

    def __str__(self) -> str:
        return f"{self.cpu}, {self.cpus} processor{'' if self.cpus == 1 else 's'}, {self.system or 'unknown system'}"


@dataclass(frozen=True)
class Measurement:
    """Measurements of one method on one dataset at one size."""

    method: str  # method, dataset: labels
    dataset: str
    size: str  # size of the subsample in `timing` runs (`"n=500, p=20"`); otherwise empty
    n_trials: int  # n_trials, n_failed: successful and failed trials
    n_failed: int
    fit_cpu: float  # fit_cpu, predict_cpu: median CPU seconds of a trial to fit selector and classifier, and to predict
    predict_cpu: float
    fit_wall: float  # fit_wall, predict_wall: the same in wall seconds
    predict_wall: float
    memory: float | None  # median peak memory in bytes; None if the system does not report it
    # Hash of the individual results behind these numbers. Reused results have the same hash, so no measurement is
    # counted twice.
    digest: str
    scores: Mapping[str, float] = field(default_factory=dict)  # mean of each metric


@dataclass(frozen=True)
class Calibration:
    """Seconds of three kernels that no commit of the project can change, measured when a run is added."""

    gemm: float  # matrix product: the speed of floating-point arithmetic
    memory: float  # sweep over an array larger than the caches: the speed of memory
    python: float  # interpreter loop: the speed of uncompiled code

    @property
    def kernels(self) -> tuple[float, float, float]:
        """The seconds of all kernels."""
        return self.gemm, self.memory, self.python


@dataclass(frozen=True)
class HistoryEntry:
    """A run in a history."""

    suite: str
    profile: str
    source: str  # the suite as in the run's command: a name or a file
    commit: str  # commit of the measured project
    commit_time: str | None  # commit time in UTC (ISO 8601); None if unreadable
    added: str  # time of addition, in the same format
    machine: Machine
    system: str  # operating system with its version
    python: str  # version of the interpreter
    versions: Mapping[str, str | None]  # versions of mfbench and the libraries; None if not installed
    plugins: tuple[str, ...]  # name and version of each plugin
    calibration: Calibration | None  # None if the run was added on another kind of machine
    measurements: tuple[Measurement, ...]
    scores: Mapping[str, Score] = field(default_factory=dict)  # what the metrics mean

    @property
    def id(self) -> str:
        """A hash of the commit, the machine and the measurements."""
        return digest([self.commit, self.machine.id, sorted(one.digest for one in self.measurements)])


def digest(content: object) -> str:
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# The columns of `runs` named after a field of `HistoryEntry` with the same value, and the kernel columns.
_FIELDS = ("suite", "profile", "source", "commit_time", "added", "system", "python")
_KERNELS = ("gemm", "memory", "loop")


@dataclass(frozen=True)
class Addition:
    """The effect of an addition."""

    n_runs: int = 0  # runs with new measurements
    n_measurements: int = 0  # new measurements
    n_stored: int = 0  # measurements already in the history
    commits: tuple[str, ...] = ()  # commits of the measurements already stored


def add_entries(path: Path, entries: Iterable[HistoryEntry]) -> Addition:
    """Add runs to a history, in one transaction; the file is created if it does not exist."""
    # Measurements already in the history are not stored again, nor are runs without new measurements.
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
                "scores": json.dumps({name: asdict(score) for name, score in entry.scores.items()}),
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


def read_entries(path: Path) -> list[HistoryEntry]:
    """Return the runs of a history in commit order."""
    # Commits without a known time are ordered by the time of addition.
    with open_history(path) as db:
        db.row_factory = sqlite3.Row
        machines = {key: Machine(*fields) for key, *fields in db.execute("SELECT id, cpu, cpus, system FROM machines")}
        measurements: dict[str, list[Measurement]] = {}
        for row in map(dict, db.execute("SELECT * FROM measurements")):
            own = measurements.setdefault(row.pop("run"), [])
            own.append(Measurement(**row | {"scores": json.loads(row["scores"])}))
        runs = db.execute("SELECT * FROM runs ORDER BY COALESCE(commit_time, added), added, id").fetchall()
    return [
        HistoryEntry(
            **{name: run[name] for name in _FIELDS},
            commit=run["commit_id"],
            machine=machines[run["machine"]],
            versions=json.loads(run["versions"]),
            plugins=tuple(json.loads(run["plugins"])),
            calibration=None if run["gemm"] is None else Calibration(*(run[name] for name in _KERNELS)),
            measurements=tuple(sorted(measurements.get(run["id"], []), key=_order)),
            scores={name: Score(**facts) for name, facts in json.loads(run["scores"]).items()},
        )
        for run in runs
    ]


def _order(one: Measurement) -> tuple[str, str, list[int]]:
    """Return the sort key of measurements: sizes are compared numerically."""
    return one.method, one.dataset, [int(number) for number in re.findall(r"\d+", one.size)]
