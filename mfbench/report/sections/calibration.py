"""Calibration: how often each rule finds a difference between methods that are equal by construction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.model.sections import Section, Table
from mfbench.report.cells import table_of
from mfbench.stats.results import Run


def calibration(run: Run) -> Section:
    """Return the section on the false rejections of each rule at a level."""
    rejections, alpha = run.rejections, run.settings.alpha
    title = f"Rejected at α = {alpha:g}, percent of datasets [95 % interval]"
    data = {"rejections": lambda: rejections, "worse_than_best": lambda: run.worse_than_best}
    if not len(rejections):
        return Section(title, notes=["No pair of methods is complete on any dataset yet."], data=data)
    level = 100 * alpha
    notes = [
        "The two methods of a pair are equal by construction, so every rejection is an error: a rule that holds its "
        f"level rejects on {level:g} % of the datasets. The s-tests and the Bayesian test decide one-sided, in the "
        f"direction that the data suggest, so their nominal share is {2 * level:g} % (without a ROPE). The interval is "
        "the exact interval of a proportion and describes the Monte-Carlo error of this simulation.",
        "Worse than the best: the share of datasets on which any of the equal methods is called significantly worse "
        f"than the one with the best mean; at most {level:g} % are allowed. A long list of methods is divided into "
        "lists of 2, 5 and 20, each of which counts once per dataset.",
    ]
    best = table_of(
        ["equal methods", "number", "datasets", "comparisons", "rejected"],
        [
            [f"{row['first']} …", row["methods"], row["group"], row["comparisons"], _share(row)]
            for row in run.worse_than_best.to_dict("records")
        ],
        "Worse than the best",
    )
    return Section(title, [_table(rejections), best], notes=notes, data=data)


def _table(frame: pd.DataFrame) -> Table:
    by_pair: dict[tuple[str, str, str], dict[str, dict[Any, Any]]] = {}
    for row in frame.to_dict("records"):
        by_pair.setdefault((row["first"], row["second"], row["group"]), {})[row["rule"]] = row
    pairs, rules = by_pair.values(), list(dict.fromkeys(frame["rule"]))
    rows = [[rule, *(_share(own[rule]) if rule in own else "–" for own in pairs)] for rule in rules]
    counts = ["datasets", *(own[rules[0]]["datasets"] for own in pairs)]
    headings = [f"{first} – {second}, {group}" for first, second, group in by_pair]
    return table_of(["rule", *headings], [*rows, counts], footer_rows=1)


def _share(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['frequency']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
