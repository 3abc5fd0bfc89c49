"""Which content of a store is believed: damaged results are set aside, damaged tables are reported or written again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfbench.base.wording import counted, listing
from mfbench.errors import RunError
from mfbench.run.store.file import transaction
from mfbench.run.store.seals import TRIAL_COLUMNS, WHOLE, any_text, columns_of_results, differing, result_checksum, seal

MOST_NAMED = 10
_COLUMNS = ", ".join((*TRIAL_COLUMNS, "checksum"))


class Integrity:
    """Compares the content of a store with its checksums before the content is used."""

    def __init__(self, db: sqlite3.Connection, path: Path, *, read_only: bool, checked: set[str] | None = None) -> None:
        self._db, self._path, self._read_only = db, path, read_only
        self._checked = set() if checked is None else checked
        self.damaged: list[str] = []
        # A store of an earlier version that is only read has no checksums.
        self._has_checksums = bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'seals'").fetchone())

    def check(self, *tables: str) -> None:
        """Compare tables with their checksums, each of them once; from then on, damaged results are not read."""
        rest = [table for table in tables if table not in self._checked and not (table == "trials" and self.damaged)]
        if not rest or not self._has_checksums:
            return
        with self._one_state():
            if broken := differing(self._db, [table for table in rest if table in WHOLE]):
                raise RunError(
                    f"{self._path} is damaged (the content of {listing(broken)} differs from its checksum); "
                    "give the command of its run again, which writes this part again and keeps intact results"
                )
            if "trials" in rest:
                self._set_damaged_results_aside()
        self._checked.update(table for table in rest if table != "trials" or not self.damaged)

    def repair(self) -> list[str]:
        """Remove what is damaged from a store that is written to; the start of a run records or computes it again."""
        with self._one_state():
            broken = differing(self._db, WHOLE)
            for table in broken:
                self._db.execute(f"DELETE FROM {table}")
            seal(self._db, *broken)
            self._set_damaged_results_aside(in_order=self._is_sound())
            if not self._is_sound():
                raise sqlite3.DatabaseError("database disk image is malformed")
        self._checked.update((*WHOLE, "trials"))
        parts = [f"{self._path} was damaged: the content of {listing(broken)} is written again."] if broken else []
        return [*parts, *remark_on_damage(self.damaged)]

    def _is_sound(self) -> bool:
        (answer,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        return str(answer) == "ok"

    def _set_damaged_results_aside(self, *, in_order: bool = True) -> None:
        """Let ``trials`` mean intact results: in place if the store is written to, or else by a temporary table."""
        keys = self._damaged_keys()
        if not keys and in_order:
            return
        self.damaged += [self._named(key) for key in keys]
        # Rows are not looked up by their keys, which may be damaged: then a search does not reach them.
        if self._read_only:
            self._db.execute("PRAGMA query_only = OFF")
        self._db.execute(f"CREATE TEMP TABLE trials ({_COLUMNS}, PRIMARY KEY (key)) WITHOUT ROWID")
        intact = (row for row in self._results() if row[-1] == result_checksum(row[:-1]))
        marks = ", ".join("?" * (len(TRIAL_COLUMNS) + 1))
        self._db.executemany(f"INSERT OR IGNORE INTO temp.trials ({_COLUMNS}) VALUES ({marks})", intact)
        if self._read_only:
            self._db.execute("PRAGMA query_only = ON")
            return
        self._db.execute("DELETE FROM main.trials")
        self._db.execute(f"INSERT INTO main.trials ({_COLUMNS}) SELECT {_COLUMNS} FROM temp.trials")
        self._db.execute("DROP TABLE temp.trials")

    def _results(self) -> Iterator[tuple[Any, ...]]:
        with any_text(self._db):
            yield from self._db.execute(self._query())

    def _query(self) -> str:
        return f"SELECT {columns_of_results(self._db)} FROM main.trials"

    def _damaged_keys(self) -> list[Any]:
        """Return the keys of results that differ from their checksums."""
        try:
            # Without `any_text`, which calls a function for each text and takes longer than all checksums.
            return [row[0] for row in self._db.execute(self._query()) if row[-1] != result_checksum(row[:-1])]
        except sqlite3.OperationalError:  # text that is not UTF-8
            return [row[0] for row in self._results() if row[-1] != result_checksum(row[:-1])]

    def _named(self, key: Any) -> str:
        """Return the trial with a key, as far as the plan tells."""
        with any_text(self._db):
            text = key if isinstance(key, str) and key.isprintable() else ""
            place = self._db.execute("SELECT method, dataset, repeat, fold FROM plan WHERE key = ?", (text,)).fetchone()
        return "one that is not in the plan" if place is None else "{} on {}, repeat {}, fold {}".format(*place)

    @contextmanager
    def _one_state(self) -> Iterator[None]:
        """Read everything in the block in one state, and write all or nothing."""
        is_nested = self._db.in_transaction
        if is_nested:
            yield
            return
        with transaction(self._db):
            yield


def remark_on_damage(trials: Sequence[str]) -> list[str]:
    """Return a sentence for readers of a run on trials whose results are damaged; none if there are no such trials."""
    if not trials:
        return []
    more = [f"{len(trials) - MOST_NAMED} more"] if len(trials) > MOST_NAMED else []
    names = "; ".join([*trials[:MOST_NAMED], *more])
    return [
        f"The results of {counted(len(trials), 'trial')} are damaged and count as not run ({names}); "
        "the command of the run computes them again."
    ]
