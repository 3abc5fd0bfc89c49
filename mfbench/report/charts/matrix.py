"""Learned weights of all pairs of features, as a heat map (figure A1 of the IMMIGRATE paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from mfbench.report.charts.theme import BETTER, WORSE, numbered_name
from mfbench.sections import Chart

MOST_FEATURES = 60


def matrix_chart(number: int, dataset: str, method: str, pairs: pd.DataFrame, names: Sequence[str]) -> Chart:
    """Return the chart of a method on a dataset, the `number`-th of the run.

    Parameters
    ----------
    number : int
    dataset, method : str
    pairs : DataFrame
        Columns first, second (names of features) and value: mean weights over folds.
    names : sequence of str
        Names of the features.
    """
    weights = matrix_of(pairs, names)
    order = order_of(weights)
    caption = (
        "Mean weight over folds of the pairs that each fold stores, those with the largest weights; features with "
        "similar weights stand together."
    )
    if len(names) > MOST_FEATURES:
        order = [index for index in order if index in _heaviest(weights)]
        caption += f" The {MOST_FEATURES} of {len(names)} features with the largest weights."
    return Chart(
        numbered_name("weights-of-pairs", number, f"{dataset}-{method}"),
        f"{method} on {dataset}: weights of pairs of features",
        caption,
        spec=lambda: specify(weights, order, names),
        alt=lambda: describe(weights, names),
    )


def matrix_of(pairs: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the symmetric matrix of weights; pairs without a weight have 0.

    Examples
    --------
    >>> matrix_of(pd.DataFrame({"first": ["x"], "second": ["y"], "value": [0.5]}), ["x", "y"]).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    weights = np.zeros((len(names), len(names)))
    places = {name: index for index, name in enumerate(names)}
    first, second = ([places[name] for name in pairs[column]] for column in ("first", "second"))
    weights[first, second] = weights[second, first] = pairs["value"].to_numpy(dtype=float)
    return weights


def order_of(weights: NDArray[np.float64]) -> list[int]:
    """Return an order of the features in which those with similar weights are neighbours.

    Average linkage of the correlation of absolute weights, with the order of its leaves that minimises the distances of
    neighbours.

    Examples
    --------
    >>> order = order_of(np.array([[1.0, 0, 0.9, 0], [0, 1, 0, 0.9], [0.9, 0, 1, 0], [0, 0.9, 0, 1]]))
    >>> abs(order.index(0) - order.index(2)), abs(order.index(1) - order.index(3))
    (1, 1)
    """
    sizes = np.abs(weights)
    if len(sizes) < 3 or not sizes.any():
        return list(range(len(sizes)))
    norms = np.linalg.norm(sizes, axis=1)
    cosines = sizes @ sizes.T / np.maximum(np.outer(norms, norms), np.finfo(float).tiny)
    distances = np.clip(1.0 - cosines, 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    tree = hierarchy.linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return [int(index) for index in hierarchy.leaves_list(tree)]


def specify(weights: NDArray[np.float64], order: Sequence[int], names: Sequence[str]) -> Any:
    """Return a cell per pair of features: blue for positive weights, orange for negative ones."""
    import altair as alt

    largest = float(np.abs(weights).max()) or 1.0
    labels = _distinct([str(names[index]) for index in order])
    # A row per feature, which the chart takes apart: a row per pair would be ten times as long.
    rows = pd.DataFrame(
        {
            "first": labels,
            "second": [labels] * len(order),
            "weight": [[float(f"{weights[a, b]:.4g}") for b in order] for a in order],
        }
    )
    side = 420 if len(order) > 8 else 44 * len(order)
    axis = alt.Axis(title=None, labelLimit=140)
    return (
        alt.Chart(rows)
        .transform_flatten(["second", "weight"])
        .mark_rect()
        .encode(
            alt.X("second:N", sort=labels, axis=axis),
            alt.Y("first:N", sort=labels, axis=axis),
            alt.Color("weight:Q", scale=alt.Scale(domain=[-largest, 0.0, largest], range=[WORSE, "#f7f7f7", BETTER])),
            tooltip=["first:N", "second:N", alt.Tooltip("weight:Q", format=".4f")],
        )
        .configure_axisX(labelAngle=-45)
        .properties(width=side, height=side)
    )


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that differ: features may share one."""
    seen: dict[str, int] = {}
    distinct = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def describe(weights: NDArray[np.float64], names: Sequence[str]) -> str:
    """Return the three largest weights of different features in words."""
    upper = np.abs(np.triu(weights, 1))
    largest = np.argsort(-upper, axis=None, kind="stable")[:3]
    places = [np.unravel_index(place, upper.shape) for place in largest if upper.flat[place] > 0]
    parts = [f"{names[i]} and {names[j]} {weights[i, j]:.3f}" for i, j in places]
    return f"Largest weights of pairs: {', '.join(parts) or 'none'}."


def _heaviest(weights: NDArray[np.float64]) -> set[int]:
    return {int(index) for index in np.argsort(-np.abs(weights).sum(axis=1), kind="stable")[:MOST_FEATURES]}
