"""The scores of a gate: the trials that ran on both sides, judged like the scores of two stored runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from mfbench.model.trials import Status
from mfbench_gate.comparison import Cell, Change
from mfbench_gate.gate.plan import GatePlan
from mfbench_gate.limits import Limits
from mfbench_gate.pairs import score_pairs
from mfbench_gate.scores import judge_scores

# Between dataset and size in a name that groups the trials of one cell; neither contains it.
_MARK = "\x1f"


def judge_answers(
    plan: GatePlan, answers: Mapping[tuple[str, str, str, int, int], Mapping[str, Any]], limits: Limits, level: float
) -> tuple[list[Cell], list[Change]]:
    """Judge the scores of all trials that ran on both sides."""
    sizes = {(t.method, t.dataset, t.repeat, t.fold): cell.size for cell in plan.cells for t in cell.trials}
    rows: dict[str, list[dict[str, Any]]] = {"base": [], "head": []}
    for (side, method, dataset, repeat, fold), answer in answers.items():
        rows[side].append(
            {
                "dataset": dataset + _MARK + sizes[method, dataset, repeat, fold],
                "method": method,
                "repeat": repeat,
                "fold": fold,
                "status": Status.OK,
                "predictions": answer["predictions"],
                **answer["scores"],
            }
        )
    if not all(rows.values()):
        return [], []
    metrics = list(plan.suite.loaded.protocol.metrics)
    pairs = score_pairs(pd.DataFrame(rows["base"]), pd.DataFrame(rows["head"]), metrics)
    cells, changes = judge_scores(pairs, limits, level, plan.suite.protocol.test_train_ratio)
    return [_with_place(cell) for cell in cells], [
        replace(change, dataset=change.dataset.replace(_MARK, "/").strip("/")) for change in changes
    ]


def _with_place(cell: Cell) -> Cell:
    dataset, _, size = cell.dataset.partition(_MARK)
    return replace(cell, dataset=dataset, size=size)
