"""A comparison in the formats of other tools, starting with Markdown for job summaries and pull-request comments.

The first line of the Markdown is a hidden comment by which a bot finds its earlier comment.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from mfbench.base.junit import Case, document
from mfbench.base.text import counted
from mfbench.report.render.files import section_lines
from mfbench.report.render.files import to_markdown as render
from mfbench_gate.comparison import MARKS, MEMORY, TIME, CellVerdict, ComparedCell, Comparison, amount, change, headline
from mfbench_gate.display import comparison_report

MARKER = "mfbench-comparison"
# A GitHub comment is limited to 65,536 characters; the header and each section get a share of them.
_MOST, _MOST_OF_SECTIONS = 8_000, (22_000, 16_000, 5_000, 5_000, 5_000)
# On GitHub these characters mention people, or link to issues and other pages, if followed directly by text.
_LINKS = re.compile(r"@|#(?=\d)|(?<=GH)-|:(?=//)|(?<=www)\.", re.IGNORECASE)


def to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown of at most 65,536 characters."""
    report = comparison_report(comparison)
    verdicts = {cell.verdict for cell in comparison.cells}
    mark = next((mark for verdict, mark in MARKS.items() if verdict in verdicts), "–")
    lines = [marker(comparison.title)]
    lines += _limited(render(replace(report, title=f"{mark} {report.title}", sections=())), _MOST)
    for section, most in zip(report.sections, _MOST_OF_SECTIONS, strict=True):
        if not section.has_content:
            continue
        shown = _limited("\n".join(section_lines(section, {})), most)
        if section in (report.sections[0], report.sections[-1]):
            lines += ["", *shown]
        else:
            number = sum(len(table.rows) for table in section.tables) or len(section.notes)
            summary = f"<summary>{section.title}: {number}</summary>"
            lines += ["", "<details>", summary, "", *shown[2:], "", "</details>"]
    return "\n".join(lines) + "\n"


def marker(title: str) -> str:
    """Return the hidden comment that identifies earlier comparisons with the same title."""
    words = "-".join(re.findall("[a-z0-9]+", title.lower()))[:80]
    return f"<!-- {MARKER}{f': {words}' if words else ''} -->"


def _limited(text: str, most: int) -> list[str]:
    """Return as many lines as fit into a number of characters, with links in names defused."""
    lines = [_LINKS.sub(r"\g<0>&#8203;", line) for line in text.strip().splitlines()]
    n_kept = sum(total <= most for total in accumulate(len(line) + 1 for line in lines))
    if n_kept == len(lines):
        return lines
    n_left = sum(line != "" for line in lines[n_kept:])
    return [*lines[:n_kept], "", f"… and {counted(n_left, 'more line')}; the JSON output has all of them."]


def to_junit(comparison: Comparison) -> str:
    """Return a comparison as JUnit XML with one test case per cell."""
    # A worse cell is a failure. An undecided cell is a failure if the exit code counts it as one; otherwise it is
    # skipped with its reason, as is a trend. Cases have no time of their own; the suite reports the duration of the
    # whole comparison.
    failures = {CellVerdict.WORSE} if comparison.undecided_ok else {CellVerdict.WORSE, CellVerdict.UNDECIDED}
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
            if cell.verdict is CellVerdict.NO_WORSE
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


def _details(cell: ComparedCell) -> str:
    lines = [
        f"measure: {cell.measure}",
        f"base: {amount(cell.base, cell.unit)}",
        f"head: {amount(cell.head, cell.unit)}",
        f"change: {change(cell)}",
        f"pairs: {cell.n_pairs}",
    ]
    numbers = [("limit", cell.limit), ("adjusted p-value", cell.p_value)]
    return "\n".join([*lines, *(f"{name}: {value:.4g}" for name, value in numbers if math.isfinite(value))])


FORMAT_VERSION = "5.1.0"
"""The imitated pytest-benchmark version; versions 3 to 5 can read the file."""


def to_pytest_benchmark(comparison: Comparison) -> str:
    """Return the times of a comparison as pytest-benchmark JSON."""
    # Each time becomes two benchmarks in a group, `NAME[base]` and `NAME[head]`. Statistics are computed from the
    # measurements, or from the median alone if they are unavailable. The format has no place for memory and scores.
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
    """Return the statistics required by the format."""
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


NANOSECONDS = 1e9
_MEASURES = {TIME: ("latency", NANOSECONDS), MEMORY: ("memory", 1.0)}
"""Bencher's built-in time measure is ``latency`` in nanoseconds; memory is in bytes, and scores keep their names."""


def to_bencher(comparison: Comparison) -> str:
    """Return the head's measurements, with intervals if available."""
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


def to_github_action_benchmark(comparison: Comparison) -> str:
    """Return the head's measurements in a form in which smaller is better."""
    # A score for which larger is better is assumed to have the optimum 1, and appears as `1 - score`.
    entries = [_entry(cell) for cell in comparison.cells if math.isfinite(cell.head)]
    return json.dumps(entries, indent=2, allow_nan=False) + "\n"


def _entry(cell: ComparedCell) -> dict[str, Any]:
    """Return the JSON object of one cell; `extra` is the tooltip of a point in the chart."""
    measure = f"1 - {cell.measure}" if cell.greater_is_better else cell.measure
    entry: dict[str, Any] = {
        "name": f"{cell.name}: {measure}",
        "unit": cell.unit or "score",
        "value": 1.0 - cell.head if cell.greater_is_better else cell.head,
    }
    if cell.head_interval:
        entry["range"] = " … ".join(f"{value:.4g}" for value in cell.head_interval)
    lines = [f"verdict: {cell.verdict}", f"change: {change(cell)}", cell.reason, f"pairs: {cell.n_pairs}"]
    entry["extra"] = "\n".join(line for line in lines if line)
    return entry
