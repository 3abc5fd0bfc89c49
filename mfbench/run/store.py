"""The store: one SQLite file per run folder, one row per finished trial, written the moment it ends.

Write-ahead logging makes a killed run lose at most what was in flight. The table ``plan`` says which trials the last
start of the run planned; rows of earlier plans are kept (their keys differ) but are not part of a report.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.errors import RunError, explained, printable
from mfbench.run.formats.arrays import pack, unpack
from mfbench.run.formats.candidates import pack_candidates, plain, unpack_candidates
from mfbench.run.formats.interactions import pack_interactions, unpack_interactions
from mfbench.run.formats.splits import StoredSplit, pack_split, unpack_split
from mfbench.run.metadata import RunMetadata
from mfbench.run.store_file import FILE_NAME, damaged, open_to_read, open_to_write, reason_of
from mfbench.trials import Status, Trial, TrialResult, Unavailable

if TYPE_CHECKING:
    from mfbench.suite.protocols import Split

RESULT_COLUMNS = (
    "status", "error_type", "error_message", "error_trace", "n_warnings", "warning", "touched", "duration",
    "scores", "select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall",
    "peak_memory", "n_selected", "chosen", "selected", "weights", "predictions", "decisions", "interactions",
    "candidates",
)  # fmt: skip
_DATASET_JSON = ("class_names", "feature_names", "relevant", "interactions", "collections")
_JSON = ("scores", "chosen")
_ARRAYS = ("selected", "weights", "predictions", "decisions")
_INSERT = (
    f"INSERT OR REPLACE INTO trials (key, seed, {', '.join(RESULT_COLUMNS)}) "
    f"VALUES ({', '.join('?' * (len(RESULT_COLUMNS) + 2))})"
)


class Store:
    """A run's results.

    Parameters
    ----------
    folder : Path
        The run folder. It is created, with its store, if `read_only` is false.
    read_only : bool, default=False
        Open an existing store without the right to change it.

    Attributes
    ----------
    absent : sequence of (dataset, method, repeat, fold)
        Trials of a plan of which the run has a part only; `rows` and `table` list them last, without a result.

    Raises
    ------
    RunError
        If there is no store, it is of another version, damaged, or the folder cannot be written to.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.absent: Sequence[tuple[str, str, int, int]] = ()
        self.folder = folder
        self.path = folder / FILE_NAME
        if read_only and not self.path.is_file():
            raise RunError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' creates one")
        with self._explained():
            self._db = open_to_read(self.path) if read_only else open_to_write(self.path)

    def close(self) -> None:
        """Close the file; the write-ahead log is folded into it."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and of the file system into one sentence."""

        def sentence(reason: str) -> str:
            return f"cannot write to {self.folder}: {reason}; choose another folder with --out"

        with (
            explained(RunError, partial(reason_of, self.path), sqlite3.DatabaseError),
            explained(RunError, sentence, OSError),
        ):
            yield

    # -- writing ----------------------------------------------------------------------------------------------------

    def begin(
        self,
        metadata: RunMetadata,
        datasets: Iterable[dict[str, Any]],
        left_out: Iterable[tuple[str, str, Unavailable | None]],
    ) -> None:
        """Record the start of a run: its metadata, the datasets used and those left out."""
        with self._explained(), self._transaction():
            columns = metadata.to_columns().items()
            self._db.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(name, json.dumps(value)) for name, value in columns]
            )
            self._db.execute("DELETE FROM left_out")
            self._db.execute("DELETE FROM datasets")
            self._db.executemany(
                "INSERT INTO left_out VALUES (?, ?, ?, ?, ?)",
                [
                    (
                        printable(name),
                        printable(reason),
                        why is None,
                        why is not None and why.can_pull,
                        why.attempt if why else "",
                    )
                    for name, reason, why in left_out
                ],
            )
            self._db.executemany(
                "INSERT INTO datasets VALUES (:label, :sha256, :n_samples, :n_features, :class_names, :feature_names, "
                ":relevant, :interactions, :collections, :source, :truth)",
                [{**d, "truth": pack(d["truth"]), **{k: json.dumps(d[k]) for k in _DATASET_JSON}} for d in datasets],
            )

    def set_plan(self, trials: Iterable[Trial], positions: Iterable[int] | None = None) -> None:
        """Record which trials this start of the run plans.

        Parameters
        ----------
        trials : iterable of Trial
        positions : iterable of int or None, default=None
            Where each of them is in the plan that the run has a share of; None numbers them.
        """
        with self._explained(), self._transaction():
            self._db.execute("DELETE FROM plan")
            self._db.executemany(
                "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (position, t.key, t.dataset, t.method, t.repeat, t.fold)
                    for position, t in zip(count() if positions is None else positions, trials, strict=False)
                ),
            )

    def add_splits(
        self, sha256: str, protocol: str, repeat: int, splits: Iterable[Split], shape: tuple[int, int]
    ) -> None:
        """Record the rows of each fold of a repeat, so that every test can be computed from the store alone.

        Parameters
        ----------
        sha256 : str
            Of the dataset.
        protocol : str
            What the splits depend on apart from the dataset and the repeat.
        repeat : int
        splits : iterable of Split
            One for each fold.
        shape : (int, int)
            Rows and features of the dataset. Training rows are not written if they are all other rows.
        """
        rows = []
        for fold, split in enumerate(splits):
            rows.append((sha256, protocol, repeat, fold, *pack_split(split, shape)))
        with self._explained(), self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO splits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def add(self, trial: Trial, result: TrialResult) -> None:
        """Write the result of a trial; it is on disk when this returns.

        Raises
        ------
        RunError
            If the disk is full or the file cannot be written to.
        """
        row: list[Any] = [trial.key, trial.seed]
        for name in RESULT_COLUMNS:
            value = getattr(result, name)
            if name in _JSON:
                value = json.dumps(value, default=plain) if value else None
            elif name in _ARRAYS:
                value = None if value is None else pack(value)
            elif name == "interactions":
                value = None if value is None else pack_interactions(value)
            elif name == "candidates":
                value = pack_candidates(value) if value else None
            elif isinstance(value, str):
                value = printable(str(value)) or None
            row.append(value)
        if not self.path.exists():  # SQLite would keep writing to a file that no longer has a name
            raise RunError(f"{self.folder} was removed while results were written to it; give the same command again")
        with self._explained():
            self._db.execute(_INSERT, row)

    def record(self, name: str, value: Any) -> None:
        """Replace a field of the metadata, which only the course of the run determines."""
        with self._explained():
            self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def recorded(self, name: str, default: Any) -> Any:
        """Return a field of the metadata, whether or not the run ever started completely."""
        rows = list(self.raw("SELECT value FROM meta WHERE name = ?", (name,)))
        return json.loads(rows[0][0]) if rows else default

    def forget(self, statuses: Iterable[Status]) -> int:
        """Delete the results of those statuses, so that the trials run again; return how many there were."""
        with self._explained(), self._transaction():
            return sum(
                self._db.execute("DELETE FROM trials WHERE status = ?", (str(status),)).rowcount for status in statuses
            )

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for statements that are executed together or not at all."""
        with self._explained(), self._transaction():
            yield self._db

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # -- reading ----------------------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """From now on, read the state of this moment, whatever a run adds until the store is closed."""
        with self._explained():
            self._db.execute("BEGIN")
            self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # the state is that of the first read

    def raw(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are stored; nothing is decoded.

        Parameters
        ----------
        query : str
            A SELECT or PRAGMA statement.
        values : sequence, default=()
            Its parameters.
        """
        with self._explained():
            yield from self._db.execute(query, values)

    def finished(self) -> set[str]:
        """Return the keys that have a result."""
        with self._explained():
            return {key for (key,) in self._db.execute("SELECT key FROM trials")}

    def meta(self) -> RunMetadata:
        """Return the metadata that `begin` recorded.

        Raises
        ------
        RunError
            If the run never started completely, or another version wrote what this one cannot read.
        """
        with self._explained():
            stored = dict(self._db.execute("SELECT name, value FROM meta"))
        with explained(RunError, partial(damaged, self.path), ValueError):
            columns = {name: json.loads(value) for name, value in stored.items()}
        return RunMetadata.from_columns(columns, self.folder)

    def left_out(self) -> dict[str, str]:
        """Return the datasets that were left out, each with its reason."""
        with self._explained():
            return dict(self._db.execute("SELECT dataset, reason FROM left_out"))

    def unavailable(self) -> dict[str, Unavailable]:
        """Return the datasets left out that are only unavailable, which is not a failure."""
        with self._explained():
            cursor = self._db.execute("SELECT * FROM left_out WHERE NOT is_failure")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        # A store of version 3 that is only read has no more than the reason.
        return {row["dataset"]: Unavailable(bool(row.get("can_pull")), row.get("attempt") or "") for row in rows}

    def datasets(self) -> list[dict[str, Any]]:
        """Return the record of each dataset used, with its class codes as ``truth``."""
        with self._explained():
            cursor = self._db.execute("SELECT * FROM datasets")
            names = [column[0] for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        for row in rows:
            row["truth"] = unpack(row["truth"])
            row |= {name: json.loads(row[name]) for name in _DATASET_JSON}
        return rows

    def rows(self, columns: Sequence[str] = RESULT_COLUMNS) -> Iterator[dict[str, Any]]:
        """Yield each planned trial with its result, in the plan's order; without one its status is None.

        Arrays come as `unpack` returns them, decisions with a row for each test row, scores and selected parameters
        as dicts, candidates as a list, interactions as `Interactions`.

        Parameters
        ----------
        columns : sequence of str
            Names from `RESULT_COLUMNS`; only these are read.
        """
        names = ("dataset", "method", "repeat", "fold", "key", "seed", *columns)
        readers: dict[str, tuple[Callable[[Any], Any], Callable[[], Any] | None]] = {
            **dict.fromkeys(_JSON, (json.loads, dict)),
            **dict.fromkeys(_ARRAYS, (unpack, None)),
            "interactions": (unpack_interactions, None),
            "candidates": (unpack_candidates, list),
        }
        results = self._expressions(columns)
        packed = [(name, *readers[name]) for name in columns if name in readers]
        with self._explained():
            cursor = self._db.execute(
                f"SELECT {', '.join(['p.dataset, p.method, p.repeat, p.fold, p.key, t.seed', *results])} "
                "FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            )
            absent = ((*place, None, None, *(None for _ in columns)) for place in self.absent)
            for values in chain(cursor, absent):
                row = dict(zip(names, values, strict=True))
                for name, read, nothing in packed:
                    stored = row[name]
                    row[name] = read(stored) if stored else nothing() if nothing else None
                if row.get("decisions") is not None:
                    row["decisions"] = row["decisions"].reshape(len(row["predictions"]), -1)
                yield row

    def table(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return each planned trial's coordinates, key and results as columns, in the plan's order; faster than `rows`.

        Parameters
        ----------
        columns : sequence of str
            Those of `RESULT_COLUMNS` that are plain values or JSON; arrays, candidates and interactions are not.
        """
        names = ("dataset", "method", "repeat", "fold", "key", *columns)
        selection = ", ".join(["p.dataset, p.method, p.repeat, p.fold, p.key", *self._expressions(columns)])
        with self._explained():
            values = self._db.execute(
                f"SELECT {selection} FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            ).fetchall()
        values += [(*place, None, *(None for _ in columns)) for place in self.absent]
        table = (
            dict(zip(names, map(list, zip(*values, strict=True)), strict=True)) if values else {n: [] for n in names}
        )
        for name in set(_JSON) & set(columns):
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
        with self._explained():
            return bool(self._db.execute("SELECT EXISTS (SELECT 1 FROM plan)").fetchone()[0])

    def has_candidates(self) -> bool:
        """Return whether the grid point of a result is still to be selected by all folds of its dataset."""
        query = "SELECT EXISTS (SELECT 1 FROM plan p JOIN trials t ON t.key = p.key WHERE t.candidates IS NOT NULL)"
        with self._explained():
            return bool(self._db.execute(query).fetchone()[0])

    def split_repeats(self, sha256: str, protocol: str) -> set[int]:
        """Return the repeats whose splits are recorded."""
        query = "SELECT DISTINCT repeat FROM splits WHERE sha256 = ? AND protocol = ?"
        with self._explained():
            return {repeat for (repeat,) in self._db.execute(query, (sha256, protocol))}

    def splits(self, sha256: str, protocol: str) -> dict[tuple[int, int], StoredSplit]:
        """Return the rows of a dataset's folds by (repeat, fold)."""
        query = (
            "SELECT repeat, fold, test, train, validation, n_train, n_features FROM splits "
            "WHERE sha256 = ? AND protocol = ?"
        )
        with self._explained():
            return {
                (repeat, fold): unpack_split(*columns)
                for repeat, fold, *columns in self._db.execute(query, (sha256, protocol))
            }
