"""The gate: measure two sides until every cell is judged, or the budget is spent."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mfbench.base.wording import counted
from mfbench_gate.comparison import Cell, Comparison, Omission, Side, Verdict
from mfbench_gate.gate.environments import PreparedSide
from mfbench_gate.gate.measure import BASE, HEAD, LATE, Blocks, Measurements, Start
from mfbench_gate.gate.plan import GatePlan, TimedCell
from mfbench_gate.gate.scores import judge_answers
from mfbench_gate.gate.side import ReplicateError
from mfbench_gate.gate.staging import staged
from mfbench_gate.judge import CostKey, Costs, is_confirmed, judge_costs
from mfbench_gate.limits import MEMORY, TIME, Limits
from mfbench_gate.looks import PAIRS_PER_BLOCK, Looks, plan_looks
from mfbench_gate.texts import changed_versions

LIMIT_OF = {"fit": TIME, "predict": TIME, "memory": MEMORY}
# Costs and scores may each raise a false alarm with half of the level.
SHARE = 0.5
# Blocks in which a cell that was called worse must show it again; a small level needs more.
CONFIRMING_BLOCKS = 3
# An alarm that is not confirmed at once gets as many blocks again.
CONFIRMATIONS = 2
# Confirming blocks beyond the budget may take so many times what the last block took.
PATIENCE = 2.0
# The rest of the budget is for confirmations.
MEASURING = 0.8
NO_TIME = "called worse, but the measurements ended before new pairs could confirm it"
UNCONFIRMED = "called worse at first, but new pairs do not confirm it"
FAILED_LATER = "called worse, but it failed before new pairs could confirm it"


@dataclass(frozen=True)
class GateOptions:
    """Options of a gate."""

    limits: Limits = field(default_factory=Limits)  # what counts as worse
    level: float = 0.05  # probability of any false alarm
    budget: float = 600.0  # seconds for all measurements
    clock: str = "cpu"  # the time that is judged
    seed: int = 0  # of the orders of measurement
    undecided_ok: bool = False  # whether undecided cells count as no worse in the exit code


class Gate:
    """One comparison of two sides."""

    def __init__(
        self,
        plan: GatePlan,
        base: PreparedSide,
        head: PreparedSide,
        options: GateOptions,
        start: Start,
        say: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._options, self._say = plan, options, say
        self._sides = {BASE: base, HEAD: head}
        self._now = now
        self._blocks = Blocks(start, options.clock, options.seed, now)
        self._measured = Measurements()
        self._verdicts: dict[CostKey, Cell] = {}
        self._looks = Looks((PAIRS_PER_BLOCK,), options.level, 1)
        self._begin = now()
        self._blocks.deadline = self._begin + options.budget
        self._end_of_looks = self._begin + MEASURING * options.budget
        self._problems: list[str] = []

    def run(self) -> Comparison:
        """Measure and judge."""
        self._blocks.pilot(self._plan.cells, self._measured)
        try:
            self._measure_and_judge()
        except ReplicateError as error:
            self._problems.append(f"The measurements ended early: {error}.")
            self._judge(self._looks.pairs[-1], self._measurable())  # nothing can be confirmed any more
        for cell in self._measurable():
            if not self._n_pairs(cell):
                self._measured.omissions[cell.name] = LATE
        return self._comparison()

    def _measure_and_judge(self) -> None:
        if not (active := self._measurable()):
            return
        self._blocks.run(active, self._measured)
        self._looks = self._plan_looks(active)
        for n_pairs in self._looks.pairs:
            active = self._measure_until(n_pairs, active)
            active = self._judge(n_pairs, active)
            if not active or self._is_over(self._end_of_looks):
                break

    def _measurable(self) -> list[TimedCell]:
        measured = self._measured
        return [cell for cell in self._plan.cells if cell.name not in measured.omissions and measured.measures(cell)]

    def _plan_looks(self, active: Sequence[TimedCell]) -> Looks:
        """Plan the looks, now that the duration of a block is known."""
        left = self._end_of_looks - self._now()
        blocks = 1 + max(0, int(left / max(self._measured.seconds, 1e-3)))
        n_tests = sum(len(self._measured.measures(cell)) for cell in active)
        looks = plan_looks(n_tests, SHARE * self._options.level, PAIRS_PER_BLOCK * blocks)
        planned = ", ".join(map(str, looks.pairs))
        n_cells = counted(len(active), "cell")
        self._say(f"{n_cells}; a block takes {self._measured.seconds:.1f} s; verdicts after {planned} pairs")
        return looks

    def _measure_until(self, n_pairs: int, active: Sequence[TimedCell]) -> list[TimedCell]:
        while not self._is_over(self._end_of_looks):
            active = [cell for cell in active if cell.name not in self._measured.omissions]
            least = min((self._n_pairs(cell) for cell in active), default=n_pairs)
            if least >= n_pairs:
                break
            self._say(f"{least} of {n_pairs} pairs, {counted(len(active), 'cell')}")
            self._blocks.run(active, self._measured)
        return [cell for cell in active if cell.name not in self._measured.omissions]

    def _n_pairs(self, cell: TimedCell) -> int:
        costs = self._measured.costs.get(CostKey(cell.method, cell.dataset, cell.size, "fit"))
        return 0 if costs is None else len(costs.base)

    def _judge(self, n_pairs: int, active: Sequence[TimedCell]) -> list[TimedCell]:
        """Judge what is undecided yet; return the cells with an undecided measure."""
        places = {(cell.method, cell.dataset, cell.size): cell for cell in active}
        costs = {
            key: own
            for key, own in self._measured.costs.items()
            if (key.method, key.dataset, key.size) in places and not self._is_decided(key)
        }
        limits = {measure: self._options.limits.of(kind) for measure, kind in LIMIT_OF.items()}
        judged = judge_costs(costs, limits, self._looks, n_pairs)
        cells = dict(zip([key for key, own in costs.items() if own.base], judged, strict=True))
        worse = [key for key, cell in cells.items() if cell.verdict is Verdict.WORSE]
        self._verdicts |= cells | self._confirm({key: cells[key] for key in worse}, places)
        return [
            cell
            for place, cell in places.items()
            if not all(self._is_decided(CostKey(*place, measure)) for measure in self._measured.measures(cell))
        ]

    def _is_decided(self, key: CostKey) -> bool:
        cell = self._verdicts.get(key)
        return cell is not None and (cell.verdict is not Verdict.UNDECIDED or cell.reason == UNCONFIRMED)

    def _confirm(
        self, worse: Mapping[CostKey, Cell], places: Mapping[tuple[str, str, str], TimedCell]
    ) -> dict[CostKey, Cell]:
        """Measure cells that were called worse again, in new processes; an alarm that does not recur is none."""
        if not worse:
            return {}
        cells = list(dict.fromkeys(places[key.method, key.dataset, key.size] for key in worse))
        self._say(f"confirming {counted(len(cells), 'cell')}")
        # What fails now is left out like what failed before.
        measured = self._measured
        again = Measurements(judged=measured.judged, rounds=measured.rounds, omissions=measured.omissions)
        n_blocks = confirming_blocks(self._options.level)
        n_run, last = 0, CONFIRMATIONS * n_blocks
        confirmed: dict[CostKey, Cell] = {}
        end = self._blocks.deadline
        # The first confirmation is finished beyond the budget, unless a trial hangs.
        self._blocks.deadline = max(end, self._now() + PATIENCE * n_blocks * measured.seconds)
        while n_run - again.n_spoilt < last and len(confirmed) < len(worse):
            if self._is_over(self._blocks.deadline):
                break
            self._blocks.run([cell for cell in cells if _is_open(cell, worse, confirmed)], again)
            n_run += 1
            if (n_run - again.n_spoilt) % n_blocks == 0:
                self._blocks.deadline = end
                judged = {key: self._confirmed(key, cell, again, last) for key, cell in worse.items()}
                confirmed |= {key: cell for key, cell in judged.items() if cell.verdict is Verdict.WORSE}
        self._blocks.deadline = end
        self._measured.n_spoilt += again.n_spoilt
        return {key: self._confirmed(key, cell, again, last) for key, cell in worse.items()} | confirmed

    def _confirmed(self, key: CostKey, cell: Cell, again: Measurements, n_blocks: int) -> Cell:
        costs = again.costs.get(key, Costs())
        if is_confirmed(costs, key.measure, cell.limit, cell.floor, self._options.level):
            return replace(cell, reason=f"confirmed by {len(costs.base)} new pairs")
        if cell.name in again.omissions:
            return replace(cell, verdict=Verdict.UNDECIDED, reason=FAILED_LATER)
        reason = NO_TIME if len(costs.base) < PAIRS_PER_BLOCK * n_blocks else UNCONFIRMED
        return replace(cell, verdict=Verdict.UNDECIDED, reason=reason)

    def _is_over(self, end: float) -> bool:
        return bool(self._problems) or self._now() > end

    def _comparison(self) -> Comparison:
        measured, options = self._measured, self._options
        base, head = self._sides[BASE], self._sides[HEAD]
        loaded = self._plan.suite.loaded
        comparison = Comparison(
            Side(base.name, base.version),
            Side(head.name, head.version),
            title=f"{loaded.suite.suite.name}, profile {loaded.profile}",
            cells=self._cost_cells(),
            omissions=[Omission(name, reason) for name, reason in measured.omissions.items()],
            notes=[*base.notes, *head.notes, *self._notes()],
            level=options.level,
            seconds=self._now() - self._begin,
            undecided_ok=options.undecided_ok,
        )
        cells, changes = judge_answers(self._plan, measured.answers, options.limits, SHARE * options.level)
        comparison.cells += cells
        comparison.changes += changes
        left_out = self._plan.suite.left_out
        comparison.omissions += [Omission(label, reason) for label, reason in left_out.items()]
        return comparison

    def _cost_cells(self) -> list[Cell]:
        # A system that does not report memory gives zeros, which say nothing.
        own = [key for key in self._measured.costs if key.measure == "memory"]
        is_measured = any(any(self._measured.costs[key].base + self._measured.costs[key].head) for key in own)
        return [
            cell
            for key, cell in self._verdicts.items()
            if (key.measure != "memory" or is_measured)
            # What failed later is left out with its reason; a verdict that was reached before stays.
            and (cell.name not in self._measured.omissions or cell.verdict is not Verdict.UNDECIDED)
        ]

    def _notes(self) -> Iterable[str]:
        if changed := changed_versions(*(self._measured.versions.get(side, {}) for side in (BASE, HEAD))):
            yield changed
        if self._verdicts:
            yield (
                f"Verdicts after {', '.join(map(str, self._looks.pairs))} pairs were planned; a cell needs "
                f"{self._looks.minimum} to be called worse among {self._looks.n_tests} tests."
            )
        judged = self._measured.judged
        if foreign := [method for method, measures in judged.items() if not measures]:
            yield (
                f"Not measured, because they run no code of the project: {', '.join(foreign)}. Classes of a package "
                "that is not a plugin can be added with --add."
            )
        if others := [method for method, measures in judged.items() if measures and "predict" not in measures]:
            yield f"The time to predict is not judged where the classifier is not the project's: {', '.join(others)}."
        if self._measured.n_spoilt:
            yield f"{counted(self._measured.n_spoilt, 'block')} did not count, because the machine slept meanwhile."
        if self._sides[BASE].version == self._sides[HEAD].version:
            yield "Both sides are the same version."
        yield from self._problems


def _is_open(cell: TimedCell, worse: Collection[CostKey], confirmed: Collection[CostKey]) -> bool:
    place = (cell.method, cell.dataset, cell.size)
    return any((key.method, key.dataset, key.size) == place and key not in confirmed for key in worse)


def confirming_blocks(level: float) -> int:
    """Return the blocks in which new pairs can be significant at a level."""
    return max(CONFIRMING_BLOCKS, -(-math.ceil(math.log2(1.0 / level)) // PAIRS_PER_BLOCK))


def run_gate(
    plan: GatePlan,
    base: PreparedSide,
    head: PreparedSide,
    options: GateOptions,
    say: Callable[[str], None] = lambda sentence: None,
) -> Comparison:
    """Measure two environments and judge the head."""
    with staged(plan.suite) as staging:
        pythons = {BASE: base.python, HEAD: head.python}
        return Gate(plan, base, head, options, lambda side: staging.start(pythons[side]), say).run()
