"""True interactions: the weights and ranks that methods give to the pairs of features known to interact."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Section
from mfbench.report.cells import rows_by_dataset, table_of
from mfbench.report.charts.interaction_noise import interaction_noise_chart
from mfbench.report.charts.matrix import matrix_chart
from mfbench.report.charts.theme import MOST_DATASETS, first_charts
from mfbench.stats.results import Run

TITLE = "True interactions: share of the norm, or p (rank)"
PAIRS_TITLE = "Weights of pairs of features"


def interactions(run: Run) -> Section:
    """Return the section on datasets with known interactions; empty if no method weighs pairs of features."""
    frame = run.true_interactions
    data = {"true_interactions": lambda: frame}
    if not len(frame):
        return Section(TITLE, data=data)
    methods = [method for method in run.methods if method in set(frame["method"])]
    pairs = {
        row["dataset"]: [row["dataset"], f"{row['true_pairs']} of {row['n_pairs']}"]
        for row in frame.drop_duplicates("dataset").to_dict("records")
    }
    table = table_of(["dataset", "pairs", *methods], rows_by_dataset(frame, pairs, methods, _cell))
    noise = interaction_noise_chart(frame)
    return Section(TITLE, [table], [] if noise is None else [noise], _notes(frame), data)


def pair_weights(run: Run) -> Section:
    """Return the weights of pairs: those of the reference, or else of the first method with any."""
    frame, present = run.interactions, set(run.interactions["method"])
    method = next((method for method in (run.settings.reference, *run.methods) if method in present), None)
    if method is None:
        return Section(PAIRS_TITLE)
    groups = islice(frame[frame["method"] == method].groupby("dataset", sort=False), MOST_DATASETS)
    charts = [
        matrix_chart(number, str(dataset), method, mean_weights(own), run.feature_names(str(dataset)))
        for number, (dataset, own) in enumerate(groups, 1)
    ]
    return Section(PAIRS_TITLE, charts=charts, notes=first_charts(charts))


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


def _cell(row: Mapping[Any, Any]) -> Cell:
    value = f"p {row['p_value']:.1g}" if np.isfinite(row["p_value"]) else f"{row['share']:.2f}"
    return Cell(f"{value} ({row['rank']:g})")
