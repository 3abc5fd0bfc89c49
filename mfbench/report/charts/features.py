"""The chart of how often features are selected."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import numbered_name

MOST_FEATURES = 60
_NAMED, _MOST_LABELS = 3, 30


def selection_chart(
    number: int,
    dataset: str,
    counts: Mapping[str, tuple[NDArray[np.int64], int]],
    names: Sequence[str],
    stability: Mapping[str, float],
) -> Chart:
    """Return the chart of a dataset, the `number`-th of the run."""
    n_all = len(names)
    caption = "Share of folds in which a method selects a feature, most often selected features first."
    if n_all > MOST_FEATURES:
        caption += f" The first {MOST_FEATURES} of {n_all} features."
    return Chart(
        numbered_name("selection", number, dataset),
        f"{dataset}: how often features are selected",
        caption,
        spec=lambda: specify_selection(frequencies(counts, names), stability),
        alt=lambda: describe_selection(dataset, frequencies(counts, names)),
    )


def frequencies(counts: Mapping[str, tuple[NDArray[np.int64], int]], names: Sequence[str]) -> pd.DataFrame:
    """Return method, feature, position and share of folds for the most often selected features, in that order."""
    shares = np.array([number / folds for number, folds in counts.values()])
    order = np.argsort(-shares.mean(axis=0), kind="stable")[:MOST_FEATURES]
    # Feature names may repeat, so features are identified by position.
    return pd.DataFrame(
        {
            "method": np.repeat(list(counts), len(order)),
            "feature": np.tile([str(names[index]) for index in order], len(counts)),
            "position": np.tile(np.arange(1, len(order) + 1), len(counts)),
            "share": shares[:, order].ravel(),
        }
    )


def specify_selection(frame: pd.DataFrame, stability: Mapping[str, float]) -> Any:
    """Return a row per method with a cell for each feature; method labels include their stability."""
    import altair as alt

    labels = {
        method: method
        if not np.isfinite(stability.get(method, np.nan))
        else f"{method} ({stability[method] + 0.0:z.2f})"
        for method in dict.fromkeys(frame["method"])
    }
    features = dict(zip(frame["position"], frame["feature"], strict=True))
    shown = frame.assign(label=frame["method"].map(labels))
    x = alt.X("position:O", title="feature", axis=alt.Axis(labels=False, ticks=False))
    if len(features) <= _MOST_LABELS and len(set(features.values())) == len(features):
        names = alt.Scale(domain=list(features.values()))
        x = alt.X("feature:N", title=None, scale=names, axis=alt.Axis(labelAngle=-45, labelLimit=120))
    return (
        alt.Chart(shown)
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            x,
            alt.Y("label:N", scale=alt.Scale(domain=list(labels.values())), title="method (stability)"),
            alt.Color("share:Q", title="share of folds", scale=alt.Scale(domain=[0.0, 1.0], scheme="blues")),
            tooltip=["method:N", "feature:N", alt.Tooltip("share:Q", format=".0%")],
        )
        .properties(width=alt.Step(12 if len(features) > 30 else 20), height=alt.Step(18))
    )


def describe_selection(dataset: str, frame: pd.DataFrame) -> str:
    """Describe the three features that each method selects most often."""
    ordered = frame.sort_values(["share", "position"], ascending=[False, True], kind="stable")
    parts: dict[str, list[str]] = {method: [] for method in dict.fromkeys(frame["method"])}
    for method, feature, share in ordered[["method", "feature", "share"]].itertuples(index=False, name=None):
        if len(parts[method]) < _NAMED:
            parts[method].append(f"{feature} {share:.0%}")
    texts = [f"{method}: {', '.join(names)}" for method, names in parts.items()]
    return f"{dataset}, features selected most often: {'; '.join(texts)}."
