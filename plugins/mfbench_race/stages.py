"""The stages of a race: plans of more and more folds and fewer and fewer methods, and the record of drops."""

from __future__ import annotations

import glob
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mfbench import Run
from mfbench.api.request import Request, load_run
from mfbench.base.files import write_whole
from mfbench.base.text import counted
from mfbench.errors import UsageError
from mfbench.suite.plan import Plan
from mfbench_race.rule import TARGETS, TRUTH, Drop, Race

RECORD = "race.json"
# Percent of the trials that `--race truth` saved in simulations of 27 methods with 50 and with 5 folds, by the number
# of datasets.
_SAVED_BY_TRUTH = {30: (78, 34), 13: (65, 19), 5: (52, 9), 1: (29, 4)}


def check(request: Request, plan: Plan) -> None:
    """Raise `UsageError` unless a plan can be raced as requested."""
    spec, name = plan.loaded.spec, plan.loaded.suite.suite.name
    if request.race not in TARGETS:
        raise UsageError(
            f"--race {request.race!r}: use plan, to keep the method that the complete plan would put first, or truth, "
            "to keep the method that is best on tables like these"
        )
    if request.shard is not None:
        raise UsageError("--race decides by the results of all trials: leave --shard out")
    if not spec.predicts or spec.times or not spec.compares:
        raise UsageError(f"--race compares scores of methods, which the protocol {spec.name!r} of {name} does not")
    if request.race == TRUTH:
        unknown = [label for label in plan.datasets if not math.isfinite(plan.ratio_on(label))]
        if unknown:
            raise UsageError(
                f"--race truth needs splits with a valid test of their scores, which {unknown[0]} lacks; use --race "
                "plan, or leave the dataset out with --only"
            )


def stages(plan: Plan, target: str, folder: Path, remark: Callable[[str], None]) -> Iterator[Plan]:
    """Yield the plans of a race in turn; each is decided by the results of those before, in the folder of the run."""
    places = {label: list(plan.protocol.coordinates(planned.own_splits)) for label, planned in plan.datasets.items()}
    folds = {label: len(own) for label, own in places.items()}
    race = Race(list(plan.methods), folds, {label: plan.ratio_on(label) for label in places}, target)
    if target == TRUTH and race.looks:
        size = next((size for size in _SAVED_BY_TRUTH if len(places) >= size), 1)
        many, few = _SAVED_BY_TRUTH[size]
        remark(
            f"With 27 methods on {counted(size, 'dataset')}, --race truth has saved {many} % of the trials of 50 folds "
            f"and {few} % of those of 5; --race plan saves more."
        )
    if not race.looks:
        remark("--race drops nothing here: the plan has too few folds of a dataset for a look before their end.")
    record = Record(plan, race)
    for look in race.looks if len(plan.methods) > 1 else []:
        yield _part(plan, race, {(label, *place) for label, own in places.items() for place in own[:look]})
        run = load_run(folder)
        new = race.look(look, _scores(run, race, places, look))
        record.add(run, new)
        write_whole(folder / RECORD, record.text.encode())
        remark(record.news(look, new))
    yield _part(plan, race, {(label, *place) for label, own in places.items() for place in own})


def _part(plan: Plan, race: Race, places: set[tuple[str, int, int]]) -> Plan:
    """Return the plan of the methods that remain, on some folds."""
    alive = race.alive
    if len(alive) == len(plan.methods):
        only = plan.only
    else:  # patterns of exactly these methods: a bundle's suite has the others too
        only = tuple(glob.escape(label) for label in (*alive, *(plan.datasets if plan.only else ())))
    return replace(
        plan,
        methods={label: plan.methods[label] for label in alive},
        only=only,
        trials=[t for t in plan.trials if t.method in alive and (t.dataset, t.repeat, t.fold) in places],
        figures=[figure for figure in plan.figures if figure.method in alive],
        counts=[count for count in plan.counts if {count.method, count.reference} <= set(alive)],
        ingredients={cell: value for cell, value in plan.ingredients.items() if cell[1] in alive},
        unsuited={label: value for label, value in plan.unsuited.items() if label in alive},
        needs_dense={label: value for label, value in plan.needs_dense.items() if label in alive},
        stages=None,
    )


def _scores(run: Run, race: Race, places: dict[str, list[tuple[int, int]]], look: int) -> dict[str, Any]:
    """Return the scores of the methods that remain before a look, larger is better; NaN for failures."""
    settings, frame, scores = run.settings, run.outcomes, {}
    frame = frame.assign(score=frame[settings.metric].where(frame["status"] == "ok") * settings.sign)
    for label, own in places.items():
        table = frame[frame["dataset"] == label].pivot(index="method", columns=["repeat", "fold"], values="score")
        table = table.reindex(index=race.alive, columns=pd.MultiIndex.from_tuples(own[:look]))
        scores[label] = table.to_numpy(dtype=float) / settings.unit_on(label)
    return scores


class Record:
    """What a race has saved, for the report."""

    def __init__(self, plan: Plan, race: Race) -> None:
        self._race, self._names = race, {label: label for label in plan.methods}
        self._planned = Counter((trial.method, trial.dataset) for trial in plan.trials)
        self._dropped: list[dict[str, Any]] = []

    def add(self, run: Run, new: Sequence[Drop]) -> None:
        """Add the methods that a look has dropped, with the run until then."""
        self._names |= run.meta.display_names
        for drop in new:
            own = run.outcomes[run.outcomes["method"] == drop.method].groupby("dataset")["duration"]
            ran, seconds, means = own.size(), own.sum(), own.mean()
            saved = {str(label): self._planned[drop.method, str(label)] - count for label, count in ran.items()}
            entry = asdict(drop) | {"name": self._names[drop.method], "leader_name": self._names[drop.leader]}
            entry |= {"trials": int(ran.sum()), "trials_saved": int(sum(saved.values()))}
            spared = sum(float(means[label]) * count for label, count in saved.items())
            self._dropped.append(entry | {"seconds": float(seconds.sum()), "seconds_saved": spared})

    @property
    def text(self) -> str:
        """The record as JSON."""
        race = self._race
        head = {"target": race.target, "methods": len(race.methods), "looks": race.looks}
        content = {**head, "trials": self._planned.total(), "dropped": self._dropped}
        return json.dumps(content, indent=2) + "\n"

    def news(self, look: int, new: Sequence[Drop]) -> str:
        """Return the line about a look."""
        remaining, head = counted(len(self._race.alive), "method"), f"After {counted(look, 'fold')} of each dataset: "
        if not new:
            return f"{head}none is dropped, {remaining} in the race."
        gone, leader = ", ".join(self._names[drop.method] for drop in new), self._names[new[0].leader]
        return f"{head}{leader} leads, {len(new)} dropped ({gone}), {remaining} in the race."
