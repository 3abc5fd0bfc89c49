"""Checksums of a store: one of each result, and one of each table that describes the run as a whole."""

from __future__ import annotations

import marshal
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

RESULT_COLUMNS = (
    "status", "error_type", "error_message", "error_trace", "n_warnings", "warning", "touched", "duration",
    "scores", "select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall",
    "peak_memory", "n_selected", "chosen", "selected", "weights", "predictions", "decisions", "interactions",
    "candidates", "curve",
)  # fmt: skip
"""The columns of a trial's result."""
TRIAL_COLUMNS = ("key", "seed", *RESULT_COLUMNS)
"""The columns that the checksum of a result covers, in this order; see `result_checksum`."""
WHOLE = {
    "meta": ("name", "value"),
    "datasets": (
        "label", "sha256", "n_samples", "n_features", "class_names", "feature_names", "relevant", "interactions",
        "collections", "source", "truth",
    ),
    "left_out": ("dataset", "reason", "is_failure", "can_pull", "attempt"),
    "splits": ("sha256", "protocol", "repeat", "fold", "test", "train", "validation", "n_train", "n_features"),
    "plan": ("position", "key", "dataset", "method", "repeat", "fold"),
}  # fmt: skip
"""The tables that have one checksum, the sum of those of their rows, so that no row can vanish; with their columns."""

_PLAIN = frozenset({type(None), int, str, bytes})


def checksum(values: Iterable[Any]) -> int:
    """Return the checksum of a row: the CRC-32 of its values in the form in which SQLite gives them back."""
    # Version 2 of the format: the last that writes equal values always as equal bytes.
    # A float is converted here, as `_as_stored` would: a call for each would take a third of the time.
    plain = tuple(
        [
            value
            if (kind := type(value)) in _PLAIN
            else (int(value) if value.is_integer() else value)
            if kind is float and value == value
            else _as_stored(value)
            for value in values
        ]
    )
    return zlib.crc32(marshal.dumps(plain, 2))


def result_checksum(row: Sequence[Any]) -> int:
    """Return the checksum of a result."""
    # A result without a curve has the checksum that versions without this column gave it, so that theirs stay valid.
    return checksum(row[:-1] if row[-1] is None else row)


def columns_of_results(db: sqlite3.Connection) -> str:
    """Return what to select for `TRIAL_COLUMNS` and the checksum; a store that is only read may lack the latest."""
    present = {row[1] for row in db.execute("PRAGMA main.table_info(trials)")}
    latest = TRIAL_COLUMNS[-1]
    names = [f"NULL AS {latest}" if name == latest and latest not in present else name for name in TRIAL_COLUMNS]
    return ", ".join([*names, "checksum"])


def _as_stored(value: Any) -> Any:
    if isinstance(value, float):
        if value != value:  # SQLite stores no NaN
            return None
        return int(value) if value.is_integer() else float(value)  # nor does it tell 1.0 from 1 in every column
    return int(value)


def seal(db: sqlite3.Connection, *tables: str) -> None:
    """Record the checksums of tables as they are now."""
    db.executemany("INSERT OR REPLACE INTO seals VALUES (?, ?)", [(table, _total(db, table)) for table in tables])


def add_to_seal(db: sqlite3.Connection, table: str, row: Iterable[Any]) -> None:
    """Add a row that was inserted to the checksum of its table."""
    db.execute("UPDATE seals SET checksum = checksum + ? WHERE name = ?", (checksum(row), table))


def differing(db: sqlite3.Connection, tables: Iterable[str]) -> list[str]:
    """Return those of some tables of `WHOLE` whose content is not the recorded one."""
    seals = dict(db.execute("SELECT name, checksum FROM seals"))
    return [table for table in tables if _readable_total(db, table) != seals.get(table)]


def _readable_total(db: sqlite3.Connection, table: str) -> int:
    try:
        return _total(db, table)  # without `any_text`, which calls a function for each text
    except sqlite3.OperationalError:  # text that is not UTF-8
        with any_text(db):
            return _total(db, table)


def _total(db: sqlite3.Connection, table: str) -> int:
    return sum(map(checksum, db.execute(f"SELECT {', '.join(WHOLE[table])} FROM {table}")))


def fill_checksums(db: sqlite3.Connection) -> None:
    """Record the checksums of results that a store of an earlier version had none of."""
    # A result whose text is not UTF-8 gets none, and so counts as damaged.
    with any_text(db):
        rows = db.execute(f"SELECT {', '.join(TRIAL_COLUMNS)} FROM trials WHERE checksum IS NULL").fetchall()
    sums = ((result_checksum(row), row[0]) for row in rows if all(map(_is_utf8, row)))
    db.executemany("UPDATE trials SET checksum = ? WHERE key = ?", sums)


def _is_utf8(value: Any) -> bool:
    return not isinstance(value, str) or not any("\udc80" <= character <= "\udcff" for character in value)


@contextmanager
def any_text(db: sqlite3.Connection) -> Iterator[None]:
    """Let a connection give back text that is not UTF-8, which only damage leaves, instead of an error."""
    before = db.text_factory
    db.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        db.text_factory = before
