"""Features used: their number for each method, and the stability of the selection over folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.report.cells import DASH
from mfbench.report.charts.selection import selection_chart
from mfbench.report.charts.theme import MOST_DATASETS

TITLE = "Features used: median over folds (stability)"


def features(
    frame: pd.DataFrame,
    counts: Mapping[tuple[str, str], tuple[NDArray[np.int64], int]],
    methods: Sequence[str],
    feature_names: Callable[[str], Sequence[str]],
) -> Section:
    """Return the section on selected features; empty if every method uses all features."""
    selecting = set(frame.loc[frame["least"] < frame["n_features"], "method"])
    frame = frame[frame["method"].isin(selecting)]
    if not len(frame):
        return Section(TITLE)
    by_cell = {(row["dataset"], row["method"]): row for row in frame.to_dict("records")}
    methods = [method for method in methods if method in selecting]
    table = Table(["dataset", "features", *methods])
    for dataset, group in frame.groupby("dataset", sort=False):
        cells = [_cell(by_cell.get((dataset, method))) for method in methods]
        table.rows.append([Cell(str(dataset)), Cell(str(group["n_features"].iloc[0])), *cells])
    note = (
        "Only methods that leave features out are listed. Stability: Nogueira's measure; 1 if all folds use the same "
        "features, 0 in expectation for random sets. Folds share training rows, so it is larger than it would be over "
        "independent samples."
    )
    charts = _charts(frame, counts, feature_names)
    notes = [note, *([f"Charts: the first {MOST_DATASETS} datasets."] if len(charts) == MOST_DATASETS else [])]
    return Section(TITLE, [table], charts, notes)


def _charts(
    frame: pd.DataFrame,
    counts: Mapping[tuple[str, str], tuple[NDArray[np.int64], int]],
    feature_names: Callable[[str], Sequence[str]],
) -> list[Chart]:
    """Return a chart for each dataset, of the methods that leave features out there."""
    own = frame[frame["least"] < frame["n_features"]]
    charts: list[Chart] = []
    for number, (dataset, group) in enumerate(own.groupby("dataset", sort=False), 1):
        label = str(dataset)
        stability = dict(zip(group["method"], group["stability"], strict=True))
        selected = {method: counts[label, method] for method in stability if (label, method) in counts}
        if selected and len(charts) < MOST_DATASETS:
            charts.append(selection_chart(number, label, selected, feature_names(label), stability))
    return charts


def _cell(row: Mapping[Any, Any] | None) -> Cell:
    if row is None:
        return DASH
    stability = f" ({row['stability']:.2f})" if np.isfinite(row["stability"]) else ""
    return Cell(f"{row['median']:g}{stability}")
