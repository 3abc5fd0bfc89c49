"""The report of a history: trends, changes, the commits around each change, and the commands to bisect them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from mfbench.base.text import counted
from mfbench.model.sections import Cell, Chart, Report, Section, Table
from mfbench.report.cells import DASH, measured
from mfbench.report.charts.drawing import ACCENT, INK, NEUTRAL, numbered_name
from mfbench.report.render.terminal import show
from mfbench_gate.comparison import BENCHMARK_FILE, MEMORY, TIME, CellVerdict, ComparedCell, StoredResult
from mfbench_gate.history.storage import Machine
from mfbench_gate.history.trends import SHORTEST, LevelChange, Series, Trend, bisect_command

BLOCKS = "▁▂▃▄▅▆▇█"
SPARKS = 30
LEAST_SPAN = 0.1
"""Minimum relative range of a chart, so that the noise of a quiet series does not fill it."""
_SHORT = 7


def sparkline(values: Sequence[float], limit: int = SPARKS) -> str:
    """Return the last values as a line of blocks."""
    shown = np.array(values[-limit:], dtype=float)
    if not len(shown):
        return ""
    low, high = _range(shown)
    heights = (shown - low) / (high - low) * (len(BLOCKS) - 1)
    return "".join(BLOCKS[int(height)] for height in heights.clip(0, len(BLOCKS) - 1))


def trend_chart(number: int, trend: Trend) -> Chart:
    """Return the chart of a trend, the `number`-th of a report."""
    series = trend.series
    return Chart(
        numbered_name("trend", number, f"{series.name}-{series.measure}"),
        f"{series.name}: {series.measure}",
        spec=lambda: specify(trend),
        alt=lambda: describe(trend),
    )


def specify(trend: Trend) -> Any:
    """Return a dot per run, a bar at the median of each level, and a vertical line at each change."""
    import altair as alt

    series = trend.series
    points = pd.DataFrame(
        [
            (number, p.value, p.commit[:_SHORT], p.date, measured(p.value, series.measure, series.score))
            for number, p in enumerate(series.points, 1)
        ],
        columns=["run", "value", "commit", "date", "is"],
    )
    low, high = _range(points["value"].to_numpy(dtype=float))
    runs = alt.Scale(domain=[0.5, len(points) + 0.5], nice=False)
    x = alt.X("run:Q", title="runs in the order of their commits", scale=runs).axis(grid=False, tickMinStep=1)
    y = alt.Y("value:Q", title=series.measure, scale=alt.Scale(domain=[low, high], zero=False, nice=False))
    bars = [(start + 0.6, end + 0.4, level) for start, end, level in trend.levels]
    levels = pd.DataFrame(bars, columns=["run", "end", "value"], dtype=float)
    lines = [(change.position + 0.5, change.first_after.commit[:_SHORT]) for change in trend.changes]
    changes = pd.DataFrame(lines, columns=["run", "commit"])
    tooltip = [alt.Tooltip("commit:N"), alt.Tooltip("date:N"), alt.Tooltip("is:N", title=series.measure)]
    return alt.layer(
        alt.Chart(changes).mark_rule(color=NEUTRAL).encode(x),
        alt.Chart(changes)
        .mark_text(align="left", dx=4, baseline="top")
        .encode(x, alt.Text("commit:N"), y=alt.value(0)),
        alt.Chart(levels).mark_rule(color=ACCENT, strokeWidth=3).encode(x, y, alt.X2("end")),
        alt.Chart(points).mark_circle(color=INK, size=24).encode(x, y, tooltip=tooltip),
    ).properties(width=640, height=220)


def describe(trend: Trend) -> str:
    """Describe the levels of a trend."""
    levels = ", then ".join(measured(level, trend.series.measure, trend.series.score) for _, _, level in trend.levels)
    return f"{trend.series.name}, {trend.series.measure} over {len(trend.series.points)} runs: {levels or 'no level'}."


def _range(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    least = LEAST_SPAN * max(abs(low), abs(high)) or 1.0
    missing = max(0.0, least - (high - low)) / 2.0
    return low - missing, high + missing


TITLES = {
    "time": "CPU time to fit and to predict",
    "fit": "CPU time to fit",
    "predict": "CPU time to predict",
    "wall": "Wall time to fit and to predict",
    "memory": "Peak memory",
}
FALSE_ALARMS = 0.05
"""Largest share of unchanged series in which noise alone shows a change; see docs/gate.md."""


def history_report(name: str, measure: str, trends: Sequence[Trend]) -> Report:
    """Return the report of a history, with one section per kind of machine."""
    machines = list(dict.fromkeys(trend.series.machine for trend in trends))
    commits = {point.commit for trend in trends for point in trend.series.points}
    title = TITLES.get(measure, measure)
    setting = f"{len(trends)} series, {counted(len(commits), 'commit')}, {counted(len(machines), 'kind')} of machine"
    return Report(
        f"History {name}",
        f"{title}: {setting}",
        [machine_section(machine, [t for t in trends if t.series.machine == machine]) for machine in machines]
        or [Section(title, notes=["The history has no measurement yet."])],
        {"history": name, "measure": measure, "series": [_plain(trend) for trend in trends]},
    )


def machine_section(machine: Machine, trends: Sequence[Trend]) -> Section:
    """Return the trends on one kind of machine: their table, changes and charts."""
    sized = any(trend.series.size for trend in trends)
    size = ["size"] if sized else []
    table = Table(["method", "dataset", *size, "trend", "runs", "last", "last change"], title="Trends")
    changes = Table(["series", "change", "from", "to", "between", "kernels"], title="Changes")
    for trend in trends:
        series = trend.series
        values = [point.value for point in series.points]
        texts = [series.method, series.dataset, *([series.size] if sized else []), sparkline(values), str(len(values))]
        last = Cell(measured(values[-1], series.measure, series.score)) if values else DASH
        last_change = Cell(size_text(series, trend.changes[-1])) if trend.changes else DASH
        table.rows.append([*map(Cell, texts), last, last_change])
        for change in trend.changes:
            texts = [series.name, size_text(series, change), measured(change.before, series.measure, series.score)]
            texts += [measured(change.after, series.measure, series.score), between(change)]
            kernels = DASH if change.kernels is None else Cell(f"{100 * change.kernels:+.1f} %")
            changes.rows.append([*map(Cell, texts), kernels])
    title = TITLES.get(trends[0].series.measure, trends[0].series.measure)
    charts = [trend_chart(number, trend) for number, trend in enumerate(trends, 1)]
    return Section(f"{title} on {machine}", [table, changes] if changes.rows else [table], charts, notes=_notes(trends))


def bisect_commands(trends: Sequence[Trend]) -> list[tuple[str, str]]:
    """Return (series name, command) for the latest regression of each series."""
    commands = [
        (trend.series.name, bisect_command(trend.series, trend.changes[-1])) for trend in trends if trend.changes
    ]
    return [(name, command) for name, command in commands if command is not None]


def show_history(report: Report, trends: Sequence[Trend], console: Console) -> None:
    """Print the report of a history, and each command on a line of its own for copying."""
    show(report, console)
    if commands := bisect_commands(trends):
        console.print("\nTo find the commit of a change for the worse:")
    for name, command in commands:
        console.print(f"# {name}", markup=False, highlight=False, style="dim", soft_wrap=True)
        console.print(command, markup=False, highlight=False, soft_wrap=True)


def size_text(series: Series, change: LevelChange) -> str:
    """Return the size and direction of a change: in percent or, for scores, in percentage points or metric units."""
    direction = "worse" if change.is_worse else "better"
    if series.score is None:
        return f"{100 * change.size:+.1f} % ({direction})"
    if series.score.percent:
        return f"{100 * change.size:+.2f} points ({direction})"
    return f"{change.size:+.3f} ({direction})"


def between(change: LevelChange) -> str:
    """Return the commits around a change."""
    before, after = change.last_before.commit[:_SHORT], change.first_after.commit[:_SHORT]
    return f"within {before}" if change.is_within_commit else f"between {before} and {after}"


def _notes(trends: Sequence[Trend]) -> list[str]:
    changes = [(trend.series.name, change) for trend in trends for change in trend.changes]
    notes = [
        f"{name}, {between(change)}: the calibration kernels changed by as much "
        f"({100 * (change.kernels or 0.0):+.1f} %), so the machine is the likelier cause."
        for name, change in changes
        if change.machine_is_likelier
    ]
    notes += [
        f"{name}: commit {change.first_after.commit[:_SHORT]} was measured before and after the change, "
        "so no commit is its cause."
        for name, change in changes
        if change.is_within_commit
    ]
    if short := sum(len(trend.series.points) < 2 * SHORTEST for trend in trends):
        notes.append(
            f"A change needs {SHORTEST} runs before and {SHORTEST} after it: {counted(short, 'trend')} "
            f"{'has' if short == 1 else 'have'} fewer than {2 * SHORTEST} runs."
        )
    if zeros := sum(trend.series.n_zero for trend in trends):
        notes.append(f"{counted(zeros, 'value')} left out: zero, which is below what the system can measure.")
    judged = len(trends) - short
    if judged and not trends[0].series.is_score:
        notes.append(
            f"Trend: runs in the order of their commits. Noise alone shows a change in at most "
            f"{100 * FALSE_ALARMS:g} % of such series: here in about {FALSE_ALARMS * judged:.1f} of {judged}."
        )
    return notes


def _plain(trend: Trend) -> dict[str, Any]:
    """Return a trend as plain values for JSON."""
    content = asdict(trend)
    del content["series"]["score"]  # what the metric means, which its name tells
    machine = trend.series.machine
    content["series"]["machine"] |= {"id": machine.id, "text": str(machine)}
    for values, change in zip(content["changes"], trend.changes, strict=True):
        values |= {"within_commit": change.is_within_commit, "bisect": bisect_command(trend.series, change)}
    return {**content["series"], "changes": content["changes"]}


NOT_TOGETHER = "not measured together"


def trend_cells(base: StoredResult, head: StoredResult) -> list[ComparedCell]:
    """Return the time and memory cells of everything measured on both sides."""
    cells = []
    measures = (TIME, "s", base.times, head.times), (MEMORY, "B", base.memory, head.memory)
    for measure, unit, of_base, of_head in measures:
        for place, new in of_head.items():
            old = of_base.get(place, {})
            if base.kind != BENCHMARK_FILE:  # benchmark rounds have no counterparts on the other side
                old, new = (
                    {fold: value for fold, value in side.items() if fold in old and fold in new} for side in (old, new)
                )
            if not (old and new):
                continue
            before, after = median(old.values()), median(new.values())
            reason = NOT_TOGETHER if before > 0 else f"{NOT_TOGETHER}; the base took no measurable time"
            ratio = after / before if before > 0 else float("nan")
            cells.append(
                ComparedCell(
                    place.method,
                    place.dataset,
                    measure,
                    before,
                    after,
                    CellVerdict.TREND,
                    reason,
                    place.size,
                    unit,
                    ratio,
                    base_values=tuple(old.values()),
                    head_values=tuple(new.values()),
                )
            )
    return cells


def why_trend(base: StoredResult, head: StoredResult) -> str:
    """Return the sentence that explains why times and memory of two stored results have no verdict."""
    if not base.side.machine or not head.side.machine:
        where = "on machines that at least one of the results does not name"
    elif base.side.machine != head.side.machine:
        where = f"on different machines ({base.side.machine}; {head.side.machine})"
    else:
        where = "on machines of one kind, but not in one job"
    return (
        f"Times and memory were measured {where}, so they do not compare: their ratios are a trend and have no verdict."
    )
