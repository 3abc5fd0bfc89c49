"""The interval of a head's time or memory, for formats that have no place for a ratio."""

from __future__ import annotations

import math

from mfbench_gate.comparison import Cell


def head_interval(cell: Cell) -> tuple[float, float] | None:
    """Return the interval of the head's value that the interval of the ratio implies, in the unit of the cell.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    (float, float) or None
        None without an interval.

    Examples
    --------
    >>> from mfbench_gate.comparison import Verdict
    >>> head_interval(Cell("RFF", "wine", "time", 1.0, 3.0, Verdict.WORSE, ratio=2.0, low=1.0, high=4.0))
    (1.5, 6.0)
    """
    if not all(math.isfinite(value) for value in (cell.ratio, cell.low, cell.high, cell.head)) or cell.ratio <= 0:
        return None
    # The median of ratios is not the ratio of medians, so the interval is scaled to lie around the head's own value.
    return cell.head * cell.low / cell.ratio, cell.head * cell.high / cell.ratio
