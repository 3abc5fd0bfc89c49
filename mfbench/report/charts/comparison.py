"""Wins, ties and losses of the reference against each method, as bars (figure 4 of the IMMIGRATE paper)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from mfbench.model.sections import Chart
from mfbench.report.charts.drawing import BETTER, EQUAL, WORSE, numbered_name

WINS = "wins-ties-losses"
OUTCOMES = ("win", "tie", "loss", "no verdict")


def wins_chart(summary: pd.DataFrame, rules: Sequence[tuple[str, str]], reference: str) -> Chart:
    """Return the chart of a run."""
    frame = counts(summary, rules, reference)
    return Chart(
        WINS,
        f"Wins, ties and losses of {reference}",
        f"Datasets on which {reference} is significantly better, not significantly different, and worse.",
        spec=lambda: specify_wins(frame, reference),
        alt=lambda: describe_wins(frame, reference),
    )


def counts(summary: pd.DataFrame, rules: Sequence[tuple[str, str]], reference: str) -> pd.DataFrame:
    """Return a row per rule, method and outcome with the number of datasets."""
    others = summary[summary["method"] != reference].to_dict("records")
    rows = [
        (heading, row["method"], outcome, int(row[prefix + outcome.replace(" ", "_")]))
        for heading, prefix in rules
        for row in others
        for outcome in OUTCOMES
    ]
    return pd.DataFrame(rows, columns=["rule", "method", "outcome", "datasets"])


def specify_wins(frame: pd.DataFrame, reference: str) -> Any:
    """Return a stacked bar of wins, ties and losses per method, with a panel for each rule."""
    import altair as alt

    methods = list(dict.fromkeys(frame["method"]))
    shown = [outcome for outcome in OUTCOMES if frame.loc[frame["outcome"] == outcome, "datasets"].any()]
    colours = (BETTER, EQUAL, WORSE, "#ffffff")
    scale = alt.Scale(domain=shown, range=[colours[OUTCOMES.index(outcome)] for outcome in shown])
    placed = frame[frame["datasets"] > 0].assign(order=lambda f: f["outcome"].map(OUTCOMES.index))
    x = alt.X("datasets:Q", title="datasets", stack="zero").axis(tickMinStep=1, format="d")
    base = alt.Chart(placed).encode(alt.Y("method:N", scale=alt.Scale(domain=methods), title=None), order="order:Q")
    bars = base.mark_bar(stroke="#777777", strokeWidth=0.5).encode(
        x,
        alt.Color("outcome:N", scale=scale, title=reference, sort=shown).legend(orient="top"),
        tooltip=["rule:N", "method:N", "outcome:N", "datasets:Q"],
    )
    return bars.properties(width=320, height=alt.Step(20)).facet(
        column=alt.Column("rule:N", title=None, sort=list(dict.fromkeys(frame["rule"])))
    )


def describe_wins(frame: pd.DataFrame, reference: str) -> str:
    """Describe the counts."""
    parts = []
    for rule, own in frame.groupby("rule", sort=False):
        table = own.pivot_table(index="method", columns="outcome", values="datasets", sort=False)
        texts = [f"{method} {row['win']:.0f}/{row['tie']:.0f}/{row['loss']:.0f}" for method, row in table.iterrows()]
        parts.append(f"{rule} of {reference} against {', '.join(texts)}")
    return f"{'; '.join(parts)}."


MOST_FEATURES = 60
_BLANK = "#f7f7f7"
_LEAST_STEP = 11


def matrix_chart(number: int, dataset: str, method: str, pairs: pd.DataFrame, names: Sequence[str]) -> Chart:
    """Return the chart of a method on a dataset, the `number`-th of the run."""
    shown = _heaviest(pairs, names)
    weights = matrix_of(pairs[pairs["first"].isin(shown) & pairs["second"].isin(shown)], shown)
    order = order_of(weights)
    caption = (
        "Mean weight over folds of the pairs that each fold stores, those with the largest weights; features with "
        "similar weights stand together."
    )
    if len(names) > MOST_FEATURES:
        caption += f" The {len(shown)} of {len(names)} features with the largest weights."
    return Chart(
        numbered_name("weights-of-pairs", number, f"{dataset}-{method}"),
        f"{method} on {dataset}: weights of pairs of features",
        caption,
        spec=lambda: specify_matrix(weights, order, shown),
        alt=lambda: describe_matrix(weights, shown),
    )


def matrix_of(pairs: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the symmetric matrix of weights; pairs without a weight have 0."""
    weights = np.zeros((len(names), len(names)))
    places = {name: index for index, name in enumerate(names)}
    first, second = ([places[name] for name in pairs[column]] for column in ("first", "second"))
    weights[first, second] = weights[second, first] = pairs["value"].to_numpy(dtype=float)
    return weights


