"""Charts of single protocols: rounds and weights of ground-truth runs, times of timing runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.cells import number_cell
from mfbench.report.charts.drawing import ACCENT, INK, NEUTRAL, chosen_in_legend, lines_of_methods, numbered_name

PANELS = {"detection": "detection rate", "false_alarm": "false-alarm rate"}
_ROW, _SPREAD = 26.0, 8.0


def rounds_chart(number: int, dataset: str, trials: pd.DataFrame) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("rounds", number, dataset),
        f"{dataset}: detection and false alarms of each round",
        "Dots: rounds, bar: their mean.",
        spec=lambda: specify_rounds(trials),
        alt=lambda: describe_rounds(dataset, trials),
    )


def specify_rounds(trials: pd.DataFrame) -> Any:
    """Return two panels, detection and false-alarm rate: a dot per round of each method, a bar for the mean."""
    import altair as alt

    methods = list(dict.fromkeys(trials["method"]))
    frames = {column: _frame(trials, column) for column in PANELS}
    panels: list[Any] = []
    for column, title in PANELS.items():
        # Keep the same rows in both panels, even if a value is undefined in one of them.
        rows = alt.Scale(domain=methods)
        y = alt.Y("method:N", scale=rows, title=None, axis=alt.Axis() if not panels else None)
        x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0.0, 1.0]))
        base = alt.Chart(frames[column])
        dots = base.mark_circle(size=10, color=INK, opacity=0.7).encode(
            x,
            y,
            # Offset the rounds vertically, so that equal values do not hide each other.
            alt.YOffset("position:Q", scale=alt.Scale(domain=[-1, 1], range=[_ROW / 2 - _SPREAD, _ROW / 2 + _SPREAD])),
            tooltip=["method:N", "round:Q", alt.Tooltip("value:Q", title=title, format=".3f")],
        )
        means = base.mark_tick(color=ACCENT, thickness=3, size=0.84 * _ROW).encode(alt.X("mean(value):Q"), y)
        panels.append(alt.layer(means, dots).properties(width=300, height=alt.Step(_ROW)))
    return alt.hconcat(*panels, spacing=30)


def describe_rounds(dataset: str, trials: pd.DataFrame) -> str:
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


_WIDTH, _HEIGHT, _PER_ROW = 230.0, 80.0, 4


def weights_chart(number: int, dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("weights", number, dataset),
        f"{dataset}: weights of the features",
        "Weight divided by the largest one, 0 if negative, mean over rounds; relevant features in colour.",
        spec=lambda: specify_weights(trials, relevant),
        alt=lambda: describe_weights(dataset, trials, relevant),
    )


def relative_weights(trials: pd.DataFrame, relevant: Sequence[int]) -> pd.DataFrame:
    """Return a row per method and feature: the weight relative to the largest one, averaged over rounds."""
    # Negative weights mark unwanted features and count as 0.
    parts = []
    for method, rounds in trials.groupby("method", sort=False):
        weights = np.maximum(np.stack(list(rounds["weights"])), 0.0)
        largest = weights.max(axis=1, keepdims=True)
        means = (weights / np.where(largest > 0, largest, 1.0)).mean(axis=0)
        parts.append(pd.DataFrame({"method": str(method), "feature": np.arange(len(means)), "weight": means}))
    frame = pd.concat(parts, ignore_index=True)
    frame["kind"] = np.where(frame["feature"].isin(list(relevant)), "relevant", "irrelevant")
    return frame


def specify_weights(trials: pd.DataFrame, relevant: Sequence[int]) -> Any:
    """Return a panel per method with a bar for each feature."""
    import altair as alt

    frame = relative_weights(trials, relevant)
    # Order by number: Vega looks names up as object keys, which fails for names like "constructor".
    frame["place"] = pd.factorize(frame["method"])[0]
    kinds = alt.Scale(domain=["relevant", "irrelevant"], range=[ACCENT, NEUTRAL])
    bars = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            alt.X("feature:O", axis=None, scale=alt.Scale(padding=0)),
            alt.Y("weight:Q", axis=None, scale=alt.Scale(domain=[0.0, 1.0])),
            alt.Y2(datum=0.0),
            alt.Color("kind:N", scale=kinds, title=None, legend=alt.Legend(orient="bottom")),
            tooltip=["method:N", "feature:O", alt.Tooltip("weight:Q", format=".3f"), "kind:N"],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    header = alt.Header(title=None, labelOrient="bottom")
    return bars.facet(
        facet=alt.Facet("method:N", sort=alt.EncodingSortField("place", op="min"), header=header), columns=_PER_ROW
    )


def describe_weights(dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> str:
    """Describe the mean relative weight of relevant and of irrelevant features."""
    means = relative_weights(trials, relevant).groupby(["method", "kind"], sort=False)["weight"].mean().unstack()
    means = means.reindex(columns=["relevant", "irrelevant"])
    parts = [
        f"{method} {' and '.join(number_cell(value, '.2f').text for value in row)}" for method, row in means.iterrows()
    ]
    return f"{dataset}, mean relative weight of relevant and of irrelevant features: {', '.join(parts)}."


SCALING = "scaling"
AXES = {"n_train": "rows", "n_features": "features"}


def scaling_chart(profile: pd.DataFrame, exponents: pd.DataFrame) -> Chart | None:
    """Return the chart of a run, or None without sizes to compare."""
    frame = curves(profile)
    if not len(frame):
        return None
    return Chart(
        SCALING,
        "Time to fit by size",
        "Both axes are logarithmic, so a power law is a straight line whose slope is its exponent.",
        spec=lambda: specify_scaling(frame),
        alt=lambda: describe_scaling(exponents),
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


def specify_scaling(frame: pd.DataFrame) -> Any:
    """Return a panel for rows and one for features per dataset, with a line per method."""
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


def describe_scaling(exponents: pd.DataFrame) -> str:
    """Describe the exponents."""
    parts = []
    for row in exponents.to_dict("records"):
        rows, features = (number_cell(row[f"{axis}_exponent"], ".2f").text for axis in AXES.values())
        parts.append(f"{row['method']} on {row['dataset']} {rows} and {features}")
    return f"Exponents of the time to fit in rows and in features: {', '.join(parts)}."
