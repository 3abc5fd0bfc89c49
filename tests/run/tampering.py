"""Changes of a store that its own functions would not make, with checksums as if they had made them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.seals import WHOLE, fill_checksums, seal


@contextmanager
def changed(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store of a run folder; afterwards the checksums fit what is in it."""
    with closing(sqlite3.connect(Path(folder) / FILE_NAME)) as db, db:
        yield db
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "seals" in tables:
            seal(db, *(tables & set(WHOLE)))
            if "trials" in tables:
                db.execute("UPDATE trials SET checksum = NULL")
                fill_checksums(db)


def make_older(folder: Path, version: int) -> None:
    """Make a store as an earlier version of mfbench wrote it: 3, 4, 5 or 6."""
    statements = ["ALTER TABLE trials DROP COLUMN curve"]
    statements += ["DROP TABLE seals", "ALTER TABLE trials DROP COLUMN checksum"] if version < 6 else []
    statements += ["ALTER TABLE trials DROP COLUMN touched"] if version < 5 else []
    if version < 4:
        statements += [f"ALTER TABLE left_out DROP COLUMN {column}" for column in ("can_pull", "attempt")]
    with closing(sqlite3.connect(Path(folder) / FILE_NAME)) as db, db:
        for statement in (*statements, f"PRAGMA user_version = {version}"):
            db.execute(statement)
