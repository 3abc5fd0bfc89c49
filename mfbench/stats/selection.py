"""Per-dataset tuning: the outer folds select the grid point, which is optimistic and probably the papers' way."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from mfbench.model.trials import Candidate, Status

Row = dict[str, Any]


def pick_candidates(rows: Iterable[Row], metric: str, *, greater_is_better: bool) -> list[Row]:
    """Replace each trial's candidates by the results of the selected one."""
    # For each dataset and method, the grid point with the best mean score over the completed folds is used for all of
    # them; ties go to the first in the grid. A point must have succeeded on every completed fold. If none has, these
    # trials count as failed, because no grid point has results for all folds.
    rows = list(rows)
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["candidates"]:
            cells.setdefault((row["dataset"], row["method"]), []).append(row)
    chosen = {
        cell: _best([row["candidates"] for row in members], metric, greater_is_better)
        for cell, members in cells.items()
    }
    return [_resolved(row, chosen.get((row["dataset"], row["method"]))) for row in rows]


def _best(folds: list[list[Candidate]], metric: str, greater_is_better: bool) -> str | None:
    """Return the name of the point with the best mean, None if no point succeeded on every fold."""
    sign = 1.0 if greater_is_better else -1.0
    scores = [{_name(candidate): candidate.scores.get(metric, np.nan) for candidate in fold} for fold in folds]
    best, best_score = None, -np.inf
    for name in scores[0]:
        if not all(name in fold for fold in scores):
            continue
        values = np.array([fold[name] for fold in scores], dtype=float)
        # A test part that lacks a class may have no score for any point. Rounding makes equal scores tie on every
        # machine.
        score = -np.inf if np.isnan(values).all() else round(sign * float(np.nanmean(values)), 12)
        if best is None or score > best_score:
            best, best_score = name, score
    return best


def _name(candidate: Candidate) -> str:
    return json.dumps(candidate.chosen, sort_keys=True)


def _resolved(row: Row, chosen: str | None) -> Row:
    resolved = {name: value for name, value in row.items() if name != "candidates"}
    if not row["candidates"]:
        return resolved
    candidate = next((point for point in row["candidates"] if _name(point) == chosen), None)
    if candidate is None:
        reason = "no grid point succeeded on every fold, so none can be chosen for the dataset"
        return resolved | {"status": str(Status.ERROR), "error_type": "SelectionError", "error_message": reason}
    spent = candidate.select_wall + candidate.fit_wall + candidate.predict_wall
    fields = {field.name: getattr(candidate, field.name) for field in dataclasses.fields(candidate)}
    return resolved | fields | {"tune_wall": max(0.0, (row["tune_wall"] or 0.0) - spent)}
