"""The gate: measure two sides until every cell is judged, or the budget is used up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from mfbench.base.text import counted
from mfbench.model.trials import Status
from mfbench_gate.comparison import (
    CellVerdict,
    ChangedPredictions,
    ComparedCell,
    Comparison,
    MeasuredCase,
    Omission,
    Side,
    WorseLimits,
    changed_versions,
)
from mfbench_gate.gate.environments import PreparedSide
from mfbench_gate.gate.measure import BASE, HEAD, LATE, Blocks, GatePlan, Measurements, Start, TimedCell
from mfbench_gate.gate.side import ReplicateError, staged
from mfbench_gate.judge import PAIRS_PER_BLOCK, Analyses, CostKey, PairedCosts, is_confirmed, judge_costs, plan_analyses
from mfbench_gate.scores import judge_scores, score_pairs

# Costs and scores each get half of the level for false alarms.
SHARE = 0.5
# Number of blocks in which a cell called worse must be worse again; a small level needs more.
CONFIRMING_BLOCKS = 3
# If an alarm is not confirmed at once, the same number of blocks is run again.
CONFIRMATIONS = 2
# Confirming blocks beyond the budget may take up to this multiple of the last block's duration.
PATIENCE = 2.0
# Share of the budget for measuring; the rest is for confirmations.
MEASURING = 0.8
NO_TIME = "called worse, but the measurements ended before new pairs could confirm it"
UNCONFIRMED = "called worse at first, but new pairs do not confirm it"
FAILED_LATER = "called worse, but it failed before new pairs could confirm it"


@dataclass
class Gate:
    """One comparison of two sides."""

    plan: GatePlan
    base: PreparedSide
    head: PreparedSide
    start: Start  # takes "base" or "head" and returns a new replicate
    say: Callable[[str], None]  # called with progress messages
    limits: WorseLimits = field(default_factory=WorseLimits)  # what counts as worse
    level: float = 0.05  # probability of any false alarm
    budget: float = 600.0  # seconds for all measurements
    clock: str = "cpu"  # the time to judge
    seed: int = 0  # seed for the orders of measurement
    undecided_ok: bool = False  # whether undecided cells count as no worse in the exit code
    now: Callable[[], float] = time.monotonic  # the clock of the budget, in seconds

    def __post_init__(self) -> None:
        self._blocks = Blocks(self.start, self.clock, self.seed, self.now)
        self._measured = Measurements()
        self._verdicts: dict[CostKey, ComparedCell] = {}
        self._analyses = Analyses((PAIRS_PER_BLOCK,), self.level, 1)
        self._begin = self.now()
        self._blocks.deadline = self._begin + self.budget
        self._end_of_analyses = self._begin + MEASURING * self.budget
        self._problem = ""

    def run(self) -> Comparison:
        """Measure and judge."""
        self._blocks.pilot(self.plan.cells, self._measured)
        try:
            self._measure_and_judge()
        except ReplicateError as error:
            self._problem = f"The measurements ended early: {error}."
            self._judge(
                self._analyses.pairs[-1], self._measured.remaining(self.plan.cells)
            )  # confirmation is no longer possible
        for cell in self._measured.remaining(self.plan.cells):
            if not self._n_pairs(cell):
                self._measured.omissions[cell.name] = LATE
        return self._comparison()

    def _measure_and_judge(self) -> None:
        if not (active := self._measured.remaining(self.plan.cells)):
            return
        self._blocks.run(active, self._measured)
        # Only now is the duration of a block known.
        seconds = self._measured.seconds
        blocks = 1 + max(0, int((self._end_of_analyses - self.now()) / max(seconds, 1e-3)))
        n_tests = sum(len(self._measured.measures(cell)) for cell in active)
        self._analyses = plan_analyses(n_tests, SHARE * self.level, PAIRS_PER_BLOCK * blocks)
        planned = ", ".join(map(str, self._analyses.pairs))
        self.say(f"{counted(len(active), 'cell')}; a block takes {seconds:.1f} s; verdicts after {planned} pairs")
        for n_pairs in self._analyses.pairs:
            while not self._is_over(self._end_of_analyses):
                active = self._measured.remaining(active)
                least = min(map(self._n_pairs, active), default=n_pairs)
                if least >= n_pairs:
                    break
                self.say(f"{least} of {n_pairs} pairs, {counted(len(active), 'cell')}")
                self._blocks.run(active, self._measured)
            active = self._judge(n_pairs, self._measured.remaining(active))
            if not active or self._is_over(self._end_of_analyses):
                break

    def _n_pairs(self, cell: TimedCell) -> int:
        return len(self._measured.costs.get((cell.place, "fit"), PairedCosts()).base)

    def _judge(self, n_pairs: int, active: Sequence[TimedCell]) -> list[TimedCell]:
        """Judge the undecided cells and return those that still have an undecided measure."""
        places = {cell.place for cell in active}
        costs = {
            key: own for key, own in self._measured.costs.items() if key[0] in places and not self._is_decided(key)
        }
        cells = judge_costs(costs, self.limits, self._analyses, n_pairs)
        worse = {key: cell for key, cell in cells.items() if cell.verdict is CellVerdict.WORSE}
        self._verdicts |= cells | self._confirm(worse)
        measures = self._measured.measures
        return [cell for cell in active if not all(self._is_decided((cell.place, name)) for name in measures(cell))]

    def _is_decided(self, key: CostKey) -> bool:
        cell = self._verdicts.get(key)
        return cell is not None and (cell.verdict is not CellVerdict.UNDECIDED or cell.reason == UNCONFIRMED)

    def _confirm(self, worse: Mapping[CostKey, ComparedCell]) -> dict[CostKey, ComparedCell]:
        """Measure cells that were called worse again in new processes; only alarms that recur count."""
        if not worse:
            return {}
        cells = {cell.place: cell for cell in self.plan.cells}
        pending = dict.fromkeys(place for place, _ in worse)
        self.say(f"confirming {counted(len(pending), 'cell')}")
        # Failures here are reported as omissions, like earlier ones.
        measured = self._measured
        again = Measurements(judged=measured.judged, rounds=measured.rounds, omissions=measured.omissions)
        n_blocks = confirming_blocks(self.level)
        n_run, last, end = 0, CONFIRMATIONS * n_blocks, self._blocks.deadline
        confirmed: dict[CostKey, ComparedCell] = {}
        # The first confirmation may exceed the budget, unless a trial hangs.
        self._blocks.deadline = max(end, self.now() + PATIENCE * n_blocks * measured.seconds)
        while n_run - again.n_spoilt < last and len(confirmed) < len(worse):
            if self._is_over(self._blocks.deadline):
                break
            unconfirmed = {place for place, _ in worse.keys() - confirmed.keys()}
            self._blocks.run([cells[place] for place in pending if place in unconfirmed], again)
            n_run += 1
            if (n_run - again.n_spoilt) % n_blocks == 0:
                self._blocks.deadline = end
                judged = {key: self._confirmed(key, cell, again, last) for key, cell in worse.items()}
                confirmed |= {key: cell for key, cell in judged.items() if cell.verdict is CellVerdict.WORSE}
        self._blocks.deadline = end
        measured.n_spoilt += again.n_spoilt
        return {key: self._confirmed(key, cell, again, last) for key, cell in worse.items()} | confirmed

    def _confirmed(self, key: CostKey, cell: ComparedCell, again: Measurements, n_blocks: int) -> ComparedCell:
        costs = again.costs.get(key, PairedCosts())
        if is_confirmed(costs, key[1], cell.limit, cell.floor, self.level):
            return replace(cell, reason=f"confirmed by {len(costs.base)} new pairs")
        if cell.name in again.omissions:
            reason = FAILED_LATER
        else:
            reason = NO_TIME if len(costs.base) < PAIRS_PER_BLOCK * n_blocks else UNCONFIRMED
        return replace(cell, verdict=CellVerdict.UNDECIDED, reason=reason)

    def _is_over(self, end: float) -> bool:
        return bool(self._problem) or self.now() > end

    def _comparison(self) -> Comparison:
        measured, suite = self._measured, self.plan.suite
        scores, changes = judge_answers(self.plan, measured.answers, self.limits, SHARE * self.level)
        return Comparison(
            Side(self.base.name, self.base.version),
            Side(self.head.name, self.head.version),
            title=f"{suite.loaded.suite.suite.name}, profile {suite.loaded.profile}",
            cells=self._cost_cells() + scores,
            changes=changes,
            omissions=[Omission(*each) for each in (*measured.omissions.items(), *suite.left_out.items())],
            notes=[*self.base.notes, *self.head.notes, *self._notes()],
            level=self.level,
            seconds=self.now() - self._begin,
            undecided_ok=self.undecided_ok,
        )

    def _cost_cells(self) -> list[ComparedCell]:
        # A system that does not report memory yields zeros, which carry no information.
        has_memory = any(
            any(costs.base + costs.head) for (_, measure), costs in self._measured.costs.items() if measure == "memory"
        )
        return [
            cell
            for cell in self._verdicts.values()
            if (cell.measure != "memory" or has_memory)
            # Cells that fail later are omitted with the reason, but a verdict reached before stays.
            and (cell.name not in self._measured.omissions or cell.verdict is not CellVerdict.UNDECIDED)
        ]

    def _notes(self) -> Iterable[str]:
        measured = self._measured
        if changed := changed_versions(*(measured.versions.get(side, {}) for side in (BASE, HEAD))):
            yield changed
        if unused := [measure for measure in self.limits.scores if measure not in self.plan.suite.loaded.all_scores]:
            yield f"Limits without an effect, because the suite does not measure them: {', '.join(unused)}."
        if self._verdicts:
            yield (
                f"Verdicts after {', '.join(map(str, self._analyses.pairs))} pairs were planned; a cell needs "
                f"{self._analyses.minimum} to be called worse among {self._analyses.n_tests} tests."
            )
        if foreign := [method for method, measures in measured.judged.items() if not measures]:
            yield (
                f"Not measured, because they run no code of the project: {', '.join(foreign)}. Classes of a package "
                "that is not a plugin can be added with --add."
            )
        if others := [name for name, measures in measured.judged.items() if measures and "predict" not in measures]:
            yield f"The time to predict is not judged where the classifier is not the project's: {', '.join(others)}."
        if measured.n_spoilt:
            yield f"{counted(measured.n_spoilt, 'block')} did not count, because the machine slept meanwhile."
        if self.base.version == self.head.version:
            yield "Both sides are the same version."
        if self._problem:
            yield self._problem


def judge_answers(
    plan: GatePlan,
    answers: Mapping[tuple[str, MeasuredCase, int, int], Mapping[str, Any]],
    limits: WorseLimits,
    level: float,
) -> tuple[list[ComparedCell], list[ChangedPredictions]]:
    """Judge the scores of all trials that ran on both sides."""
    rows: dict[str, list[dict[str, Any]]] = {"base": [], "head": []}
    for (side, place, repeat, fold), answer in answers.items():
        outcome = {"repeat": repeat, "fold": fold, "status": Status.OK, "predictions": answer["predictions"]}
        rows[side].append(place._asdict() | outcome | answer["scores"])
    if not all(rows.values()):
        return [], []
    metrics = list(plan.suite.loaded.protocol.metrics)
    pairs = score_pairs(pd.DataFrame(rows["base"]), pd.DataFrame(rows["head"]), metrics)
    return judge_scores(pairs, plan.suite.loaded.all_scores, limits, level, plan.suite.ratio_on)


def confirming_blocks(level: float) -> int:
    """Return the number of blocks after which new pairs can be significant at a level."""
    return max(CONFIRMING_BLOCKS, -(-math.ceil(math.log2(1.0 / level)) // PAIRS_PER_BLOCK))


def run_gate(
    plan: GatePlan, base: PreparedSide, head: PreparedSide, say: Callable[[str], None], **options: Any
) -> Comparison:
    """Measure two environments and judge the head."""
    with staged(plan.suite) as start:
        pythons = {BASE: base.python, HEAD: head.python}
        return Gate(plan, base, head, lambda side: start(pythons[side]), say, **options).run()
