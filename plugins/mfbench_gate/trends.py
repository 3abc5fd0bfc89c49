"""Times and memory of two stored results: shown as ratios without a verdict.

Machines of one fleet differ by a quarter, and the same commit can come out 17 % slower on another day. So no test of
numbers that were not measured side by side can tell a change of the code from one of the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from mfbench_gate.comparison import Cell, Verdict
from mfbench_gate.limits import MEMORY, TIME
from mfbench_gate.readers.result import BENCHMARK_FILE, Place, Series, StoredResult

NOT_TOGETHER = "not measured together"
_UNITS = {TIME: "s", MEMORY: "B"}


def trend_cells(base: StoredResult, head: StoredResult) -> list[Cell]:
    """Return the cells of time and memory of everything that both sides measured."""
    paired = base.kind != BENCHMARK_FILE  # the rounds of a benchmark have no counterparts on the other side
    return [
        *_cells(TIME, base.times, head.times, paired),
        *_cells(MEMORY, base.memory, head.memory, paired),
    ]


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


def _cells(measure: str, base: Mapping[Place, Series], head: Mapping[Place, Series], paired: bool) -> list[Cell]:
    cells = []
    for place, after in head.items():
        before = base.get(place, {})
        if paired:
            common = before.keys() & after.keys()
            before, after = ({key: side[key] for key in side if key in common} for side in (before, after))
        if before and after:
            cells.append(_cell(measure, place, before, after))
    return cells


def _cell(measure: str, place: Place, base: Series, head: Series) -> Cell:
    before, after = median(base.values()), median(head.values())
    return Cell(
        place.method,
        place.dataset,
        measure,
        before,
        after,
        Verdict.TREND,
        reason=NOT_TOGETHER if before > 0 else f"{NOT_TOGETHER}; the base took no measurable time",
        size=place.size,
        unit=_UNITS[measure],
        ratio=after / before if before > 0 else float("nan"),
        base_values=tuple(base.values()),
        head_values=tuple(head.values()),
    )
