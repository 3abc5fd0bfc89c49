"""Reading a store: what it holds as columns and rows, each compared with its checksum before it is believed."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Self

from mfbench.errors import RunError, explained
from mfbench.model.trials import Status, Unavailable
from mfbench.run.store.file import FILE_ERRORS, FILE_NAME, damaged, open_to_read, open_to_write, reason_of
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.formats.interactions import unpack_interactions
from mfbench.run.store.formats.splits import StoredSplit, unpack_split
from mfbench.run.store.integrity import Integrity
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.store.seals import RESULT_COLUMNS, WHOLE

DATASET_JSON = ("class_names", "feature_names", "relevant", "interactions", "collections")
"""Columns of a dataset that are JSON."""
JSON = ("scores", "chosen")
"""Columns of a result that are JSON."""
ARRAYS = ("selected", "weights", "predictions", "decisions")
"""Columns of a result that are arrays of numbers."""
_BLOCK = 2_000
"""Rows that are read at once."""
_TABLE = re.compile(rf"\b({'|'.join((*WHOLE, 'trials'))})\b")
# What damaged content raises when it is decoded; a store of an earlier version has no checksums.
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, zlib.error)


class ReadableStore:
    """A run's results, to read."""

    def __init__(self, folder: Path, *, read_only: bool = True, checked: set[str] | None = None) -> None:
        self.absent: Sequence[tuple[str, str, int, int]] = ()
        self.folder = folder
        self.path = folder / FILE_NAME
        if read_only and not self.path.is_file():
            raise RunError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' creates one")
        with self._explained():
            self._db = open_to_read(self.path) if read_only else open_to_write(self.path)
            self._integrity = Integrity(self._db, self.path, read_only=read_only, checked=checked)

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

    @property
    def damaged(self) -> Sequence[str]:
        """The trials whose results are damaged, each as a part of a sentence; they read as if they had not run."""
        with self._explained():
            self._integrity.check("trials")
        return self._integrity.damaged

    @contextmanager
    def _reading(self, *tables: str) -> Iterator[None]:
        """Compare tables with their checksums before they are read, and explain whatever cannot be read in them."""
        with self._explained(), explained(RunError, partial(damaged, self.path), *_UNREADABLE):
            self._integrity.check(*tables)
            yield

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
        with self._reading("trials"):
            rows = self._db.execute("SELECT key, status FROM trials")
            return {key for key, status in rows if status not in without}

    def meta(self) -> RunMetadata:
        """Return the metadata that `begin` recorded."""
        with self._reading("meta"):
            columns = {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM meta")}
        return RunMetadata.from_columns(columns, self.folder)

    def left_out(self) -> dict[str, str]:
        """Return the datasets that were left out, each with its reason."""
        with self._reading("left_out"):
            return dict(self._db.execute("SELECT dataset, reason FROM left_out"))

    def unavailable(self) -> dict[str, Unavailable]:
        """Return the datasets left out that are only unavailable, which is not a failure."""
        with self._reading("left_out"):
            cursor = self._db.execute("SELECT * FROM left_out WHERE NOT is_failure")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        # A store of version 3 that is only read has no more than the reason.
        return {row["dataset"]: Unavailable(bool(row.get("can_pull")), row.get("attempt") or "") for row in rows}

    def datasets(self) -> list[dict[str, Any]]:
        """Return the record of each dataset used, with its class codes as ``truth``."""
        with self._reading("datasets"):
            names = WHOLE["datasets"]  # by name: damage may have renamed a column
            cursor = self._db.execute(f"SELECT {', '.join(names)} FROM datasets")
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
            for row in rows:
                row["truth"] = unpack(row["truth"])
                row |= {name: json.loads(row[name]) for name in DATASET_JSON}
        return rows

    def rows(self, columns: Sequence[str] = RESULT_COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield each planned trial with its result, in the plan's order; without one its status is None."""
        # Arrays come as `unpack` returns them, decisions with a row for each test row, scores and selected parameters
        # as dicts, candidates as a list, interactions and curves as `Interactions` and `Curve`.
        names = ("dataset", "method", "repeat", "fold", "key", "seed", *columns)
        readers: dict[str, tuple[Callable[[Any], Any], Callable[[], Any] | None]] = {
            **dict.fromkeys(JSON, (json.loads, dict)),
            **dict.fromkeys(ARRAYS, (unpack, None)),
            "interactions": (unpack_interactions, None),
            "curve": (unpack_curve, None),
            "candidates": (unpack_candidates, list),
        }
        results = self._expressions(columns)
        packed = [(name, *readers[name]) for name in columns if name in readers]
        with self._reading("plan", "trials"):
            cursor = self._db.execute(
                f"SELECT {', '.join(['p.dataset, p.method, p.repeat, p.fold, p.key, t.seed', *results])} "
                "FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            )
            absent = ((*place, None, None, *(None for _ in columns)) for place in self.absent)
            has_decisions = "decisions" in columns
            for values in chain(cursor, absent):
                row = dict(zip(names, values, strict=False))  # the query has as many columns as there are names
                for name, read, nothing in packed:
                    stored = row[name]
                    if stored:
                        row[name] = read(stored)
                    elif nothing is not None or stored is not None:
                        row[name] = None if nothing is None else nothing()
                if has_decisions and row["decisions"] is not None:
                    row["decisions"] = row["decisions"].reshape(len(row["predictions"]), -1)
                yield row

    def table(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return coordinates, keys and results of trials as columns, in the plan's order; faster than `rows`."""
        names = ("dataset", "method", "repeat", "fold", "key", *columns)
        selection = ", ".join(["p.dataset, p.method, p.repeat, p.fold, p.key", *self._expressions(columns)])
        with self._reading("plan", "trials"):
            cursor = self._db.execute(
                f"SELECT {selection} FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            )
            table: dict[str, list[Any]] = {name: [] for name in names}
            # In blocks: a hundred thousand rows at once would keep the garbage collector busy for a third of the time.
            absent = [(*place, None, *(None for _ in columns)) for place in self.absent]
            for block in chain(iter(lambda: cursor.fetchmany(_BLOCK), []), [absent] if absent else []):
                for name, values in zip(names, zip(*block, strict=True), strict=True):
                    table[name].extend(values)
            for name in set(JSON) & set(columns):
                # One text for all: a parser that is called once is several times faster.
                table[name] = json.loads(f"[{','.join(text or '{}' for text in table[name])}]")
        return table

    def _expressions(self, columns: Sequence[str]) -> list[str]:
        """Return what to select for columns of a result; a store of an earlier version may lack some."""
        with self._explained():
            present = {row[1] for row in self._db.execute("PRAGMA table_info(trials)")}
        return [f"t.{name}" if name in present else "NULL" for name in columns]

    def has_plan(self) -> bool:
        """Return whether a start of the run planned any trials."""
        with self._reading("plan"):
            return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM plan)").fetchone()[0])

    def has_candidates(self) -> bool:
        """Return whether the grid point of a result is still to be selected by all folds of its dataset."""
        with self._reading("plan", "trials"):
            # A scan is much faster than a look-up of each planned trial, and mostly there are none.
            (anywhere,) = self._db.execute(
                "SELECT EXISTS (SELECT 1 FROM trials WHERE candidates IS NOT NULL)"
            ).fetchone()
            query = "SELECT EXISTS (SELECT 1 FROM plan p JOIN trials t ON t.key = p.key WHERE t.candidates IS NOT NULL)"
            return bool(anywhere) and bool(self._db.execute(query).fetchone()[0])

    def has_any(self, column: str) -> bool:
        """Return whether any result of the store has a value in a column of `RESULT_COLUMNS`."""
        (expression,) = self._expressions([column])
        with self._reading("trials"):
            query = f"SELECT EXISTS (SELECT 1 FROM trials t WHERE {expression} IS NOT NULL)"
            return bool(self._db.execute(query).fetchone()[0])

    def has_curves(self) -> bool:
        """Return whether any result has the scores at several numbers of features."""
        if self._expressions(["curve"]) == ["NULL"]:
            return False
        query = "SELECT EXISTS (SELECT 1 FROM plan p JOIN trials t ON t.key = p.key WHERE t.curve IS NOT NULL)"
        with self._reading("plan", "trials"):
            return bool(self._db.execute(query).fetchone()[0])

    def planned(self) -> list[str]:
        """Return the keys of the planned trials, in the plan's order."""
        with self._reading("plan"):
            return [key for (key,) in self._db.execute("SELECT key FROM plan ORDER BY position")]

    def split_repeats(self, sha256: str, protocol: str) -> set[int]:
        """Return the repeats whose splits are recorded."""
        query = "SELECT DISTINCT repeat FROM splits WHERE sha256 = ? AND protocol = ?"
        with self._reading("splits"):
            return {repeat for (repeat,) in self._db.execute(query, (sha256, protocol))}

    def splits(self, sha256: str, protocol: str) -> dict[tuple[int, int], StoredSplit]:
        """Return the rows of a dataset's folds by (repeat, fold)."""
        query = (
            "SELECT repeat, fold, test, train, validation, n_train, n_features FROM splits "
            "WHERE sha256 = ? AND protocol = ?"
        )
        with self._reading("splits"):
            return {
                (repeat, fold): unpack_split(*columns)
                for repeat, fold, *columns in self._db.execute(query, (sha256, protocol))
            }

    def recorded(self, name: str, default: Any) -> Any:
        """Return a field of the metadata, whether or not the run ever started completely."""
        rows = list(self.raw("SELECT value FROM meta WHERE name = ?", (name,)))
        with self._reading():
            return json.loads(rows[0][0]) if rows else default
