"""Features used: their number for each method, and the stability of the selection over folds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.model.sections import Cell, Chart, Section
from mfbench.report.cells import rows_by_dataset, table_of
from mfbench.report.charts.selection import selection_chart
from mfbench.report.charts.theme import MOST_DATASETS, first_charts
from mfbench.stats.results import Run

TITLE = "Features used: median over folds (stability)"


def features(run: Run) -> Section:
    """Return the section on selected features; empty if every method uses all features."""
    selected = run.selected
    leaving_out = selected[selected["least"] < selected["n_features"]]
    if not len(leaving_out):
        return Section(TITLE)
    methods = [method for method in run.methods if method in set(leaving_out["method"])]
    frame = selected[selected["method"].isin(methods)]
    numbers = {dataset: [dataset, n] for dataset, n in zip(frame["dataset"], frame["n_features"], strict=True)}
    table = table_of(["dataset", "features", *methods], rows_by_dataset(frame, numbers, methods, _cell))
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
    return Section(TITLE, [table], charts, notes)


def _cell(row: Mapping[Any, Any]) -> Cell:
    stability = f" ({row['stability']:.2f})" if np.isfinite(row["stability"]) else ""
    return Cell(f"{row['median']:g}{stability}")
