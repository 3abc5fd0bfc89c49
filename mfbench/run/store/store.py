"""The store: one SQLite file per run folder, one row per finished trial, written the moment it ends.

Write-ahead logging makes a killed run lose at most what was in flight. The table ``plan`` says which trials the last
start of the run planned; rows of earlier plans are kept (their keys differ) but are not part of a report.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.errors import RunError, printable
from mfbench.model.trials import Trial, TrialResult, Unavailable
from mfbench.run.store.file import transaction
from mfbench.run.store.formats.arrays import pack
from mfbench.run.store.formats.candidates import pack_candidates
from mfbench.run.store.formats.documents import pack_document, plain
from mfbench.run.store.formats.splits import pack_split
from mfbench.run.store.formats.texts import stored_text
from mfbench.run.store.integrity import repair
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.store.reading import ARRAYS, DATASET_JSON, JSON, ReadableStore
from mfbench.run.store.seals import RESULT_COLUMNS, TRIAL_COLUMNS, WHOLE, checksum, fill_checksums, seal

if TYPE_CHECKING:
    from mfbench.suite.protocols import Split

CHECKPOINT_SECONDS = 1.0
"""How long a result may be in the log alone while results follow it."""
_INSERT = f"INSERT OR REPLACE INTO trials ({', '.join(TRIAL_COLUMNS)}) VALUES ({', '.join('?' * len(TRIAL_COLUMNS))})"
_WRITERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON, lambda value: json.dumps(value, default=plain) if value else None),
    **dict.fromkeys(ARRAYS, pack),
    **dict.fromkeys(("interactions", "curve"), pack_document),
    "candidates": lambda value: pack_candidates(value) if value else None,
}


class Store(ReadableStore):
    """A run's results."""

    def __init__(self, folder: Path, *, read_only: bool = False, checked: set[str] | None = None) -> None:
        super().__init__(folder, read_only=read_only, checked=checked)
        self._read_only = read_only
        self._checkpointed = float("-inf")
        self._copied: set[str] | None = None

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it, as far as it can be while others read."""
        if not self._read_only:
            self._checkpoint()
        super().close()

    def _checkpoint(self) -> None:
        """Move what was written from the log to the file, so that the file alone has nearly all of it."""
        # What is in the log is safe there. If the disk is full, the next result that is written reports it.
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._checkpointed = time.monotonic()

    def begin(
        self,
        metadata: RunMetadata,
        datasets: Iterable[dict[str, Any]],
        left_out: Iterable[tuple[str, str, Unavailable | None]],
    ) -> None:
        """Record the start of a run: its metadata, the datasets used and those left out."""
        with self._explained(), transaction(self._db):
            self._copied = None
            columns = metadata.to_columns().items()
            self._db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, json.dumps(value)) for name, value in columns]
            )
            self._db.execute("DELETE FROM left_out")
            self._db.execute("DELETE FROM datasets")
            for name, reason, why in left_out:
                missing = Unavailable() if why is None else why
                row = (why is None, missing.can_pull, stored_text(missing.attempt, "reason"))
                texts = (printable(name), stored_text(reason, "reason"))
                self._db.execute("INSERT INTO left_out VALUES (?, ?, ?, ?, ?)", (*texts, *row))
            self._db.executemany(
                "INSERT INTO datasets VALUES (:label, :sha256, :n_samples, :n_features, :class_names, :feature_names, "
                ":relevant, :interactions, :collections, :source, :truth)",
                [{**d, "truth": pack(d["truth"]), **{k: json.dumps(d[k]) for k in DATASET_JSON}} for d in datasets],
            )
            seal(self._db, "meta", "left_out", "datasets")

    def set_plan(self, trials: Iterable[Trial], positions: Iterable[int] | None = None) -> None:
        """Record which trials this start of the run plans."""
        with self._explained(), transaction(self._db):
            self._db.execute("DELETE FROM plan")
            self._db.executemany(
                "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (position, t.key, t.dataset, t.method, t.repeat, t.fold)
                    for position, t in zip(count() if positions is None else positions, trials, strict=False)
                ),
            )
            seal(self._db, "plan")

    def add_splits(
        self, sha256: str, protocol: str, repeat: int, splits: Iterable[Split], shape: tuple[int, int]
    ) -> None:
        """Record the rows of each fold of a repeat, so that every test can be computed from the store alone."""
        rows = [(sha256, protocol, repeat, fold, *pack_split(split, shape)) for fold, split in enumerate(splits)]
        insertion = "INSERT OR IGNORE INTO splits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with self._explained(), transaction(self._db):
            added = sum(checksum(row) for row in rows if self._db.execute(insertion, row).rowcount)
            self._db.execute("UPDATE checksums SET checksum = checksum + ? WHERE name = 'splits'", [added])

    def add(self, trial: Trial, result: TrialResult) -> None:
        """Write the result of a trial that was run here; it is on disk when this returns."""
        row: list[Any] = [trial.key, trial.seed]
        for name in RESULT_COLUMNS:
            value = getattr(result, name)
            if name in _WRITERS:
                value = None if value is None else _WRITERS[name](value)
            elif isinstance(value, str):
                value = stored_text(str(value), name) or None
            row.append(value)
        if not self.path.exists():  # SQLite would keep writing to a file that no longer has a name
            raise RunError(f"{self.folder} was removed while results were written to it; give the same command again")
        with self._explained(), transaction(self._db):
            self._db.execute(_INSERT, row)
            fill_checksums(self._db, "key = ?", trial.key)
            self._measured_here(trial.key)
        if time.monotonic() - self._checkpointed >= CHECKPOINT_SECONDS:
            self._checkpoint()

    def _measured_here(self, key: str) -> None:
        """Take a key out of the record of results that other runs measured: failures among them may be repeated."""
        if self._copied is None:
            self._copied = {key for keys in self.reused().keys.values() for key in keys}
        if key in self._copied:
            reused = self.reused()
            names = {name: [each for each in keys if each != key] for name, keys in reused.keys.items()}
            reused = reused.model_copy(update={"keys": {name: keys for name, keys in names.items() if keys}})
            self.record("reused", reused.model_dump(mode="json"))

    def record(self, name: str, value: Any) -> None:
        """Replace a field of the metadata, which only the course of the run determines."""
        self._copied = None
        with self._explained(), transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))
            seal(self._db, "meta")

    @contextmanager
    def writing(self, *tables: str) -> Iterator[sqlite3.Connection]:
        """Yield the connection for statements on results and some tables, executed together or not at all."""
        with self._explained(), transaction(self._db):
            yield self._db
            fill_checksums(self._db)
            seal(self._db, *tables)

    def repair(self) -> list[str]:
        """Remove what is damaged, so that a run records or computes it again; return a sentence on each part."""
        with self._explained():
            remarks = repair(self._db, self.path)
        self._checked.update((*WHOLE, "trials"))
        return remarks
