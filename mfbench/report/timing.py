"""What a report says of the protocol ``timing``: seconds at the largest size, and how they grow."""

from __future__ import annotations

import numpy as np

from mfbench.analysis.results import Run
from mfbench.analysis.timing import FLOOR
from mfbench.report.tables import MISSING, Cell, Table, seconds

COLUMNS = (("seconds", "time to fit at the largest size"),
           ("rows_exponent", "exponent of the time to fit in the number of rows"),
           ("features_exponent", "exponent of the time to fit in the number of features"))  # fmt: skip


def timing_tables(run: Run) -> list[Table]:
    """Return datasets by methods: the time to fit at the largest size, then the two exponents."""
    cells = {(row["dataset"], row["method"]): row for row in run.timing.to_dict("records")}
    tables = []
    for column, title in COLUMNS:
        table = Table(title, ["dataset", "size", *run.methods])
        for dataset in dict.fromkeys(run.outcomes["dataset"]):
            found = [cells.get((dataset, method)) for method in run.methods]
            table.rows.append([Cell(str(dataset)), Cell(_size(run, str(dataset)))])
            for cell in found:
                value = np.nan if cell is None else float(cell[column])
                text = seconds(value) if column == "seconds" else f"{value:.2f}"
                table.rows[-1].append(Cell(text) if np.isfinite(value) else Cell("–", MISSING))
        tables.append(table)
    return tables


def _size(run: Run, dataset: str) -> str:
    sizes = run.sizes[run.sizes["dataset"] == dataset]
    return f"{sizes['n_train'].max()} × {sizes['n_features'].max()}"


def timing_notes(run: Run) -> list[str]:
    """Return the sentences that explain the tables."""
    return [
        "Time to fit: wall seconds of selector and classifier on one thread, the smallest of "
        f"{run.meta.protocol.repeats} sub-samples of a size. Exponent: slope of a line through the logarithms of "
        f"sizes and times, of times of at least {1000 * FLOOR:g} ms; – where fewer than two sizes have such. A power "
        "law fitted to few sizes describes these sizes. What else ran on the machine lengthens times: give --jobs 1 "
        "for times to keep."
    ]
