"""Integrity of a store: damaged results count as not run, and a damaged table is an error."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mfbench.base.text import counted, listing
from mfbench.errors import RunError
from mfbench.run.store.checksums import RESULTS, TRIAL_COLUMNS, WHOLE, any_text, checksum, differing, seal
from mfbench.run.store.file import transaction

MOST_NAMED = 10


def check_tables(db: sqlite3.Connection, path: Path, tables: Sequence[str]) -> None:
    """Verify the checksums of tables that describe the run as a whole."""
    if broken := differing(db, tables):
        raise RunError(
            f"{path} is damaged (the content of {listing(broken)} differs from its checksum); "
            "give the command of its run again, which writes this part again and keeps intact results"
        )


def set_damaged_aside(db: sqlite3.Connection) -> list[str]:
    """Remove damaged results, for a reader by shadowing their table with a temporary one; return a name for each."""
    with any_text(db):
        damaged = [row[0] for row in db.execute(f"{RESULTS} main.trials") if not _is_intact(row)]
        if not damaged:
            return []
        places = {key: place for key, *place in db.execute("SELECT key, method, dataset, repeat, fold FROM plan")}
        (is_read_only,) = db.execute("PRAGMA query_only").fetchone()
        db.execute("PRAGMA query_only = OFF")
        columns = ", ".join((*TRIAL_COLUMNS, "checksum"))
        db.execute(f"CREATE TEMP TABLE trials ({columns}, PRIMARY KEY (key)) WITHOUT ROWID")
        # Rows are not looked up by key: a damaged key would not be found.
        intact = filter(_is_intact, db.execute(f"{RESULTS} main.trials"))
        marks = ", ".join("?" * (len(TRIAL_COLUMNS) + 1))
        db.executemany(f"INSERT OR IGNORE INTO temp.trials ({columns}) VALUES ({marks})", intact)
        db.execute(f"PRAGMA query_only = {is_read_only}")
        if not is_read_only:  # added results must not go to the temporary table
            db.execute("DELETE FROM main.trials")
            db.execute("INSERT INTO main.trials SELECT * FROM temp.trials")
            db.execute("DROP TABLE temp.trials")
    return [
        "{} on {}, repeat {}, fold {}".format(*places[key]) if key in places else "one that is not in the plan"
        for key in damaged
    ]


def _is_intact(row: tuple[Any, ...]) -> bool:
    return bool(row[-1] == checksum(row[:-1]))


def repair(db: sqlite3.Connection, path: Path) -> list[str]:
    """Remove damaged content, which the start of a run recreates, and return a sentence on each part."""
    with transaction(db):
        broken = differing(db, WHOLE)
        for table in broken:
            db.execute(f"DELETE FROM {table}")
        seal(db, *broken)
        results = set_damaged_aside(db)
        (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise sqlite3.DatabaseError("database disk image is malformed")
    parts = [f"{path} was damaged: the content of {listing(broken)} is written again."] if broken else []
    return [*parts, *remark_on_damage(results)]


def remark_on_damage(trials: Sequence[str]) -> list[str]:
    """Return a sentence for readers on trials with damaged results; empty if there are none."""
    if not trials:
        return []
    more = [f"{len(trials) - MOST_NAMED} more"] if len(trials) > MOST_NAMED else []
    names = "; ".join([*trials[:MOST_NAMED], *more])
    return [
        f"The results of {counted(len(trials), 'trial')} are damaged and count as not run ({names}); "
        "the command of the run computes them again."
    ]
