"""What a report says of interactions whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfbench.analysis.results import Run
from mfbench.report.tables import MISSING, Cell, Table


def interaction_tables(run: Run) -> list[Table]:
    """Return datasets with known interactions by methods that tell of pairs: weight or p-value, and rank."""
    cells = {(row["dataset"], row["method"]): row for row in run.true_interactions.to_dict("records")}
    if not cells:
        return []
    methods = [method for method in run.methods if method in {name for _, name in cells}]
    table = Table("true interactions: share of the norm, or p (rank)", ["dataset", "pairs", *methods])
    for dataset in dict.fromkeys(name for name, _ in cells):
        row = next(cell for (name, _), cell in cells.items() if name == dataset)
        pairs = f"{row['true_pairs']} of {row['n_pairs']}"
        table.rows.append([Cell(dataset), Cell(pairs), *(_cell(cells.get((dataset, method))) for method in methods)])
    return [table]


def interaction_notes(run: Run) -> list[str]:
    """Return the sentence that explains the table."""
    found = run.true_interactions
    if not len(found):
        return []
    lines = [
        "True interactions: the absolute weight of the true pair over the Frobenius norm of all weights, mean over "
        "folds (a symmetric matrix holds a pair twice: at most 0.71), or, from a method with p-values, their median. "
        "In brackets the median rank of the best true pair among all pairs; ties count against it."
    ]
    if ((found["p_value"] > 0.5) & (found["rank"] == 1)).any():
        lines.append(
            "A p-value near 1 of the pair that ranks first comes of a fit that separates the classes: there Wald's "
            "test has nothing to say, however strong the effect is. The rank counts."
        )
    return lines


def _cell(row: Mapping[Any, Any] | None) -> Cell:
    if row is None:
        return Cell("–", MISSING)
    figure = f"p {row['p_value']:.1g}" if np.isfinite(row["p_value"]) else f"{row['share']:.2f}"
    return Cell(f"{figure} ({row['rank']:g})")
