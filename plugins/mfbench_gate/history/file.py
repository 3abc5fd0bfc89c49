"""The file of a history: its schema and version, how it is opened, and what its errors mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mfbench.errors import MfbenchError, UsageError, explained

APPLICATION_ID = 0x6D666268
"""The letters "mfbh" in the header of the file, which distinguish a history from any other SQLite file."""
SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0

SCHEMA = (
    """CREATE TABLE machines (id TEXT PRIMARY KEY, cpu TEXT NOT NULL, cpus INTEGER NOT NULL, system TEXT NOT NULL)
    WITHOUT ROWID""",
    """CREATE TABLE runs (
        id TEXT PRIMARY KEY, suite TEXT NOT NULL, profile TEXT NOT NULL, source TEXT NOT NULL,
        commit_id TEXT NOT NULL, commit_time TEXT, added TEXT NOT NULL, machine TEXT NOT NULL REFERENCES machines,
        system TEXT NOT NULL, python TEXT NOT NULL, versions TEXT NOT NULL, plugins TEXT NOT NULL,
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
    """Open a history in one transaction, which ends with the block."""
    # The file has no write-ahead log: whenever nobody writes to it, it can be copied or cached on its own. Writers wait
    # for each other.
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
            # A writer excludes others from the start, so what it reads is still true when it writes.
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
    """Create the tables in an empty file that is open to write; refuse whatever is not a history of this version."""
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
    """Return the sentence that explains an error of SQLite."""
    reasons = {
        "not a database": "is not a history: it is not an SQLite file; name a history with --history",
        "malformed": f"is damaged ({text}); restore a copy, or merge earlier histories into a new file",
        "readonly": "cannot be written to; make the file and its folder writable, or copy it elsewhere",
        "locked": f"is in use: another process has been writing to it for {BUSY_SECONDS:g} s; try again",
    }
    reason = next((reason for part, reason in reasons.items() if part in text), f"cannot be used: {text}")
    return f"{path} {reason}"
