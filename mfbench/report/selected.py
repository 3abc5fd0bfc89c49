"""What a report says of the features that methods select: how many, and whether the folds agree on which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.results import Run
from mfbench.report.tables import MISSING, Cell, Table


def selection_tables(run: Run) -> list[Table]:
    """Return datasets by methods that select: median number of features and stability; none for ``ground-truth``."""
    frame = _selecting(run)
    if not len(frame):
        return []
    cells = {(row["dataset"], row["method"]): row for row in frame.to_dict("records")}
    methods = [method for method in run.methods if method in set(frame["method"])]
    table = Table("features used: median over folds (stability)", ["dataset", "features", *methods])
    for dataset, group in frame.groupby("dataset", sort=False):
        found = [_cell(cells.get((dataset, method))) for method in methods]
        table.rows.append([Cell(str(dataset)), Cell(str(group["n_features"].iloc[0])), *found])
    return [table]


def selection_notes(run: Run) -> list[str]:
    """Return the sentence that explains the table."""
    if not len(_selecting(run)):
        return []
    return [
        "Features used: by the methods that leave any out. Stability: Nogueira's, 1 if all folds use the same "
        "features, 0 for random sets. Folds share training rows, so that it is larger than over independent samples."
    ]


def _selecting(run: Run) -> pd.DataFrame:
    """Return the rows of methods that leave a feature out somewhere."""
    if run.detects:  # its own tables have the stability, over independent rounds
        return run.selected.iloc[:0]
    found = run.selected
    return found[found["method"].isin(set(found.loc[found["least"] < found["n_features"], "method"]))]


def _cell(row: Mapping[Any, Any] | None) -> Cell:
    if row is None:
        return Cell("–", MISSING)
    return Cell(
        f"{row['median']:g} ({row['stability']:.2f})" if np.isfinite(row["stability"]) else f"{row['median']:g}"
    )
