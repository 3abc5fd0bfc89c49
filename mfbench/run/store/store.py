"""The store: one SQLite file per run folder, one row per finished trial, written as soon as it ends.

With write-ahead logging, a killed run loses at most the trials in flight. The table ``plan`` lists the trials planned
by the last start of the run; rows of earlier plans are kept (their keys differ) but are not part of a report.
"""

import json
import re
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Self

from mfbench.errors import RunError, explained, printable
from mfbench.model.trials import Status, Trial, TrialResult, Unavailable
from mfbench.run.store import file, formats
from mfbench.run.store.checksums import RESULT_COLUMNS, TRIAL_COLUMNS, WHOLE, checksum, fill_checksums, seal
from mfbench.run.store.metadata import Reused, RunMetadata
from mfbench.suite.protocols import Split

DATASET_JSON = ("class_names", "feature_names", "relevant", "interactions", "collections")
"""JSON columns of a dataset."""
JSON = ("scores", "chosen")
"""JSON columns of a result."""
ARRAYS = ("selected", "weights", "predictions", "decisions")
"""Numeric array columns of a result."""
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON, json.loads),
    **dict.fromkeys(ARRAYS, formats.unpack),
    "interactions": formats.unpack_interactions,
    "curve": formats.unpack_curve,
    "candidates": formats.unpack_candidates,
}
_EMPTY: dict[str, Callable[[], Any]] = {**dict.fromkeys(JSON, dict), "candidates": list}
_BLOCK = 2_000
"""Rows per block."""
_TABLE = re.compile(rf"\b({'|'.join((*WHOLE, 'trials'))})\b")
# Decoding errors of content that mfbench did not write although its checksum matches.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, zlib.error)
CHECKPOINT_SECONDS = 1.0
"""How long results may stay only in the log while new ones arrive."""
_INSERT = f"INSERT OR REPLACE INTO trials ({', '.join(TRIAL_COLUMNS)}) VALUES ({', '.join('?' * len(TRIAL_COLUMNS))})"
_WRITERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON, lambda value: json.dumps(value, default=formats.plain) if value else None),
    **dict.fromkeys(ARRAYS, formats.pack),
    **dict.fromkeys(("interactions", "curve"), formats.pack_document),
    "candidates": lambda value: formats.pack_candidates(value) if value else None,
}


