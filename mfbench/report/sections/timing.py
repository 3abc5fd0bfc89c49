"""Time to fit, for the protocol ``timing``: seconds at the largest size, and exponents of growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import DASH, seconds
from mfbench.report.charts.scaling import scaling_chart
from mfbench.stats.timing import FLOOR, timing_profile

TITLE = "Time to fit"
COLUMNS = {
    "seconds": "Time to fit at the largest size",
    "rows_exponent": "Exponent of the time to fit in the number of rows",
    "features_exponent": "Exponent of the time to fit in the number of features",
}


def timing(
    exponents: pd.DataFrame, trials: pd.DataFrame, sizes: pd.DataFrame, methods: Sequence[str], repeats: int | None
) -> Section:
    """Return the section on times to fit."""
    by_cell = {(row["dataset"], row["method"]): row for row in exponents.to_dict("records")}
    by_dataset = {str(dataset): sizes[sizes["dataset"] == dataset] for dataset in trials["dataset"].unique()}
    datasets = {name: f"{own['n_train'].max()} × {own['n_features'].max()}" for name, own in by_dataset.items()}
    note = (
        "Time to fit: wall time of selector and classifier on one thread, the smallest of "
        f"{repeats} subsamples of a size. Exponent: slope of a line fitted to the logarithms "
        f"of sizes and times, using times of at least {1000 * FLOOR:g} ms; – if fewer than two sizes have such a time. "
        "A power law fitted to a few sizes describes only those sizes. Other processes on the machine lengthen times: "
        "use --jobs 1 for reliable times."
    )
    tables = [_table(by_cell, datasets, methods, column) for column in COLUMNS]
    chart = scaling_chart(timing_profile(trials, sizes), exponents)
    return Section(TITLE, tables, [] if chart is None else [chart], [note], data={"timing": lambda: exponents})


def _table(
    by_cell: Mapping[tuple[str, str], dict[Any, Any]], datasets: Mapping[str, str], methods: Sequence[str], column: str
) -> Table:
    table = Table(["dataset", "size", *methods], title=COLUMNS[column])
    for dataset, size in datasets.items():
        cells = []
        for method in methods:
            row = by_cell.get((dataset, method))
            value = np.nan if row is None else float(row[column])
            text = seconds(value) if column == "seconds" and np.isfinite(value) else f"{value:.2f}"
            cells.append(Cell(text) if np.isfinite(value) else DASH)
        table.rows.append([Cell(dataset), Cell(size), *cells])
    return table
