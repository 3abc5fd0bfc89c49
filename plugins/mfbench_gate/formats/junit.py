"""A comparison as JUnit XML: one test case per cell."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Literal

from mfbench.base.junit import Case, document
from mfbench_gate.comparison import Cell, Comparison, Verdict
from mfbench_gate.texts import amount, change, headline


def to_junit(comparison: Comparison, moment: datetime | None = None) -> str:
    """Return a comparison as JUnit XML with one test case per cell."""
    # A worse cell is a failure. An undecided cell is a failure if it counts as one in the exit code, otherwise it is
    # skipped with its reason, and so is a trend.
    lines = [headline(comparison), *(f"{each.name}: {each.reason}" for each in comparison.omissions), *comparison.notes]
    return document(
        comparison.title or "comparison",
        [_case(cell, comparison) for cell in comparison.cells],
        properties=_properties(comparison),
        lines=lines,
        seconds=comparison.seconds,
        moment=moment,
    )


def _case(cell: Cell, comparison: Comparison) -> Case:
    """Return the test case of a cell."""
    # It has no time of its own; readers that sum times get that of the whole comparison from the suite.
    outcome: Literal["passed", "failed", "skipped"] = "passed"
    if _fails(cell, comparison):
        outcome = "failed"
    elif cell.verdict in (Verdict.UNDECIDED, Verdict.TREND):
        outcome = "skipped"
    message = f"{cell.verdict}: {change(cell)}" + (f"; {cell.reason}" if cell.reason else "")
    return Case(
        group=cell.measure,
        name=cell.name,
        outcome=outcome,
        message=message,
        kind=str(cell.verdict),
        details=_details(cell),
    )


def _fails(cell: Cell, comparison: Comparison) -> bool:
    return cell.verdict is Verdict.WORSE or (cell.verdict is Verdict.UNDECIDED and not comparison.undecided_ok)


def _details(cell: Cell) -> str:
    lines = [
        f"measure: {cell.measure}",
        f"base: {amount(cell.base, cell.unit)}",
        f"head: {amount(cell.head, cell.unit)}",
        f"change: {change(cell)}",
        f"pairs: {cell.n_pairs}",
    ]
    numbers = [("limit", cell.limit), ("adjusted p-value", cell.p_value)]
    return "\n".join([*lines, *(f"{name}: {value:.4g}" for name, value in numbers if math.isfinite(value))])


def _properties(comparison: Comparison) -> list[tuple[str, str]]:
    pairs = [("level", f"{comparison.level:g}")]
    for role, side in (("base", comparison.base), ("head", comparison.head)):
        pairs += [(role, side.name), (f"{role}.version", side.version), (f"{role}.machine", side.machine)]
    return pairs