class Store:
    """Access to a run's results, for reading only or also for writing."""

    def __init__(self, folder: Path, *, read_only: bool = False, checked: set[str] | None = None) -> None:
        self.absent: Sequence[tuple[str, str, int, int]] = ()
        self.folder, self.path = folder, folder / file.FILE_NAME
        self._checked = set() if checked is None else checked
        self._damaged: list[str] = []
        self._read_only = read_only
        self._checkpointed = float("-inf")
        self._copied: set[str] | None = None
        if read_only and not self.path.is_file():
            raise RunError(f"{folder} holds no run (no {file.FILE_NAME}); 'mfbench suite NAME' creates one")
        with self._explained():
            self._db = file.open_store(self.path, read_only=read_only)

    def close(self) -> None:
        """Close the file after checkpointing the write-ahead log, as far as concurrent readers allow."""
        if not self._read_only:
            self._checkpoint()
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn SQLite and file system errors into one sentence."""

        def sentence(reason: str) -> str:
            return f"cannot write to {self.folder}: {reason}; choose another folder with --out"

        with (
            explained(RunError, partial(file.reason_of, self.path), *file.FILE_ERRORS),
            explained(RunError, sentence, OSError),
        ):
            yield

    @contextmanager
    def _reading(self, *tables: str) -> Iterator[None]:
        """Verify the checksums of tables before the first read; from then on, damaged results are hidden."""
        with self._explained(), explained(RunError, partial(file.damaged, self.path), *_UNREADABLE):
            rest = set(tables) - self._checked
            if rest:
                with file.transaction(self._db):  # so that all reads see one state
                    file.check_tables(self._db, self.path, [table for table in WHOLE if table in rest])
                    if "trials" in rest and not self._damaged:
                        self._damaged = file.set_damaged_aside(self._db)
                # Another connection must set damaged results aside itself.
                self._checked.update(rest - {"trials"} if self._damaged else rest)
            yield

    @property
    def damaged(self) -> Sequence[str]:
        """The trials with damaged results, for use in a sentence; they read as if they had not run."""
        with self._reading("trials"):
            return self._damaged

    def freeze(self) -> None:
        """From now on, read a snapshot of the current state, even while a run adds results."""
        with self._explained():
            self._db.execute("BEGIN")
            self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # the first read takes the snapshot

    def raw(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield a query's rows as stored, without decoding."""
        with self._reading(*_TABLE.findall(query)):
            yield from self._db.execute(query, values)

    def finished(self, without: Collection[Status] = ()) -> set[str]:
        """Return the keys of results whose status is not in `without`."""
        return {key for key, status in self.raw("SELECT key, status FROM trials") if status not in without}

    def meta(self) -> RunMetadata:
        """Return the metadata recorded by `begin`."""
        with self._reading("meta"):
            columns = {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM meta")}
        return RunMetadata.from_columns(columns, self.folder)

    def recorded(self, name: str, default: Any) -> Any:
        """Return a field of the metadata, even if the run never started completely."""
        with self._reading("meta"):
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
            return default if row is None else json.loads(row[0])

    def reused(self) -> Reused:
        """Return the record of results from other runs, as of the last start."""
        return Reused.model_validate(self.recorded("reused", {}))

    def left_out(self) -> dict[str, str]:
        """Return the datasets left out, each with its reason."""
        return dict(self.raw("SELECT dataset, reason FROM left_out"))

    def unavailable(self) -> dict[str, Unavailable]:
        """Return the left-out datasets that are merely unavailable, which is not a failure."""
        rows = self.raw("SELECT dataset, can_pull, attempt FROM left_out WHERE NOT is_failure")
        return {dataset: Unavailable(bool(can_pull), attempt) for dataset, can_pull, attempt in rows}

    def datasets(self) -> list[dict[str, Any]]:
        """Return the record of each dataset used, with its class codes as ``truth``."""
        with self._reading("datasets"):
            names = WHOLE["datasets"]
            cursor = self._db.execute(f"SELECT {', '.join(names)} FROM datasets")
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
            for row in rows:
                row |= {name: json.loads(row[name]) for name in DATASET_JSON}
                row["truth"] = formats.unpack(row["truth"])
        return rows

    def rows(self, columns: Sequence[str] = RESULT_COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield each planned trial with its result, in plan order; the status is None without a result."""
        # Arrays are returned by `unpack`, decisions with one row per test row, scores and selected parameters as dicts,
        # candidates as a list, interactions and curves as `Interactions` and `Curve`.
        names = ("dataset", "method", "repeat", "fold", "key", "seed", *columns)
        packed = [name for name in columns if name in _READERS]
        with self._reading("plan", "trials"):
            for values in chain(self._planned("seed", *columns), self._absent_rows(len(names))):
                row = dict(zip(names, values, strict=False))  # the query has as many columns as there are names
                for name in packed:
                    if row[name]:
                        row[name] = _READERS[name](row[name])
                    else:
                        row[name] = _EMPTY[name]() if name in _EMPTY else None
                if row.get("decisions") is not None:
                    row["decisions"] = row["decisions"].reshape(len(row["predictions"]), -1)
                yield row

    def table(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return coordinates, keys and results of trials as columns, in plan order; faster than `rows`."""
        names = ("dataset", "method", "repeat", "fold", "key", *columns)
        with self._reading("plan", "trials"):
            cursor = self._planned(*columns)
            table: dict[str, list[Any]] = {name: [] for name in names}
            # In blocks: a hundred thousand rows at once would spend a third of the time in the garbage collector.
            absent = self._absent_rows(len(names))
            for block in chain(iter(lambda: cursor.fetchmany(_BLOCK), []), [absent] if absent else []):
                for name, values in zip(names, zip(*block, strict=True), strict=True):
                    table[name].extend(values)
            for name in set(JSON) & set(columns):
                # Joined into one text, because a single parser call is several times faster.
                table[name] = json.loads(f"[{','.join(text or '{}' for text in table[name])}]")
        return table

    def _planned(self, *columns: str) -> sqlite3.Cursor:
        names = ["p.dataset, p.method, p.repeat, p.fold, p.key", *(f"t.{name}" for name in columns)]
        return self._db.execute(
            f"SELECT {', '.join(names)} FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
        )

    def _absent_rows(self, width: int) -> list[tuple[Any, ...]]:
        return [(*place, *[None] * (width - len(place))) for place in self.absent]

    def has_plan(self) -> bool:
        """Return whether any start of the run planned trials."""
        return any(True for _ in self.raw("SELECT 1 FROM plan LIMIT 1"))

    def has_any(self, column: str) -> bool:
        """Return whether any planned trial's result has a value in a column of `RESULT_COLUMNS`."""
        # A scan is much faster than looking up each planned trial, and usually matches nothing.
        anywhere = f"SELECT 1 FROM trials WHERE {column} IS NOT NULL LIMIT 1"
        planned = f"SELECT 1 FROM plan p JOIN trials t ON t.key = p.key WHERE t.{column} IS NOT NULL LIMIT 1"
        return all(any(True for _ in self.raw(query)) for query in (anywhere, planned))

    def planned(self) -> list[str]:
        """Return the keys of the planned trials in plan order."""
        return [key for (key,) in self.raw("SELECT key FROM plan ORDER BY position")]

    def split_repeats(self, sha256: str, protocol: str) -> set[int]:
        """Return the repeats with recorded splits."""
        query = "SELECT DISTINCT repeat FROM splits WHERE sha256 = ? AND protocol = ?"
        return {repeat for (repeat,) in self.raw(query, (sha256, protocol))}

    def splits(self, sha256: str, protocol: str) -> dict[tuple[int, int], formats.StoredSplit]:
        """Return the rows of a dataset's folds by (repeat, fold)."""
        query = (
            "SELECT repeat, fold, test, train, validation, n_train, n_features FROM splits "
            "WHERE sha256 = ? AND protocol = ?"
        )
        with self._reading("splits"):
            rows = self._db.execute(query, (sha256, protocol))
            return {(repeat, fold): formats.unpack_split(*columns) for repeat, fold, *columns in rows}

    def _checkpoint(self) -> None:
        """Move the log's content to the file, so that the file alone contains nearly everything."""
        # The log's content is safe where it is. If the disk is full, writing the next result reports it.
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
        with self._explained(), file.transaction(self._db):
            self._copied = None
            columns = metadata.to_columns().items()
            self._db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, json.dumps(value)) for name, value in columns]
            )
            self._db.execute("DELETE FROM left_out")
            self._db.execute("DELETE FROM datasets")
            for name, reason, why in left_out:
                missing = Unavailable() if why is None else why
                row = (why is None, missing.can_pull, formats.stored_text(missing.attempt, "reason"))
                texts = (printable(name), formats.stored_text(reason, "reason"))
                self._db.execute("INSERT INTO left_out VALUES (?, ?, ?, ?, ?)", (*texts, *row))
            self._db.executemany(
                "INSERT INTO datasets VALUES (:label, :sha256, :n_samples, :n_features, :class_names, :feature_names, "
                ":relevant, :interactions, :collections, :source, :truth)",
                [
                    {**d, "truth": formats.pack(d["truth"]), **{k: json.dumps(d[k]) for k in DATASET_JSON}}
                    for d in datasets
                ],
            )
            seal(self._db, "meta", "left_out", "datasets")

    def set_plan(self, trials: Iterable[Trial], positions: Iterable[int] | None = None) -> None:
        """Record the trials that this start of the run plans."""
        with self._explained(), file.transaction(self._db):
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
        rows = [
            (sha256, protocol, repeat, fold, *formats.pack_split(split, shape)) for fold, split in enumerate(splits)
        ]
        insertion = "INSERT OR IGNORE INTO splits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        with self._explained(), file.transaction(self._db):
            added = sum(checksum(row) for row in rows if self._db.execute(insertion, row).rowcount)
            self._db.execute("UPDATE checksums SET checksum = checksum + ? WHERE name = 'splits'", [added])

    def add(self, trial: Trial, result: TrialResult) -> None:
        """Write the result of a trial that ran here; it is on disk when this returns."""
        row: list[Any] = [trial.key, trial.seed]
        for name in RESULT_COLUMNS:
            value = getattr(result, name)
            if name in _WRITERS:
                value = None if value is None else _WRITERS[name](value)
            elif isinstance(value, str):
                value = formats.stored_text(str(value), name) or None
            row.append(value)
        if not self.path.exists():  # SQLite would keep writing to a deleted file
            raise RunError(f"{self.folder} was removed while results were written to it; give the same command again")
        with self._explained(), file.transaction(self._db):
            self._db.execute(_INSERT, row)
            fill_checksums(self._db, "key = ?", trial.key)
            self._measured_here(trial.key)
        if time.monotonic() - self._checkpointed >= CHECKPOINT_SECONDS:
            self._checkpoint()

    def _measured_here(self, key: str) -> None:
        """Remove a key from the record of results from other runs: failures among them may be repeated here."""
        if self._copied is None:
            self._copied = {key for keys in self.reused().keys.values() for key in keys}
        if key in self._copied:
            reused = self.reused()
            names = {name: [each for each in keys if each != key] for name, keys in reused.keys.items()}
            reused = reused.model_copy(update={"keys": {name: keys for name, keys in names.items() if keys}})
            self.record("reused", reused.model_dump(mode="json"))

    def record(self, name: str, value: Any) -> None:
        """Replace a field of the metadata that is only known in the course of the run."""
        self._copied = None
        with self._explained(), file.transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))
            seal(self._db, "meta")

    @contextmanager
    def writing(self, *tables: str) -> Iterator[sqlite3.Connection]:
        """Yield the connection for a transaction on results and the given tables."""
        with self._explained(), file.transaction(self._db):
            yield self._db
            fill_checksums(self._db)
            seal(self._db, *tables)

    def repair(self) -> list[str]:
        """Remove damaged content, so that a run records or computes it again; return a sentence on each part."""
        with self._explained():
            remarks = file.repair(self._db, self.path)
        self._checked.update((*WHOLE, "trials"))
        return remarks
