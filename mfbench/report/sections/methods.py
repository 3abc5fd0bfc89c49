"""Methods: one line for each, with mean score, rank, wins, ties and losses, time, memory and failures."""

from __future__ import annotations

from mfbench.model.sections import Cell, Section
from mfbench.report.cells import DASH, rank_cell, size_cell, table_of, time_cell
from mfbench.report.charts.score_time import score_time_chart
from mfbench.report.verdicts import relation_of_test_sets, verdict_cell, verdict_columns
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES


def methods(run: Run) -> Section:
    """Return the section on methods, one row for each, best average rank first."""
    settings, summary = run.settings, run.summary()
    verdicts = verdict_columns(settings, relation_of_test_sets(run.detects, run.folds_per_dataset))
    columns = ["method", "what it is", f"mean {settings.metric}", "rank", *(title for title, _ in verdicts)]
    rows = [
        [
            row["method"],
            run.methods[row["method"]],
            size_cell(row["mean"], SCORES[settings.metric].percent),
            rank_cell(row["rank"]),
            *(verdict_cell(row, prefix, settings.reference) for _, prefix in verdicts),
            time_cell(row["total_seconds"]),
            Cell(f"{row['peak_memory'] / 1e6:.1f} MB") if row["peak_memory"] else DASH,
            f"{row['failed']} of {row['planned']}" if row["failed"] else "–",
        ]
        for row in summary.to_dict("records")
    ]
    chart = None
    if len(summary):
        chart = score_time_chart(summary, settings.metric, greater_is_better=settings.greater_is_better)
    optimistic = [label for label, selection in run.tuned.items() if selection == "per-dataset"]
    notes = [
        f"Tuned per dataset: {', '.join(optimistic)}. All folds of a dataset use the grid point with the best mean "
        "score on the reported test parts themselves, so these scores are optimistic, and so are comparisons with "
        "methods that are not tuned this way."
    ]
    return Section(
        "Methods, best average rank first",
        [table_of([*columns, "time", "peak memory", "failed"], rows, wrap=1)],
        [] if chart is None else [chart],
        notes if optimistic else [],
        data={"summary": lambda: summary},
    )
