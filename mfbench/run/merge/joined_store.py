"""The store of a joined run: it appears complete or not at all, and an existing store is changed at once or not at all.

An existing store is never replaced by another file: SQLite's write-ahead log of the one must not meet the other. It is
changed in one transaction, which a killed process cannot leave half done.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from mfbench.errors import RunError, explained
from mfbench.run.store.file import FILE_ERRORS, FILE_NAME, open_store, reason_of
from mfbench.run.store.folder_lock import REMNANT
from mfbench.run.store.seals import WHOLE, fill_checksums, seal

REPLACED = ("meta", "plan", "datasets", "left_out")
"""The tables that describe a run as a whole; results and splits are only added to."""


@contextmanager
def changed_store(target: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store of a folder, in a transaction; nothing is changed if the block raises."""

    def sentence(reason: str) -> str:
        return f"cannot write to {target}: {reason}"

    with (
        explained(RunError, partial(reason_of, target / FILE_NAME), *FILE_ERRORS),
        explained(RunError, sentence, OSError),
        _existing(target) if (target / FILE_NAME).exists() else _new(target) as db,
    ):
        yield db


@contextmanager
def _existing(target: Path) -> Iterator[sqlite3.Connection]:
    db = open_store(target / FILE_NAME, read_only=False)
    try:
        db.execute("BEGIN IMMEDIATE")
        for table in REPLACED:
            db.execute(f"DELETE FROM {table}")
        yield db
        _record_checksums(db)
        db.execute("COMMIT")
    finally:
        db.close()  # which rolls back what was not committed


@contextmanager
def _new(target: Path) -> Iterator[sqlite3.Connection]:
    absent = [folder for folder in (target, *target.parents) if not folder.exists()]
    try:
        target.mkdir(parents=True, exist_ok=True)
        # Inside the target: a folder beside it, left by a killed process, would look like a run.
        with tempfile.TemporaryDirectory(prefix=REMNANT, dir=target) as work:
            path = Path(work) / FILE_NAME
            db = open_store(path, read_only=False)
            try:
                # Without a log the store is a single file, which can be moved at once.
                db.execute("PRAGMA journal_mode = DELETE")
                db.execute("BEGIN")
                yield db
                _record_checksums(db)
                db.execute("COMMIT")
                db.execute(
                    "PRAGMA journal_mode = WAL"
                )  # as in any store; a later writer cannot change it under a reader
            finally:
                db.close()
            for log in (f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"):
                (target / log).unlink(missing_ok=True)  # of a store that was deleted
            path.replace(target / FILE_NAME)
    except BaseException:
        for folder in absent:
            with suppress(OSError):
                folder.rmdir()
        raise


def _record_checksums(db: sqlite3.Connection) -> None:
    fill_checksums(db)
    seal(db, *WHOLE)


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], *, replace: bool = False) -> None:
    """Insert rows into a table."""
    (width,) = db.execute(f"SELECT COUNT(*) FROM pragma_table_info('{table}')").fetchone()
    verb = "REPLACE" if replace else "IGNORE"
    db.executemany(f"INSERT OR {verb} INTO {table} VALUES ({', '.join('?' * width)})", rows)
