"""Statements of a paper without a number, tested on runs: a score against another method's, or against a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mfbench import Run, Section
from mfbench.base.text import counted
from mfbench.report.cells import table_of
from mfbench_papers.paper import Statement

SUPPORTED, REFUTED, UNDECIDED, ABSENT = "supported", "refuted", "undecided", "not run"
LEAST_ROUNDS = 6
"""Rounds with equal differences that a sign test at 5 % tells from chance."""
_WHAT = ["text", "suite", "method", "figure", "relation", "to", "margin"]
COLUMNS = [*_WHAT, "dataset", "difference", "low", "high", "verdict"]


def evaluate(statements: Iterable[Statement], runs: Mapping[str, Run]) -> pd.DataFrame:
    """Return one row per statement and dataset: the difference, its 95 % interval, and the verdict."""
    rows = []
    for each in statements:
        differences = _differences(each, runs[each.suite]) if each.suite in runs else {}
        for dataset in each.datasets:
            row = each.model_dump(exclude={"datasets"}) | {"dataset": dataset, "verdict": ABSENT}
            if dataset in differences:
                difference, low, high = differences[dataset]
                row |= {"difference": difference, "low": low, "high": high}
                row["verdict"] = verdict_of(each.relation, low, high, each.margin)
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def verdict_of(relation: str, low: float, high: float, margin: float) -> str:
    """Return what an interval of the difference says about a relation; differences within the margin are none."""
    if np.isnan(low) or np.isnan(high):
        return UNDECIDED
    if relation == "equal":
        if -margin < low and high < margin:
            return SUPPORTED
        return REFUTED if low > margin or high < -margin else UNDECIDED
    if relation == "below":
        low, high = -high, -low
    if low > 0:
        return SUPPORTED
    return REFUTED if high < margin else UNDECIDED


def _differences(each: Statement, run: Run) -> dict[str, tuple[float, float, float]]:
    """Return for each dataset the method's score less the other one, with its interval."""
    if each.method not in run.methods or (each.figure not in run.metrics and not run.detects):
        return {}
    other, size = each.to, "difference"
    if not run.detects:
        frame = run.wins_ties_losses(reference=each.method, metric=each.figure)
    elif isinstance(other, str):
        frame = run.compare_rounds(each.method)
    else:
        frame, other, size = run.detection, each.method, "mean"
    rows = frame[frame["method"] == other]
    rows = rows[rows["figure"] == each.figure] if run.detects else rows
    shift = each.to if isinstance(each.to, float) else 0.0
    result = {}
    for row in rows.to_dict("records"):
        low, high = row["low"], row["high"]
        if run.detects and not low < high:
            # Without spread there is no t-test; enough equal rounds are not chance, fewer say nothing.
            low = high = row[size] if row["rounds"] >= LEAST_ROUNDS else np.nan
        result[row["dataset"]] = (row[size] - shift, low - shift, high - shift)
    return result


def answer_of(statements: pd.DataFrame) -> list[str]:
    """Return how many statements hold."""
    ran = statements.loc[statements["verdict"] != ABSENT, "verdict"]
    if not len(ran):
        return ["None of the statements has been tested yet."] if len(statements) else []
    counts = ", ".join(f"{int((ran == verdict).sum())} {verdict}" for verdict in (SUPPORTED, REFUTED, UNDECIDED))
    return [f"Statements, {counted(len(ran), 'test')}: {counts}."]


def section_of(statements: pd.DataFrame) -> Section:
    """Return a table for each statement: the difference on each dataset, and what it decides."""
    tables = []
    for (text, _, method, figure, relation, to, margin), rows in statements.groupby(_WHAT, sort=False):
        other = to if isinstance(to, str) else f"{to:g}"
        what = f"equal to {other} within {margin:g}" if relation == "equal" else f"{relation} {other}"
        title = f"{text}: {figure} of {method} {what}"
        cells = [[row["dataset"], _interval(row), row["verdict"]] for row in rows.to_dict("records")]
        tables.append(table_of(["dataset", "difference", "verdict"], cells, title))
    notes = [
        "The difference is the first method's score less the other one's, or the number, with its 95 % interval: "
        "paired by round with generated data, corrected for overlapping training parts otherwise. A statement is "
        "supported if the whole interval agrees with it, refuted if a difference of the margin (0.02 if none is "
        "named) in its favour is excluded, and undecided otherwise. Each test stands alone."
    ]
    return Section("Statements", tables, notes=notes if tables else [])


def _interval(row: Mapping[Any, Any]) -> str:
    if row["verdict"] == ABSENT:
        return "–"
    is_point = not row["low"] < row["high"]
    return f"{row['difference']:+.3f}" + ("" if is_point else f" [{row['low']:+.3f}, {row['high']:+.3f}]")
