"""The chart of weights: how a ground-truth run weights relevant and irrelevant features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mfbench.report.charts.svg import LETTER, document, line, numbered_name, text
from mfbench.sections import Chart

RELEVANT, IRRELEVANT = "#d55e00", "#999999"
_BARS, _GAP, _BARS_HEIGHT, _PER_ROW = 230.0, 30.0, 80.0, 4


def weights_chart(number: int, dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("weights", number, dataset),
        f"{dataset}: weights of the features",
        svg=lambda title: draw_weights(dataset, trials, relevant),
    )


def draw_weights(dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> str:
    """Return a panel per method: the weight of each feature divided by the largest one, mean over rounds.

    Negative weights mark unwanted features and count as 0.

    Parameters
    ----------
    dataset : str
        Heading.
    trials : DataFrame
        The trials of one dataset, as in `mfbench.analysis.results.Run.trials`.
    relevant : sequence of int
        Features drawn in another colour.

    Returns
    -------
    str
        An SVG document.
    """
    methods = list(dict.fromkeys(trials["method"]))
    rows = -(-len(methods) // _PER_ROW)
    width = 24.0 + min(_PER_ROW, len(methods)) * (_BARS + _GAP)
    width = max(width, 24.0 + LETTER * (len(dataset) + 60))
    height = 66.0 + rows * (_BARS_HEIGHT + 34.0)
    caption = "weight divided by the largest one, 0 if negative, mean over rounds; relevant features in colour"
    body = [
        text(width / 2, 22, dataset, "middle", font_weight="bold"),
        text(width / 2, 42, caption, "middle", font_size="11", fill="#444"),
    ]
    for position, method in enumerate(methods):
        weights = np.maximum(np.stack(list(trials.loc[trials["method"] == method, "weights"])), 0.0)
        largest = weights.max(axis=1, keepdims=True)
        heights = (weights / np.where(largest > 0, largest, 1.0)).mean(axis=0)
        start = 24.0 + position % _PER_ROW * (_BARS + _GAP)
        bottom = 66.0 + position // _PER_ROW * (_BARS_HEIGHT + 34.0) + _BARS_HEIGHT
        body.append(text(start + _BARS / 2, bottom + 18, str(method), "middle"))
        body += _bars(heights, set(relevant), start, bottom)
        body.append(line(start, bottom, start + _BARS, bottom))
    return document(width, height, f"{dataset}: weights of the features", body)


def _bars(
    heights: np.ndarray[tuple[int], np.dtype[np.float64]], relevant: set[int], start: float, bottom: float
) -> list[str]:
    step = _BARS / len(heights)
    return [
        f'<rect x="{start + step * j:.2f}" y="{bottom - height * _BARS_HEIGHT:.2f}" width="{step:.2f}" '
        f'height="{height * _BARS_HEIGHT:.2f}" fill="{RELEVANT if j in relevant else IRRELEVANT}"/>'
        for j, height in enumerate(heights)
        if height > 0
    ]
