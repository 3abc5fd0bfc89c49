"""Scores: datasets by methods, with marks, wins, ties and losses, and average ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.report.cells import DASH, rank_cell, score_cell, size_text, with_unit
from mfbench.report.charts.wins import wins_chart
from mfbench.report.verdicts import verdict_cell, verdict_columns, verdict_notes
from mfbench.stats.one_dataset.rules import S_TESTS
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES

S_MARKS = {">>": "≫", "<<": "≪", ">": ">", "<": "<", "=": "="}


def scores(run: Run) -> Section:
    """Return the section on the scores of each dataset and method."""
    metric = run.settings.metric
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
        _charts(run),
        notes,
        data={"scores": lambda: run.scores, "wins_ties_losses": run.wins_ties_losses},
        rows=lambda: _rows(run),
    )


def score_table(run: Run) -> Table:
    """Return datasets by methods: mean ± sd, marks, and the rows of wins, ties and losses and of average ranks."""
    percent = SCORES[run.settings.metric].percent
    methods = list(run.methods)
    table = Table(["dataset", *methods])
    trivial = trivial_accuracies(run)
    if trivial:
        table.columns.insert(1, "trivial")
    by_cell = {(row["dataset"], row["method"]): row for row in run.scores.to_dict("records")}
    verdicts = run.wins_ties_losses()
    marks = _s_marks(verdicts) if run.settings.test in S_TESTS else {}
    for dataset in run.outcomes["dataset"].unique():
        cells = [
            # A joined run may lack cells that no run planned.
            DASH
            if (dataset, method) not in by_cell
            else score_cell(by_cell[dataset, method], percent, marks.get((dataset, method), "") if marks else None)
            for method in methods
        ]
        constant = [Cell(f"{100 * trivial[str(dataset)]:.1f}")] if trivial else []
        table.rows.append([Cell(str(dataset)), *constant, *cells])
    if table.rows and run.settings.reference is not None and len(methods) > 1:
        footer = _footer(run, verdicts, [DASH] if trivial else [])
        table.rows += footer
        table.footer_rows = len(footer)
    return table


def _charts(run: Run) -> list[Chart]:
    reference = run.settings.reference
    if reference is None or len(run.methods) < 2 or not len(run.outcomes):
        return []
    return [wins_chart(run.summary(), verdict_columns(run), reference)]


def _footer(run: Run, verdicts: pd.DataFrame, blank: Sequence[Cell]) -> list[list[Cell]]:
    reference, methods = run.settings.reference, list(run.methods)
    summary = {row["method"]: row for row in run.summary().to_dict("records")}
    rows = [
        [
            Cell(title),
            *blank,
            *(DASH if m == reference or m not in summary else verdict_cell(summary[m], prefix) for m in methods),
        ]
        for title, prefix in verdict_columns(run)
    ]
    # After our count by the papers' rule, which is the first unless there is only one.
    printed = run.published_counts[run.published_counts["reference"] == reference]
    rows[1:1] = _printed(printed, methods, blank)
    detectable = verdicts.groupby("method")["detectable"].median()
    if detectable.notna().any():
        percent = SCORES[run.settings.metric].percent
        sizes = [size_text(detectable.get(method, np.nan), percent) for method in methods]
        cells = [DASH if size == DASH.text else Cell(size) for size in sizes]
        rows.append([Cell("detectable, median"), *blank, *cells])
    ranks = [rank_cell(summary[method]["rank"]) if method in summary else DASH for method in methods]
    return [*rows, [Cell("average rank"), *blank, *ranks]]


def _printed(frame: pd.DataFrame, methods: Sequence[str], blank: Sequence[Cell]) -> list[list[Cell]]:
    """Return the row of wins, ties and losses that a paper prints against the same reference, if there is one."""
    printed = {
        row["method"]: Cell("/".join(str(row[f"printed_{word}"]) for word in ("wins", "ties", "losses")))
        for row in frame.to_dict("records")
    }
    return [[Cell("printed W/T/L"), *blank, *(printed.get(method, DASH) for method in methods)]] if printed else []


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


def _rows(run: Run) -> list[pd.DataFrame]:
    return [run.scores.merge(run.wins_ties_losses(), on=["dataset", "method"], how="left")]
