"""Measure two sides in blocks of four fresh processes, alternating cell by cell, so that both share any disturbance."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbench.data.lookup import Lookup
from mfbench.errors import NothingPlannedError, SuiteError
from mfbench.host.expressions import is_reference, parse
from mfbench.host.registry import Registry
from mfbench.model.trials import Status, Trial
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.plan import Plan, plan_datasets
from mfbench.suite.protocols import derive_seed
from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.gate.replicate import UNTIMED, methods_of, rounds_for
from mfbench_gate.gate.side import RunningReplicate
from mfbench_gate.judge import OFFSETS, CostKey, PairedCosts


@dataclass(frozen=True)
class TimedCell:
    """Trials whose costs are judged together."""

    place: MeasuredCase
    trials: tuple[Trial, ...]  # pairs of measurements cycle through them

    @property
    def name(self) -> str:
        """Method, dataset and size."""
        return self.place.name


@dataclass(frozen=True)
class GatePlan:
    """What a gate measures."""

    suite: Plan  # datasets and protocol, and the methods as written; each side looks them up for itself
    cells: tuple[TimedCell, ...]


def plan_gate(
    loaded: LoadedSuite, registry: Registry, only: Sequence[str] = (), lookup: Lookup | None = None
) -> GatePlan:
    """Return what a gate measures."""
    plan = plan_datasets(loaded, registry, only, lookup)
    if not plan.datasets:
        reasons = "; ".join(f"{label}: {reason}" for label, reason in plan.left_out.items())
        raise NothingPlannedError(f"no dataset of {loaded.suite.suite.name!r} can be used ({reasons})")
    methods = _measurable(plan, registry)
    return GatePlan(
        plan, tuple(cell for label in plan.datasets for method in methods for cell in _cells(plan, label, method))
    )


def _measurable(plan: Plan, registry: Registry) -> list[str]:
    """Return the methods that a gate can measure; those unknown here may be known to a side."""
    loaded = plan.loaded
    labels = [method.label for method in loaded.suite.methods]
    for method in loaded.suite.methods:
        names = [parse(text, references=True).name for text in method.steps.values()]
        if method.label not in loaded.added_methods and any(map(is_reference, names)):
            raise SuiteError(
                f"{loaded.path}: {method.label!r} names a class by its import path, but a suite names only what "
                "plugins register; to measure the class, use --add"
            )
    resolved, _ = methods_of(loaded, registry)
    plan.left_out |= {label: UNTIMED for label, one in resolved.items() if one.grid and one.selection == "per-dataset"}
    if not (measurable := [label for label in labels if label not in plan.left_out]):
        raise SuiteError(
            f"{loaded.path}: each of its methods is tuned per dataset, so no trial fits the method that is tested; "
            "choose another profile, or set selection = 'nested'"
        )
    return measurable


def _cells(plan: Plan, dataset: str, method: str) -> Iterator[TimedCell]:
    """Yield one cell per size for the protocol ``timing``, and one for all folds otherwise."""
    protocol, seed = plan.protocol, plan.loaded.suite.suite.seed
    trials = [
        Trial("", dataset, method, repeat, fold, derive_seed(seed, dataset, method, repeat, fold))
        for repeat, fold in protocol.coordinates(plan.datasets[dataset].own_splits)
    ]
    if not plan.loaded.spec.times:
        yield TimedCell(MeasuredCase(method, dataset), tuple(trials))
        return
    data = plan.datasets[dataset].data
    splits = plan.datasets[dataset].splits(protocol, 0)
    for fold, split in enumerate(splits):
        features = split.features(data.n_features)
        size = f"n={len(split.train)}, p={data.n_features if features is None else len(features)}"
        own = tuple(trial for trial in trials if trial.fold == fold)
        yield TimedCell(MeasuredCase(method, dataset, size), own)


BASE, HEAD = "base", "head"
# ABBA or BAAB order: a machine that speeds up or slows down steadily favours neither side.
ORDERS = ((0, 1, 2, 3), (1, 0, 3, 2))
SIDES = (BASE, HEAD, HEAD, BASE)
# If the machine sleeps longer than this during a block, the block is discarded.
LONGEST_SLEEP = 2.0
LATE = "the budget ended before it could be measured; give more time, or name fewer methods and data with --only"
Start = Callable[[str], RunningReplicate]
Answer = Mapping[str, Any]


@dataclass
class Measurements:
    """The measurements of a gate so far."""

    costs: dict[CostKey, PairedCosts] = field(default_factory=dict)
    # The last answer to each trial, for its scores and predictions.
    answers: dict[tuple[str, MeasuredCase, int, int], Answer] = field(default_factory=dict)
    # Cells that could not be measured, by name, with the reason.
    omissions: dict[str, str] = field(default_factory=dict)
    # The measures to judge for each existing method; empty if it runs no code of either side's project.
    judged: dict[str, set[str]] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)  # repetitions of each cell's trial within a process, by name
    seconds: float = 0.0  # duration of the last block
    n_spoilt: int = 0  # blocks discarded because the machine slept
    # Versions of Python and all packages on each side.
    versions: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def measures(self, cell: TimedCell) -> Collection[str]:
        """Return the measures to judge for a cell."""
        return self.judged.get(cell.place.method, OFFSETS)

    def remaining(self, cells: Iterable[TimedCell]) -> list[TimedCell]:
        """Return the cells that can be measured."""
        return [cell for cell in cells if cell.name not in self.omissions and self.measures(cell)]


class Blocks:
    """Runs blocks of measurements."""

    deadline: float = math.inf  # end of the measurements by this clock; incomplete ones do not count

    def __init__(self, start: Start, clock: str, seed: int, now: Callable[[], float] = time.monotonic) -> None:
        self._start, self._now = start, now
        self._costs = {"fit": f"fit_{clock}", "predict": f"predict_{clock}", "memory": "memory"}
        self._rng = np.random.default_rng(seed)
        self._number = 0

    def pilot(self, cells: Iterable[TimedCell], into: Measurements) -> None:
        """Run each cell once on both sides, to learn its duration and which side cannot run it."""
        sides = (BASE, HEAD)
        with self._team(sides) as processes:
            into.versions = {side: process.versions() for side, process in zip(sides, processes, strict=True)}
            for process in processes:
                for method, measures in process.judged.items():
                    into.judged.setdefault(method, set()).update(measures)
            for cell in into.remaining(cells):
                if self._left <= 0.0:
                    into.omissions[cell.name] = LATE
                    continue
                answers = {side: self._ask(at, cell.trials[0], 1) for at, side in enumerate(sides)}
                if reason := _failure(answers):
                    into.omissions[cell.name] = reason
                else:
                    into.rounds[cell.name] = rounds_for(min(float(answer["duration"]) for answer in answers.values()))

    def run(self, cells: Iterable[TimedCell], into: Measurements) -> None:
        """Run one block: two pairs for each cell."""
        begin, slept = self._now(), _seconds_asleep()
        measured: list[tuple[TimedCell, list[Answer]]] = []
        todo = into.remaining(cells)
        with self._team(SIDES):
            for position in self._rng.permutation(len(todo)):
                if self._left <= 0.0:
                    break
                cell = todo[position]
                if answers := self._four(cell, into):
                    measured.append((cell, answers))
        self._number += 1
        into.seconds = self._now() - begin
        if _seconds_asleep() - slept > LONGEST_SLEEP:
            into.n_spoilt += 1
            return
        for cell, answers in measured:
            for measure in into.measures(cell):
                base, head, next_head, next_base = (float(answer[self._costs[measure]]) for answer in answers)
                costs = into.costs.setdefault((cell.place, measure), PairedCosts())
                costs.base += [base, next_base]
                costs.head += [head, next_head]
                costs.repeated.append((base, next_base))

    @property
    def _left(self) -> float:
        return self.deadline - self._now()

    @contextlib.contextmanager
    def _team(self, sides: Sequence[str]) -> Iterator[list[RunningReplicate]]:
        """Start a process per entry of `sides` and end them on exit; one that ends early is replaced."""
        with contextlib.ExitStack() as self._stack:
            # Create all processes before waiting for the first, so that they start up in parallel.
            self._sides, self._processes = sides, [self._stack.push(self._start(side)) for side in sides]
            for process in self._processes:
                process.__enter__()
            yield self._processes

    def _ask(self, position: int, trial: Trial, rounds: int) -> Answer:
        """Let one of the processes run a trial."""
        process = self._processes[position]
        if trial.method in process.missing:
            return {"status": "missing", "message": process.missing[trial.method]}
        answer = process.run(trial, rounds, self._left)
        if not process.is_alive:
            self._processes[position] = self._stack.enter_context(self._start(self._sides[position]))
        return answer

    def _four(self, cell: TimedCell, into: Measurements) -> list[Answer]:
        """Run a trial in all four processes; return the answers in order, or an empty list if any failed."""
        trial = cell.trials[self._number % len(cell.trials)]
        answers: dict[int, Answer] = {}
        for number in ORDERS[int(self._rng.integers(2))]:
            answer = self._ask(number, trial, into.rounds[cell.name])
            if answer["status"] != Status.OK:
                into.omissions[cell.name] = f"failed on the {SIDES[number]}: {answer['message']}"
                return []
            answers[number] = answer
            into.answers[SIDES[number], cell.place, trial.repeat, trial.fold] = answer
        return [answers[number] for number in range(len(SIDES))]


def _failure(answers: Mapping[str, Answer]) -> str:
    """Return a sentence on the sides that cannot run a trial; empty if both can."""
    bad = [(side, answer) for side, answer in answers.items() if answer["status"] != Status.OK]
    if not bad:
        return ""
    side, answer = bad[0]
    where = f"the {side}" if len(bad) < len(answers) else "both sides"
    return f"{'is missing' if answer['status'] == 'missing' else 'failed'} on {where}: {answer['message']}"


def _seconds_asleep() -> float:
    """Return how long the machine has slept since boot; 0.0 if the system does not report it."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
