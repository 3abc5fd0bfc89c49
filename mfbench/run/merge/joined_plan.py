"""The plan of joined runs: which trials it has, in which order, and which part of a whole plan that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from mfbench.base.wording import counted, listing
from mfbench.errors import RunError
from mfbench.run.merge.compatibility import RecordedRun
from mfbench.run.store.metadata import RecordedShard
from mfbench.suite.shards import digest_of

MOST_NAMED = 20
# Dataset, method, repeat and fold of a trial.
Coordinates = tuple[str, str, int, int]


@dataclass(frozen=True)
class SourceRun(RecordedRun):
    """A run to join."""

    # Position, key and coordinates of each trial that the run planned, in the plan's order.
    plan: list[tuple[int, str, Coordinates]]
    statuses: dict[str, str]  # the status of each result, by its key
    checked: set[str]  # the tables of its store that have been compared with their checksums

    @cached_property
    def digest(self) -> str:
        """Identifies the whole plan, of which the run may be a shard."""
        recorded = "" if self.meta.shard is None else self.meta.shard.digest
        return recorded or digest_of(key for _, key, _ in self.plan)


@dataclass(frozen=True)
class JoinedPlan:
    """The trials of joined runs."""

    keys: dict[Coordinates, str]  # the key of each trial, in the order of the joined run
    positions: list[int]  # where each is stored in the order of the plan
    shard: RecordedShard | None  # which part of a plan these are; None if nothing is known to be missing


def joined_plan(runs: Sequence[SourceRun], methods: Sequence[str]) -> JoinedPlan:
    """Return the trials that runs planned."""
    # Runs of one plan are ordered as in this plan, in any order of the runs. Others come one after the other: the
    # datasets and methods of the first, then those that only the next has.
    is_one_plan = len({run.digest for run in runs}) == 1
    rows = [(position, run, key, place) for run in runs for position, key, place in run.plan]
    if is_one_plan:
        rows.sort(key=lambda row: row[0])
    positions: dict[Coordinates, int] = {}
    chosen: dict[Coordinates, tuple[str, SourceRun]] = {}
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
    """Return the coordinates of a trial as a part of a sentence."""
    dataset, method, repeat, fold = place
    return f"{method} on {dataset} in repeat {repeat}, fold {fold}"


def remarks_on_plan(runs: Sequence[SourceRun], plan: JoinedPlan) -> list[str]:
    """Return a sentence on each part of a plan that is missing, and on runs that divide different plans."""
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
