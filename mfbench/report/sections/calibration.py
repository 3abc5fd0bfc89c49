"""Calibration: how often each rule finds a difference between methods that are equal by construction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.model.sections import Cell, Section, Table


def calibration(rejections: pd.DataFrame, worse_than_best: pd.DataFrame, alpha: float) -> Section:
    """Return the section on the false rejections of each rule at a level."""
    title = f"Rejected at α = {alpha:g}, percent of datasets [95 % interval]"
    data = {"rejections": lambda: rejections, "worse_than_best": lambda: worse_than_best}
    if not len(rejections):
        return Section(title, notes=["No pair of methods is complete on any dataset yet."], data=data)
    level = 100 * alpha
    note = (
        "The two methods of a pair are equal by construction, so every rejection is an error: a rule that holds its "
        f"level rejects on {level:g} % of the datasets. The s-tests and the Bayesian test decide one-sided, in the "
        f"direction that the data suggest, so their nominal share is {2 * level:g} % (without a ROPE). The interval is "
        "the exact interval of a proportion and describes the Monte-Carlo error of this simulation."
    )
    best = (
        "Worse than the best: the share of datasets on which any of the equal methods is called significantly worse "
        f"than the one with the best mean; at most {level:g} % are allowed. A long list of methods is divided into "
        "lists of 2, 5 and 20, each of which counts once per dataset."
    )
    return Section(title, [_table(rejections), _best_table(worse_than_best)], notes=[note, best], data=data)


def _best_table(frame: pd.DataFrame) -> Table:
    table = Table(["equal methods", "number", "datasets", "comparisons", "rejected"], title="Worse than the best")
    for row in frame.to_dict("records"):
        texts = [f"{row['first']} …", row["methods"], row["group"], row["comparisons"], _share(row)]
        table.rows.append([Cell(str(text)) for text in texts])
    return table


def _table(frame: pd.DataFrame) -> Table:
    pairs = frame[["first", "second", "group"]].drop_duplicates().to_dict("records")
    by_rule = {(row["rule"], row["first"], row["second"], row["group"]): row for row in frame.to_dict("records")}
    table = Table(["rule", *(f"{p['first']} – {p['second']}, {p['group']}" for p in pairs)])
    for rule in dict.fromkeys(frame["rule"]):
        rows = [by_rule.get((rule, p["first"], p["second"], p["group"])) for p in pairs]
        table.rows.append([Cell(rule), *(Cell("–" if row is None else _share(row)) for row in rows)])
    first = next(iter(frame["rule"]))
    counts = [str(by_rule[first, p["first"], p["second"], p["group"]]["datasets"]) for p in pairs]
    table.rows.append([Cell("datasets"), *map(Cell, counts)])
    table.footer_rows = 1
    return table


def _share(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['frequency']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
