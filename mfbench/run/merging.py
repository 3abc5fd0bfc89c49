"""Joining runs: one store with the datasets, splits, plans and results of several.

Rows are copied as they are stored, so a joined run has the same numbers to the bit. Stores are read in one consistent
state, row by row; only keys, statuses and coordinates are kept in memory.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from mfbench.errors import RunError, UsageError, explained
from mfbench.run.compatibility import ONE_PROTOCOL, RecordedRun, check_compatible, joined_metadata, remarks_on
from mfbench.run.formats.arrays import unpack
from mfbench.run.formats.candidates import unpack_candidates
from mfbench.run.metadata import RunMetadata
from mfbench.run.store import Store
from mfbench.run.store_file import FILE_NAME, open_to_write, reason_of
from mfbench.trials import Status

# Dataset, method, repeat and fold of a trial.
Coordinates = tuple[str, str, int, int]

# What a store of an earlier version would hold in a column that it lacks, if it is not NULL.
_DEFAULTS = {"can_pull": "0", "attempt": "''"}


@dataclass(frozen=True)
class _Source(RecordedRun):
    """A run to join, open for reading.

    Attributes
    ----------
    store : Store
    statuses : dict of str to str
        The status of each result, by its key.
    """

    store: Store
    statuses: dict[str, str]


def merge_runs(sources: Sequence[Path], target: Path) -> list[str]:
    """Join runs of one suite: write a run with the trials of all of them.

    The order of datasets and methods is that of the first run, then of the next. If several runs have a result of the
    same trial, the first success is kept, or else the first failure. A trial that only some runs have a result of is
    taken from these. A dataset or method that one of the runs has is not left out.

    Parameters
    ----------
    sources : sequence of Path
        The run folders; they are only read.
    target : Path
        A folder without a run; created if needed.

    Returns
    -------
    list of str
        Remarks for readers of the joined run, each a sentence: on versions, machines and limits that differ, and on
        cells that no run planned.

    Raises
    ------
    RunError
        If a source holds no readable run, two of them differ in what all trials of a report have in common, they have
        different results of one trial, or the target holds a run or cannot be written to. Then nothing is written.
    UsageError
        If there are no sources.

    Notes
    -----
    The store appears complete or not at all: it is built in a folder beside the target.
    """
    if not sources:
        raise UsageError("there is nothing to join; name at least one run")
    if (target / FILE_NAME).exists():
        raise RunError(f"{target} already holds a run; choose another folder")
    with ExitStack() as stack:
        runs = [_open(folder, stack) for folder in sources]
        check_compatible(runs)
        metadata = joined_metadata(_with_trials(runs))
        plan = _joined_plan(runs, list(metadata.methods))
        _check_splits(runs)
        _check_results(runs, plan)
        with _new_store(target) as db:
            _write(db, runs, metadata, plan)
        return [*remarks_on(runs), *_absent_cells(plan)]


def _open(folder: Path, stack: ExitStack) -> _Source:
    store = stack.enter_context(Store(folder, read_only=True))
    store.freeze()
    hashes = dict(store.raw("SELECT label, sha256 FROM datasets"))
    return _Source(folder, store.meta(), hashes, store, dict(store.raw("SELECT key, status FROM trials")))


def _with_trials(runs: Sequence[_Source]) -> Sequence[_Source]:
    """Return the runs that planned anything, or all if none did: a report has no place for a method without trials."""
    return [run for run in runs if run.store.has_plan()] or runs


# -- which trials ---------------------------------------------------------------------------------------------------


def _joined_plan(runs: Sequence[_Source], methods: Sequence[str]) -> dict[Coordinates, str]:
    """Return the key of each trial that a run planned, in the order of datasets, repeats, folds and methods."""
    keys: dict[Coordinates, str] = {}
    planners: dict[Coordinates, _Source] = {}
    for run in runs:
        for key, *values in run.store.raw("SELECT key, dataset, method, repeat, fold FROM plan ORDER BY position"):
            dataset, method, repeat, fold = values
            place = (dataset, method, repeat, fold)
            planner = planners.get(place)
            if planner is not None and keys[place] != key:
                if key not in run.statuses:
                    continue
                if keys[place] in planner.statuses:
                    raise RunError(
                        f"{planner.folder} and {run.folder} measured {_named(place)} with different versions of code "
                        "or libraries, so their keys differ; repeat the command of the older run"
                    )
            if planner is None or key in run.statuses:
                keys[place], planners[place] = key, run
    first_seen = _ranks(dataset for dataset, *_ in keys)
    ranks = _ranks([*methods, *(method for _, method, *_ in keys)])
    places = sorted(keys, key=lambda place: (first_seen[place[0]], *place[2:], ranks[place[1]]))
    return {place: keys[place] for place in places}


def _ranks(labels: Iterable[str]) -> dict[str, int]:
    return {label: rank for rank, label in enumerate(dict.fromkeys(labels))}


def _named(place: Coordinates) -> str:
    dataset, method, repeat, fold = place
    return f"{method} on {dataset} in repeat {repeat}, fold {fold}"


def _absent_cells(plan: Iterable[Coordinates]) -> list[str]:
    cells = {(dataset, method) for dataset, method, _, _ in plan}
    n_datasets, n_methods = len({dataset for dataset, _ in cells}), len({method for _, method in cells})
    if len(cells) == n_datasets * n_methods:
        return []
    n_cells = n_datasets * n_methods
    missing = n_cells - len(cells)
    verb = "is" if missing == 1 else "are"
    size = f"{n_datasets} datasets × {n_methods} methods"
    return [f"Of {n_cells} cells ({size}), {missing} {verb} in none of the joined runs."]


# -- which results --------------------------------------------------------------------------------------------------


def _check_splits(runs: Sequence[_Source]) -> None:
    """Check that runs that have the splits of a dataset have the same: predictions refer to the rows of a split."""
    holders: dict[tuple[Any, ...], _Source] = {}
    for run in runs:
        for place in run.store.raw("SELECT sha256, protocol, repeat, fold FROM splits"):
            holder = holders.setdefault(place, run)
            if holder is not run and not _same_split(_split(holder, place), _split(run, place)):
                dataset = place[1].removeprefix(f"{run.meta.protocol_key}:")
                raise RunError(
                    f"{holder.folder} and {run.folder} split the rows of {dataset} differently in repeat {place[2]}, "
                    f"fold {place[3]}; {ONE_PROTOCOL}"
                )


def _split(run: _Source, place: tuple[Any, ...]) -> tuple[Any, ...]:
    query = "SELECT test, train, validation, n_train, n_features FROM splits WHERE (sha256, protocol, repeat, fold) = "
    (row,) = run.store.raw(f"{query} (?, ?, ?, ?)", place)
    return row


def _same_split(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    return first == second or [*map(_numbers, first)] == [*map(_numbers, second)]


def _check_results(runs: Sequence[_Source], plan: dict[Coordinates, str]) -> None:
    """Check that the runs that have a trial with the status ok agree on its results."""
    # In the order of their keys, because results are stored in it: a store is read once from the first to the last.
    for key, place in sorted((key, place) for place, key in plan.items()):
        holders = [run for run in runs if run.statuses.get(key) == Status.OK]
        for other in holders[1:]:
            if not _same_results(_results(holders[0], key), _results(other, key)):
                raise RunError(
                    f"{holders[0].folder} and {other.folder} have different results of {_named(place)}, although the "
                    "trial is the same; repeat one of the runs with --fresh to see which result is right"
                )


def _results(run: _Source, key: str) -> tuple[Any, ...]:
    columns = "scores, predictions, decisions, candidates"
    (row,) = run.store.raw(f"SELECT {columns} FROM trials WHERE key = ?", (key,))
    return row


def _same_results(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    # Another build of zlib or another order of the scores changes the bytes, not the results.
    return first == second or _decoded(*first) == _decoded(*second)


def _decoded(scores: str | None, predictions: bytes | None, decisions: bytes | None, candidates: bytes | None) -> Any:
    """Return results in a form that can be compared, without times, which differ whenever a trial is repeated."""
    points = [
        (_text(point.chosen), _text(point.scores), None if point.predictions is None else point.predictions.tolist())
        for point in (unpack_candidates(candidates) if candidates else ())
    ]
    return _text(json.loads(scores or "{}")), _numbers(predictions), _numbers(decisions), points


def _numbers(stored: Any) -> Any:
    """Return an array as a list; other values as they are."""
    return unpack(stored).tolist() if isinstance(stored, bytes) else stored


def _text(values: dict[str, Any]) -> str:
    # As text, a score that is undefined equals itself, and floats are equal if all bits are.
    return json.dumps(values, sort_keys=True)


# -- writing --------------------------------------------------------------------------------------------------------


@contextmanager
def _new_store(target: Path) -> Iterator[sqlite3.Connection]:
    """Yield a new store; it appears in the target if the block ends without an error, or else nothing does."""

    def sentence(reason: str) -> str:
        return f"cannot write to {target}: {reason}"

    absent = [folder for folder in (target, *target.parents) if not folder.exists()]
    with (
        explained(RunError, partial(reason_of, target / FILE_NAME), sqlite3.DatabaseError),
        explained(RunError, sentence, OSError),
    ):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as work:
                path = Path(work) / FILE_NAME
                db = open_to_write(path)
                try:
                    # Without a log the store is a single file, which can be moved at once.
                    db.execute("PRAGMA journal_mode = DELETE")
                    db.execute("BEGIN")
                    yield db
                    db.execute("COMMIT")
                finally:
                    db.close()
                target.mkdir(exist_ok=True)
                path.replace(target / FILE_NAME)
        except BaseException:
            for folder in absent:
                with suppress(OSError):
                    folder.rmdir()
            raise


def _write(
    db: sqlite3.Connection, runs: Sequence[_Source], metadata: RunMetadata, plan: dict[Coordinates, str]
) -> None:
    used = {label for run in _with_trials(runs) for label in run.hashes} | set(metadata.methods)
    keepers = _keepers(runs)
    _insert(db, "meta", ((name, json.dumps(value)) for name, value in metadata.to_columns().items()))
    _insert(db, "plan", ((number, key, *place) for number, (place, key) in enumerate(plan.items())))
    for run in _with_trials(runs):
        _insert(db, "datasets", _rows(db, "datasets", run))
    for run in runs:
        _insert(db, "left_out", (row for row in _rows(db, "left_out", run) if row[0] not in used))
        _insert(db, "splits", _rows(db, "splits", run))
    # In the order of their keys, rows are appended to the table; in any other they are inserted all over the file.
    _insert(db, "trials", heapq.merge(*(_kept_rows(db, run, keepers) for run in runs), key=itemgetter(0)))


def _kept_rows(db: sqlite3.Connection, run: _Source, keepers: Mapping[str, _Source]) -> Iterator[tuple[Any, ...]]:
    """Yield the results of a run that are kept, ordered by key, which is the order in which they are stored."""
    return (row for row in _rows(db, "trials", run) if keepers[row[0]] is run)


def _keepers(runs: Sequence[_Source]) -> dict[str, _Source]:
    """Return the run whose result of each key is kept: the first that succeeded, or else the first."""
    keepers: dict[str, _Source] = {}
    for run in runs:
        for key, status in run.statuses.items():
            keeper = keepers.setdefault(key, run)
            if status == Status.OK and keeper.statuses[key] != Status.OK:
                keepers[key] = run
    return keepers


def _rows(db: sqlite3.Connection, table: str, run: _Source) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a source's table with the columns that the new store has; the first one is the label or key."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    present = {row[1] for row in run.store.raw(f"PRAGMA table_info({table})")}
    values = [name if name in present else _DEFAULTS.get(name, "NULL") for name in columns]
    return run.store.raw(f"SELECT {', '.join(values)} FROM {table} ORDER BY {columns[0]}")


def _insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows; one that an earlier run had as well is ignored."""
    (width,) = db.execute(f"SELECT COUNT(*) FROM pragma_table_info('{table}')").fetchone()
    db.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})", rows)
