"""What a report says where methods are equal by construction: how often each rule finds a difference all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfbench.analysis.results import Run
from mfbench.report.tables import Cell, Table


def calibration_tables(run: Run) -> list[Table]:
    """Return rules by pairs of equal methods: percent of datasets on which the rule rejects, with its interval."""
    frame = run.rejections
    if not len(frame):
        return []
    places = frame[["first", "second", "group"]].drop_duplicates().to_dict("records")
    counts = {(row["rule"], row["first"], row["second"], row["group"]): row for row in frame.to_dict("records")}
    heads = [f"{p['first']} – {p['second']}, {p['group']}" for p in places]
    table = Table(f"rejected at α = {run.settings.alpha:g}, percent of datasets [95 % interval]", ["rule", *heads])
    for rule in dict.fromkeys(frame["rule"]):
        found = [counts.get((rule, p["first"], p["second"], p["group"])) for p in places]
        table.rows.append([Cell(rule), *(Cell("–" if row is None else _share(row)) for row in found)])
    numbers = [str(counts[next(iter(frame["rule"])), p["first"], p["second"], p["group"]]["datasets"]) for p in places]
    table.rows.append([Cell("datasets"), *map(Cell, numbers)])
    table.footer_rows = 1
    return [table]


def _share(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['frequency']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"


def calibration_notes(run: Run) -> list[str]:
    """Return the sentences that explain the table."""
    if not len(run.rejections):
        return ["Equal by construction: no pair of methods is complete on any dataset yet."]
    level = 100 * run.settings.alpha
    return [
        "The two methods of a pair are equal by construction, so every rejection is an error: a rule that holds its "
        f"level rejects on {level:g} % of the datasets. An s-test and the Bayesian test decide one-sided in the "
        f"direction that the data choose, so their own nominal share is {2 * level:g} % (without a ROPE). "
        "The interval is the exact one of a share: the Monte-Carlo error of this simulation."
    ]
