"""Merging runs: one store with the datasets, splits, plans and results of several.

Rows are copied as stored, so the numbers of a merged run are bit-identical. Each store is opened as for a report:
SQLite's ``ATTACH`` would also copy damaged rows, and cannot read a store in a read-only folder.
"""

import glob
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from mfbench.base.text import counted, diff, first_clauses, listing, union
from mfbench.errors import NeverStartedError, RunError, UsageError, explained
from mfbench.model.trials import Status
from mfbench.run.store import checksums, file, formats
from mfbench.run.store.metadata import Environment, RecordedShard, RunMetadata, joined_code
from mfbench.run.store.store import Store
from mfbench.suite.plan import digest_of

REPLACED = ("meta", "plan", "datasets", "left_out")
"""The tables that describe a run as a whole, and are replaced; results and splits are only ever added."""


@contextmanager
def changed_store(target: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a folder's store in a transaction, which is rolled back if the block raises."""
    path = target / file.FILE_NAME
    is_new = not path.exists()
    absent = [folder for folder in (target, *target.parents) if not folder.exists()]
    with (
        explained(RunError, partial(file.reason_of, path), *file.FILE_ERRORS),
        explained(RunError, lambda reason: f"cannot write to {target}: {reason}", OSError),
        _removed_on_error(absent),
    ):
        target.mkdir(parents=True, exist_ok=True)
        # Inside the target, because a folder next to it, left by a killed process, would look like a run.
        with tempfile.TemporaryDirectory(prefix=file.REMNANT, dir=target) as folder:
            work = Path(folder) / file.FILE_NAME if is_new else path
            with closing(file.open_store(work, read_only=False)) as db, file.transaction(db):
                for table in REPLACED:
                    db.execute(f"DELETE FROM {table}")
                yield db
                checksums.fill_checksums(db)
                checksums.seal(db, *checksums.WHOLE)
            if is_new:
                for suffix in ("-wal", "-shm"):
                    path.with_name(f"{file.FILE_NAME}{suffix}").unlink(missing_ok=True)  # left by a deleted store
                work.replace(path)


@contextmanager
def _removed_on_error(folders: Iterable[Path]) -> Iterator[None]:
    """Remove newly created folders if the block raises."""
    try:
        yield
    except BaseException:
        for folder in folders:
            with suppress(OSError):
                folder.rmdir()
        raise


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]], *, replace: bool = False) -> None:
    """Insert full rows into a table; a row with an existing key is skipped, or replaces the existing one."""
    (width,) = db.execute(f"SELECT COUNT(*) FROM pragma_table_info('{table}')").fetchone()
    verb = "REPLACE" if replace else "IGNORE"
    db.executemany(f"INSERT OR {verb} INTO {table} VALUES ({', '.join('?' * width)})", rows)


_LIMITS = ("timeout", "memory")
# These do not determine a result: the form's values are compared key by key, and the curves by method.
_MAY_DIFFER = {"form", "curve", *_LIMITS}
_UNITED = (
    "published", "selection", "methods", "names", "rules", "curves", "classifiers", "weighted", "takes_numbers",
    "real_valued", "classes", "dropped_classes", "unsuited", "needs_dense", "feature_groups", "reused", "machines",
)  # fmt: skip


# Dataset, method, repeat and fold of a trial.
Coordinates = tuple[str, str, int, int]


@dataclass(frozen=True)
class RecordedRun:
    """A run to merge: what decides whether it can be merged with others, and its trials."""

    folder: Path  # the run folder as shown in messages
    meta: RunMetadata
    hashes: Mapping[str, str]  # the content hash of each dataset used, by label
    # Position, key and coordinates of each planned trial, in plan order.
    plan: Sequence[tuple[int, str, Coordinates]] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)  # the status of each result by key
    checked: set[str] = field(default_factory=set)  # the tables of its store whose checksums have been verified

    @cached_property
    def digest(self) -> str:
        """Identifier of the whole plan, of which the run may be a shard."""
        recorded = "" if self.meta.shard is None else self.meta.shard.digest
        return recorded or digest_of(key for _, key, _ in self.plan)


