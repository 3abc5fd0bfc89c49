"""Changes of a store that its own functions would not make, with checksums as if they had made them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mfbench.run.store.checksums import WHOLE, fill_checksums, seal
from mfbench.run.store.file import FILE_NAME


@contextmanager
def changed(folder: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the store of a run folder; afterwards the checksums fit what is in it."""
    with closing(sqlite3.connect(Path(folder) / FILE_NAME)) as db, db:
        yield db
        seal(db, *WHOLE)
        db.execute("UPDATE trials SET checksum = NULL")
        fill_checksums(db)
