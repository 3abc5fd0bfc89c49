"""The plan of joined runs: which trials it has, in which order, and which part of a whole plan that is."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from mfbench.base.wording import counted, listing
from mfbench.errors import RunError
from mfbench.run.merge.compatibility import RecordedRun
from mfbench.run.store.metadata import RecordedShare
from mfbench.run.store.store import Store
from mfbench.suite.shares import digest_of

MOST_NAMED = 20
# Dataset, method, repeat and fold of a trial.
Coordinates = tuple[str, str, int, int]


@dataclass(frozen=True)
class Source(RecordedRun):
    """A run to join, open for reading."""

    store: Store
    statuses: dict[str, str]  # the status of each result, by its key

    @property
    def plan(self) -> Iterator[tuple[int, str, Coordinates]]:
        """Position, key and coordinates of each trial that the run planned, in the plan's order."""
        for position, key, *place in self.store.raw(
            "SELECT position, key, dataset, method, repeat, fold FROM plan ORDER BY position"
        ):
            yield position, key, (place[0], place[1], place[2], place[3])

    @cached_property
    def digest(self) -> str:
        """That of the whole plan of which the run has a part or everything; empty if there is no such plan."""
        if self.meta.share is not None:
            return self.meta.share.digest
        return digest_of(key for _, key, _ in self.plan)


@dataclass(frozen=True)
class JoinedPlan:
    """The trials of joined runs."""

    keys: dict[Coordinates, str]  # the key of each trial, in the order of the joined run
    positions: list[int]  # where each is stored in the order of the plan
    share: RecordedShare | None  # which part of a plan these are; None if nothing is known to be missing


def joined_plan(runs: Sequence[Source], methods: Sequence[str]) -> JoinedPlan:
    """Return the trials that runs planned."""
    # Shares of one plan, and the whole run, are ordered as in this plan, in whatever order they are joined. Other runs
    # come one after the other: the datasets and methods of the first, then those that only the next has.
    divided = any(run.meta.share is not None for run in runs)
    plans: dict[str, list[Source]] = {}
    for number, run in enumerate(runs):
        plans.setdefault((run.digest if divided else "") or f"plan of run {number}", []).append(run)
    positions: dict[Coordinates, int] = {}
    keys: dict[Coordinates, str] = {}
    planners: dict[Coordinates, Source] = {}
    for members in plans.values():
        for position, run, key, place in _in_order(members):
            planner = planners.get(place)
            if planner is not None and keys[place] != key:
                if key not in run.statuses:
                    continue
                if keys[place] in planner.statuses:
                    raise RunError(
                        f"{planner.folder} and {run.folder} measured {named(place)} with different versions of code "
                        "or libraries, so their keys differ; repeat the command of the older run"
                    )
            if planner is None or key in run.statuses:
                keys[place], planners[place] = key, run
                positions.setdefault(place, position)
    share = _joined_share(runs, len(keys), is_one_plan=len(plans) == 1)
    if divided and len(plans) == 1:
        return JoinedPlan(keys, [positions[place] for place in keys], share)
    first_seen = _ranks(dataset for dataset, *_ in keys)
    ranks = _ranks([*methods, *(method for _, method, *_ in keys)])
    places = sorted(keys, key=lambda place: (first_seen[place[0]], *place[2:], ranks[place[1]]))
    return JoinedPlan({place: keys[place] for place in places}, list(range(len(places))), share)


def _in_order(runs: Sequence[Source]) -> Iterator[tuple[int, Source, str, Coordinates]]:
    """Yield the rows of the plans of runs by their positions; those of one position in the order of the runs."""

    def rows(number: int, run: Source) -> Iterator[tuple[int, int, Source, str, Coordinates]]:
        return ((position, number, run, key, place) for position, key, place in run.plan)

    merged = heapq.merge(*(rows(number, run) for number, run in enumerate(runs)), key=lambda row: row[:2])
    return ((position, run, key, place) for position, _, run, key, place in merged)


def _ranks(labels: Iterable[str]) -> dict[str, int]:
    return {label: rank for rank, label in enumerate(dict.fromkeys(labels))}


def _joined_share(runs: Sequence[Source], n_planned: int, *, is_one_plan: bool) -> RecordedShare | None:
    shares = [run.meta.share for run in runs if run.meta.share is not None]
    n_trials = max((share.n_trials for share in shares), default=0)
    if n_planned >= n_trials:
        return None
    first = shares[0]
    if len(shares) < len(runs) or any((share.division, share.run) != (first.division, first.run) for share in shares):
        return RecordedShare(run=first.run, digest=first.digest if is_one_plan else "", n_trials=n_trials)
    numbers = sorted({number for share in shares for number in share.numbers})
    return first.model_copy(
        update={"numbers": numbers, "n_trials": n_trials, "digest": first.digest if is_one_plan else ""}
    )


def named(place: Coordinates) -> str:
    """Return the coordinates of a trial as a part of a sentence."""
    dataset, method, repeat, fold = place
    return f"{method} on {dataset} in repeat {repeat}, fold {fold}"


def remarks_on_plan(runs: Sequence[Source], plan: JoinedPlan) -> list[str]:
    """Return a sentence on each part of a plan that is missing, and on runs that divide different plans."""
    remarks = _absent_cells(plan.keys) if plan.share is None else []
    shares = [(run, run.meta.share) for run in runs if run.meta.share is not None]
    for run, share in shares[1:]:
        if share.digest != shares[0][1].digest:
            remarks.append(
                f"{run.folder} is part of another plan than {shares[0][0].folder} ({share.n_trials} instead of "
                f"{counted(shares[0][1].n_trials, 'trial')}, or other versions), so some trials may be in no "
                f"{share.kind or 'part'}, and some in two."
            )
            break
    if plan.share is not None:
        missing = sorted(set(range(1, plan.share.of + 1)) - set(plan.share.numbers)) if plan.share.kind else []
        if missing:
            several = len(missing) > 1
            noun = plan.share.kind.capitalize() + ("s" if several else "")
            shown = listing(missing) if len(missing) <= MOST_NAMED else f"{missing[0]} … ({len(missing)} in all)"
            remarks.append(f"{noun} {shown} of {plan.share.of} {'are' if several else 'is'} missing.")
    return remarks


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
