"""The file of a store: its schema and version, how it is opened and kept whole, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mfbench.errors import NeverStartedError, RunError
from mfbench.run.store.foreign_objects import foreign_object
from mfbench.run.store.full_disks import explain_full_store
from mfbench.run.store.seals import WHOLE, fill_checksums, seal

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 7
FIRST_WITH_CHECKSUMS = 6
FILE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What SQLite raises; the latter if it cites damaged text in a message."""
CHECKPOINT_SECONDS = 1.0
"""How long a result may be in the log alone while results follow it."""
_SEALS = "CREATE TABLE seals (name TEXT PRIMARY KEY, checksum INTEGER NOT NULL) WITHOUT ROWID;" + "".join(
    f"INSERT INTO seals VALUES ('{table}', 0);" for table in WHOLE
)
# What updates a store of an earlier version; its results are kept.
_TO_7 = "ALTER TABLE trials ADD COLUMN curve BLOB;"
_TO_6 = f"ALTER TABLE trials ADD COLUMN checksum INTEGER; {_SEALS} {_TO_7}"
_TO_5 = f"ALTER TABLE trials ADD COLUMN touched TEXT; {_TO_6}"
MIGRATIONS = {
    3: "ALTER TABLE left_out ADD COLUMN can_pull INTEGER NOT NULL DEFAULT 0;"
    f"ALTER TABLE left_out ADD COLUMN attempt TEXT NOT NULL DEFAULT ''; {_TO_5}",
    4: _TO_5,
    5: _TO_6,
    6: _TO_7,
}

