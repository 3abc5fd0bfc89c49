"""Measuring two sides in blocks of four fresh processes, cell by cell in turns, so that both share any disturbance."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbench.model.trials import Status, Trial
from mfbench_gate.comparison import Place
from mfbench_gate.gate.plan import TimedCell
from mfbench_gate.gate.replicate import rounds_for
from mfbench_gate.gate.side import RunningReplicate
from mfbench_gate.judge import OFFSETS, CostKey, Costs

BASE, HEAD = "base", "head"
# Base, head, head, base or the reverse: a machine that gets slower or faster at a steady rate favours neither.
ORDERS = ((0, 1, 2, 3), (1, 0, 3, 2))
SIDES = (BASE, HEAD, HEAD, BASE)
# A machine that slept for longer than this during a block has spoilt it.
LONGEST_SLEEP = 2.0
LATE = "the budget ended before it could be measured; give more time, or name fewer methods and data with --only"
Start = Callable[[str], RunningReplicate]
Answer = Mapping[str, Any]


@dataclass
class Measurements:
    """What a gate has measured so far."""

    costs: dict[CostKey, Costs] = field(default_factory=dict)
    # The last answer to each trial, for its scores and predictions.
    answers: dict[tuple[str, Place, int, int], Answer] = field(default_factory=dict)
    # Cells that could not be measured, by name, each with a sentence.
    omissions: dict[str, str] = field(default_factory=dict)
    # The measures that are judged of each method that exists: none if neither side runs own code in it.
    judged: dict[str, set[str]] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)  # repetitions of each cell's trial within a process, by name
    seconds: float = 0.0  # duration of the last block
    n_spoilt: int = 0  # blocks that were dropped because the machine slept
    # Versions of Python and of all packages on each side.
    versions: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def measures(self, cell: TimedCell) -> Collection[str]:
        """Return what is judged of a cell."""
        return self.judged.get(cell.place.method, OFFSETS)

    def remaining(self, cells: Iterable[TimedCell]) -> list[TimedCell]:
        """Return the cells that can be measured."""
        return [cell for cell in cells if cell.name not in self.omissions and self.measures(cell)]


class Blocks:
    """Runs blocks of measurements."""

    deadline: float = math.inf  # when the measurements end, on this clock. What is incomplete then does not count

    def __init__(self, start: Start, clock: str, seed: int, now: Callable[[], float] = time.monotonic) -> None:
        self._start, self._now = start, now
        self._costs = {"fit": f"fit_{clock}", "predict": f"predict_{clock}", "memory": "memory"}
        self._rng = np.random.default_rng(seed)
        self._number = 0

    def pilot(self, cells: Iterable[TimedCell], into: Measurements) -> None:
        """Run each cell once on both sides: to learn how long it takes, and which side cannot run it."""
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
        """Run one block: two pairs of each cell."""
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
                costs = into.costs.setdefault((cell.place, measure), Costs())
                costs.base += [base, next_base]
                costs.head += [head, next_head]
                costs.repeated.append((base, next_base))

    @property
    def _left(self) -> float:
        return self.deadline - self._now()

    @contextlib.contextmanager
    def _team(self, sides: Sequence[str]) -> Iterator[list[RunningReplicate]]:
        """Start a process for each side, and end them; one that ends earlier is replaced by a new one of its side."""
        with contextlib.ExitStack() as self._stack:
            # All processes exist before the first is waited for, so that they start side by side.
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
        """Run a trial in all four processes; return the answers in their order, none if one of them failed."""
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
    """Return how long the machine has slept since it started; 0.0 where the system does not tell."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
