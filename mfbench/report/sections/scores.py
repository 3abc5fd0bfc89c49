"""Scores: datasets by methods, with marks, wins, ties and losses, and average ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import (
    DASH,
    outcomes_text,
    rank_cell,
    rows_by_dataset,
    score_cell,
    size_cell,
    table_of,
    with_unit,
)
from mfbench.report.charts.wins import wins_chart
from mfbench.report.verdicts import relation_of_test_sets, verdict_cell, verdict_columns, verdict_notes
from mfbench.stats.one_dataset.rules import S_TESTS
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES

S_MARKS = {">>": "≫", "<<": "≪", ">": ">", "<": "<", "=": "="}


def scores(run: Run) -> Section:
    """Return the section on the scores of each dataset and method."""
    metric, reference = run.settings.metric, run.settings.reference
    charts = []
    if reference is not None and len(run.methods) > 1 and len(run.outcomes):
        columns = verdict_columns(run.settings, relation_of_test_sets(run.detects, run.folds_per_dataset))
        charts.append(wins_chart(run.summary(), columns, reference))
    notes = verdict_notes(run)
    if trivial_accuracies(run):
        notes.append(
            "one_vs_rest_accuracy: with K > 2 classes, the mean accuracy of K decisions between one class and the "
            "rest. Rejecting every class scores 1 - 1/K if classes are equally large; column trivial has the exact "
            "score of the best constant decisions."
        )
    return Section(
        f"{with_unit(metric, SCORES[metric].percent)}: mean ± sd over {run.protocol.trial_name}s",
        [score_table(run)],
        charts,
        notes,
        data={"scores": lambda: run.scores, "wins_ties_losses": run.wins_ties_losses},
        rows=lambda: [run.scores.merge(run.wins_ties_losses(), on=["dataset", "method"], how="left")],
    )


def score_table(run: Run) -> Table:
    """Return datasets by methods: mean ± sd, marks, and the rows of wins, ties and losses and of average ranks."""
    settings, methods, trivial = run.settings, list(run.methods), trivial_accuracies(run)
    percent, verdicts = SCORES[settings.metric].percent, run.wins_ties_losses()
    marks = _s_marks(verdicts) if settings.test in S_TESTS else {}

    def cell(row: Mapping[Any, Any]) -> Cell:
        return score_cell(row, percent, marks.get((row["dataset"], row["method"]), "") if marks else None)

    first: dict[str, list[object]] = {dataset: [dataset] for dataset in run.outcomes["dataset"].unique()}
    if trivial:
        first = {dataset: [dataset, f"{100 * trivial[dataset]:.1f}"] for dataset in first}
    rows: list[list[object]] = rows_by_dataset(run.scores, first, methods, cell)
    footer: list[list[object]] = []
    blank, columns = ([DASH], ["dataset", "trivial", *methods]) if trivial else ([], ["dataset", *methods])
    if rows and settings.reference is not None and len(methods) > 1:
        headings = verdict_columns(settings, relation_of_test_sets(run.detects, run.folds_per_dataset))
        totals = _totals(run.summary(), headings, settings.reference)
        # After our count by the papers' rule, which is the first unless there is only one.
        totals[1:1] = _printed(run.published_counts, settings.reference)
        detectable = verdicts.groupby("method")["detectable"].median()
        if detectable.notna().any():
            sizes = {method: size_cell(size, percent) for method, size in detectable.items()}
            totals.insert(-1, ("detectable, median", sizes))
        footer = [[title, *blank, *(own.get(method, DASH) for method in methods)] for title, own in totals]
    return table_of(columns, [*rows, *footer], footer_rows=len(footer))


def _totals(
    summary: pd.DataFrame, headings: Sequence[tuple[str, str]], reference: str
) -> list[tuple[str, dict[Any, Cell]]]:
    """Return the rows of wins, ties and losses and that of average ranks: the title of each, and a cell per method."""
    rows = summary.to_dict("records")
    others = [row for row in rows if row["method"] != reference]
    counts = [(title, {row["method"]: verdict_cell(row, prefix) for row in others}) for title, prefix in headings]
    return [*counts, ("average rank", {row["method"]: rank_cell(row["rank"]) for row in rows})]


def _printed(counts: pd.DataFrame, reference: str) -> list[tuple[str, dict[Any, Cell]]]:
    """Return the row of wins, ties and losses that a paper prints against the same reference, if there is one."""
    own = counts[counts["reference"] == reference].to_dict("records")
    return [("printed W/T/L", {row["method"]: Cell(outcomes_text(row, "printed")) for row in own})] if own else []


def trivial_accuracies(run: Run) -> dict[str, float]:
    """Return the score of constant decisions on each dataset; empty unless the metric is one_vs_rest_accuracy."""
    if not SCORES[run.settings.metric].is_one_vs_rest:
        return {}
    return dict(zip(run.datasets["dataset"], run.datasets["trivial_accuracy"], strict=True))


def _s_marks(verdicts: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the marks of an s-test for each method against the reference."""
    turned = str.maketrans("<>", "><")
    return {
        (row["dataset"], row["method"]): S_MARKS[row["mark"].translate(turned)]
        for row in verdicts.to_dict("records")
        if row["mark"]
    }
