"""The chart of rounds: detection and false alarms of each round of a ground-truth run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.cells import number_cell
from mfbench.report.charts.theme import ACCENT, INK, numbered_name

PANELS = {"detection": "detection rate", "false_alarm": "false-alarm rate"}
_ROW, _SPREAD = 26.0, 8.0


def rounds_chart(number: int, dataset: str, trials: pd.DataFrame) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("rounds", number, dataset),
        f"{dataset}: detection and false alarms of each round",
        "Dots: rounds, bar: their mean.",
        spec=lambda: specify(trials),
        alt=lambda: describe(dataset, trials),
    )


def specify(trials: pd.DataFrame) -> Any:
    """Return two panels, detection and false-alarm rate: a dot for each round of each method, a bar for the mean."""
    import altair as alt

    methods = list(dict.fromkeys(trials["method"]))
    frames = {column: _frame(trials, column) for column in PANELS}
    panels: list[Any] = []
    for column, title in PANELS.items():
        # The same rows in both panels, whatever is undefined in one of them.
        rows = alt.Scale(domain=methods)
        y = alt.Y("method:N", scale=rows, title=None, axis=alt.Axis() if not panels else None)
        x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0.0, 1.0]))
        base = alt.Chart(frames[column])
        dots = base.mark_circle(size=10, color=INK, opacity=0.7).encode(
            x,
            y,
            # Rounds lie one above the other, so that equal values do not hide each other.
            alt.YOffset("position:Q", scale=alt.Scale(domain=[-1, 1], range=[_ROW / 2 - _SPREAD, _ROW / 2 + _SPREAD])),
            tooltip=["method:N", "round:Q", alt.Tooltip("value:Q", title=title, format=".3f")],
        )
        means = base.mark_tick(color=ACCENT, thickness=3, size=0.84 * _ROW).encode(alt.X("mean(value):Q"), y)
        panels.append(alt.layer(means, dots).properties(width=300, height=alt.Step(_ROW)))
    return alt.hconcat(*panels, spacing=30)


def describe(dataset: str, trials: pd.DataFrame) -> str:
    """Describe the means of both rates."""
    means = trials.groupby("method", sort=False)[list(PANELS)].mean()
    parts = [
        f"{method} {' and '.join(number_cell(row[column], '.2f').text for column in PANELS)}"
        for method, row in means.iterrows()
    ]
    return f"{dataset}, mean detection rate and false-alarm rate: {', '.join(parts)}."


def _frame(trials: pd.DataFrame, column: str) -> pd.DataFrame:
    frame = trials[["method", "repeat", column]].rename(columns={column: "value", "repeat": "round"})
    frame = frame[frame["value"].notna()].astype({"value": float}).assign(rate=PANELS[column])
    counts = frame.groupby("method")["value"].transform("size")
    order = frame.groupby("method").cumcount()
    frame["position"] = np.where(counts > 1, 2.0 * order / np.maximum(counts - 1, 1) - 1.0, 0.0)
    return frame
