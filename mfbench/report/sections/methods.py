"""Methods: one line for each, with mean score, rank, wins, ties and losses, time, memory and failures."""

from __future__ import annotations

from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import DASH, number_cell, rank_cell, time_cell
from mfbench.report.charts.score_time import score_time_chart
from mfbench.report.verdicts import verdict_cell, verdict_columns
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES


def methods(run: Run) -> Section:
    """Return the section on methods, best average rank first."""
    optimistic = [label for label, selection in run.tuned.items() if selection == "per-dataset"]
    notes = [
        f"Tuned per dataset: {', '.join(optimistic)}. All folds of a dataset use the grid point with the best mean "
        "score on the reported test parts themselves, so these scores are optimistic, and so are comparisons with "
        "methods that are not tuned this way."
    ]
    settings, summary = run.settings, run.summary()
    chart = None
    if len(summary):
        chart = score_time_chart(summary, settings.metric, greater_is_better=settings.greater_is_better)
    return Section(
        "Methods, best average rank first",
        [method_table(run)],
        [] if chart is None else [chart],
        notes if optimistic else [],
        data={"summary": lambda: summary},
    )


def method_table(run: Run) -> Table:
    """Return one row per method."""
    metric, reference = run.settings.metric, run.settings.reference
    percent = SCORES[metric].percent
    factor, form = (100.0, ".1f") if percent else (1.0, ".3f")
    verdicts = verdict_columns(run)
    table = Table(
        [
            *("method", "what it is", f"mean {metric}", "rank"),
            *(title for title, _ in verdicts),
            *("time", "peak memory", "failed"),
        ],
        wrap=1,
    )
    for row in run.summary().to_dict("records"):
        table.rows.append(
            [
                Cell(str(row["method"])),
                Cell(run.methods[row["method"]]),
                number_cell(factor * row["mean"], form),
                rank_cell(row["rank"]),
                *(Cell("reference") if row["method"] == reference else verdict_cell(row, key) for _, key in verdicts),
                time_cell(row["total_seconds"]),
                Cell(f"{row['peak_memory'] / 1e6:.1f} MB") if row["peak_memory"] else DASH,
                Cell(f"{row['failed']} of {row['planned']}" if row["failed"] else "–"),
            ]
        )
    return table
