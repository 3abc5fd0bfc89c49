"""Writing a whole store at once: it is changed completely or not at all, even if the process is killed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from mfbench.errors import RunError, explained
from mfbench.run.store.file import FILE_ERRORS, FILE_NAME, open_to_write, reason_of, transaction
from mfbench.run.store.seals import WHOLE, fill_checksums, seal

REPLACED = ("meta", "plan", "datasets", "left_out")
"""The tables that describe a run as a whole; results and splits are only added to."""


@contextmanager
def changed_store(target: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store of a folder, in a transaction; nothing is changed if the block raises.

    Parameters
    ----------
    target : Path
        A run folder, or a folder without a run, which is created if needed.

    Yields
    ------
    sqlite3.Connection
        The tables of `REPLACED` are empty.

    Raises
    ------
    RunError
        If the folder cannot be written to.
    """
    path = target / FILE_NAME
    with (
        explained(RunError, partial(reason_of, path), *FILE_ERRORS),
        explained(RunError, lambda reason: f"cannot write to {target}: {reason}", OSError),
        _removed_on_error(path),
        closing(open_to_write(path)) as db,
        transaction(db),
    ):
        for table in REPLACED:
            db.execute(f"DELETE FROM {table}")
        yield db
        fill_checksums(db)
        seal(db, *WHOLE)


@contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    """Remove a new store, and the folders that were created for it, if the block raises."""
    absent = [each for each in (path, *path.parents) if not each.exists()]
    files = [path.with_name(f"{path.name}{suffix}") for suffix in ("", "-wal", "-shm")]
    if absent:
        for file in files:
            file.unlink(missing_ok=True)  # the log of a store that was deleted
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for file in files if absent else ():
                file.unlink(missing_ok=True)
            for folder in absent[1:]:
                folder.rmdir()
        raise


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows with all columns of a table; those with a key that the table has are left out."""
    (width,) = db.execute(f"SELECT COUNT(*) FROM pragma_table_info('{table}')").fetchone()
    db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})", rows)
