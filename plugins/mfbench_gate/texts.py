"""Parts of a comparison as text, which all outputs share: the headline, amounts, changes and versions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mfbench.base.wording import counted
from mfbench_gate.comparison import Cell, Comparison, Verdict

MARKS = {Verdict.WORSE: "✗", Verdict.UNDECIDED: "?", Verdict.NO_WORSE: "✓", Verdict.TREND: "~"}
"""The sign of each verdict, always printed together with its name."""
NOTHING = "–"
_STEPS = {
    "s": [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")],
    "B": [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")],
}


def headline(comparison: Comparison) -> str:
    """Return the outcome of a comparison in one sentence without a full stop."""
    total = len(comparison.cells)
    counts = {verdict: len(comparison.with_verdict(verdict)) for verdict in Verdict}
    judged = total - counts[Verdict.TREND]
    if not total:
        return "Nothing was compared"
    if counts[Verdict.WORSE]:
        also = f", undecided: {counts[Verdict.UNDECIDED]}" if counts[Verdict.UNDECIDED] else ""
        return f"Worse: {counts[Verdict.WORSE]} of {counted(judged, 'cell')}{also}"
    if counts[Verdict.UNDECIDED]:
        return f"Undecided: {counts[Verdict.UNDECIDED]} of {counted(judged, 'cell')}, none is worse"
    if not judged:
        return f"No verdict: {counted(total, 'cell')} without measurements that compare"
    which = "the only cell" if judged == 1 else f"all {judged} cells"
    return f"No worse: {which}" + (" with a verdict" if judged < total else "")


def amount(value: float, unit: str) -> str:
    """Return a number with a readable unit."""
    if not math.isfinite(value):
        return NOTHING
    if unit not in _STEPS:
        return f"{value:.4f}"
    factor, name = next((step for step in _STEPS[unit] if abs(value) >= step[0]), _STEPS[unit][-1])
    return f"{value / factor:.3g} {name}" if value else f"0 {unit}"


def change(cell: Cell) -> str:
    """Return how the head differs from the base: in percent with the interval, or as a difference of scores."""
    if math.isfinite(cell.ratio):
        interval = math.isfinite(cell.low) and math.isfinite(cell.high)
        limits = f" ({_percent(cell.low)} … {_percent(cell.high)})" if interval else ""
        return f"{_percent(cell.ratio)} %{limits}"
    return _signed(cell.difference, 4) if math.isfinite(cell.difference) else NOTHING


def changed_versions(base: Mapping[str, str], head: Mapping[str, str]) -> str:
    """Return a sentence on the packages whose versions differ; empty if there are none."""
    names = dict.fromkeys([*base, *head])
    changed = [
        f"{name} {base.get(name, 'absent')} → {head.get(name, 'absent')}"
        for name in names
        if base.get(name) != head.get(name)
    ]
    return f"Versions differ: {', '.join(changed)}." if changed else ""


def _percent(ratio: float) -> str:
    return _signed(100.0 * (ratio - 1.0), 1)


def _signed(value: float, digits: int) -> str:
    """Return a number with its sign; zero, and what is rounded to it, has a plus."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"
