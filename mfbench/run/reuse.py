"""Reusing results of other runs: earlier runs in the same reports folder, and runs from other sources.

A result is copied only under an equal key, so it is the one that this run would measure, except for its times. The keys
of an unverified run were written by its author, so such a run must also assign the key to the same trial on the same
data and folds, against which its arrays were checked. Failures that a repetition may avoid (timeout, memory, crash) are
not copied. Other runs are only read.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path

from mfbench.base.text import counted, listing
from mfbench.errors import RunError
from mfbench.model.earlier import EarlierRun
from mfbench.model.trials import Status
from mfbench.run.merging import differing_data, insert, machine_of
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.metadata import Environment, Reused, RunMetadata, code_of, differences_of
from mfbench.run.store.store import Store
from mfbench.suite.plan import Plan, is_shard_folder_name

_OTHER_CONTENT = "data, parameters or protocol"
Keys = dict[str, list[str]]


def copied_statuses(*, retry_failed: bool) -> tuple[Status, ...]:
    """Return the statuses of results to copy."""
    return (Status.OK,) if retry_failed else (Status.OK, Status.ERROR)


@contextmanager
def opened_sources(sources: Iterable[Iterable[EarlierRun]]) -> Iterator[Iterator[EarlierRun]]:
    """Yield the runs of all sources, then close the sources."""
    # The first run of each source is requested at once, so that an unusable source is rejected before anything is
    # written.
    with ExitStack() as stack:
        runs: list[Iterable[EarlierRun]] = []
        for source in sources:
            rest = iter(source)
            stack.callback(getattr(rest, "close", lambda: None))
            runs += [tuple(islice(rest, 1)), rest]
        yield chain.from_iterable(runs)


def reuse_results(
    plan: Plan,
    store: Store,
    statuses: Collection[Status],
    runs: Iterable[EarlierRun],
    retried: Collection[Status] = (),
) -> list[str]:
    """Copy results of a plan from other runs, record their origin, and return the remarks on them."""
    # The first run with a result provides it, also in place of a stored one with a status in `retried`. Nothing is
    # copied if the protocol measures times, which are comparable only if measured together.
    planned = {trial.key for trial in plan.trials}
    # The record covers keys outside this plan too; results measured here leave it when they are stored.
    before, present = store.reused(), store.finished()
    kept = {name: own for name, keys in before.keys.items() if (own := [key for key in keys if key in present])}
    reused = Reused(keys=kept, differences=before.differences, bundles=before.bundles)
    notes: list[str] = []
    missing, n_copied = planned - store.finished(retried), 0
    for run in runs:
        if plan.loaded.spec.times:
            if run.is_requested:
                notes.append(f"No results of {run.name} were used: times compare if measured together.")
            continue
        if missing:
            try:
                reused = _reuse_from(run, plan, store, missing, statuses, reused, notes)
            except (RunError, ValueError) as error:  # ValueError: invalid metadata
                if run.is_requested:
                    raise
                if run.folder.parent == store.folder.parent:  # a run of another suite is not expected to have any
                    reason = f"because the run cannot be read: {error}."
                    notes.append(f"Results of {run.folder.name} were not used again, {reason}")
            n_before, missing = len(missing), planned - store.finished(retried)
            n_copied += 0 if run.is_requested else n_before - len(missing)
        if run.is_requested:
            notes += _other_keys(run, plan)
    is_or_are = "is" if n_copied == 1 else "are"
    count = f"{n_copied:,} of {counted(len(planned), 'result')} {is_or_are} reused from earlier runs"
    store.record("reused", reused.model_copy(update={"passed_over": notes}).model_dump(mode="json"))
    return [*([f"{count}; --fresh measures everything again."] if n_copied else []), *notes]


def earlier_runs(plan: Plan, folder: Path) -> Iterator[EarlierRun]:
    """Yield the other runs in the reports folder, starting with runs of the same suite."""
    # A shard has many sibling shards, so it considers whole runs only.
    files = sorted(folder.parent.glob(f"*/{FILE_NAME}"))
    if folder.parent.name == plan.loaded.suite.suite.name:  # otherwise the run is not in a reports folder
        files += [file for file in sorted(folder.parent.parent.glob(f"*/*/{FILE_NAME}")) if file not in files]
    for other in (file.parent for file in files):
        names = (other.name,) if other.parent == folder.parent else (other.parent.name, other.name)
        is_hidden = any(name.startswith(".") for name in names)  # e.g. a run that is being written
        if other != folder and not is_hidden and (plan.shard is None or not is_shard_folder_name(other.name)):
            yield EarlierRun("/".join(names), other)


def offered_keys(store: Store, missing: Collection[str], statuses: Collection[Status]) -> set[str]:
    """Return the missing keys for which a store has a result with one of the statuses."""
    if set(missing).isdisjoint(key for (key,) in store.raw("SELECT key FROM plan")):
        return set()  # saves verifying the checksums of all results
    return store.finished(without=set(Status).difference(statuses)).intersection(missing)


def _foreign_keys(run: EarlierRun, plan: Plan, differing: Mapping[str, str]) -> dict[str, set[str]]:
    """Return, by reason, the keys that a run assigns to trials or data other than the plan's."""
    # `differing` maps each dataset label whose data or folds differ from the run's to a clause.
    with Store(run.folder, read_only=True) as other:
        query = (
            "SELECT p.key, p.dataset, p.method, p.repeat, p.fold, d.sha256 FROM plan p "
            "JOIN trials t ON t.key = p.key LEFT JOIN datasets d ON d.label = p.dataset"
        )
        there = {key: tuple(place) for key, *place in other.raw(query)}
    places = {
        trial.key: (trial.dataset, trial.method, trial.repeat, trial.fold, plan.datasets[trial.dataset].sha256)
        for trial in plan.trials
    }
    foreign: dict[str, set[str]] = {}
    for key, place in there.items():
        if key in places and places[key] != place:
            foreign.setdefault("its plan gives their keys to other trials", set()).add(key)
        elif key in places and place[0] in differing:
            foreign.setdefault(differing[place[0]], set()).add(key)
    return foreign


