"""Mean score against time per trial, with the methods that no other beats in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Chart
from mfbench.report.charts.theme import ACCENT, LETTER, NEUTRAL

NAME = "score-time"
_WIDTH, _HEIGHT, _LINE = 560, 340, 13


def score_time_chart(summary: pd.DataFrame, metric: str, *, greater_is_better: bool = True) -> Chart | None:
    """Return the chart of a run, or None if fewer than two methods have a mean and a time."""
    frame = front(summary, greater_is_better=greater_is_better)
    if len(frame) < 2:
        return None
    return Chart(
        NAME,
        f"Mean {metric} against time",
        "A method is on the front unless another is at least as good and as fast, and better in one of the two.",
        spec=lambda: specify(frame, metric),
        alt=lambda: describe(frame),
    )


def front(summary: pd.DataFrame, *, greater_is_better: bool = True) -> pd.DataFrame:
    """Return method, mean, seconds per trial, and whether the method is on the Pareto front."""
    seconds = summary["total_seconds"] / summary["planned"].clip(lower=1)
    frame: pd.DataFrame = summary[["method", "mean"]].assign(seconds=seconds)
    frame = frame[np.isfinite(frame["mean"]) & (frame["seconds"] > 0)].reset_index(drop=True)
    goodness = frame["mean"] if greater_is_better else -frame["mean"]
    points = list(zip(goodness, -frame["seconds"], strict=True))
    beaten = [any(a >= mean and b >= speed and (a, b) != (mean, speed) for a, b in points) for mean, speed in points]
    return frame.assign(front=~np.array(beaten, dtype=bool))


def specify(frame: pd.DataFrame, metric: str) -> Any:
    """Return a labelled dot for each method; those on the front are joined."""
    import altair as alt

    x = alt.X("seconds:Q", scale=alt.Scale(type="log", padding=24), title="seconds per trial")
    y = alt.Y("mean:Q", scale=alt.Scale(zero=False, padding=16), title=f"mean {metric}")
    colour = alt.when("datum.front").then(alt.value(ACCENT)).otherwise(alt.value(NEUTRAL))
    figures = [alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("seconds:Q", format=".3~g")]
    base = alt.Chart(frame).encode(x, y)
    joined = (
        alt.Chart(frame)
        .transform_filter("datum.front")
        .mark_line(interpolate="step-after", color=ACCENT, strokeDash=[4, 3])
    )
    named = alt.FieldOneOfPredicate(field="method", oneOf=labelled(frame))
    return alt.layer(
        joined.encode(x, y),
        base.mark_circle(size=60, opacity=1.0).encode(color=colour, tooltip=["method:N", *figures, "front:N"]),
        base.transform_filter(named).mark_text(align="left", dx=7, dy=-5, fontSize=11).encode(alt.Text("method:N")),
    ).properties(width=_WIDTH, height=_HEIGHT)


def labelled(frame: pd.DataFrame) -> list[str]:
    """Return the methods whose names fit beside their dots without covering another name; the front has priority."""
    x = _scaled(np.log(frame["seconds"].to_numpy(dtype=float)), _WIDTH)
    y = _scaled(frame["mean"].to_numpy(dtype=float), _HEIGHT)
    taken: list[tuple[float, float, float]] = []
    names = []
    for place in np.argsort(~frame["front"].to_numpy(dtype=bool), kind="stable"):
        name = str(frame["method"].iloc[place])
        left, right = x[place], x[place] + LETTER * len(name)
        if all(right < begin or left > end or abs(y[place] - height) > _LINE for begin, end, height in taken):
            taken.append((left, right, y[place]))
            names.append(name)
    return names


def _scaled(values: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """Return values as pixels of an axis that they fill."""
    spread = float(np.ptp(values)) if len(values) else 0.0
    return (values - values.min()) / spread * size if spread else np.zeros(len(values))


def describe(frame: pd.DataFrame) -> str:
    """Describe the front, fastest first."""
    parts = [
        f"{row['method']} ({row['mean']:.3f}, {row['seconds']:.2g} s)"
        for row in frame[frame["front"]].sort_values("seconds").to_dict("records")
    ]
    return f"Methods on the front, fastest first: {', '.join(parts)}."
