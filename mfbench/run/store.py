"""The store: one SQLite file per run folder, one row per finished trial, written the moment it ends.

Write-ahead logging makes a killed run lose at most what was in flight. The table ``plan`` says which trials the last
start of the run wanted; rows of earlier plans stay (their keys differ) and are simply not part of a report.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.errors import RunError, explained
from mfbench.run.formats.arrays import pack, unpack
from mfbench.run.formats.candidates import pack_candidates, plain, unpack_candidates
from mfbench.run.formats.interactions import pack_interactions, unpack_interactions
from mfbench.run.metadata import RunMetadata
from mfbench.trials import Status, Trial, TrialResult, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mfbench.suite.protocols import Split

FILE_NAME = "results.sqlite"
SCHEMA_VERSION = 4
# What brings a store of an earlier version up to date; its results stay.
_MIGRATIONS = {
    3: "ALTER TABLE left_out ADD COLUMN can_pull INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE left_out ADD COLUMN attempt TEXT NOT NULL DEFAULT '';"
}

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE datasets (
    label TEXT PRIMARY KEY, sha256 TEXT NOT NULL, n_samples INTEGER, n_features INTEGER, class_names TEXT,
    feature_names TEXT, relevant TEXT, interactions TEXT, collections TEXT,
    source TEXT, truth BLOB
) WITHOUT ROWID;
CREATE TABLE left_out (
    dataset TEXT PRIMARY KEY, reason TEXT NOT NULL, is_failure INTEGER NOT NULL, can_pull INTEGER NOT NULL,
    attempt TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE splits (
    sha256 TEXT, protocol TEXT, repeat INTEGER, fold INTEGER, test BLOB NOT NULL,
    train BLOB, validation BLOB, n_train INTEGER, n_features INTEGER,
    PRIMARY KEY (sha256, protocol, repeat, fold)
) WITHOUT ROWID;
CREATE TABLE plan (
    position INTEGER PRIMARY KEY, key TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL,
    repeat INTEGER NOT NULL, fold INTEGER NOT NULL
);
CREATE TABLE trials (
    key TEXT PRIMARY KEY, seed INTEGER NOT NULL, status TEXT NOT NULL, error_type TEXT, error_message TEXT,
    error_trace TEXT, n_warnings INTEGER, warning TEXT, duration REAL, scores TEXT,
    select_wall REAL, select_cpu REAL, fit_wall REAL, fit_cpu REAL, predict_wall REAL, predict_cpu REAL, tune_wall REAL,
    peak_memory INTEGER, n_selected INTEGER, chosen TEXT, selected BLOB, weights BLOB, predictions BLOB,
    decisions BLOB, interactions BLOB, candidates BLOB
) WITHOUT ROWID;
"""