def _other_keys(run: EarlierRun, plan: Plan) -> Iterator[str]:
    """Yield a sentence about planned trials that a run has under other keys, or about a run that has none of them."""
    with Store(run.folder, read_only=True) as other:
        meta = other.meta()
        query = "SELECT p.dataset, p.method, p.repeat, p.fold, p.key FROM plan p JOIN trials t ON t.key = p.key"
        keys = {tuple(place): key for *place, key in other.raw(query)}
    places = [(trial.dataset, trial.method, trial.repeat, trial.fold) for trial in plan.trials]
    shared = [(trial, keys[place]) for trial, place in zip(plan.trials, places, strict=True) if place in keys]
    if not shared:
        yield f"{run.name} has no result of a trial of this run: it is of suite {meta.name}, profile {meta.profile}."
    here = code_of(plan)
    counter: Counter[str] = Counter()
    number = 0
    for trial, key in shared:
        if key != trial.key:
            number += 1
            counter.update(differences_of(meta.code, here, trial.dataset, trial.method) or [_OTHER_CONTENT])
    if number:
        clauses = "; ".join(
            clause if count == number else f"{clause} ({counted(count, 'trial')})" for clause, count in counter.items()
        )
        yield f"{counted(number, 'result')} of {run.name} could not be used here, where these differ: {clauses}."


def _reuse_from(
    run: EarlierRun,
    plan: Plan,
    store: Store,
    missing: set[str],
    statuses: Collection[Status],
    reused: Reused,
    notes: list[str],
) -> Reused:
    """Copy the results of one run with the record of their origin: all of them or, on an error, none."""
    if not run.is_verified:
        reused = reused.model_copy(update={"bundles": list(dict.fromkeys([*reused.bundles, run.name]))})
        foreign = _foreign_keys(run, plan, differing_data(run.folder, store.folder))
        notes += [
            f"{counted(len(own), 'result')} of {run.name} could not be used here, because {reason}."
            for reason, own in foreign.items()
        ]
        missing = missing.difference(*foreign.values())
    with Store(run.folder, read_only=True) as other:
        other.freeze()
        keys = sorted(offered_keys(other, missing, statuses))
        if not keys:
            return reused
        meta = other.meta()
        if not run.has_origins:
            meta = meta.model_copy(update={"reused": Reused()})
        reused = _with_origins(reused, run.name, keys, meta, store.meta().environment)
        rows = other.raw("SELECT * FROM trials WHERE key IN (SELECT value FROM json_each(?))", [json.dumps(keys)])
        with store.writing() as db:
            insert(db, "trials", rows, replace=True)
            store.record("reused", reused.model_dump(mode="json"))
    return reused


def _with_origins(reused: Reused, name: str, keys: list[str], meta: RunMetadata, here: Environment) -> Reused:
    """Return the record with additional results; results that the other run had copied keep their original source."""
    origins = {key: origin for origin, theirs in meta.reused.keys.items() for key in theirs}
    replaced = set(keys)
    rest = {origin: [key for key in own if key not in replaced] for origin, own in reused.keys.items()}
    names: Keys = {origin: own for origin, own in rest.items() if own}
    for key in keys:
        names.setdefault(origins.get(key, name), []).append(key)
    differences = {origin: text for origin, text in meta.reused.differences.items() if origin in names}
    if difference := _difference(meta.environment, here):
        differences[name] = difference
    bundles = dict.fromkeys([*reused.bundles, *(each for each in meta.reused.bundles if each in names)])
    return reused.model_copy(
        update={"keys": names, "differences": {**differences, **reused.differences}, "bundles": list(bundles)}
    )


def _difference(there: Environment, here: Environment) -> str:
    parts = [machine_of(there)] if machine_of(there) != machine_of(here) else []
    return ", ".join([*parts, *([counted(there.jobs, "worker")] if there.jobs != here.jobs else [])])


def remarks_on_reuse(reused: Reused, results: Collection[str]) -> list[str]:
    """Return a sentence on the results reused from earlier runs, and one on each run that was skipped."""
    present = set(results)
    counts = {name: len(present.intersection(keys)) for name, keys in reused.keys.items()}
    total = sum(counts.values())
    if not total:
        return list(reused.passed_over)
    listed = ", ".join(
        f"{count:,} from {name}{f' ({reused.differences[name]})' if name in reused.differences else ''}"
        for name, count in counts.items()
        if count
    )
    kinds = {"unverified bundles" if name in reused.bundles else "earlier runs" for name, n in counts.items() if n}
    sources = listing(sorted(kinds))
    return [
        f"{total:,} of {len(present):,} results are from {sources}, and so are their times: {listed}.",
        *reused.passed_over,
    ]
