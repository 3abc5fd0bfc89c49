"""The chart of a trend: the values of a series in the order of the commits, as a line of blocks and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.cells import measured
from mfbench.report.charts.theme import ACCENT, INK, NEUTRAL, numbered_name
from mfbench_gate.history.trends import Trend

BLOCKS = "▁▂▃▄▅▆▇█"
SPARKS = 30
LEAST_SPAN = 0.1
"""Relative span that a chart shows at least, so that the noise of a quiet series does not fill it."""
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
    """Return a dot for each run, a bar for the median of each level, and a vertical line at each change."""
    import altair as alt

    series = trend.series
    points = pd.DataFrame(
        [
            (number, p.value, p.commit[:_SHORT], p.date, measured(p.value, series.measure))
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
    levels = ", then ".join(measured(level, trend.series.measure) for _, _, level in trend.levels)
    return f"{trend.series.name}, {trend.series.measure} over {len(trend.series.points)} runs: {levels or 'no level'}."


def _range(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    least = LEAST_SPAN * max(abs(low), abs(high)) or 1.0
    missing = max(0.0, least - (high - low)) / 2.0
    return low - missing, high + missing
