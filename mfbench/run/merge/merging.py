"""Joining runs: one store with the datasets, splits, plans and results of several.

Rows are copied as they are stored, so a joined run has the same numbers to the bit. Stores are read in one consistent
state, row by row; only keys, statuses and coordinates are kept in memory.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any

from mfbench.errors import NeverStartedError, RunError, UsageError
from mfbench.model.trials import Curve, Status
from mfbench.run.merge.compatibility import ONE_PROTOCOL, check_compatible, joined_metadata, remarks_on
from mfbench.run.merge.joined_plan import (
    Coordinates,
    JoinedPlan,
    Source,
    joined_plan,
    named,
    remarks_on_plan,
)
from mfbench.run.merge.joined_store import changed_store, insert
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.formats.arrays import unpack
from mfbench.run.store.formats.candidates import unpack_candidates
from mfbench.run.store.formats.curves import unpack_curve
from mfbench.run.store.integrity import remark_on_damage
from mfbench.run.store.metadata import RunMetadata
from mfbench.run.store.store import Store

_OTHER_FILES = 256  # that a process may have open besides stores


def merge_runs(sources: Sequence[Path], target: Path) -> list[str]:
    """Join runs of one suite: write a run with the trials of all of them, or add them to a run."""
    # The order of datasets and methods is that of the first run, then of the next; shares of a plan have the order of
    # this plan. If several runs have a result of the same trial, the first success is kept, or else the first failure.
    # A trial that only some runs have a result of is taken from these. A dataset or method that one of the runs has is
    # not left out.
    #
    # The joined run appears complete or not at all, even if the process is killed. No other process may write to the
    # target: whoever calls this function with a folder of runs locks it.
    if not sources:
        raise UsageError("there is nothing to join; name at least one run")
    is_new = not (target / FILE_NAME).exists()
    folders = list({folder.resolve(): folder for folder in ([] if is_new else [target]) + list(sources)}.values())
    with ExitStack() as stack, _many_files(len(folders)):
        runs, remarks = _opened(folders, stack)
        if not any(run.folder.resolve() == source.resolve() for run in runs for source in sources):
            raise NeverStartedError(sources[0])
        check_compatible(runs)
        metadata = joined_metadata(_with_trials(runs))
        plan = joined_plan(runs, list(metadata.methods))
        _check_splits(runs)
        _check_results(runs, plan.keys)
        before = None if is_new else next((run for run in runs if run.folder == target), None)
        keepers = _keepers(runs)
        with changed_store(target) as db:
            _write(db, runs, _placed(metadata, plan, target, is_new=is_new), plan, keepers, before)
        damage = [f"{run.folder}: {remark}" for run in runs for remark in remark_on_damage(run.store.damaged)]
        return [*remarks, *remarks_on(runs), *remarks_on_plan(runs, plan), *damage]


@contextmanager
def _many_files(number: int) -> Iterator[None]:
    """Let this process open as many stores as there are, each with two files beside it, if the system permits."""
    if sys.platform == "win32":  # which has no such limit
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 3 * number + _OTHER_FILES
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft == resource.RLIM_INFINITY or raised <= soft:
        yield
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _opened(folders: Sequence[Path], stack: ExitStack) -> tuple[list[Source], list[str]]:
    """Return the runs, and a remark on each folder whose run was killed before it had started."""
    runs: list[Source] = []
    remarks: list[str] = []
    for folder in folders:
        try:
            runs.append(_open(folder, stack))
        except NeverStartedError:
            remarks.append(f"{folder} holds a run that never started completely, so it has no results.")
    return runs, remarks


def _open(folder: Path, stack: ExitStack) -> Source:
    store = stack.enter_context(Store(folder, read_only=True))
    store.freeze()
    hashes = dict(store.raw("SELECT label, sha256 FROM datasets"))
    return Source(folder, store.meta(), hashes, store, dict(store.raw("SELECT key, status FROM trials")))


def _placed(metadata: RunMetadata, plan: JoinedPlan, target: Path, *, is_new: bool) -> RunMetadata:
    """Return the metadata of a joined run: with the part of a plan that it has, and where it is."""
    names = {share.run for share in (metadata.share, plan.share) if share is not None}
    out = metadata.out
    if target.name in names:
        out = target.parent.parent.as_posix()
    elif is_new:
        out = ""  # no command of its suite looks for it there
    return metadata.model_copy(update={"share": plan.share, "out": out})


def _with_trials(runs: Sequence[Source]) -> Sequence[Source]:
    """Return the runs that planned anything, or all if none did: a report has no place for a method without trials."""
    return [run for run in runs if run.store.has_plan()] or runs


# -- which results --------------------------------------------------------------------------------------------------


def _check_splits(runs: Sequence[Source]) -> None:
    """Check that runs that have the splits of a dataset have the same: predictions refer to the rows of a split."""
    holders: dict[tuple[Any, ...], Source] = {}
    for run in runs:
        for place in run.store.raw("SELECT sha256, protocol, repeat, fold FROM splits"):
            holder = holders.setdefault(place, run)
            if holder is not run and not _same_split(_split(holder, place), _split(run, place)):
                dataset = place[1].removeprefix(f"{run.meta.protocol_key}:")
                raise RunError(
                    f"{holder.folder} and {run.folder} split the rows of {dataset} differently in repeat {place[2]}, "
                    f"fold {place[3]}; {ONE_PROTOCOL}"
                )


def _split(run: Source, place: tuple[Any, ...]) -> tuple[Any, ...]:
    query = "SELECT test, train, validation, n_train, n_features FROM splits WHERE (sha256, protocol, repeat, fold) = "
    (row,) = run.store.raw(f"{query} (?, ?, ?, ?)", place)
    return row


def _same_split(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    return first == second or [*map(_numbers, first)] == [*map(_numbers, second)]


def _check_results(runs: Sequence[Source], plan: dict[Coordinates, str]) -> None:
    """Check that the runs that have a trial with the status ok agree on its results."""
    # In the order of their keys, because results are stored in it: a store is read once from the first to the last.
    for key, place in sorted((key, place) for place, key in plan.items()):
        holders = [run for run in runs if run.statuses.get(key) == Status.OK]
        for other in holders[1:]:
            if not _same_results(_results(holders[0], key), _results(other, key)):
                raise RunError(
                    f"{holders[0].folder} and {other.folder} have different results of {named(place)}, although the "
                    "trial is the same; repeat one of the runs with --fresh to see which result is right"
                )


def _results(run: Source, key: str) -> tuple[Any, ...]:
    query = "SELECT scores, predictions, decisions, candidates, curve FROM trials WHERE key = ?"
    (row,) = run.store.raw(query, (key,))
    return row


def _same_results(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    # Another build of zlib or another order of the scores changes the bytes, not the results.
    return first == second or _decoded(*first) == _decoded(*second)


def _decoded(
    scores: str | None,
    predictions: bytes | None,
    decisions: bytes | None,
    candidates: bytes | None,
    curve: bytes | None,
) -> Any:
    """Return results in a form that can be compared, without times, which differ whenever a trial is repeated."""
    points = [
        (_text(point.chosen), _text(point.scores), None if point.predictions is None else point.predictions.tolist())
        for point in (unpack_candidates(candidates) if candidates else ())
    ]
    sizes = [] if curve is None else _sizes(unpack_curve(curve))
    return _text(json.loads(scores or "{}")), _numbers(predictions), _numbers(decisions), points, sizes


def _sizes(curve: Curve) -> list[str]:
    """Return the scores of a curve as text, size by size."""
    columns = zip(curve.sizes.tolist(), curve.scores.T.tolist(), strict=True)
    return [_text({"size": size, **dict(zip(curve.metrics, scores, strict=True))}) for size, scores in columns]


def _numbers(stored: Any) -> Any:
    """Return an array as a list; other values as they are."""
    return unpack(stored).tolist() if isinstance(stored, bytes) else stored


def _text(values: dict[str, Any]) -> str:
    # As text, a score that is undefined equals itself, and floats are equal if all bits are.
    return json.dumps(values, sort_keys=True)


# -- writing --------------------------------------------------------------------------------------------------------


def _write(
    db: sqlite3.Connection,
    runs: Sequence[Source],
    metadata: RunMetadata,
    plan: JoinedPlan,
    keepers: Mapping[str, Source],
    before: Source | None,
) -> None:
    """Write a joined run; the store has the results and splits of `before` already."""
    used = {label for run in _with_trials(runs) for label in run.hashes} | set(metadata.methods)
    others = [run for run in runs if run is not before]
    insert(db, "meta", ((name, json.dumps(value)) for name, value in metadata.to_columns().items()))
    rows = zip(plan.positions, plan.keys.items(), strict=True)
    insert(db, "plan", ((position, key, *place) for position, (place, key) in rows))
    for run in _with_trials(runs):
        insert(db, "datasets", _rows("datasets", run))
    for run in runs:
        insert(db, "left_out", (row for row in _rows("left_out", run) if row[0] not in used))
    for run in others:
        insert(db, "splits", _rows("splits", run))
    # In the order of their keys, rows are appended to the table; in any other they are inserted all over the file.
    kept = heapq.merge(*(_kept_rows(run, keepers) for run in others), key=itemgetter(0))
    insert(db, "trials", kept, replace=True)


def _kept_rows(run: Source, keepers: Mapping[str, Source]) -> Iterator[tuple[Any, ...]]:
    """Yield the results of a run that are kept, ordered by key, which is the order in which they are stored."""
    return (row for row in _rows("trials", run) if keepers[row[0]] is run)


def _keepers(runs: Sequence[Source]) -> dict[str, Source]:
    """Return the run whose result of each key is kept: the first that succeeded, or else the first."""
    keepers: dict[str, Source] = {}
    for run in runs:
        for key, status in run.statuses.items():
            keeper = keepers.setdefault(key, run)
            if status == Status.OK and keeper.statuses[key] != Status.OK:
                keepers[key] = run
    return keepers


def _rows(table: str, run: Source) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a source's table; the first column is the label or key."""
    return run.store.raw(f"SELECT * FROM {table} ORDER BY 1")
