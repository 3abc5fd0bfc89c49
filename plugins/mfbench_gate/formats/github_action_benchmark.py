"""The head of a comparison in the form ``customSmallerIsBetter`` of github-action-benchmark.

The form is a list of objects with name, unit, value and, optionally, range and extra; see
https://github.com/benchmark-action/github-action-benchmark.
"""

from __future__ import annotations

import json
import math
from typing import Any

from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Cell, Comparison
from mfbench_gate.texts import change


def to_github_action_benchmark(comparison: Comparison) -> str:
    """Return the head's measurements, of which smaller ones are better."""
    # A score of which larger values are better has 1 as its best value and appears as `1 - score`.
    entries = [_entry(cell) for cell in comparison.cells if math.isfinite(cell.head)]
    return json.dumps(entries, indent=2, allow_nan=False) + "\n"


def _entry(cell: Cell) -> dict[str, Any]:
    """Return the object of one cell; `extra` is shown when the mouse is over a point of the chart."""
    is_reversed = cell.measure in SCORES and SCORES[cell.measure].greater_is_better
    measure = f"1 - {cell.measure}" if is_reversed else cell.measure
    entry: dict[str, Any] = {
        "name": f"{cell.name}: {measure}",
        "unit": cell.unit or "score",
        "value": 1.0 - cell.head if is_reversed else cell.head,
    }
    if cell.head_interval:
        entry["range"] = " … ".join(f"{value:.4g}" for value in cell.head_interval)
    lines = [f"verdict: {cell.verdict}", f"change: {change(cell)}", cell.reason, f"pairs: {cell.n_pairs}"]
    entry["extra"] = "\n".join(line for line in lines if line)
    return entry