def check_compatible(runs: Sequence[RecordedRun]) -> None:
    """Raise `RunError` unless the runs can be merged."""
    united: dict[str, Any] = {}
    for run in runs:
        own = _identity(run)
        if any(diff(united, own, shared=True)):
            pairs = ((other, list(diff(_identity(other), own, shared=True))) for other in runs)
            other, differences = next(pair for pair in pairs if pair[1])
            clauses = first_clauses(each.clause("in the first", "in the second") for each in differences)
            raise RunError(f"{other.folder} and {run.folder} cannot be joined: {clauses}")
        united = union([united, own])


def _identity(run: RecordedRun) -> dict[str, Any]:
    """Return the document on which merged runs must agree wherever they have the same labels."""
    meta = run.meta
    return {
        "suite": meta.name,
        "seed": meta.seed,
        "task": meta.task.name,
        "protocol": meta.protocol.model_dump(exclude=_MAY_DIFFER),
        "splits": meta.protocol_key,
        "report": meta.report.model_dump(exclude={"reference", "labels"}),
        "sha256 of": dict(run.hashes),
        "method": {label: _definition(meta, label) for label in meta.methods},
    }


def _definition(meta: RunMetadata, label: str) -> dict[str, Any]:
    aspects: dict[str, Any] = {"steps": meta.methods[label]}
    for name, recorded in (("top", meta.rules), ("curve", meta.curves), ("selection", meta.selection)):
        if label in recorded:
            value = recorded[label]
            aspects[name] = value if isinstance(value, str | int | float | list) else value.model_dump()
    if label in meta.selection:
        # The steps abbreviate a long list of values, so the suite's own entry is compared.
        for entry in (meta.suite.model_extra or {}).get("methods", ()):
            if entry["label"] == label and (not entry.get("profiles") or meta.profile in entry["profiles"]):
                aspects["tune"] = entry.get("tune")
    return aspects


def joined_metadata(runs: Sequence[RecordedRun]) -> RunMetadata:
    """Return the metadata of the merged run."""
    # Datasets, methods and published figures are the union over all runs, in the order of the first run, then of the
    # next. The reference is the first one that a run names. All other fields that may differ come from the first run.
    metas = [run.meta for run in runs]
    first, columns = metas[0], [meta.to_columns() for meta in metas]
    content = [each["suite"] for each in columns]
    references = [meta.report.reference for meta in metas if meta.report.reference is not None]
    # The suite file may have been edited between the runs.
    suite = content[0] | union(
        {name: each[name] for name in ("datasets", "methods") if name in each} for each in content
    )
    suite["report"]["reference"] = references[0] if references else None
    return RunMetadata.model_validate(
        {
            **columns[0],
            **union({name: each[name] for name in _UNITED} for each in columns),
            **_restriction(runs),
            "suite": suite,
            "code": joined_code([meta.code for meta in metas]),
            "ended_budget": max(meta.ended_budget for meta in metas),
            # The merged run has no command line of its own.
            "environment": first.environment.model_copy(update={"command": []}),
            "other_environments": other_environments(first.environment, _environments(runs)),
        }
    )


def _restriction(runs: Sequence[RecordedRun]) -> dict[str, Any]:
    """Return the fields that restrict the merged run to the content of its parts; empty if all parts have the same."""
    # Patterns of different runs cannot simply be combined: "iris" and "A" match all methods on iris and A on all
    # datasets, but both together match only A on iris. So the labels replace them, unless a part is the whole suite.
    first = runs[0].meta
    restrictions = [(run.meta.part_patterns, run.meta.only, run.meta.part) for run in runs]
    if all(each == restrictions[0] for each in restrictions):
        return {}
    labels = [label for run in runs for label in run.hashes] + [label for run in runs for label in run.meta.methods]
    is_whole = any(not (patterns or only) for patterns, only, _ in restrictions)
    patterns = [] if is_whole else [glob.escape(label) for label in dict.fromkeys(labels)]
    command = list(first.command)
    if first.part:
        place = command.index("--part")
        del command[place : place + 2]
    if "--only" in command:  # the patterns are its last words
        command = command[: command.index("--only")]
    command += [word for pattern in patterns for word in ("--only", pattern)]
    return {"part": "", "part_patterns": [], "only": patterns, "command": command}


def other_environments(first: Environment, environments: Iterable[Environment]) -> list[Environment]:
    """Return the environments that differ from the first and from each other in versions, machine or workers."""
    differing: dict[tuple[tuple[str, str], ...], Environment] = {}
    for each in (first, *environments):
        differing.setdefault(tuple(_facts(each).items()), each)
    return [each.model_copy(update={"command": []}) for each in list(differing.values())[1:]]


