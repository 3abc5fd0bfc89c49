"""The chart of weights: how a ground-truth run weights relevant and irrelevant features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Chart
from mfbench.report.cells import number_cell
from mfbench.report.charts.theme import ACCENT, NEUTRAL, numbered_name

_WIDTH, _HEIGHT, _PER_ROW = 230.0, 80.0, 4


def weights_chart(number: int, dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    return Chart(
        numbered_name("weights", number, dataset),
        f"{dataset}: weights of the features",
        "Weight divided by the largest one, 0 if negative, mean over rounds; relevant features in colour.",
        spec=lambda: specify(trials, relevant),
        alt=lambda: describe(dataset, trials, relevant),
    )


def relative_weights(trials: pd.DataFrame, relevant: Sequence[int]) -> pd.DataFrame:
    """Return a row per method and feature: the weight divided by the largest one, mean over rounds."""
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


def specify(trials: pd.DataFrame, relevant: Sequence[int]) -> Any:
    """Return a panel per method with a bar for each feature."""
    import altair as alt

    frame = relative_weights(trials, relevant)
    # The order is a number: a list of names would be looked up, and "constructor" is not a name that this survives.
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


def describe(dataset: str, trials: pd.DataFrame, relevant: Sequence[int]) -> str:
    """Describe the mean relative weight of both kinds of feature."""
    means = relative_weights(trials, relevant).groupby(["method", "kind"], sort=False)["weight"].mean().unstack()
    means = means.reindex(columns=["relevant", "irrelevant"])
    parts = [
        f"{method} {' and '.join(number_cell(value, '.2f').text for value in row)}" for method, row in means.iterrows()
    ]
    return f"{dataset}, mean relative weight of relevant and of irrelevant features: {', '.join(parts)}."
