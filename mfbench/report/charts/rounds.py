"""The chart of rounds: detection and false alarms of each round of a ground-truth run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.report.charts.svg import LETTER, document, line, numbered_name, text
from mfbench.sections import Chart

MEAN = "#d55e00"
_PANEL, _GAP, _TOP, _ROW = 300.0, 30.0, 56.0, 26.0
_PANELS = (("detection", "detection rate"), ("false_alarm", "false-alarm rate"))


def rounds_chart(number: int, dataset: str, trials: pd.DataFrame) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("rounds", number, dataset),
        f"{dataset}: detection and false alarms of each round",
        svg=lambda title: draw_rounds(dataset, trials),
    )


def draw_rounds(dataset: str, trials: pd.DataFrame) -> str:
    """Return two panels, detection and false-alarm rate: a dot for each round of each method, a bar for the mean.

    Parameters
    ----------
    dataset : str
        Heading.
    trials : DataFrame
        The trials of one dataset, as in `mfbench.analysis.results.Run.trials`.

    Returns
    -------
    str
        An SVG document.
    """
    methods = list(dict.fromkeys(trials["method"]))
    left = 24.0 + LETTER * max(len(method) for method in methods)
    bottom = _TOP + _ROW * len(methods)
    width, height = left + 2 * _PANEL + _GAP + 24.0, bottom + 52.0
    body = [
        text(width / 2, 22, dataset, "middle", font_weight="bold"),
        text(width / 2, 42, "dots: rounds, bar: their mean", "middle", font_size="11", fill="#444"),
    ]
    body += [text(left - 10, _TOP + _ROW * (k + 0.5) + 4, method, "end") for k, method in enumerate(methods)]
    for panel, (column, title) in enumerate(_PANELS):
        start = left + panel * (_PANEL + _GAP)
        body += _axis(start, bottom, title)
        for row, method in enumerate(methods):
            values = trials.loc[trials["method"] == method, column].dropna().to_numpy(dtype=float)
            body += _dots(values, start, _TOP + _ROW * (row + 0.5))
    return document(width, height, f"{dataset}: detection and false alarms of each round", body)


def _axis(start: float, bottom: float, title: str) -> list[str]:
    body = [line(start, bottom, start + _PANEL, bottom), text(start + _PANEL / 2, bottom + 38, title, "middle")]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = start + share * _PANEL
        body += [line(x, _TOP, x, bottom + 5, 0.5, "#cccccc"), text(x, bottom + 18, f"{share:g}", "middle")]
    return body


def _dots(values: np.ndarray[tuple[int], np.dtype[np.float64]], start: float, middle: float) -> list[str]:
    """Draw the rounds one above the other, in order, so that equal values do not hide each other."""
    if not len(values):
        return []
    x = start + values.mean() * _PANEL
    offsets = np.linspace(-0.3, 0.3, len(values)) * _ROW if len(values) > 1 else np.zeros(1)
    body = [line(x, middle - 0.42 * _ROW, x, middle + 0.42 * _ROW, 3, MEAN)]
    return body + [
        f'<circle cx="{start + value * _PANEL:.1f}" cy="{middle + offset:.1f}" r="1.6"/>'
        for value, offset in zip(values, offsets, strict=True)
    ]