def _environments(runs: Sequence[RecordedRun]) -> list[Environment]:
    return [each for run in runs for each in (run.meta.environment, *run.meta.other_environments)]


def remarks_on_environments(environments: Iterable[Environment]) -> list[str]:
    """Return a sentence on the differences between machines and software of merged runs; empty if there are none."""
    return _remark(map(_facts, environments), "their times and memory may not compare")


def remarks_on(runs: Sequence[RecordedRun]) -> list[str]:
    """Return one sentence for each kind of difference that readers of the merged report should know."""
    limits = [{name: f"{getattr(run.meta.protocol, name):g}" for name in _LIMITS} for run in runs]
    references = [{"reference": run.meta.report.reference} for run in runs if run.meta.report.reference is not None]
    return [
        *remarks_on_environments(_environments(runs)),
        *_remark(limits, "a trial that failed in one may succeed in another"),
        *_remark(references, "the first one is used unless another is chosen"),
    ]


def _remark(tables: Iterable[Mapping[str, str]], consequence: str) -> list[str]:
    values = union({name: [value] for name, value in table.items()} for table in tables)
    several = [f"{name} ({listing(each)})" for name, each in values.items() if len(each) > 1]
    return [f"The joined runs differ in {listing(several)}; {consequence}."] if several else []


def _facts(environment: Environment) -> dict[str, str]:
    """Return versions, machine and number of workers by name."""
    facts = {"mfbench": environment.mfbench, "Python": environment.python}
    if environment.git_commit:
        facts["commit"] = environment.git_commit[:7]
    facts |= {name: version for name, version in environment.libraries.items() if version is not None}
    for plugin in environment.plugins:  # "package version (module)", or a module outside any package
        words = plugin.split()
        if len(words) == 3:
            facts.setdefault(words[0], words[1])
    return facts | {"machine": machine_of(environment), "workers": str(environment.jobs)}


def machine_of(environment: Environment) -> str:
    """Return the kind of machine: processor, number of processors and system."""
    number = f" × {environment.cpus}" if environment.cpus else ""
    system = f" ({environment.system})" if environment.system else ""
    return f"{environment.cpu}{number}{system}"


MOST_NAMED = 20


@dataclass(frozen=True)
class JoinedPlan:
    """The trials of merged runs."""

    keys: dict[Coordinates, str]  # the key of each trial, in the order of the merged run
    positions: list[int]  # the stored plan position of each trial
    shard: RecordedShard | None  # the part of a plan that these form; None if nothing is known to be missing


def joined_plan(runs: Sequence[RecordedRun], methods: Sequence[str]) -> JoinedPlan:
    """Return the union of the planned trials."""
    # Runs of one plan keep this plan's order, in any order of the runs. Other runs follow one another: the datasets and
    # methods of the first, then those that only the next has.
    is_one_plan = len({run.digest for run in runs}) == 1
    rows = [(position, run, key, place) for run in runs for position, key, place in run.plan]
    if is_one_plan:
        rows.sort(key=lambda row: row[0])
    positions: dict[Coordinates, int] = {}
    chosen: dict[Coordinates, tuple[str, RecordedRun]] = {}
    for position, run, key, place in rows:
        before, planner = chosen.setdefault(place, (key, run))
        positions.setdefault(place, position)
        if key in run.statuses:
            if before != key and before in planner.statuses:
                raise RunError(
                    f"{planner.folder} and {run.folder} measured {named(place)} with different versions of code or "
                    "libraries, so their keys differ; repeat the command of the older run"
                )
            chosen[place] = key, run
    keys = {place: key for place, (key, _) in chosen.items()}
    shard = _joined_shard([run.meta.shard for run in runs], len(keys), is_one_plan=is_one_plan)
    if is_one_plan:
        return JoinedPlan(keys, list(positions.values()), shard)
    first_seen = _ranks(dataset for dataset, *_ in keys)
    ranks = _ranks([*methods, *(method for _, method, *_ in keys)])
    places = sorted(keys, key=lambda place: (first_seen[place[0]], *place[2:], ranks[place[1]]))
    return JoinedPlan({place: keys[place] for place in places}, list(range(len(places))), shard)


def _ranks(labels: Iterable[str]) -> dict[str, int]:
    return {label: rank for rank, label in enumerate(dict.fromkeys(labels))}


