"""True interactions: the weights and ranks that methods give to the pairs of features known to interact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.analysis.results import Run
from mfbench.report.cells import DASH
from mfbench.sections import Cell, Section, Table

TITLE = "True interactions: share of the norm, or p (rank)"


def interactions(run: Run) -> Section:
    """Return the section on datasets with known interactions; empty if no method weighs pairs of features."""
    data = {"true_interactions": lambda: run.true_interactions}
    by_cell = {(row["dataset"], row["method"]): row for row in run.true_interactions.to_dict("records")}
    if not by_cell:
        return Section(TITLE, data=data)
    methods = [method for method in run.methods if method in {name for _, name in by_cell}]
    table = Table(["dataset", "pairs", *methods])
    for dataset in dict.fromkeys(name for name, _ in by_cell):
        row = next(cell for (name, _), cell in by_cell.items() if name == dataset)
        pairs = f"{row['true_pairs']} of {row['n_pairs']}"
        cells = [_cell(by_cell.get((dataset, method))) for method in methods]
        table.rows.append([Cell(dataset), Cell(pairs), *cells])
    return Section(TITLE, [table], notes=_notes(run), data=data)


def _notes(run: Run) -> list[str]:
    frame = run.true_interactions
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
