"""Mean scores against the number of features, with bands: a panel for each dataset, the best selectors in colour."""

from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.text import counted
from mfbench.model.evaluation import Score
from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import MOST_DATASETS, NEUTRAL, chosen_in_legend, colours_of, numbered_name

HIGHLIGHTED = 5
"""Number of coloured methods if a classifier has more than `MOST_LINES`."""
MOST_LINES = 8
COLUMNS = 3
"""Number of panels side by side."""
_WIDTH, _HEIGHT = 250, 170
_PANELS = "Each panel is a dataset, with the number of features on a logarithmic axis."
_LEGEND = "A click in the legend shows a method alone."


def curve_chart(number: int, means: pd.DataFrame, overview: pd.DataFrame, metric: str, score: Score) -> Chart:
    """Return the chart of the methods of one classifier."""
    classifier = str(overview["classifier"].iloc[0])
    frame = lines_of(means, overview, percent=score.percent)
    shown = f"{metric} (percent)" if score.percent else metric
    return Chart(
        numbered_name("curves", number, classifier),
        f"{classifier}: {shown} against the number of features",
        f"{_PANELS} Lines: means over folds. Bands: their intervals.{_rest_note(frame)} {_LEGEND}",
        spec=lambda: specify(frame, shown),
        alt=lambda: describe(frame, f"{classifier}, mean {metric}", greater_is_better=score.greater_is_better),
    )


def ranking_chart(figure: str, rankings: pd.DataFrame, overview: pd.DataFrame) -> Chart | None:
    """Return the chart of ranking quality for the methods of one classifier; None if it is undefined."""
    means = rankings.rename(columns={figure: "mean"}).assign(low=np.nan, high=np.nan)
    frame = lines_of(means, overview, percent=False)
    if not len(frame):
        return None
    classifier = str(overview["classifier"].iloc[0])
    return Chart(
        f"curves-{figure}",
        f"{figure.capitalize()} of the selected features against their number",
        f"{_PANELS} Methods with the classifier {classifier}; an untuned selector has the same ranking with each "
        f"classifier.{_rest_note(frame)} {_LEGEND}",
        spec=lambda: specify(frame, figure),
        alt=lambda: describe(frame, figure),
    )


def lines_of(means: pd.DataFrame, overview: pd.DataFrame, *, percent: bool) -> pd.DataFrame:
    """Return dataset, method, size, mean, low, high, and the legend entry of each method."""
    # Methods that are not highlighted share the last entry.
    ordered = overview["method"].tolist()
    shown = ordered if len(ordered) <= MOST_LINES else ordered[:HIGHLIGHTED]
    datasets = means["dataset"].unique()[:MOST_DATASETS]
    own = means[means["method"].isin(ordered) & means["dataset"].isin(datasets) & means["mean"].notna()]
    frame = own[["dataset", "method", "size", "mean", "low", "high"]].copy()
    if percent:
        frame[["mean", "low", "high"]] *= 100.0
    rest = counted(len(ordered) - len(shown), "other method")
    frame["line"] = frame["method"].where(frame["method"].isin(shown), rest)
    frame["place"] = frame["method"].map({method: place for place, method in enumerate(ordered)})
    return frame.sort_values(["place"], kind="stable", ignore_index=True)


def specify(frame: pd.DataFrame, title: str) -> Any:
    """Return a panel per dataset, in frame order, with a line for each method."""
    import altair as alt

    names = list(dict.fromkeys(frame["line"]))
    methods = set(frame["method"])
    own = [name for name in names if name in methods]
    rest = [name for name in names if name not in methods]
    colour = alt.Color(
        "line:N",
        title=None,
        scale=alt.Scale(domain=names, range=[*colours_of(own), *[NEUTRAL] * len(rest)]),
        legend=alt.Legend(orient="top", columns=COLUMNS, symbolType="stroke", symbolOpacity=1.0),
    )
    chosen, opacity = chosen_in_legend("line")
    x = alt.X("size:Q", title="features", scale=alt.Scale(type="log", nice=False)).axis(
        format="~s", grid=False, tickCount=4, titlePadding=2, titleFontSize=11
    )
    y = alt.Y("mean:Q", title=None, scale=alt.Scale(zero=False)).axis(tickCount=5)
    tooltip: list[Any] = ["method:N", alt.Tooltip("size:Q", title="features")]
    tooltip.append(alt.Tooltip("mean:Q", title=title, format=".4~g"))
    tooltip += [alt.Tooltip(f"{end}:Q", format=".4~g") for end in ("low", "high")]
    highlighted, grey = (
        alt.Chart(frame).transform_filter(alt.FieldOneOfPredicate(field="line", oneOf=lines)).encode(x, colour)
        for lines in (own, rest)
    )
    # Stroke or fill opacity renders much faster than mark opacity, which needs a separate layer.
    others = grey.mark_line(strokeWidth=0.8).encode(
        y, detail="method:N", tooltip=tooltip, strokeOpacity=opacity(0.55, 0.05)
    )
    bands = highlighted.mark_area().encode(alt.Y("low:Q", title=None), alt.Y2("high:Q"), fillOpacity=opacity(0.13, 0.0))
    lines = (
        highlighted.mark_line(point=alt.OverlayMarkDef(size=14), strokeWidth=1.8)
        .encode(y, tooltip=tooltip, opacity=opacity(1.0, 0.08))
        .add_params(chosen)
    )
    # The drawing library warns about empty layers.
    layers = [*([others] if rest else []), *([bands] if frame["low"].notna().any() else []), lines]
    return (
        alt.layer(*layers)
        .properties(width=_WIDTH, height=_HEIGHT)
        .facet(alt.Facet("dataset:N", title=None, sort=list(dict.fromkeys(frame["dataset"]))), columns=COLUMNS)
        .resolve_scale(x="independent", y="independent")
    )


def describe(frame: pd.DataFrame, what: str, *, greater_is_better: bool = True) -> str:
    """Describe the curve of the best method on each dataset: its ends and its best value."""
    best = frame[frame["place"] == frame["place"].min()]
    parts, word = [], "largest" if greater_is_better else "smallest"
    for dataset, group in best.groupby("dataset", sort=False):
        rows = group.sort_values("size")
        top = rows.loc[rows["mean"].idxmax() if greater_is_better else rows["mean"].idxmin()]
        points = [_point(row) for row in (rows.iloc[0], rows.iloc[-1], top)]
        parts.append(f"{dataset} {points[0]}, {points[1]} ({word}: {points[2]})")
    if not parts:
        return f"{what}: undefined."
    return f"{what} of {best['method'].iloc[0]}, best average rank: {'; '.join(parts)}."


def _point(row: pd.Series) -> str:
    return f"{row['mean']:.3g} with {counted(int(row['size']), 'feature')}"


def _rest_note(frame: pd.DataFrame) -> str:
    if set(frame["line"]) <= set(frame["method"]):
        return ""
    return f" In colour: the {HIGHLIGHTED} methods with the best average rank of the area; the others are grey."
