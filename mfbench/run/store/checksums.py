"""The tables of a store and their checksums: one per result, and one per table that describes the run."""

import marshal
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

_COLUMNS = {
    "meta": "name TEXT, value TEXT NOT NULL",
    "datasets": "label TEXT, sha256 TEXT NOT NULL, n_samples INTEGER, n_features INTEGER, class_names TEXT, "
    "feature_names TEXT, relevant TEXT, interactions TEXT, collections TEXT, source TEXT, truth BLOB",
    "left_out": "dataset TEXT, reason TEXT NOT NULL, is_failure INTEGER NOT NULL, can_pull INTEGER NOT NULL, "
    "attempt TEXT NOT NULL",
    "splits": "sha256 TEXT, protocol TEXT, repeat INTEGER, fold INTEGER, test BLOB NOT NULL, train BLOB, "
    "validation BLOB, n_train INTEGER, n_features INTEGER",
    "plan": "position INTEGER, key TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, "
    "repeat INTEGER NOT NULL, fold INTEGER NOT NULL",
    "trials": "key TEXT, seed INTEGER NOT NULL, status TEXT NOT NULL, error_type TEXT, error_message TEXT, "
    "error_trace TEXT, n_warnings INTEGER, warning TEXT, touched TEXT, duration REAL, scores TEXT, select_wall REAL, "
    "select_cpu REAL, fit_wall REAL, fit_cpu REAL, predict_wall REAL, predict_cpu REAL, tune_wall REAL, "
    "peak_memory INTEGER, n_selected INTEGER, chosen TEXT, selected BLOB, weights BLOB, predictions BLOB, "
    "decisions BLOB, interactions BLOB, candidates BLOB, curve BLOB, checksum INTEGER",
    "checksums": "name TEXT, checksum INTEGER NOT NULL",
}
_KEYS = {"splits": "sha256, protocol, repeat, fold"}
_NAMES = {table: tuple(column.split()[0] for column in text.split(", ")) for table, text in _COLUMNS.items()}
SCHEMA = {
    table: f"CREATE TABLE {table} ({text}, PRIMARY KEY ({_KEYS.get(table, _NAMES[table][0])})) WITHOUT ROWID"
    for table, text in _COLUMNS.items()
}
"""The statements that create the tables; a store contains no others."""
TRIAL_COLUMNS = _NAMES["trials"][:-1]
"""The columns covered by a result's checksum, in this order."""
RESULT_COLUMNS = TRIAL_COLUMNS[2:]
"""The columns of a trial's result."""
WHOLE = {table: names for table, names in _NAMES.items() if table not in ("trials", "checksums")}
"""The tables with a single checksum, the sum over their rows, so that no row can vanish; with their columns."""
RESULTS = f"SELECT {', '.join(TRIAL_COLUMNS)}, checksum FROM"


def checksum(row: Iterable[Any]) -> int:
    """Return the CRC-32 of a row's values as SQLite returns them."""
    return zlib.crc32(marshal.dumps(tuple(row), 2))  # version 2 is the last that serializes equal values to equal bytes


def fill_checksums(db: sqlite3.Connection, condition: str = "checksum IS NULL", *values: str) -> None:
    """Record the checksums of newly written results."""
    rows = db.execute(f"{RESULTS} trials WHERE {condition}", values)
    db.executemany("UPDATE trials SET checksum = ? WHERE key = ?", [(checksum(row[:-1]), row[0]) for row in rows])


def seal(db: sqlite3.Connection, *tables: str) -> None:
    """Record the current checksums of tables in `WHOLE`, in the transaction that changes them."""
    db.executemany("INSERT OR REPLACE INTO checksums VALUES (?, ?)", [(table, _total(db, table)) for table in tables])


def differing(db: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
    """Return the tables of `WHOLE` among these whose content differs from its checksum."""
    recorded = dict(db.execute("SELECT name, checksum FROM checksums"))
    with any_text(db):
        return [table for table in tables if _total(db, table) != recorded.get(table)]


def _total(db: sqlite3.Connection, table: str) -> int:
    return sum(map(checksum, db.execute(f"SELECT {', '.join(WHOLE[table])} FROM {table}")))


@contextmanager
def any_text(db: sqlite3.Connection) -> Iterator[None]:
    """Make a connection return text that is not valid UTF-8, which only damage can leave, instead of raising."""
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    try:
        yield
    finally:
        db.text_factory = str
