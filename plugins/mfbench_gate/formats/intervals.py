"""The interval of a head's time or memory, for formats that have no place for a ratio."""

from __future__ import annotations

import math

from mfbench_gate.comparison import Cell


def head_interval(cell: Cell) -> tuple[float, float] | None:
    """Return the interval of the head's value that the interval of the ratio implies, in the unit of the cell."""
    if not all(math.isfinite(value) for value in (cell.ratio, cell.low, cell.high, cell.head)) or cell.ratio <= 0:
        return None
    # The median of ratios is not the ratio of medians, so the interval is scaled to lie around the head's own value.
    return cell.head * cell.low / cell.ratio, cell.head * cell.high / cell.ratio
