"""Joining runs: one store with the datasets, splits, plans and results of several.

Rows are copied as they are stored, so a joined run has the same numbers to the bit. Each store is opened as for a
report: SQLite's ``ATTACH`` would copy damaged rows too, and cannot read a store in a folder without write permission.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mfbench.errors import NeverStartedError, RunError, UsageError
from mfbench.model.trials import Status
from mfbench.run.merge.compatibility import check_compatible, joined_metadata, remarks_on
from mfbench.run.merge.joined_plan import Coordinates, JoinedPlan, SourceRun, joined_plan, named, remarks_on_plan
from mfbench.run.merge.joined_store import changed_store, insert
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.integrity import remark_on_damage
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.store.seals import TRIAL_COLUMNS, WHOLE
from mfbench.run.store.store import Store

_COLUMNS = {**WHOLE, "trials": (*TRIAL_COLUMNS, "checksum")}


def merge_runs(sources: Sequence[Path], target: Path) -> list[str]:
    """Join runs of one suite: write a run with the trials of all of them, or add them to a run."""
    # The order of datasets and methods is that of the first run, then of the next; shards of a plan have the order of
    # this plan. If several runs have a result of the same trial, the first success is kept, or else the first failure.
    # A trial that only some runs have a result of is taken from these. A dataset or method that one of the runs has is
    # not left out.
    #
    # The joined run appears complete or not at all, even if the process is killed. No other process may write to the
    # target: whoever calls this function with a folder of runs locks it.
    if not sources:
        raise UsageError("there is nothing to join; name at least one run")
    is_new = not (target / FILE_NAME).exists()
    folders = list({folder.resolve(): folder for folder in (*([] if is_new else [target]), *sources)}.values())
    runs: list[SourceRun] = []
    remarks: list[str] = []
    for folder in folders:
        try:
            run, damage = _read(folder)
        except NeverStartedError:
            remarks.append(f"{folder} holds a run that never started completely, so it has no results.")
        else:
            runs.append(run)
            remarks += [f"{folder}: {remark}" for remark in damage]
    if not any(run.folder.resolve() == source.resolve() for run in runs for source in sources):
        raise NeverStartedError(sources[0])
    check_compatible(runs)
    planned = [run for run in runs if run.plan] or runs  # a report has no place for a method without trials
    metadata = joined_metadata(planned)
    plan = joined_plan(runs, list(metadata.methods))
    metadata = metadata.model_copy(update={"shard": plan.shard, "out": _out(metadata, plan, target, is_new=is_new)})
    with changed_store(target) as db:
        insert(db, "meta", ((name, json.dumps(value)) for name, value in metadata.to_columns().items()))
        rows = zip(plan.positions, plan.keys.items(), strict=True)
        insert(db, "plan", ((position, key, *place) for position, (place, key) in rows))
        _copy(db, runs, planned, plan, target)
    return [*remarks, *remarks_on(runs), *remarks_on_plan(runs, plan)]


def _read(folder: Path) -> tuple[SourceRun, list[str]]:
    """Return what decides how a run is joined, and a remark if results of it are damaged."""
    checked: set[str] = set()
    with Store(folder, read_only=True, checked=checked) as store:
        store.freeze()
        hashes = dict(store.raw("SELECT label, sha256 FROM datasets"))
        query = "SELECT position, key, dataset, method, repeat, fold FROM plan ORDER BY position"
        plan: list[Any] = [(position, key, tuple(place)) for position, key, *place in store.raw(query)]
        statuses = dict(store.raw("SELECT key, status FROM trials"))
        return SourceRun(folder, store.meta(), hashes, plan, statuses, checked), remark_on_damage(store.damaged)


def _out(metadata: RunMetadata, plan: JoinedPlan, target: Path, *, is_new: bool) -> str:
    """Return the folder of all reports in which a command of the suite finds a joined run; empty if there is none."""
    if target.name in {shard.run for shard in (metadata.shard, plan.shard) if shard is not None}:
        return target.parent.parent.as_posix()
    return "" if is_new else metadata.out


def _copy(
    db: sqlite3.Connection, runs: Sequence[SourceRun], planned: Sequence[SourceRun], plan: JoinedPlan, target: Path
) -> None:
    """Copy datasets, splits and results; of several results of a trial the first that succeeded, or else the first."""
    used = {label for run in planned for label in (*run.hashes, *run.meta.methods)}
    places = {key: place for place, key in plan.keys.items()}
    splitters: dict[tuple[Any, ...], SourceRun] = {}
    keepers: dict[str, SourceRun] = {}
    for run in runs:
        for key, status in run.statuses.items():
            keeper = keepers.setdefault(key, run)
            if status == Status.OK and keeper.statuses[key] != Status.OK:
                keepers[key] = run
    for run in runs:
        with Store(run.folder, read_only=True, checked=run.checked) as store:
            if run in planned:
                insert(db, "datasets", _rows(store, "datasets"))
            insert(db, "left_out", (row for row in _rows(store, "left_out") if row[0] not in used))
            for row in _rows(store, "splits"):
                _copy_split(db, run, row, splitters)
            if run.folder.resolve() != target.resolve():  # which has its own results
                for row in _rows(store, "trials"):
                    _copy_result(db, run, row, keepers, places)


def _rows(store: Store, table: str) -> Iterator[tuple[Any, ...]]:
    columns = _COLUMNS[table]  # by name: damage may have renamed a column
    return store.raw(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {columns[0]}")


def _copy_split(
    db: sqlite3.Connection, run: SourceRun, row: tuple[Any, ...], splitters: dict[tuple[Any, ...], SourceRun]
) -> None:
    """Copy the split of a fold, or check that it is equal to that of another run: predictions refer to its rows."""
    place = row[:4]
    splitter = splitters.setdefault(place, run)
    if splitter is run:
        insert(db, "splits", [row])
        return
    (stored,) = db.execute("SELECT * FROM splits WHERE (sha256, protocol, repeat, fold) = (?, ?, ?, ?)", place)
    # Another build of zlib changes the bytes of an array, not its values.
    if stored != row and [*map(_numbers, stored)] != [*map(_numbers, row)]:
        dataset = place[1].removeprefix(f"{run.meta.protocol_key}:")
        raise RunError(
            f"{splitter.folder} and {run.folder} cannot be joined: they split the rows of {dataset} differently in "
            f"repeat {place[2]}, fold {place[3]}"
        )


def _copy_result(
    db: sqlite3.Connection,
    run: SourceRun,
    row: tuple[Any, ...],
    keepers: Mapping[str, SourceRun],
    places: Mapping[str, Coordinates],
) -> None:
    """Copy a result if it is the one to keep, or check that it is equal to this one if both succeeded."""
    key, keeper = row[0], keepers.get(row[0])
    if keeper is run:
        db.execute(f"INSERT OR REPLACE INTO trials VALUES ({', '.join('?' * len(row))})", row)
    elif keeper is not None and run.statuses.get(key) == Status.OK and key in places:
        (stored,) = db.execute(f"SELECT {', '.join(_COLUMNS['trials'])} FROM trials WHERE key = ?", [key])
        if _decoded(stored) != _decoded(row):
            raise RunError(
                f"{keeper.folder} and {run.folder} have different results of {named(places[key])}, although the trial "
                "is the same; repeat one of the runs with --fresh to see which result is right"
            )


def _decoded(row: tuple[Any, ...]) -> str:
    """Return results as text, in which NaN equals itself; without times, which differ whenever a trial is repeated."""
    values = dict(zip(_COLUMNS["trials"], row, strict=True))
    points = unpack_candidates(values["candidates"]) if values["candidates"] else []
    curve = unpack_curve(values["curve"]) if values["curve"] else None
    return repr(
        (
            sorted(json.loads(values["scores"] or "{}").items()),
            _numbers(values["predictions"]),
            _numbers(values["decisions"]),
            [(point.chosen, point.scores, _numbers(point.predictions)) for point in points],
            curve and (curve.sizes.tolist(), curve.metrics, curve.scores.tolist()),
        )
    )


def _numbers(value: Any) -> Any:
    """Return an array, packed or not, as a list; other values as they are."""
    value = unpack(value) if isinstance(value, bytes) else value
    return value.tolist() if isinstance(value, np.ndarray) else value