def order_of(weights: NDArray[np.float64]) -> list[int]:
    """Order the features so that those with similar weights are adjacent."""
    # Average linkage of the correlation of absolute weights, with optimal leaf ordering.
    sizes = np.abs(weights)
    if len(sizes) < 3 or not sizes.any():
        return list(range(len(sizes)))
    norms = np.linalg.norm(sizes, axis=1)
    cosines = sizes @ sizes.T / np.maximum(np.outer(norms, norms), np.finfo(float).tiny)
    distances = np.clip(1.0 - cosines, 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    tree = hierarchy.linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return [int(index) for index in hierarchy.leaves_list(tree)]


def specify_matrix(weights: NDArray[np.float64], order: Sequence[int], names: Sequence[str]) -> Any:
    """Return a cell for each pair of features with a weight: blue if positive, orange if negative."""
    import altair as alt

    largest = float(np.abs(weights).max()) or 1.0
    labels = _distinct([str(names[index]) for index in order])
    # With many features nearly all pairs have no weight, so only those with one get a cell.
    part = weights[np.ix_(order, order)]
    cells = [(labels[a], labels[b], float(f"{part[a, b]:.4g}")) for a, b in np.argwhere(np.tril(part))]
    rows = pd.DataFrame(cells, columns=["first", "second", "weight"])
    side = max(420 if len(order) > 8 else 44 * len(order), _LEAST_STEP * len(order))
    axis = alt.Axis(title=None, labelLimit=140, labelFontSize=12 if len(order) <= 30 else 10)
    return (
        alt.Chart(rows)
        .mark_rect()
        .encode(
            alt.X("second:N", scale=alt.Scale(domain=labels), axis=axis),
            alt.Y("first:N", scale=alt.Scale(domain=labels), axis=axis),
            alt.Color("weight:Q", scale=alt.Scale(domain=[-largest, 0.0, largest], range=[WORSE, _BLANK, BETTER])),
            tooltip=["first:N", "second:N", alt.Tooltip("weight:Q", format=".4f")],
        )
        .configure_axisX(labelAngle=-45)
        .configure_view(fill=_BLANK)
        .properties(width=side, height=side)
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Make names unique: features may share one."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def describe_matrix(weights: NDArray[np.float64], names: Sequence[str]) -> str:
    """Describe the three largest weights of different features."""
    upper = np.abs(np.triu(weights, 1))
    largest = np.argsort(-upper, axis=None, kind="stable")[:3]
    places = [np.unravel_index(place, upper.shape) for place in largest if upper.flat[place] > 0]
    parts = [f"{names[i]} and {names[j]} {weights[i, j]:.3f}" for i, j in places]
    return f"Largest weights of pairs: {', '.join(parts) or 'none'}."


def _heaviest(pairs: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the features with the largest total absolute weights, in the order of `names`."""
    if len(names) <= MOST_FEATURES:
        return list(names)
    different = pairs[pairs["first"] != pairs["second"]]
    parts = [pairs.set_index("first")["value"], different.set_index("second")["value"]]
    sizes = pd.concat(parts).abs().groupby(level=0).sum().reindex(list(dict.fromkeys(names)), fill_value=0.0)
    chosen = set(sizes.nlargest(MOST_FEATURES).index)
    return [name for name in names if name in chosen]
