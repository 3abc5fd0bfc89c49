"""Time to fit, for the protocol ``timing``: seconds at the largest size, and exponents of growth."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.text import counted
from mfbench.model.sections import Cell, Section
from mfbench.report.cells import number_cell, rows_by_dataset, table_of, time_cell
from mfbench.report.charts.time import scaling_chart, time_profile_chart
from mfbench.stats.across_datasets import FACTORS, performance_profile
from mfbench.stats.results import Run
from mfbench.stats.summary import FLOOR, timing_profile

TITLE = "Time to fit"
COLUMNS = {
    "seconds": "Time to fit at the largest size",
    "rows_exponent": "Exponent of the time to fit in the number of rows",
    "features_exponent": "Exponent of the time to fit in the number of features",
}


def timing(run: Run) -> Section:
    """Return the section on times to fit; empty for other protocols."""
    if not run.protocol.times:
        return Section(TITLE, data={"timing": list})
    exponents, sizes, methods = run.timing, run.sizes, list(run.methods)
    first = {}
    for dataset in run.outcomes["dataset"].unique():
        own = sizes[sizes["dataset"] == dataset]
        first[dataset] = [dataset, f"{own['n_train'].max()} × {own['n_features'].max()}"]
    note = (
        "Time to fit: wall time of selector and classifier on one thread, the smallest of "
        f"{run.meta.protocol.repeats} subsamples of a size. Exponent: slope of a line fitted to the logarithms "
        f"of sizes and times, using times of at least {1000 * FLOOR:g} ms; – if fewer than two sizes have such a time. "
        "A power law fitted to a few sizes describes only those sizes. Other processes on the machine lengthen times: "
        "use --jobs 1 for reliable times."
    )
    tables = []
    for column, title in COLUMNS.items():
        cell = partial(_cell, column)
        tables.append(table_of(["dataset", "size", *methods], rows_by_dataset(exponents, first, methods, cell), title))
    chart = scaling_chart(timing_profile(run.outcomes, sizes), exponents)
    return Section(TITLE, tables, [] if chart is None else [chart], [note], data={"timing": lambda: exponents})


def _cell(column: str, row: Mapping[Any, Any]) -> Cell:
    return time_cell(row[column]) if column == "seconds" else number_cell(row[column], ".2f")


def time_ratios(ratios: pd.DataFrame) -> Section:
    """Return the section on the performance profile of time; empty unless every trial of some dataset has run."""
    data = {"time_ratios": lambda: ratios.to_dict("index")}
    title = f"Time: share of {counted(len(ratios), 'dataset')} within a factor of the fastest method"
    if not len(ratios):
        return Section(title, data=data)
    shares = {str(name): list(own.values()) for name, own in performance_profile(ratios).to_dict("index").items()}
    rows = []
    # The method that is fastest most often comes first.
    for method in sorted(shares, key=lambda name: [-share for share in shares[name]]):
        median = float(np.median(ratios[method]))
        texts = [f"{share:.2f}" for share in shares[method]]
        rows.append([method, *texts, f"{median:.1f}" if np.isfinite(median) else "did not end"])
    table = table_of(["method", *(f"{factor:g} ×" for factor in FACTORS), "median factor"], rows)
    return Section(title, [table], [time_profile_chart(ratios)], data=data)