SCHEMA = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE datasets (
    label TEXT PRIMARY KEY, sha256 TEXT NOT NULL, n_samples INTEGER, n_features INTEGER, class_names TEXT,
    feature_names TEXT, relevant TEXT, interactions TEXT, collections TEXT,
    source TEXT, truth BLOB
) WITHOUT ROWID;
CREATE TABLE left_out (
    dataset TEXT PRIMARY KEY, reason TEXT NOT NULL, is_failure INTEGER NOT NULL, can_pull INTEGER NOT NULL,
    attempt TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE splits (
    sha256 TEXT, protocol TEXT, repeat INTEGER, fold INTEGER, test BLOB NOT NULL,
    train BLOB, validation BLOB, n_train INTEGER, n_features INTEGER,
    PRIMARY KEY (sha256, protocol, repeat, fold)
) WITHOUT ROWID;
CREATE TABLE plan (
    position INTEGER PRIMARY KEY, key TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL,
    repeat INTEGER NOT NULL, fold INTEGER NOT NULL
);
CREATE TABLE trials (
    key TEXT PRIMARY KEY, seed INTEGER NOT NULL, status TEXT NOT NULL, error_type TEXT, error_message TEXT,
    error_trace TEXT, n_warnings INTEGER, warning TEXT, touched TEXT, duration REAL,
    scores TEXT,
    select_wall REAL, select_cpu REAL, fit_wall REAL, fit_cpu REAL, predict_wall REAL, predict_cpu REAL, tune_wall REAL,
    peak_memory INTEGER, n_selected INTEGER, chosen TEXT, selected BLOB, weights BLOB, predictions BLOB,
    decisions BLOB, interactions BLOB, candidates BLOB, curve BLOB, checksum INTEGER
) WITHOUT ROWID;
{_SEALS}
"""


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Write everything in the block or, if it raises an error, nothing."""
    db.execute("BEGIN")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # SQLite ends it itself after some errors
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a store to write, and create or update it if necessary; its folder is created as well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    _check_objects(db, path)
    db.execute("PRAGMA journal_mode = WAL")
    # Commits survive a killed process; only a power cut may lose the last ones, never the file.
    db.execute("PRAGMA synchronous = NORMAL")
    version = _version(db)
    if version == 0:
        db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    elif version in MIGRATIONS:
        db.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[version]}")
        if version < FIRST_WITH_CHECKSUMS:  # later ones have them, and new ones would hide what is damaged
            fill_checksums(db)
            seal(db, *WHOLE)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
    else:
        _check_version(version, path)
    _check_size(db, path)
    return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a store to read: an ordinary connection, which sees the write-ahead log, or else the file alone."""
    db = _connect_to_read(path)
    _check_objects(db, path)
    version = _version(db)
    if version == 0:
        raise NeverStartedError(path.parent)
    if version not in MIGRATIONS:
        _check_version(version, path)
    _check_size(db, path)
    return db


def reason_of(path: Path, text: str) -> str:
    """Return the sentence that explains an error of SQLite."""
    if "full" in text or "disk I/O" in text:  # which message SQLite gives depends on the file that had no room
        return explain_full_store(path.parent, text) or (
            f"the disk is full or fails ({text}): no more results fit into {path}; free some space and repeat "
            "the command; earlier results stay readable"
        )
    if "readonly" in text or "read-only" in text:
        return f"{path} cannot be written to; choose another folder with --out"
    if "unable to open" in text and path.exists() and not os.access(path, os.R_OK):
        return f"{path} cannot be read: you have no permission to; ask its owner for it (chmod a+r)"
    if any(part in text for part in _SIGNS_OF_DAMAGE):
        return damaged(path, text)
    return f"cannot use {path}: {text}"


_SIGNS_OF_DAMAGE = ("not a database", "malformed", "no such column", "ould not decode", "can't decode")


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _check_version(version: int, path: Path) -> None:
    if version != SCHEMA_VERSION:
        raise RunError(
            f"{path} has schema version {version}, but this mfbench reads version {SCHEMA_VERSION}; "
            "use the mfbench that wrote it, or start its run over with --fresh"
        )


def _check_objects(db: sqlite3.Connection, path: Path) -> None:
    foreign = foreign_object(db)
    if foreign is not None:
        db.close()
        raise RunError(
            f"{path} was changed by another program: no store of mfbench holds {foreign}, and it is not executed; "
            "ask whoever gave you the file for the run folder as mfbench wrote it"
        )


def _check_size(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that was cut off, as by an incomplete copy: SQLite reads zeros where its end is missing."""
    (size,) = db.execute(
        "SELECT pages.page_count * sizes.page_size FROM pragma_page_count AS pages, pragma_page_size AS sizes"
    ).fetchone()
    log = path.with_name(f"{path.name}-wal")
    # Pages may be in the log alone. It is looked at before the file: what leaves the log is in the file.
    if log.is_file() and log.stat().st_size:
        return
    if path.is_file() and path.stat().st_size < size:
        db.close()
        raise RunError(damaged(path, "its end is missing"))


def damaged(path: Path, reason: str) -> str:
    """Return the sentence on a store that cannot be read."""
    return f"{path} is damaged ({reason}); move it elsewhere, or start its run over with --fresh"


class Checkpoints:
    """Moves pages from the write-ahead log to the file at intervals, so that the file alone has nearly everything."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._last = float("-inf")

    def written(self) -> None:
        """Move the log if the last time is more than `CHECKPOINT_SECONDS` ago; call this after each result."""
        if time.monotonic() - self._last >= CHECKPOINT_SECONDS:
            self.move()

    def move(self) -> None:
        """Move the log now, as far as readers permit."""
        # What is in the log is safe there. If the disk is full, the next result that is written reports it.
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._last = time.monotonic()


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Return an ordinary connection or, if the folder cannot be written to or is full, one to the file alone."""
    try:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        # The index of the log needs a folder that can be written to. A closed store needs no index.
        log = path.with_name(f"{path.name}-wal")
        if not any(part in str(error) for part in ("unable to open", "readonly", "disk I/O", "full")):
            raise
        if log.is_file() and log.stat().st_size:
            raise RunError(
                f"{path} was not closed and its folder cannot be written to; copy the folder and read the copy"
            ) from error
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", isolation_level=None, uri=True)
    return db
