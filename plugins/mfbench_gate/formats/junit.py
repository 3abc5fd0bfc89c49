"""A comparison as JUnit XML: one test case per cell."""

from __future__ import annotations

import math

from mfbench.base.junit import Case, document
from mfbench_gate.comparison import Cell, Comparison, Verdict
from mfbench_gate.texts import amount, change, headline


def to_junit(comparison: Comparison) -> str:
    """Return a comparison as JUnit XML with one test case per cell."""
    # A worse cell is a failure. An undecided cell is a failure if it counts as one in the exit code, otherwise it is
    # skipped with its reason, and so is a trend. A case has no time of its own; readers that sum times get the duration
    # of the whole comparison from the suite.
    failures = {Verdict.WORSE} if comparison.undecided_ok else {Verdict.WORSE, Verdict.UNDECIDED}
    properties = [("level", f"{comparison.level:g}")]
    for role, side in (("base", comparison.base), ("head", comparison.head)):
        properties += [(role, side.name), (f"{role}.version", side.version), (f"{role}.machine", side.machine)]
    cases = [
        Case(
            group=cell.measure,
            name=cell.name,
            outcome="failed"
            if cell.verdict in failures
            else "passed"
            if cell.verdict is Verdict.NO_WORSE
            else "skipped",
            message=f"{cell.verdict}: {change(cell)}" + (f"; {cell.reason}" if cell.reason else ""),
            kind=str(cell.verdict),
            details=_details(cell),
        )
        for cell in comparison.cells
    ]
    lines = [headline(comparison), *(f"{each.name}: {each.reason}" for each in comparison.omissions), *comparison.notes]
    title = comparison.title or "comparison"
    return document(title, cases, properties=properties, lines=lines, seconds=comparison.seconds)


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
