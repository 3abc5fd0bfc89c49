"""Measuring two sides in blocks of four fresh processes, cell by cell in turns, so that both share any disturbance."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfbench.model.trials import Status, Trial
from mfbench_gate.gate.plan import TimedCell
from mfbench_gate.gate.replicate import rounds_for
from mfbench_gate.gate.side import RunningReplicate
from mfbench_gate.judge import CostKey, Costs

BASE, HEAD = "base", "head"
# Base, head, head, base or the reverse: a machine that gets slower or faster at a steady rate favours neither.
ORDERS = ((0, 1, 2, 3), (1, 0, 3, 2))
SIDES = (BASE, HEAD, HEAD, BASE)
# A machine that slept for longer than this during a block has spoilt it.
LONGEST_SLEEP = 2.0
LATE = "the budget ended before it could be measured; give more time, or name fewer methods and data with --only"
MEASURES = ("fit", "predict", "memory")
Start = Callable[[str], RunningReplicate]
Answer = Mapping[str, Any]


@dataclass
class Measurements:
    """What a gate has measured so far."""

    costs: dict[CostKey, Costs] = field(default_factory=dict)
    # The last answer to each trial, for its scores and predictions.
    answers: dict[tuple[str, str, str, int, int], Answer] = field(default_factory=dict)
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
        return self.judged.get(cell.method, MEASURES)


class Blocks:
    """Runs blocks of measurements."""

    deadline: float = math.inf  # when the measurements end, on this clock. What is incomplete then does not count

    def __init__(self, start: Start, clock: str, seed: int, now: Callable[[], float] = time.monotonic) -> None:
        self._start, self._clock, self._now = start, clock, now
        self._rng = np.random.default_rng(seed)
        self._number = 0

    def pilot(self, cells: Iterable[TimedCell], into: Measurements) -> None:
        """Run each cell once on both sides: to learn how long it takes, and which side cannot run it."""
        with Team(self._start, (BASE, HEAD)) as team:
            into.versions = {side: team.versions(place) for place, side in enumerate((BASE, HEAD))}
            into.judged = team.judged()
            for cell in cells:
                if not into.measures(cell):
                    continue
                if self._left <= 0.0:
                    into.omissions[cell.name] = LATE
                    continue
                answers = {
                    side: team.ask(place, cell.trials[0], 1, self._left) for place, side in enumerate((BASE, HEAD))
                }
                if reason := _failure(answers):
                    into.omissions[cell.name] = reason
                else:
                    into.rounds[cell.name] = rounds_for(min(float(answer["duration"]) for answer in answers.values()))

    def run(self, cells: Iterable[TimedCell], into: Measurements) -> None:
        """Run one block: two pairs of each cell."""
        begin, slept = self._now(), _seconds_asleep()
        measured: list[tuple[TimedCell, list[Answer]]] = []
        todo = [cell for cell in cells if cell.name not in into.omissions]
        with Team(self._start, SIDES) as team:
            for position in self._rng.permutation(len(todo)):
                if self._left <= 0.0:
                    break
                cell = todo[position]
                answers = self._four(team, cell, into)
                if answers is not None:
                    measured.append((cell, answers))
        self._number += 1
        into.seconds = self._now() - begin
        if _seconds_asleep() - slept > LONGEST_SLEEP:
            into.n_spoilt += 1
            return
        for cell, answers in measured:
            self._record(cell, answers, into)

    @property
    def _left(self) -> float:
        return self.deadline - self._now()

    def _four(self, team: Team, cell: TimedCell, into: Measurements) -> list[Answer] | None:
        trial = cell.trials[self._number % len(cell.trials)]
        answers: dict[int, Answer] = {}
        for number in ORDERS[int(self._rng.integers(2))]:
            answer = team.ask(number, trial, into.rounds[cell.name], self._left)
            answers[number] = answer
            if answer["status"] != Status.OK:
                into.omissions[cell.name] = f"failed on the {SIDES[number]}: {answer['message']}"
                return None
            into.answers[SIDES[number], trial.method, trial.dataset, trial.repeat, trial.fold] = answer
        return [answers[number] for number in range(len(SIDES))]

    def _record(self, cell: TimedCell, answers: list[Answer], into: Measurements) -> None:
        names = {"fit": f"fit_{self._clock}", "predict": f"predict_{self._clock}", "memory": "memory"}
        for measure in into.measures(cell):
            first_base, first_head, second_head, second_base = (float(answer[names[measure]]) for answer in answers)
            costs = into.costs.setdefault(CostKey(cell.method, cell.dataset, cell.size, measure), Costs())
            costs.base += [first_base, second_base]
            costs.head += [first_head, second_head]
            costs.repeated.append((first_base, second_base))


class Team:
    """The processes of a block: one that ends is replaced by a new one of its side."""

    def __init__(self, start: Start, sides: Sequence[str]) -> None:
        self._start, self._sides = start, sides
        self._stack = contextlib.ExitStack()
        self._processes: list[RunningReplicate] = []

    def __enter__(self) -> Team:
        # All processes exist before the first is waited for, so that they start side by side.
        started = [self._start(side) for side in self._sides]
        for process in started:
            self._stack.push(process)
        try:
            self._processes = [process.__enter__() for process in started]
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def versions(self, position: int) -> Mapping[str, str]:
        """Return the versions of what the environment of one of the processes contains."""
        return self._processes[position].versions()

    def judged(self) -> dict[str, set[str]]:
        """Return what is judged of each method that a process has: what any of them runs own code for."""
        judged: dict[str, set[str]] = {}
        for process in self._processes:
            for method, measures in process.judged.items():
                judged.setdefault(method, set()).update(measures)
        return judged

    def ask(self, position: int, trial: Trial, rounds: int, left: float) -> Answer:
        """Let one of the processes run a trial."""
        process = self._processes[position]
        if trial.method in process.missing:
            return {"status": "missing", "message": process.missing[trial.method]}
        answer = process.run(trial, rounds, left)
        if not process.is_alive:
            self._processes[position] = self._stack.enter_context(self._start(self._sides[position]))
        return answer


def _failure(answers: Mapping[str, Answer]) -> str:
    """Return a sentence on the sides that cannot run a trial; empty if both can."""
    bad = {side: answer for side, answer in answers.items() if answer["status"] != Status.OK}
    if not bad:
        return ""
    if all(answer["status"] == "missing" for answer in bad.values()) and len(bad) == 1:
        ((side, answer),) = bad.items()
        return f"is missing on the {side}: {answer['message']}"
    where = "both sides" if len(bad) == len(answers) else f"the {next(iter(bad))}"
    return f"failed on {where}: {next(iter(bad.values()))['message']}"


def _seconds_asleep() -> float:
    """Return how long the machine has slept since it started; 0.0 where the system does not tell."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
