"""The chart of a trend: the values of a series in the order of the commits, as a line of blocks and as SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfbench.compare.history.trends import Trend
from mfbench.report.cells import measured
from mfbench.report.charts.svg import document, line, numbered_name, text
from mfbench.sections import Chart

BLOCKS = "▁▂▃▄▅▆▇█"
SPARKS = 30
LEAST_SPAN = 0.1
"""Relative span that a chart shows at least, so that the noise of a quiet series does not fill it."""
LEVEL, MARKER = "#d55e00", "#999999"
_LEFT, _TOP, _WIDTH, _HEIGHT = 84.0, 48.0, 640.0, 220.0


def sparkline(values: Sequence[float], limit: int = SPARKS) -> str:
    """Return the last values as a line of blocks.

    Parameters
    ----------
    values : sequence of float
    limit : int, default=30
        Number of values that are shown at most.

    Examples
    --------
    >>> sparkline([1.0, 1.0, 1.0, 1.5, 2.0])
    '▁▁▁▄█'
    >>> sparkline([1.0, 1.0])
    '▄▄'
    """
    shown = np.array(values[-limit:], dtype=float)
    if not len(shown):
        return ""
    low, high = _range(shown)
    heights = (shown - low) / (high - low) * (len(BLOCKS) - 1)
    return "".join(BLOCKS[int(height)] for height in heights.clip(0, len(BLOCKS) - 1))


def trend_chart(number: int, trend: Trend) -> Chart:
    """Return the chart of a trend, the `number`-th of a report."""
    series = trend.series
    heading = f"{series.name}: {series.measure}"
    name = numbered_name("trend", number, f"{series.name}-{series.measure}")
    return Chart(name, heading, svg=lambda title: draw_trend(trend, title or heading))


def draw_trend(trend: Trend, title: str) -> str:
    """Return a dot for each run, a bar for the median of each level, and a vertical line at each change.

    Parameters
    ----------
    trend : Trend
    title : str

    Returns
    -------
    str
        An SVG document.
    """
    points = trend.series.points
    values = np.array([point.value for point in points], dtype=float)
    low, high = _range(values)
    step = _WIDTH / max(len(points), 1)
    bottom = _TOP + _HEIGHT

    def x(position: float) -> float:
        return _LEFT + (position + 0.5) * step

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * _HEIGHT

    body = [text(_LEFT + _WIDTH / 2, 24, title, "middle", font_weight="bold")]
    for value in np.linspace(low, high, 5):
        body += [line(_LEFT, y(value), _LEFT + _WIDTH, y(value), 0.5, "#cccccc")]
        body += [text(_LEFT - 8, y(value) + 4, measured(value, trend.series.measure), "end", font_size="11")]
    for change in trend.changes:
        place = x(change.position - 0.5)
        body += [line(place, _TOP, place, bottom, 1, MARKER)]
        body += [text(place, bottom + 18, change.first_after.commit[:7], "middle", font_size="11")]
    for start, end, level in trend.levels:
        body += [line(x(start - 0.4), y(level), x(end - 0.6), y(level), 3, LEVEL)]
    body += [f'<circle cx="{x(position):.1f}" cy="{y(value):.1f}" r="2.4"/>' for position, value in enumerate(values)]
    return document(_LEFT + _WIDTH + 24, bottom + 34, title, body)


def _range(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    least = LEAST_SPAN * max(abs(low), abs(high)) or 1.0
    missing = max(0.0, least - (high - low)) / 2.0
    return low - missing, high + missing
