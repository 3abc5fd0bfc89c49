"""Reading a store: what it holds as columns and rows, each compared with its checksum before it is believed."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Self

from mfbench.errors import RunError, explained
from mfbench.model.trials import Status, Unavailable
from mfbench.run.store.file import FILE_ERRORS, FILE_NAME, damaged, open_store, reason_of, transaction
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.formats.interactions import unpack_interactions
from mfbench.run.store.formats.splits import StoredSplit, unpack_split
from mfbench.run.store.integrity import check_tables, set_damaged_aside
from mfbench.run.store.metadata import Reused, RunMetadata
from mfbench.run.store.seals import RESULT_COLUMNS, WHOLE

DATASET_JSON = ("class_names", "feature_names", "relevant", "interactions", "collections")
"""Columns of a dataset that are JSON."""
JSON = ("scores", "chosen")
"""Columns of a result that are JSON."""
ARRAYS = ("selected", "weights", "predictions", "decisions")
"""Columns of a result that are arrays of numbers."""
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(JSON, json.loads),
    **dict.fromkeys(ARRAYS, unpack),
    "interactions": unpack_interactions,
    "curve": unpack_curve,
    "candidates": unpack_candidates,
}
_EMPTY: dict[str, Callable[[], Any]] = {**dict.fromkeys(JSON, dict), "candidates": list}
_BLOCK = 2_000
"""Rows that are read at once."""
_TABLE = re.compile(rf"\b({'|'.join((*WHOLE, 'trials'))})\b")
# What content that mfbench did not write raises when it is decoded, although its checksum fits.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, zlib.error)


class ReadableStore:
    """A run's results, to read."""

    def __init__(self, folder: Path, *, read_only: bool = True, checked: set[str] | None = None) -> None:
        self.absent: Sequence[tuple[str, str, int, int]] = ()
        self.folder, self.path = folder, folder / FILE_NAME
        self._checked = set() if checked is None else checked
        self._damaged: list[str] = []
        if read_only and not self.path.is_file():
            raise RunError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' creates one")
        with self._explained():
            self._db = open_store(self.path, read_only=read_only)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into one sentence."""

        def sentence(reason: str) -> str:
            return f"cannot write to {self.folder}: {reason}; choose another folder with --out"

        with (
            explained(RunError, partial(reason_of, self.path), *FILE_ERRORS),
            explained(RunError, sentence, OSError),
        ):
            yield

    @contextmanager
    def _reading(self, *tables: str) -> Iterator[None]:
        """Compare tables with their checksums before they are read; from then on, damaged results are not read."""
        with self._explained(), explained(RunError, partial(damaged, self.path), *_UNREADABLE):
            rest = set(tables) - self._checked
            if rest:
                with transaction(self._db):  # in which everything is read in one state
                    check_tables(self._db, self.path, [table for table in WHOLE if table in rest])
                    if "trials" in rest and not self._damaged:
                        self._damaged = set_damaged_aside(self._db)
                # Another connection must set damaged results aside itself.
                self._checked.update(rest - {"trials"} if self._damaged else rest)
            yield

    @property
    def damaged(self) -> Sequence[str]:
        """The trials whose results are damaged, each as a part of a sentence; they read as if they had not run."""
        with self._reading("trials"):
            return self._damaged

    def freeze(self) -> None:
        """From now on, read the state of this moment, whatever a run adds until the store is closed."""
        with self._explained():
            self._db.execute("BEGIN")
            self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # the state is that of the first read

    def raw(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are stored; nothing is decoded."""
        with self._reading(*_TABLE.findall(query)):
            yield from self._db.execute(query, values)

    def finished(self, without: Collection[Status] = ()) -> set[str]:
        """Return the keys that have a result whose status is not among those of `without`."""
        return {key for key, status in self.raw("SELECT key, status FROM trials") if status not in without}

    def meta(self) -> RunMetadata:
        """Return the metadata that `begin` recorded."""
        with self._reading("meta"):
            columns = {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM meta")}
        return RunMetadata.from_columns(columns, self.folder)

    def recorded(self, name: str, default: Any) -> Any:
        """Return a field of the metadata, whether or not the run ever started completely."""
        with self._reading("meta"):
            row = self._db.execute("SELECT value FROM meta WHERE name = ?", [name]).fetchone()
            return default if row is None else json.loads(row[0])

    def reused(self) -> Reused:
        """Return which results other runs had measured, as the last start recorded it."""
        return Reused.model_validate(self.recorded("reused", {}))

    def left_out(self) -> dict[str, str]:
        """Return the datasets that were left out, each with its reason."""
        return dict(self.raw("SELECT dataset, reason FROM left_out"))

    def unavailable(self) -> dict[str, Unavailable]:
        """Return the datasets left out that are only unavailable, which is not a failure."""
        rows = self.raw("SELECT dataset, can_pull, attempt FROM left_out WHERE NOT is_failure")
        return {dataset: Unavailable(bool(can_pull), attempt) for dataset, can_pull, attempt in rows}

    def datasets(self) -> list[dict[str, Any]]:
        """Return the record of each dataset used, with its class codes as ``truth``."""
        with self._reading("datasets"):
            names = WHOLE["datasets"]
            rows = [
                dict(zip(names, row, strict=True))
                for row in self._db.execute(f"SELECT {', '.join(names)} FROM datasets")
            ]
            for row in rows:
                row |= {name: json.loads(row[name]) for name in DATASET_JSON}
                row["truth"] = unpack(row["truth"])
        return rows

    def rows(self, columns: Sequence[str] = RESULT_COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield each planned trial with its result, in the plan's order; without one its status is None."""
        # Arrays come as `unpack` returns them, decisions with a row for each test row, scores and selected parameters
        # as dicts, candidates as a list, interactions and curves as `Interactions` and `Curve`.
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
        """Return coordinates, keys and results of trials as columns, in the plan's order; faster than `rows`."""
        names = ("dataset", "method", "repeat", "fold", "key", *columns)
        with self._reading("plan", "trials"):
            cursor = self._planned(*columns)
            table: dict[str, list[Any]] = {name: [] for name in names}
            # In blocks: a hundred thousand rows at once would keep the garbage collector busy for a third of the time.
            absent = self._absent_rows(len(names))
            for block in chain(iter(lambda: cursor.fetchmany(_BLOCK), []), [absent] if absent else []):
                for name, values in zip(names, zip(*block, strict=True), strict=True):
                    table[name].extend(values)
            for name in set(JSON) & set(columns):
                # One text for all: a parser that is called once is several times faster.
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
        """Return whether a start of the run planned any trials."""
        return any(True for _ in self.raw("SELECT 1 FROM plan LIMIT 1"))

    def has_any(self, column: str) -> bool:
        """Return whether the result of a planned trial has a value in a column of `RESULT_COLUMNS`."""
        # A scan is much faster than a look-up of each planned trial, and mostly there are none.
        anywhere = f"SELECT 1 FROM trials WHERE {column} IS NOT NULL LIMIT 1"
        planned = f"SELECT 1 FROM plan p JOIN trials t ON t.key = p.key WHERE t.{column} IS NOT NULL LIMIT 1"
        return all(any(True for _ in self.raw(query)) for query in (anywhere, planned))

    def planned(self) -> list[str]:
        """Return the keys of the planned trials, in the plan's order."""
        return [key for (key,) in self.raw("SELECT key FROM plan ORDER BY position")]

    def split_repeats(self, sha256: str, protocol: str) -> set[int]:
        """Return the repeats whose splits are recorded."""
        query = "SELECT DISTINCT repeat FROM splits WHERE sha256 = ? AND protocol = ?"
        return {repeat for (repeat,) in self.raw(query, (sha256, protocol))}

    def splits(self, sha256: str, protocol: str) -> dict[tuple[int, int], StoredSplit]:
        """Return the rows of a dataset's folds by (repeat, fold)."""
        query = (
            "SELECT repeat, fold, test, train, validation, n_train, n_features FROM splits "
            "WHERE sha256 = ? AND protocol = ?"
        )
        with self._reading("splits"):
            rows = self._db.execute(query, (sha256, protocol))
            return {(repeat, fold): unpack_split(*columns) for repeat, fold, *columns in rows}
