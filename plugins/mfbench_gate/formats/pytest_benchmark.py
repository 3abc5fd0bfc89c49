"""The times of a comparison as JSON in the form of pytest-benchmark.

``pytest-benchmark compare FILE`` shows a group for each cell with a row for the base and one for the head.
"""

from __future__ import annotations

import json
import math
import statistics
from datetime import UTC, datetime
from typing import Any

from mfbench_gate.comparison import Comparison
from mfbench_gate.limits import TIME

FORMAT_VERSION = "5.1.0"
"""The version of pytest-benchmark whose form is written; versions 3 to 5 read it."""


def to_pytest_benchmark(comparison: Comparison) -> str:
    """Return the times of a comparison in the form of pytest-benchmark."""
    # Each time becomes two benchmarks of one group, `NAME[base]` and `NAME[head]`. Statistics are those of the
    # measurements, or of the median alone where the measurements are not available. Memory and scores have no place in
    # this form.
    benchmarks = [
        {
            "group": cell.name,
            "name": f"{cell.name}[{side}]",
            "fullname": f"{cell.name}[{side}]",
            "params": {"side": side},
            "param": side,
            "extra_info": {"verdict": str(cell.verdict), "reason": cell.reason, "n_pairs": cell.n_pairs},
            "options": {},
            "stats": _statistics(values or (middle,)),
        }
        for cell in comparison.cells
        for side, values, middle in (("base", cell.base_values, cell.base), ("head", cell.head_values, cell.head))
        if cell.measure == TIME and math.isfinite(middle)
    ]
    head = comparison.head
    content = {
        "machine_info": {"node": "", "processor": head.machine, "machine": "", "system": "", "cpu": {}},
        "commit_info": {"id": head.version or "unknown", "time": None, "dirty": False, "branch": head.name},
        "benchmarks": benchmarks,
        "datetime": datetime.now(UTC).isoformat(),
        "version": FORMAT_VERSION,
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _statistics(values: tuple[float, ...]) -> dict[str, Any]:
    """Return the statistics that the form requires."""
    data = sorted(values)
    mean, spread = statistics.fmean(data), statistics.stdev(data) if len(data) > 1 else 0.0
    first, middle, third = statistics.quantiles(data, n=4, method="inclusive") if len(data) > 1 else data * 3
    low, high = first - 1.5 * (third - first), third + 1.5 * (third - first)
    inside = [value for value in data if low <= value <= high]
    beyond_spread = sum(not mean - spread <= value <= mean + spread for value in data)
    beyond_quartiles = len(data) - len(inside)
    return {
        "min": data[0],
        "max": data[-1],
        "mean": mean,
        "stddev": spread,
        "rounds": len(data),
        "median": middle,
        "iqr": third - first,
        "q1": first,
        "q3": third,
        "iqr_outliers": beyond_quartiles,
        "stddev_outliers": beyond_spread,
        "outliers": f"{beyond_spread};{beyond_quartiles}",
        "ld15iqr": inside[0],
        "hd15iqr": inside[-1],
        "ops": 1.0 / mean if mean > 0 else 0.0,
        "total": math.fsum(data),
        "data": list(values),
        "iterations": 1,
    }
