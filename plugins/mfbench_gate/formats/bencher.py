"""The head of a comparison in Bencher Metric Format, which ``bencher run --adapter json`` reads.

The format is described in https://bencher.dev/docs/reference/bencher-metric-format.
"""

from __future__ import annotations

import json
import math
from typing import Any

from mfbench_gate.comparison import Comparison
from mfbench_gate.formats.intervals import head_interval
from mfbench_gate.limits import MEMORY, TIME

NANOSECONDS = 1e9
_MEASURES = {TIME: ("latency", NANOSECONDS), MEMORY: ("memory", 1.0)}
"""Bencher's own measure of time is ``latency`` in nanoseconds; memory is in bytes, scores keep their names."""


def to_bencher(comparison: Comparison) -> str:
    """Return the head's measurements, with their intervals where there are any."""
    content: dict[str, dict[str, Any]] = {}
    for cell in comparison.cells:
        if not math.isfinite(cell.head):
            continue
        measure, factor = _MEASURES.get(cell.measure, (cell.measure, 1.0))
        metric = {"value": cell.head * factor}
        interval = head_interval(cell)
        if interval is not None:
            metric |= {"lower_value": interval[0] * factor, "upper_value": interval[1] * factor}
        content.setdefault(cell.name, {})[measure] = metric
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
