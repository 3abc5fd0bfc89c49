"""The report of a history: trends, changes, the commits between which they lie, and the commands that bisect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import DASH, measured
from mfbench.report.render.terminal import show
from mfbench.suite.scores import SCORES
from mfbench_gate.history.changes import SHORTEST
from mfbench_gate.history.entries import Machine
from mfbench_gate.history.series import Series
from mfbench_gate.history.trend_chart import sparkline, trend_chart
from mfbench_gate.history.trends import Change, Trend, bisect_command

TITLES = {
    "time": "CPU time to fit and to predict",
    "fit": "CPU time to fit",
    "predict": "CPU time to predict",
    "wall": "Wall time to fit and to predict",
    "memory": "Peak memory",
}
FALSE_ALARMS = 0.05
"""Largest share of series without a change in which noise alone shows one; see docs/gate.md."""
_SHORT = 7


def history_report(name: str, measure: str, trends: Sequence[Trend]) -> Report:
    """Return the report of a history: one section for each kind of machine."""
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
    """Return the trends on one kind of machine: their table, their changes and their charts."""
    sized = any(trend.series.size for trend in trends)
    size = ["size"] if sized else []
    table = Table(["method", "dataset", *size, "trend", "runs", "last", "last change"], title="Trends")
    changes = Table(["series", "change", "from", "to", "between", "kernels"], title="Changes")
    for trend in trends:
        series, measure = trend.series, trend.series.measure
        values = [point.value for point in series.points]
        texts = [series.method, series.dataset, *([series.size] if sized else []), sparkline(values), str(len(values))]
        last = Cell(measured(values[-1], measure)) if values else DASH
        last_change = Cell(size_text(series, trend.changes[-1])) if trend.changes else DASH
        table.rows.append([*map(Cell, texts), last, last_change])
        for change in trend.changes:
            texts = [series.name, size_text(series, change), measured(change.before, measure)]
            texts += [measured(change.after, measure), between(change)]
            kernels = DASH if change.kernels is None else Cell(f"{100 * change.kernels:+.1f} %")
            changes.rows.append([*map(Cell, texts), kernels])
    title = TITLES.get(trends[0].series.measure, trends[0].series.measure)
    charts = [trend_chart(number, trend) for number, trend in enumerate(trends, 1)]
    return Section(f"{title} on {machine}", [table, changes] if changes.rows else [table], charts, notes=_notes(trends))


def bisect_commands(trends: Sequence[Trend]) -> list[tuple[str, str]]:
    """Return (name of the series, command) for the last change of each series that is for the worse."""
    commands = [
        (trend.series.name, bisect_command(trend.series, trend.changes[-1])) for trend in trends if trend.changes
    ]
    return [(name, command) for name, command in commands if command is not None]


def show_history(report: Report, trends: Sequence[Trend], console: Console) -> None:
    """Print the report of a history, and the commands on lines of their own, to be copied."""
    show(report, console)
    if commands := bisect_commands(trends):
        console.print("\nTo find the commit of a change for the worse:")
    for name, command in commands:
        console.print(f"# {name}", markup=False, highlight=False, style="dim", soft_wrap=True)
        console.print(command, markup=False, highlight=False, soft_wrap=True)


def size_text(series: Series, change: Change) -> str:
    """Return the size of a change with its direction: in percent, for scores in percentage points or as it is."""
    direction = "worse" if change.is_worse else "better"
    if not series.is_score:
        return f"{100 * change.size:+.1f} % ({direction})"
    if SCORES[series.measure].percent:
        return f"{100 * change.size:+.2f} points ({direction})"
    return f"{change.size:+.3f} ({direction})"


def between(change: Change) -> str:
    """Return the commits between which a change lies."""
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
    machine = trend.series.machine
    content["series"]["machine"] |= {"id": machine.id, "text": str(machine)}
    for values, change in zip(content["changes"], trend.changes, strict=True):
        values |= {"within_commit": change.is_within_commit, "bisect": bisect_command(trend.series, change)}
    return {**content["series"], "changes": content["changes"]}
