"""The scores of a gate: the trials that ran on both sides, judged like the scores of two stored runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.model.trials import Status
from mfbench_gate.comparison import Cell, Change, Place
from mfbench_gate.gate.plan import GatePlan
from mfbench_gate.limits import Limits
from mfbench_gate.pairs import score_pairs
from mfbench_gate.scores import judge_scores


def judge_answers(
    plan: GatePlan, answers: Mapping[tuple[str, Place, int, int], Mapping[str, Any]], limits: Limits, level: float
) -> tuple[list[Cell], list[Change]]:
    """Judge the scores of all trials that ran on both sides.

    Parameters
    ----------
    plan : GatePlan
    answers : mapping
        As `mfbench_gate.gate.measure.Measurements.answers`.
    limits : Limits
    level : float
        Probability of any false alarm.

    Returns
    -------
    cells : list of Cell
    changes : list of Change
    """
    rows: dict[str, list[dict[str, Any]]] = {"base": [], "head": []}
    for (side, place, repeat, fold), answer in answers.items():
        outcome = {"repeat": repeat, "fold": fold, "status": Status.OK, "predictions": answer["predictions"]}
        rows[side].append(place._asdict() | outcome | answer["scores"])
    if not all(rows.values()):
        return [], []
    metrics = list(plan.suite.loaded.protocol.metrics)
    pairs = score_pairs(pd.DataFrame(rows["base"]), pd.DataFrame(rows["head"]), metrics)
    return judge_scores(pairs, limits, level, plan.suite.protocol.test_train_ratio)
