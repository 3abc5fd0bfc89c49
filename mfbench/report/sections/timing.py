"""Time to fit, for the protocol ``timing``: seconds at the largest size, and exponents of growth."""

from __future__ import annotations

from typing import Any

import numpy as np

from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import DASH, seconds
from mfbench.report.charts.scaling import scaling_chart
from mfbench.stats.results import Run
from mfbench.stats.timing import FLOOR, timing_profile

TITLE = "Time to fit"
COLUMNS = {
    "seconds": "Time to fit at the largest size",
    "rows_exponent": "Exponent of the time to fit in the number of rows",
    "features_exponent": "Exponent of the time to fit in the number of features",
}


def timing(run: Run) -> Section:
    """Return the section on times to fit; empty for other protocols."""
    if run.protocol.kind != "timing":
        return Section(TITLE, data={"timing": list})
    by_cell = {(row["dataset"], row["method"]): row for row in run.timing.to_dict("records")}
    note = (
        "Time to fit: wall time of selector and classifier on one thread, the smallest of "
        f"{run.meta.protocol.repeats} subsamples of a size. Exponent: slope of a line fitted to the logarithms "
        f"of sizes and times, using times of at least {1000 * FLOOR:g} ms; – if fewer than two sizes have such a time. "
        "A power law fitted to a few sizes describes only those sizes. Other processes on the machine lengthen times: "
        "use --jobs 1 for reliable times."
    )
    tables = [_table(run, by_cell, column) for column in COLUMNS]
    chart = scaling_chart(timing_profile(run.outcomes, run.sizes), run.timing)
    return Section(TITLE, tables, [] if chart is None else [chart], [note], data={"timing": lambda: run.timing})


def _table(run: Run, by_cell: dict[tuple[str, str], dict[Any, Any]], column: str) -> Table:
    table = Table(["dataset", "size", *run.methods], title=COLUMNS[column])
    for dataset in dict.fromkeys(map(str, run.outcomes["dataset"])):
        cells = []
        for method in run.methods:
            row = by_cell.get((dataset, method))
            value = np.nan if row is None else float(row[column])
            text = seconds(value) if column == "seconds" and np.isfinite(value) else f"{value:.2f}"
            cells.append(Cell(text) if np.isfinite(value) else DASH)
        table.rows.append([Cell(dataset), Cell(_size(run, dataset)), *cells])
    return table


def _size(run: Run, dataset: str) -> str:
    sizes = run.sizes[run.sizes["dataset"] == dataset]
    return f"{sizes['n_train'].max()} × {sizes['n_features'].max()}"
