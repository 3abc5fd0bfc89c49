"""Times and memory of two stored results: shown as ratios without a verdict.

Machines of one fleet differ by a quarter, and the same commit can come out 17 % slower on another day. So no test of
numbers that were not measured side by side can tell a change of the code from one of the machine.
"""

from __future__ import annotations

from statistics import median

from mfbench_gate.comparison import Cell, Verdict
from mfbench_gate.limits import MEMORY, TIME
from mfbench_gate.readers.result import BENCHMARK_FILE, StoredResult

NOT_TOGETHER = "not measured together"


def trend_cells(base: StoredResult, head: StoredResult) -> list[Cell]:
    """Return the cells of time and memory of everything that both sides measured."""
    cells = []
    measures = (TIME, "s", base.times, head.times), (MEMORY, "B", base.memory, head.memory)
    for measure, unit, of_base, of_head in measures:
        for place, new in of_head.items():
            old = of_base.get(place, {})
            if base.kind != BENCHMARK_FILE:  # the rounds of a benchmark have no counterparts on the other side
                old, new = (
                    {fold: value for fold, value in side.items() if fold in old and fold in new} for side in (old, new)
                )
            if not (old and new):
                continue
            before, after = median(old.values()), median(new.values())
            reason = NOT_TOGETHER if before > 0 else f"{NOT_TOGETHER}; the base took no measurable time"
            ratio = after / before if before > 0 else float("nan")
            cells.append(
                Cell(
                    place.method, place.dataset, measure, before, after, Verdict.TREND, reason, place.size, unit, ratio,
                    base_values=tuple(old.values()), head_values=tuple(new.values()),
                )
            )  # fmt: skip
    return cells


def why_trend(base: StoredResult, head: StoredResult) -> str:
    """Return the sentence that says why times and memory of two stored results have no verdict."""
    if not base.side.machine or not head.side.machine:
        where = "on machines that at least one of the results does not name"
    elif base.side.machine != head.side.machine:
        where = f"on different machines ({base.side.machine}; {head.side.machine})"
    else:
        where = "on machines of one kind, but not in one job"
    return (
        f"Times and memory were measured {where}, so they do not compare: their ratios are a trend and have no verdict."
    )
