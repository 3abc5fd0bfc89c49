"""The head of a comparison in Bencher Metric Format, which ``bencher run --adapter json`` reads.

The format is described in https://bencher.dev/docs/reference/bencher-metric-format.
"""

from __future__ import annotations

import json
import math
from typing import Any

from mfbench_gate.comparison import Comparison
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
        if cell.head_interval:
            metric |= zip(("lower_value", "upper_value"), (value * factor for value in cell.head_interval), strict=True)
        content.setdefault(cell.name, {})[measure] = metric
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
