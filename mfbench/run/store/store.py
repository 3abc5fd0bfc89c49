"""The store: one SQLite file per run folder, one row per finished trial, written the moment it ends.

Write-ahead logging makes a killed run lose at most what was in flight. The table ``plan`` says which trials the last
start of the run planned; rows of earlier plans are kept (their keys differ) but are not part of a report.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.errors import RunError, printable
from mfbench.model.trials import Trial, TrialResult, Unavailable
from mfbench.run.store.file import Checkpoints, transaction
from mfbench.run.store.formats.arrays import pack
from mfbench.run.store.formats.candidates import pack_candidates, plain
from mfbench.run.store.formats.curves import pack_curve
from mfbench.run.store.formats.interactions import pack_interactions
from mfbench.run.store.formats.splits import pack_split
from mfbench.run.store.formats.texts import stored_text
from mfbench.run.store.metadata import Reused, RunMetadata
from mfbench.run.store.reading import ARRAYS, DATASET_JSON, JSON, ReadableStore
from mfbench.run.store.seals import RESULT_COLUMNS, TRIAL_COLUMNS, add_to_seal, fill_checksums, result_checksum, seal

if TYPE_CHECKING:
    from mfbench.suite.protocols import Split

_INSERT = (
    f"INSERT OR REPLACE INTO trials ({', '.join(TRIAL_COLUMNS)}, checksum) "
    f"VALUES ({', '.join('?' * (len(TRIAL_COLUMNS) + 1))})"
)


class Store(ReadableStore):
    """A run's results."""

    def __init__(self, folder: Path, *, read_only: bool = False, checked: set[str] | None = None) -> None:
        super().__init__(folder, read_only=read_only, checked=checked)
        self._checkpoints = None if read_only else Checkpoints(self._db)
        self._copied: set[str] | None = None

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it, as far as it can be while others read."""
        if self._checkpoints is not None:
            self._checkpoints.move()
        super().close()

    def begin(
        self,
        metadata: RunMetadata,
        datasets: Iterable[dict[str, Any]],
        left_out: Iterable[tuple[str, str, Unavailable | None]],
    ) -> None:
        """Record the start of a run: its metadata, the datasets used and those left out."""
        with self._explained(), transaction(self._db):
            columns = metadata.to_columns().items()
            self._db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, json.dumps(value)) for name, value in columns]
            )
            self._copied = None
            self._db.execute("DELETE FROM left_out")
            self._db.execute("DELETE FROM datasets")
            self._db.executemany(
                "INSERT INTO left_out VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        printable(name),
                        stored_text(reason, "reason"),
                        why is None,
                        why is not None and why.can_pull,
                        stored_text(why.attempt, "reason") if why else "",
                    )
                    for name, reason, why in left_out
                ],
            )
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
        rows = []
        for fold, split in enumerate(splits):
            rows.append((sha256, protocol, repeat, fold, *pack_split(split, shape)))
        with self._explained(), transaction(self._db):
            for row in rows:
                if self._db.execute("INSERT OR IGNORE INTO splits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row).rowcount:
                    add_to_seal(self._db, "splits", row)

    def add(self, trial: Trial, result: TrialResult) -> None:
        """Write the result of a trial that was run here; it is on disk when this returns."""
        row: list[Any] = [trial.key, trial.seed]
        for name in RESULT_COLUMNS:
            value = getattr(result, name)
            if name in JSON:
                value = json.dumps(value, default=plain) if value else None
            elif name in ARRAYS:
                value = None if value is None else pack(value)
            elif name == "interactions":
                value = None if value is None else pack_interactions(value)
            elif name == "curve":
                value = None if value is None else pack_curve(value)
            elif name == "candidates":
                value = pack_candidates(value) if value else None
            elif isinstance(value, str):
                value = stored_text(str(value), name) or None
            row.append(value)
        if not self.path.exists():  # SQLite would keep writing to a file that no longer has a name
            raise RunError(f"{self.folder} was removed while results were written to it; give the same command again")
        values = (*row, result_checksum(row))
        with self._explained():
            if trial.key in self._copied_keys():
                with transaction(self._db):
                    self._db.execute(_INSERT, values)
                    self._measured_here(trial.key)
            else:
                self._db.execute(_INSERT, values)
        if self._checkpoints is not None:
            self._checkpoints.written()

    def _copied_keys(self) -> set[str]:
        """Return the keys of results that another run measured: failures among them may be repeated here."""
        if self._copied is None:
            reused = Reused.model_validate(self.recorded("reused", {}))
            self._copied = {key for keys in reused.keys.values() for key in keys}
        return self._copied

    def _measured_here(self, key: str) -> None:
        """Take a key out of the record of results that another run measured."""
        reused = Reused.model_validate(self.recorded("reused", {}))
        rest = {name: [each for each in keys if each != key] for name, keys in reused.keys.items()}
        text = reused.model_copy(update={"keys": {name: keys for name, keys in rest.items() if keys}}).model_dump_json()
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('reused', ?)", [text])
        seal(self._db, "meta")
        self._copied_keys().discard(key)

    def record(self, name: str, value: Any) -> None:
        """Replace a field of the metadata, which only the course of the run determines."""
        with self._explained(), transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))
            seal(self._db, "meta")

    @contextmanager
    def writing(self, *tables: str) -> Iterator[sqlite3.Connection]:
        """Yield the connection for statements on results and some tables, executed together or not at all."""
        self._copied = None
        with self._explained(), transaction(self._db):
            yield self._db
            fill_checksums(self._db)
            seal(self._db, *tables)

    def repair(self) -> list[str]:
        """Remove what is damaged, so that a run records or computes it again; return a sentence on each part."""
        with self._explained():
            return self._integrity.repair()
