"""Writing a whole store at once: it is changed completely or not at all, even if the process is killed."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from mfbench.errors import RunError, explained
from mfbench.run.store.file import FILE_ERRORS, FILE_NAME, open_store, reason_of, transaction
from mfbench.run.store.folder_lock import REMNANT
from mfbench.run.store.seals import WHOLE, fill_checksums, seal

REPLACED = ("meta", "plan", "datasets", "left_out")
"""The tables that describe a run as a whole; results and splits are only added to."""


@contextmanager
def changed_store(target: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store of a folder, in a transaction; nothing is changed if the block raises."""
    path = target / FILE_NAME
    is_new = not path.exists()
    absent = [folder for folder in (target, *target.parents) if not folder.exists()]
    with (
        explained(RunError, partial(reason_of, path), *FILE_ERRORS),
        explained(RunError, lambda reason: f"cannot write to {target}: {reason}", OSError),
        _removed_on_error(absent),
    ):
        target.mkdir(parents=True, exist_ok=True)
        # Inside the target: a folder beside it, left by a killed process, would look like a run.
        with tempfile.TemporaryDirectory(prefix=REMNANT, dir=target) as folder:
            work = Path(folder) / FILE_NAME if is_new else path
            with closing(open_store(work, read_only=False)) as db, transaction(db):
                for table in REPLACED:
                    db.execute(f"DELETE FROM {table}")
                yield db
                fill_checksums(db)
                seal(db, *WHOLE)
            if is_new:
                for suffix in ("-wal", "-shm"):
                    path.with_name(f"{FILE_NAME}{suffix}").unlink(missing_ok=True)  # of a store that was deleted
                work.replace(path)


@contextmanager
def _removed_on_error(folders: Iterable[Path]) -> Iterator[None]:
    """Remove folders that were created, if the block raises."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], *, replace: bool = False) -> None:
    """Insert rows with all columns of a table; a row whose key the table has is left out, or replaces the other."""
    (width,) = db.execute(f"SELECT COUNT(*) FROM pragma_table_info('{table}')").fetchone()
    verb = "REPLACE" if replace else "IGNORE"
    db.executemany(f"INSERT OR {verb} INTO {table} VALUES ({', '.join('?' * width)})", rows)
