"""How often each method selects each feature of a dataset, as a heat map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.report.charts.theme import numbered_name
from mfbench.sections import Chart

MOST_FEATURES = 60


def selection_chart(
    number: int,
    dataset: str,
    trials: Callable[[], pd.DataFrame],
    names: Sequence[str],
    stability: Mapping[str, float],
) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run.

    Parameters
    ----------
    number : int
    dataset : str
    trials : callable
        Takes no argument and returns the trials of the dataset: columns method and selected (indices of features).
    names : sequence of str
        Names of the features.
    stability : mapping of str to float
        Nogueira's stability of each method; NaN if it is undefined.
    """
    n_all = len(names)
    caption = "Share of folds in which a method selects a feature, most often selected features first."
    if n_all > MOST_FEATURES:
        caption += f" The first {MOST_FEATURES} of {n_all} features."
    return Chart(
        numbered_name("selection", number, dataset),
        f"{dataset}: how often features are selected",
        caption,
        spec=lambda: specify(frequencies(trials(), names), stability),
        alt=lambda: describe(dataset, frequencies(trials(), names)),
    )


def frequencies(trials: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return method, feature, position and share of folds: the features that are selected most often, in that order.

    Examples
    --------
    >>> trials = pd.DataFrame({"method": ["A", "A"], "selected": [np.array([1]), np.array([0, 1])]})
    >>> frequencies(trials, ["x", "y"])[["feature", "share"]].values.tolist()
    [['y', 1.0], ['x', 0.5]]
    """
    parts = {}
    for method, folds in trials.groupby("method", sort=False):
        counts = sum(np.bincount(selected, minlength=len(names)) for selected in folds["selected"])
        parts[str(method)] = counts / len(folds)
    table = pd.DataFrame(parts, index=list(names))
    order = np.argsort(-table.mean(axis=1).to_numpy(), kind="stable")[:MOST_FEATURES]
    # Two features may have the same name, so their positions identify them.
    rows = [
        {
            "method": method,
            "feature": str(names[index]),
            "position": position,
            "share": float(table[method].iloc[index]),
        }
        for method in parts
        for position, index in enumerate(order, 1)
    ]
    return pd.DataFrame(rows, columns=["method", "feature", "position", "share"])


def specify(frame: pd.DataFrame, stability: Mapping[str, float]) -> Any:
    """Return a row per method with a cell for each feature; the labels of the methods include their stability."""
    import altair as alt

    labels = {
        method: method if not np.isfinite(stability.get(method, np.nan)) else f"{method} ({stability[method]:.2f})"
        for method in dict.fromkeys(frame["method"])
    }
    features = dict(zip(frame["position"], frame["feature"], strict=True))
    shown = frame.assign(label=frame["method"].map(labels))
    return (
        alt.Chart(shown)
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            alt.X("position:O", title="feature", axis=alt.Axis(labels=False, ticks=False)),
            alt.Y("label:N", sort=list(labels.values()), title="method (stability)"),
            alt.Color("share:Q", title="share of folds", scale=alt.Scale(domain=[0.0, 1.0], scheme="blues")),
            tooltip=["method:N", "feature:N", alt.Tooltip("share:Q", format=".0%")],
        )
        .properties(width=alt.Step(12 if len(features) > 30 else 20), height=alt.Step(18))
    )


def describe(dataset: str, frame: pd.DataFrame) -> str:
    """Return the three features that each method selects most often in words."""
    parts = []
    for method, own in frame.groupby("method", sort=False):
        first = own.sort_values(["share", "position"], ascending=[False, True]).head(3)
        parts.append(f"{method}: " + ", ".join(f"{r['feature']} {r['share']:.0%}" for r in first.to_dict("records")))
    return f"{dataset}, features selected most often: {'; '.join(parts)}."
