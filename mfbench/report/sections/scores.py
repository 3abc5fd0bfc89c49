"""Scores: datasets by methods, with marks, wins, ties and losses, and average ranks."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from mfbench.base.text import counted, plain
from mfbench.model.sections import Cell, Section, Table
from mfbench.report import cells
from mfbench.report.charts.comparison import wins_chart
from mfbench.report.charts.time import score_time_chart
from mfbench.report.heading import listed
from mfbench.report.verdicts import verdict_cell, verdict_columns, verdict_notes
from mfbench.run.forecast.order import duration_text
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.results import Run
from mfbench.stats.rules import S_TESTS
from mfbench.stats.summary import LARGE

S_MARKS = {">>": "≫", "<<": "≪", ">": ">", "<": "<", "=": "="}


def scores(run: Run) -> Section:
    """Return the section on the scores of each dataset and method."""
    metric, reference = run.settings.metric, run.settings.reference
    charts = []
    if reference is not None and len(run.methods) > 1 and len(run.outcomes):
        columns = verdict_columns(run)
        names, summary = run.meta.display_names, run.summary()
        charts.append(wins_chart(summary.replace({"method": names}), columns, names[reference]))
    notes = verdict_notes(run)
    if trivial_accuracies(run):
        notes.append(
            "one_vs_rest_accuracy: with K > 2 classes, the mean accuracy of K decisions between one class and the "
            "rest. Rejecting every class scores 1 - 1/K if classes are equally large; column trivial has the exact "
            "score of the best constant decisions."
        )
    return Section(
        f"{cells.with_unit(metric, run.settings.score)}: mean ± sd over {run.protocol.trial_name}s",
        [score_table(run)],
        charts,
        notes,
        data={"scores": lambda: run.scores, "wins_ties_losses": run.wins_ties_losses},
        rows=lambda: [run.scores.merge(run.wins_ties_losses(), on=["dataset", "method"], how="left")],
    )


def by_mean(run: Run) -> list[str]:
    """Return the methods, best mean first, then those without a mean."""
    means = run.overall().completed.scores.mean(axis=0).round(12) * run.settings.sign
    return list(dict.fromkeys([*means.sort_values(ascending=False, kind="stable").index, *run.methods]))


def score_table(run: Run, methods: Sequence[str] = ()) -> Table:
    """Return datasets by methods: mean ± sd, marks, and footer rows of wins, ties and losses and average ranks."""
    settings, methods, trivial = run.settings, methods or by_mean(run), trivial_accuracies(run)
    percent, verdicts = settings.score.percent, run.wins_ties_losses()
    marks = _s_marks(verdicts) if settings.test in S_TESTS else {}

    def cell(row: Mapping[Any, Any]) -> Cell:
        return cells.score_cell(row, percent, marks.get((row["dataset"], row["method"]), "") if marks else None)

    first: dict[str, list[object]] = {dataset: [dataset] for dataset in run.outcomes["dataset"].unique()}
    if trivial:
        first = {dataset: [dataset, f"{100 * trivial[dataset]:.1f}"] for dataset in first}
    rows: list[list[object]] = cells.rows_by_dataset(run.scores, first, methods, cell)
    footer: list[list[object]] = []
    blank, columns = ([cells.DASH], ["dataset", "trivial", *methods]) if trivial else ([], ["dataset", *methods])
    if rows and settings.reference is not None and len(methods) > 1:
        headings = verdict_columns(run)
        totals = _totals(run.summary(), headings, settings.reference)
        # The printed counts follow ours under the papers' rule, which come first (unless there is only one rule).
        totals[1:1] = _printed(run.published_counts, settings.reference)
        detectable = verdicts.groupby("method")["detectable"].median()
        if detectable.notna().any() and not settings.score.in_units:
            sizes = {method: cells.size_cell(size, percent) for method, size in detectable.items()}
            totals.insert(-1, ("detectable, median", sizes))
        footer = [[title, *blank, *(own.get(method, cells.DASH) for method in methods)] for title, own in totals]
    return cells.table_of(columns, [*rows, *footer], footer_rows=len(footer))


def _totals(
    summary: pd.DataFrame, headings: Sequence[tuple[str, str]], reference: str
) -> list[tuple[str, dict[Any, Cell]]]:
    """Return the footer rows (wins, ties and losses; average ranks): the title of each, and a cell per method."""
    rows = summary.to_dict("records")
    others = [row for row in rows if row["method"] != reference]
    counts = [(title, {row["method"]: verdict_cell(row, prefix) for row in others}) for title, prefix in headings]
    return [*counts, ("average rank", {row["method"]: cells.rank_cell(row["rank"]) for row in rows})]


def _printed(counts: pd.DataFrame, reference: str) -> list[tuple[str, dict[Any, Cell]]]:
    """Return a paper's row of wins, ties and losses against the same reference, if it prints one."""
    own = counts[counts["reference"] == reference].to_dict("records")
    return [("printed W/T/L", {row["method"]: Cell(cells.outcomes_text(row, "printed")) for row in own})] if own else []


def trivial_accuracies(run: Run) -> dict[str, float]:
    """Return the score of constant predictions on each dataset; empty unless the metric is one_vs_rest_accuracy."""
    if not run.settings.score.is_one_vs_rest:
        return {}
    return dict(zip(run.datasets["dataset"], run.datasets["trivial_accuracy"], strict=True))


