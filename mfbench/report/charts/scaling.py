"""Time to fit against the number of rows and of features, on logarithmic axes, for the protocol ``timing``."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.cells import number_cell
from mfbench.report.charts.theme import chosen_in_legend, lines_of_methods

NAME = "scaling"
AXES = {"n_train": "rows", "n_features": "features"}


def scaling_chart(profile: pd.DataFrame, exponents: pd.DataFrame) -> Chart | None:
    """Return the chart of a run, or None without sizes to compare."""
    frame = curves(profile)
    if not len(frame):
        return None
    return Chart(
        NAME,
        "Time to fit by size",
        "Both axes are logarithmic, so a power law is a straight line whose slope is its exponent.",
        spec=lambda: specify(frame),
        alt=lambda: describe(exponents),
    )


def curves(profile: pd.DataFrame) -> pd.DataFrame:
    """Return dataset, method, axis, size and seconds: with all features for rows, with all rows for features."""
    parts = []
    for axis, other in (("n_train", "n_features"), ("n_features", "n_train")):
        full = profile.groupby("dataset")[other].transform("max")
        own = profile[(profile[other] == full) & (profile["fit_seconds"] > 0)].assign(axis=AXES[axis])
        part = own[["dataset", "method", "axis", axis, "fit_seconds"]]
        parts.append(part.rename(columns={axis: "size", "fit_seconds": "seconds"}))
    frame = pd.concat(parts, ignore_index=True)
    several = frame.groupby(["dataset", "method", "axis"])["size"].transform("nunique") > 1
    return frame[several].reset_index(drop=True)


def specify(frame: pd.DataFrame) -> Any:
    """Return a panel for rows and one for features of each dataset, with a line per method."""
    import altair as alt

    chosen, opacity = chosen_in_legend("method")
    lines = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            alt.X("size:Q", scale=alt.Scale(type="log", padding=8), title=None).axis(format="~s", tickCount=5),
            alt.Y("seconds:Q", scale=alt.Scale(type="log"), title="seconds").axis(format="~g", tickCount=6),
            *lines_of_methods(list(dict.fromkeys(frame["method"]))),
            opacity=opacity(1.0, 0.12),
            tooltip=["method:N", "size:Q", alt.Tooltip("seconds:Q", format=".3~g")],
        )
        .add_params(chosen)
        .properties(width=290, height=260)
    )
    return lines.facet(
        column=alt.Column("axis:N", title=None, sort=list(AXES.values())), row=alt.Row("dataset:N", title=None)
    ).resolve_scale(x="independent")


def describe(exponents: pd.DataFrame) -> str:
    """Describe the exponents."""
    parts = []
    for row in exponents.to_dict("records"):
        rows, features = (number_cell(row[f"{axis}_exponent"], ".2f").text for axis in AXES.values())
        parts.append(f"{row['method']} on {row['dataset']} {rows} and {features}")
    return f"Exponents of the time to fit in rows and in features: {', '.join(parts)}."