def _joined_shard(
    recorded: Sequence[RecordedShard | None], n_planned: int, *, is_one_plan: bool
) -> RecordedShard | None:
    shards = [shard for shard in recorded if shard is not None]
    n_trials = max((shard.n_trials for shard in shards), default=0)
    if n_planned >= n_trials:
        return None
    first = shards[0]
    digest = first.digest if is_one_plan else ""
    if len({shard and (shard.run, shard.of, shard.batch) for shard in recorded}) > 1:
        return RecordedShard(run=first.run, digest=digest, n_trials=n_trials)
    numbers = sorted({number for shard in shards for number in shard.numbers})
    return first.model_copy(update={"numbers": numbers, "n_trials": n_trials, "digest": digest})


def named(place: Coordinates) -> str:
    """Return a trial's coordinates for use in a sentence."""
    dataset, method, repeat, fold = place
    return f"{method} on {dataset} in repeat {repeat}, fold {fold}"


def remarks_on_plan(runs: Sequence[RecordedRun], plan: JoinedPlan) -> list[str]:
    """Return one sentence for each missing part of a plan, and one if runs belong to different plans."""
    shards = [run for run in runs if run.meta.shard is not None]
    remarks = [
        f"{run.folder} and {shards[0].folder} are shards of different plans, so some trials may be in no shard, and "
        "some in two."
        for run in shards[1:]
        if run.digest != shards[0].digest
    ][:1]
    if plan.shard is None:
        cells = {(dataset, method) for dataset, method, _, _ in plan.keys}
        n_datasets, n_methods = len({dataset for dataset, _ in cells}), len({method for _, method in cells})
        if missing := n_datasets * n_methods - len(cells):
            size = f"{counted(n_datasets, 'dataset')} × {counted(n_methods, 'method')}"
            remarks.append(f"No run has {counted(missing, 'cell')} of {size}.")
    elif absent := sorted(set(range(1, plan.shard.of + 1)) - set(plan.shard.numbers)):
        shown = listing(absent) if len(absent) <= MOST_NAMED else f"{absent[0]} … ({len(absent)} in all)"
        noun, verb = ("Shards", "are") if len(absent) > 1 else ("Shard", "is")
        remarks.append(f"{noun} {shown} of {plan.shard.of} {verb} missing.")
    return remarks


_COLUMNS = {**checksums.WHOLE, "trials": (*checksums.TRIAL_COLUMNS, "checksum")}


def merge_runs(sources: Sequence[Path], target: Path) -> list[str]:
    """Merge runs of one suite: write a run with all their trials, or add the trials to an existing run."""
    # Datasets and methods keep the order of the first run, then of the next; shards keep the order of their plan. If
    # several runs have a result for a trial, the first success is kept, or else the first failure. A dataset or method
    # that any run has is not left out.
    #
    # The merge is atomic, even if the process is killed. No other process may write to the target, so callers that pass
    # a folder of runs must lock it.
    if not sources:
        raise UsageError("there is nothing to join; name at least one run")
    is_new = not (target / file.FILE_NAME).exists()
    folders = list({folder.resolve(): folder for folder in (*([] if is_new else [target]), *sources)}.values())
    runs: list[RecordedRun] = []
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
    planned = [run for run in runs if run.plan] or runs  # a report cannot show a method without trials
    metadata = joined_metadata(planned)
    plan = joined_plan(runs, list(metadata.methods))
    metadata = metadata.model_copy(update={"shard": plan.shard, "out": _out(metadata, plan, target, is_new=is_new)})
    with changed_store(target) as db:
        insert(db, "meta", ((name, json.dumps(value)) for name, value in metadata.to_columns().items()))
        rows = zip(plan.positions, plan.keys.items(), strict=True)
        insert(db, "plan", ((position, key, *place) for position, (place, key) in rows))
        _copy(db, runs, planned, plan, target)
    return [*remarks, *remarks_on(runs), *remarks_on_plan(runs, plan)]


def _read(folder: Path) -> tuple[RecordedRun, list[str]]:
    """Return the properties that decide a run's merge, and a remark if any of its results are damaged."""
    checked: set[str] = set()
    with Store(folder, read_only=True, checked=checked) as store:
        store.freeze()
        hashes = dict(store.raw("SELECT label, sha256 FROM datasets"))
        query = "SELECT position, key, dataset, method, repeat, fold FROM plan ORDER BY position"
        plan: list[Any] = [(position, key, tuple(place)) for position, key, *place in store.raw(query)]
        statuses = dict(store.raw("SELECT key, status FROM trials"))
        return RecordedRun(folder, store.meta(), hashes, plan, statuses, checked), file.remark_on_damage(store.damaged)