def _s_marks(verdicts: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the s-test marks of each method against the reference."""
    turned = str.maketrans("<>", "><")
    return {
        (row["dataset"], row["method"]): S_MARKS[row["mark"].translate(turned)]
        for row in verdicts.to_dict("records")
        if row["mark"]
    }


def other_scores(run: Run) -> Section:
    """Return the section on datasets with a dominant class: a table of means for each further score."""
    methods, tables = list(run.methods), []
    for metric, frame in run.companions.groupby("metric", sort=False):
        score = run.meta.scores[str(metric)]
        shares = dict(zip(frame["dataset"], frame["largest_class"], strict=True))
        first = {dataset: [dataset, f"{100 * share:.0f} %"] for dataset, share in shares.items()}
        rows = cells.rows_by_dataset(frame, first, methods, partial(cells.score_cell, percent=score.percent))
        title = f"{cells.with_unit(str(metric), score)}, where one class exceeds {100 * LARGE:.0f} % of the rows"
        tables.append(cells.table_of(["dataset", "largest class", *methods], rows, title))
    return Section("Other scores", tables, notes=_notes(run), data={"companions": lambda: run.companions})


def flattered(largest_classes: Mapping[str, float], settings: ComparisonSettings) -> str:
    """Return on which datasets a constant prediction does well by a metric, without a period; empty if on none."""
    skewed = [name for name, share in largest_classes.items() if share > LARGE]
    if not settings.score.counts_decisions or not skewed:
        return ""
    large = f"One class exceeds {100 * LARGE:.0f} % of the rows of {', '.join(skewed)}"
    return f"{large}: a constant prediction has a high {settings.metric}"


def _notes(run: Run) -> list[str]:
    start = flattered(run.largest_classes, run.settings)
    if not start:
        return []
    if not len(run.companions):
        return [
            f"{start}. No other score was measured; add balanced_accuracy, log_loss or roc_auc to metrics in "
            "[protocol]."
        ]
    rule = "corrected resampled t-test" if run.protocol.test_train_ratio else "paired t-test"
    marks = f" Marks: {rule}." if run.folds_per_dataset > 1 else ""
    return [f"{start}; the other scores show whether a method does better than that.{marks}"]


def not_run_yet(run: Run) -> list[str]:
    """Return the number of pending trials and, if the run exceeded its budget, the cells without any result."""
    if not run.n_pending:
        return []
    count = f"Not run yet: {run.n_pending} of {counted(len(run.outcomes), 'trial')}"
    budget = run.meta.ended_budget
    if not budget:
        return [f"{count}."]
    ended = f"{count}, because the budget of {duration_text(budget)} ended."
    command = run.meta.resume_command
    if "--budget" not in command:  # the option came from Python, not from the command line
        command += f" --budget {duration_text(budget)}"
    return [f"{ended} To go on, run: {command}", *_not_reached(run.outcomes, run.coverage)]


def _not_reached(outcomes: pd.DataFrame, coverage: pd.DataFrame) -> list[str]:
    methods = outcomes.groupby("dataset", sort=False)["method"].nunique()
    whole, parts = [], []
    for row in coverage.to_dict("records"):
        if len(row["not_reached"]) == methods[row["dataset"]]:
            whole.append(str(row["dataset"]))
        elif row["not_reached"]:
            parts.append(f"{listed(row['not_reached'])} on {row['dataset']}")
    parts += [f"every method on {listed(whole)}"] if whole else []
    return [f"Not reached: {'; '.join(parts)}."] if parts else []


def compared_folds(coverage: pd.DataFrame, trial_name: str) -> list[str]:
    """Return at most one sentence on how many folds the methods are compared, if that is not all of them."""
    compared = coverage[coverage["compared"] > 0].to_dict("records")
    if not compared:
        return []
    parts = [f"{row['dataset']} ({row['compared']} of {row['planned']})" for row in compared]
    return [f"Compared on the {trial_name}s that all methods have, for scores, tests and times: {listed(parts)}."]


def methods(run: Run) -> Section:
    """Return the section on methods, one row each, best mean first."""
    settings, summary, names = run.settings, run.summary(), run.meta.display_names
    verdicts, averaged = verdict_columns(run), cells.across_name(settings.metric, settings.score)
    has_names = any(plain(label) != name for label, name in names.items())
    columns = ["method", *["label"] * has_names, "what it is", f"mean {averaged}", "rank"]
    columns += [title for title, _ in verdicts]
    rows = [
        [
            names[row["method"]],
            *[row["method"]] * has_names,
            run.methods[row["method"]],
            cells.size_cell(row["mean"], settings.score.percent),
            cells.rank_cell(row["rank"]),
            *(verdict_cell(row, prefix, settings.reference) for _, prefix in verdicts),
            cells.time_cell(row["total_seconds"]),
            Cell(f"{row['peak_memory'] / 1e6:.1f} MB") if row["peak_memory"] else cells.DASH,
            f"{row['failed']} of {row['planned']}" if row["failed"] else "–",
        ]
        for row in summary.to_dict("records")
    ]
    chart = None
    if len(summary):
        named = summary.replace({"method": names})
        chart = score_time_chart(named, averaged, greater_is_better=settings.greater_is_better)
    optimistic = [label for label, selection in run.tuned.items() if selection == "per-dataset"]
    notes = cells.notes_of_units(settings.metric, settings.score)
    notes += [
        f"Tuned per dataset: {', '.join(optimistic)}. All folds of a dataset use the grid point with the best mean "
        "score on the reported test parts themselves, so these scores are optimistic, and so are comparisons with "
        "methods that are not tuned this way."
    ] * bool(optimistic)
    return Section(
        "Methods, best mean first",
        [cells.table_of([*columns, "time", "peak memory", "failed"], rows, wrap=1 + has_names)],
        [] if chart is None else [chart],
        notes,
        data={"summary": lambda: summary},
    )
