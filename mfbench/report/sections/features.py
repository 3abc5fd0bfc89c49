"""Features: how often they are selected, and the weights of pairs."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Chart, Section
from mfbench.report.cells import rows_by_dataset, table_of
from mfbench.report.charts.comparison import matrix_chart
from mfbench.report.charts.drawing import MOST_DATASETS, first_charts
from mfbench.report.charts.features import selection_chart
from mfbench.stats.results import Run

FEATURES = "Features used: median over folds (stability)"


def features(run: Run) -> Section:
    """Return the section on selected features; empty if every method uses all features."""
    selected = run.selected
    leaving_out = selected[selected["least"] < selected["n_features"]]
    if not len(leaving_out):
        return Section(FEATURES)
    methods = [method for method in run.methods if method in set(leaving_out["method"])]
    frame = selected[selected["method"].isin(methods)]
    numbers = {dataset: [dataset, n] for dataset, n in zip(frame["dataset"], frame["n_features"], strict=True)}
    table = table_of(["dataset", "features", *methods], rows_by_dataset(frame, numbers, methods, _feature_cell))
    note = (
        "Only methods that leave features out are listed. Stability: Nogueira's measure; 1 if all folds use the same "
        "features, 0 in expectation for random sets. Folds share training rows, so it is larger than it would be over "
        "independent samples."
    )
    charts: list[Chart] = []
    for number, (dataset, group) in enumerate(leaving_out.groupby("dataset", sort=False), 1):
        label = str(dataset)
        stability = dict(zip(group["method"], group["stability"], strict=True))
        counts = {m: run.selection_counts[label, m] for m in stability if (label, m) in run.selection_counts}
        if counts and len(charts) < MOST_DATASETS:
            charts.append(selection_chart(number, label, counts, run.feature_names(label), stability))
    notes = [note, *first_charts(charts)]
    return Section(FEATURES, [table], charts, notes)


def _feature_cell(row: Mapping[Any, Any]) -> Cell:
    stability = f" ({row['stability']:.2f})" if np.isfinite(row["stability"]) else ""
    return Cell(f"{row['median']:g}{stability}")


INTERACTIONS = "True interactions: share of the norm, or p (rank)"
PAIRS_TITLE = "Weights of pairs of features"


def interactions(run: Run) -> Section:
    """Return the section on datasets with known interactions; empty if no method weighs pairs of features."""
    frame = run.true_interactions
    data = {"true_interactions": lambda: frame}
    if not len(frame):
        return Section(INTERACTIONS, data=data)
    methods = [method for method in run.methods if method in set(frame["method"])]
    pairs = {
        row["dataset"]: [row["dataset"], f"{row['true_pairs']} of {row['n_pairs']}"]
        for row in frame.drop_duplicates("dataset").to_dict("records")
    }
    table = table_of(["dataset", "pairs", *methods], rows_by_dataset(frame, pairs, methods, _pair_cell))
    return Section(INTERACTIONS, [table], notes=_interaction_notes(frame), data=data)


def pair_weights(run: Run) -> Section:
    """Return the pair weights of the reference, or else of the first method that has any."""
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
    """Return the mean weight of each pair over folds; folds without the pair count as 0."""
    folds = frame.groupby(["repeat", "fold"]).ngroups
    sums = frame.groupby(["first", "second"], sort=False)["value"].sum() / max(1, folds)
    return sums.reset_index()


def _interaction_notes(frame: pd.DataFrame) -> list[str]:
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


def _pair_cell(row: Mapping[Any, Any]) -> Cell:
    value = f"p {row['p_value']:.1g}" if np.isfinite(row["p_value"]) else f"{row['share']:.2f}"
    return Cell(f"{value} ({row['rank']:g})")