def _out(metadata: RunMetadata, plan: JoinedPlan, target: Path, *, is_new: bool) -> str:
    """Return the reports folder in which a suite command finds the merged run; empty if none does."""
    if target.name in {shard.run for shard in (metadata.shard, plan.shard) if shard is not None}:
        return target.parent.parent.as_posix()
    return "" if is_new else metadata.out


def _copy(
    db: sqlite3.Connection, runs: Sequence[RecordedRun], planned: Sequence[RecordedRun], plan: JoinedPlan, target: Path
) -> None:
    """Copy datasets, splits and results; of several results of a trial, the first success or else the first one."""
    used = {label for run in planned for label in (*run.hashes, *run.meta.methods)}
    places = {key: place for place, key in plan.keys.items()}
    splitters: dict[tuple[Any, ...], RecordedRun] = {}
    keepers: dict[str, RecordedRun] = {}
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
            if run.folder.resolve() != target.resolve():  # the target already has its own results
                for row in _rows(store, "trials"):
                    _copy_result(db, run, row, keepers, places)


def _rows(store: Store, table: str) -> Iterator[tuple[Any, ...]]:
    columns = _COLUMNS[table]  # by name, because damage may have renamed a column
    return store.raw(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {columns[0]}")


def _copy_split(
    db: sqlite3.Connection, run: RecordedRun, row: tuple[Any, ...], splitters: dict[tuple[Any, ...], RecordedRun]
) -> None:
    """Copy the split of a fold, or check that it equals another run's: predictions refer to its rows."""
    place = row[:4]
    splitter = splitters.setdefault(place, run)
    if splitter is run:
        insert(db, "splits", [row])
        return
    (stored,) = db.execute("SELECT * FROM splits WHERE (sha256, protocol, repeat, fold) = (?, ?, ?, ?)", place)
    # Another zlib build changes the bytes of a packed array, not its values.
    if stored != row and [*map(_numbers, stored)] != [*map(_numbers, row)]:
        dataset = place[1].removeprefix(f"{run.meta.protocol_key}:")
        raise RunError(
            f"{splitter.folder} and {run.folder} cannot be joined: they split the rows of {dataset} differently in "
            f"repeat {place[2]}, fold {place[3]}"
        )


def _copy_result(
    db: sqlite3.Connection,
    run: RecordedRun,
    row: tuple[Any, ...],
    keepers: Mapping[str, RecordedRun],
    places: Mapping[str, Coordinates],
) -> None:
    """Copy a result if it is the one to keep, or check that it equals that one if both succeeded."""
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
    """Return results as text, in which NaN equals NaN, without times, which differ between repetitions."""
    values = dict(zip(_COLUMNS["trials"], row, strict=True))
    points = formats.unpack_candidates(values["candidates"]) if values["candidates"] else []
    curve = formats.unpack_curve(values["curve"]) if values["curve"] else None
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
    """Return an array, packed or not, as a list; other values unchanged."""
    value = formats.unpack(value) if isinstance(value, bytes) else value
    return value.tolist() if isinstance(value, np.ndarray) else value


_DATA_COLUMNS = ("n_samples", "n_features", "truth", "class_names", "feature_names", "relevant", "interactions")


def differing_data(claimed: Path, here: Path) -> dict[str, str]:
    """Return the differences between the data of two runs by dataset label."""
    there, ours = _data(claimed), _data(here)
    clauses = {}
    for label in (label for label in ours if label in there):
        if names := [each.path for each in diff(ours[label], there[label], shared=True)]:
            clauses[label] = f"the bundle's data of {label} are not those here: {', '.join(names)}"
    return clauses


def _data(folder: Path) -> dict[str, dict[str, Any]]:
    data = {}
    with Store(folder, read_only=True) as store:
        protocol = store.meta().protocol_key
        for row in store.datasets():
            own = data[row["label"]] = {name: _numbers(row[name]) or [] for name in _DATA_COLUMNS}
            for (repeat, fold), rows in store.splits(row["sha256"], f"{protocol}:{row['label']}").items():
                own[f"rows of repeat {repeat}, fold {fold}"] = [*map(_numbers, vars(rows).values())]
    return data