RESULT_COLUMNS = (
    "status", "error_type", "error_message", "error_trace", "n_warnings", "warning", "duration", "scores",
    "select_wall", "select_cpu", "fit_wall", "fit_cpu", "predict_wall", "predict_cpu", "tune_wall",
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
        The run folder. It is made, with its store, if `read_only` is false.
    read_only : bool, default=False
        Open an existing store without the right to change it.

    Raises
    ------
    RunError
        If there is no store, it is of another version, damaged, or the folder cannot be written to.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        if read_only and not self.path.is_file():
            raise RunError(f"{folder} holds no run (no {FILE_NAME}); 'mfbench suite NAME' makes one")
        with self._explained():
            if read_only:
                self._db = _open_for_reading(self.path)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                self._db = sqlite3.connect(self.path, isolation_level=None)
                self._db.execute("PRAGMA journal_mode = WAL")
                # Commits survive a killed process; only a power cut may lose the last ones, never the file.
                self._db.execute("PRAGMA synchronous = NORMAL")
            self._check_version(read_only)

    def _check_version(self, read_only: bool) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == 0 and not read_only:
            self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
        elif version == 0:
            raise RunError(f"{self.folder} contains a run that stopped before its first trial; run its command again")
        elif version in _MIGRATIONS:
            if not read_only:
                script = f"BEGIN; {_MIGRATIONS[version]} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
                self._db.executescript(script)
        elif version != SCHEMA_VERSION:
            raise RunError(
                f"{self.path} has schema version {version}, this mfbench reads version {SCHEMA_VERSION}; "
                "use the mfbench that wrote it, or --fresh to start over"
            )

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

        with explained(RunError, self._reason, sqlite3.DatabaseError), explained(RunError, sentence, OSError):
            yield

    def _reason(self, text: str) -> str:
        if "full" in text or "disk I/O" in text:  # which of the two it says depends on the file that had no room
            return (
                f"the disk is full or fails ({text}): no more results fit into {self.path}; make room and give the "
                "same command again; what was stored before stays readable"
            )
        if "readonly" in text or "read-only" in text:
            return f"{self.path} cannot be written to; choose another place with --out"
        if "not a database" in text or "malformed" in text:
            return f"{self.path} is damaged ({text}); move it away or use --fresh"
        return f"cannot use {self.path}: {text}"

    # -- writing ----------------------------------------------------------------------------------------------------

    def begin(
        self,
        metadata: RunMetadata,
        datasets: Iterable[dict[str, Any]],
        left_out: Iterable[tuple[str, str, Unavailable | None]],
    ) -> None:
        """Record what a start of the run is about: settings, datasets used and datasets left out."""
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
                    (name, reason, why is None, why is not None and why.can_pull, "" if why is None else why.attempt)
                    for name, reason, why in left_out
                ],
            )
            self._db.executemany(
                "INSERT INTO datasets VALUES (:label, :sha256, :n_samples, :n_features, :class_names, :feature_names, "
                ":relevant, :interactions, :collections, :source, :truth)",
                [{**d, "truth": pack(d["truth"]), **{k: json.dumps(d[k]) for k in _DATASET_JSON}} for d in datasets],
            )

    def set_plan(self, trials: Iterable[Trial]) -> None:
        """Record which trials this start of the run wants."""
        with self._explained(), self._transaction():
            self._db.execute("DELETE FROM plan")
            self._db.executemany(
                "INSERT INTO plan VALUES (?, ?, ?, ?, ?, ?)",
                ((i, t.key, t.dataset, t.method, t.repeat, t.fold) for i, t in enumerate(trials)),
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
            What the splits depend on besides it and the repeat.
        repeat : int
        splits : iterable of Split
            One for each fold.
        shape : (int, int)
            Rows and features of the dataset. Training rows that are all but those tested are not written out.
        """
        rows = []
        for fold, split in enumerate(splits):
            train = None if len(split.train) + len(split.test) == shape[0] else pack(split.train)
            validation = None if split.tuning is None else pack(split.tuning[1])
            features = split.features(shape[1])
            n_features = shape[1] if features is None else len(features)
            values = (pack(split.test), train, validation, len(split.train), n_features)
            rows.append((sha256, protocol, repeat, fold, *values))
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
                value = str(value) or None
            row.append(value)
        if not self.path.exists():  # SQLite would write on into a file that nobody can reach any more
            raise RunError(f"{self.folder} was removed while results were written to it; give the same command again")
        with self._explained():
            self._db.execute(_INSERT, row)

    def forget(self, statuses: Iterable[Status]) -> int:
        """Delete the results of those statuses, so that the trials run again; return how many there were."""
        with self._explained(), self._transaction():
            return sum(
                self._db.execute("DELETE FROM trials WHERE status = ?", (str(status),)).rowcount for status in statuses
            )

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

    def finished(self) -> set[str]:
        """Return the keys that have a result."""
        with self._explained():
            return {key for (key,) in self._db.execute("SELECT key FROM trials")}

    def meta(self) -> RunMetadata:
        """Return the metadata that `begin` recorded.

        Raises
        ------
        RunError
            If the run stopped before its first trial, or another version wrote what this one cannot read.
        """
        with self._explained():
            columns = {name: json.loads(value) for name, value in self._db.execute("SELECT name, value FROM meta")}
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
        """Return what is known of each dataset used, with its class codes as ``truth``."""
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

        Arrays come as `unpack` returns them, decisions with a row for each test row, scores and chosen parameters as
        dicts, candidates as a list, what was said of pairs as `Interactions`.

        Parameters
        ----------
        columns : sequence of str
            Those of `RESULT_COLUMNS` that are wanted; what is not asked for is not read.
        """
        names = ("dataset", "method", "repeat", "fold", "key", "seed", *columns)
        readers: dict[str, tuple[Callable[[Any], Any], Callable[[], Any] | None]] = {
            **dict.fromkeys(_JSON, (json.loads, dict)),
            **dict.fromkeys(_ARRAYS, (unpack, None)),
            "interactions": (unpack_interactions, None),
            "candidates": (unpack_candidates, list),
        }
        wanted = [f"t.{name}" for name in columns]
        packed = [(name, *readers[name]) for name in columns if name in readers]
        with self._explained():
            cursor = self._db.execute(
                f"SELECT {', '.join(['p.dataset, p.method, p.repeat, p.fold, p.key, t.seed', *wanted])} "
                "FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            )
            for values in cursor:
                row = dict(zip(names, values, strict=True))
                for name, read, nothing in packed:
                    found = row[name]
                    row[name] = read(found) if found else nothing() if nothing else None
                if row.get("decisions") is not None:
                    row["decisions"] = row["decisions"].reshape(len(row["predictions"]), -1)
                yield row

    def table(self, columns: Sequence[str]) -> dict[str, list[Any]]:
        """Return each planned trial's coordinates, key and results as columns, in the plan's order: `rows`, but lean.

        Parameters
        ----------
        columns : sequence of str
            Those of `RESULT_COLUMNS` that are plain values or JSON; arrays, candidates and interactions are not.
        """
        names = ("dataset", "method", "repeat", "fold", "key", *columns)
        wanted = ", ".join(["p.dataset, p.method, p.repeat, p.fold, p.key", *(f"t.{name}" for name in columns)])
        with self._explained():
            found = self._db.execute(
                f"SELECT {wanted} FROM plan p LEFT JOIN trials t ON t.key = p.key ORDER BY p.position"
            ).fetchall()
        table = dict(zip(names, map(list, zip(*found, strict=True)), strict=True)) if found else {n: [] for n in names}
        for name in set(_JSON) & set(columns):
            # One text for all: a parser that is called once is several times faster.
            table[name] = json.loads(f"[{','.join(text or '{}' for text in table[name])}]")
        return table

    def has_candidates(self) -> bool:
        """Return whether a result waits for the choice of a grid point by all folds of its dataset."""
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
                (repeat, fold): StoredSplit(unpack(test), _unpacked(train), _unpacked(validation), n_train, n_features)
                for repeat, fold, test, train, validation, n_train, n_features in self._db.execute(
                    query, (sha256, protocol)
                )
            }


@dataclass(frozen=True)
class StoredSplit:
    """A fold's rows as stored.

    Attributes
    ----------
    test : ndarray of int
    train : ndarray of int or None
        None: all rows but those tested.
    validation : ndarray of int or None
        Rows set aside to choose what is tuned, if the protocol does so.
    n_train, n_features : int
        Number of rows and of original features that the final fit was given.
    """

    test: NDArray[np.int64]
    train: NDArray[np.int64] | None
    validation: NDArray[np.int64] | None
    n_train: int
    n_features: int


def _unpacked(blob: bytes | None) -> NDArray[Any] | None:
    return None if blob is None else unpack(blob)


def _open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a store to read: an ordinary connection, which sees the write-ahead log, or else the bare file."""
    try:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        # A place that cannot be written to has no room for the log's index. A closed store needs none.
        log = path.with_name(f"{path.name}-wal")
        if "unable to open" not in str(error) and "readonly" not in str(error):
            raise
        if log.is_file() and log.stat().st_size:
            raise RunError(
                f"{path} was not closed and lies where nothing can be written; copy its folder and read the copy"
            ) from error
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", isolation_level=None, uri=True)
    return db
