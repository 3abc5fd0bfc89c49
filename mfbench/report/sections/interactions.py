"""True interactions: the weights and ranks that methods give to the pairs of features known to interact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import DASH
from mfbench.report.charts.interaction_noise import interaction_noise_chart
from mfbench.report.charts.matrix import matrix_chart
from mfbench.report.charts.theme import MOST_DATASETS

TITLE = "True interactions: share of the norm, or p (rank)"
PAIRS_TITLE = "Weights of pairs of features"


def interactions(frame: pd.DataFrame, methods: Sequence[str]) -> Section:
    """Return the section on datasets with known interactions; empty if no method weighs pairs of features."""
    data = {"true_interactions": lambda: frame}
    by_cell = {(row["dataset"], row["method"]): row for row in frame.to_dict("records")}
    if not by_cell:
        return Section(TITLE, data=data)
    weighing = {name for _, name in by_cell}
    methods = [method for method in methods if method in weighing]
    table = Table(["dataset", "pairs", *methods])
    for dataset in dict.fromkeys(name for name, _ in by_cell):
        row = next(cell for (name, _), cell in by_cell.items() if name == dataset)
        pairs = f"{row['true_pairs']} of {row['n_pairs']}"
        cells = [_cell(by_cell.get((dataset, method))) for method in methods]
        table.rows.append([Cell(dataset), Cell(pairs), *cells])
    noise = interaction_noise_chart(frame)
    return Section(TITLE, [table], [] if noise is None else [noise], _notes(frame), data)


def pair_weights(frame: pd.DataFrame, methods: Sequence[str], feature_names: Callable[[str], Sequence[str]]) -> Section:
    """Return the weights of pairs that the first method with any gives on each dataset."""
    present = set(frame["method"].unique())
    method = next((method for method in methods if method in present), None)
    if method is None:
        return Section(PAIRS_TITLE)
    charts = []
    for number, (label, own) in enumerate(frame[frame["method"] == method].groupby("dataset", sort=False), 1):
        dataset = str(label)
        if number > MOST_DATASETS:
            break
        charts.append(matrix_chart(number, dataset, method, mean_weights(own), feature_names(dataset)))
    notes = [f"Charts: the first {MOST_DATASETS} datasets."] if len(charts) == MOST_DATASETS else []
    return Section(PAIRS_TITLE, charts=charts, notes=notes)


def mean_weights(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean weight of each pair over folds; a fold that did not record a pair counts as 0."""
    folds = frame.groupby(["repeat", "fold"]).ngroups
    sums = frame.groupby(["first", "second"], sort=False)["value"].sum() / max(1, folds)
    return sums.reset_index()


def _notes(frame: pd.DataFrame) -> list[str]:
    notes = [
        "Share of the norm: absolute weight of the true pair divided by the Frobenius norm of all weights, mean over "
        "folds (at most 0.71, since a symmetric matrix contains each pair twice). Methods with p-values show their "
        "median instead. In brackets: median rank of the best true pair among all pairs; ties count against it."
    ]
    if ((frame["p_value"] > 0.5) & (frame["rank"] == 1)).any():
        notes.append(
            "If a pair ranks first with a p-value near 1, the fit separates the classes completely. Wald's test is "
            "then uninformative however strong the effect is; rely on the rank."
        )
    return notes


def _cell(row: Mapping[Any, Any] | None) -> Cell:
    if row is None:
        return DASH
    value = f"p {row['p_value']:.1g}" if np.isfinite(row["p_value"]) else f"{row['share']:.2f}"
    return Cell(f"{value} ({row['rank']:g})")
