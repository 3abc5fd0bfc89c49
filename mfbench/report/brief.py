"""The short report: scores, a line per method, failures and omissions, and the conclusion as the last lines."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.cells import cell_len

from mfbench.base.text import counted
from mfbench.host.registry import Registry
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import (
    DASH,
    NO_VERDICT_MARK,
    across_name,
    rank_cell,
    size_cell,
    table_of,
    time_cell,
    with_unit,
)
from mfbench.report.contents import answer_of, compact, kind_of, needed_width, plugin_sections, transposed
from mfbench.report.heading import listed, setting_of
from mfbench.report.sections import across_datasets, curves, remarks, scores
from mfbench.report.verdicts import verdict_cell, verdict_columns, without_p_value
from mfbench.stats.across_datasets import Completed
from mfbench.stats.results import Run
from mfbench.stats.summary import KINDS, LARGE, NO_VERDICT

MOST_FAILURES = 5
LONGEST_REASON = 110
LEAST_DESCRIPTION = 16
DOCS = "docs/statistics.md#"


def brief_report(
    run: Run,
    width: int,
    page: Path | None = None,
    command: str = "",
    full: str = "",
    registry: Registry | None = None,
) -> Report:
    """Return the short report of a run."""
    kind, added = kind_of(run), plugin_sections(run, registry)
    sections = [Section(section.title, section.tables) for section in added if section.leads][:1]
    if kind == "comparison":
        own = curves.curves(run)
        sections += [_scores(run, width), Section(own.title, own.tables, notes=curves.differing_ranges(run))]
    elif kind == "calibration":
        own = across_datasets.calibration(run)
        sections.append(Section(own.title, own.tables))
    if kind in ("comparison", "rounds", "calibration"):
        sections.append(Section("Methods, best mean first", [method_lines(run, width)]))
    more = [f"All tables, tests and remarks: {full}"] if full else []
    sections += [
        Section("Remarks", notes=[*problems(run), *added[-1].notes]),
        Section("", notes=[*reading_notes(run), *more]),
    ]
    where = [f"Page: {page or command}"] if page is not None or command else []
    return Report(run.meta.title, setting_of(run), sections, answer=[*answer_of(run), *where])


def _scores(run: Run, width: int) -> Section:
    """Return the table of scores: datasets as rows if all methods fit, otherwise methods as rows, with means only."""
    table, title = scores.score_table(run), with_unit(run.settings.metric, run.settings.score)
    if needed_width(table) > width:
        body = Table(table.columns, table.rows[: len(table.rows) - table.footer_rows])
        table = transposed(body, "method")
        places = {method: place for place, method in enumerate(run.summary()["method"])}
        table.rows.sort(key=lambda row: places.get(row[0].text, -1))
    if needed_width(table) > width:
        return Section(f"{title}: mean over {run.protocol.trial_name}s", [compact(table)])
    return Section(f"{title}: mean ± sd over {run.protocol.trial_name}s", [table])


def method_lines(run: Run, width: int) -> Table:
    """Return one line per method; descriptions are truncated to the available width, or omitted if it is small."""
    reference = run.settings.reference
    verdict = [title for title, prefix in verdict_columns(run) if prefix == "sound_" and reference is not None]
    summary = run.summary().to_dict("records")
    failed = ["failed"] if any(row["failed"] for row in summary) else []
    rows = []
    for row in summary:
        cells = [row["method"], size_cell(row["mean"], run.settings.score.percent), rank_cell(row["rank"])]
        cells += [verdict_cell(row, "sound_", reference) for _ in verdict]
        cells.append(time_cell(row["total_seconds"]))
        cells += [f"{row['failed']} of {row['planned']}" if row["failed"] else DASH for _ in failed]
        rows.append(cells)
    table = table_of(["method", across_name("mean", run.settings.score), "rank", *verdict, "time", *failed], rows)
    return _described(table, [run.methods[row["method"]] for row in summary], width)


def _described(table: Table, descriptions: Sequence[str], width: int) -> Table:
    room = width - needed_width(table) - 3
    if room < LEAST_DESCRIPTION:
        return table
    rows = [[*row, Cell(_cut(text, room))] for row, text in zip(table.rows, descriptions, strict=True)]
    return Table([*table.columns, "what it is"], rows, wrap=len(table.columns))


def problems(run: Run) -> list[str]:
    """Return one line each on omissions, failures, pending trials and the number of trials with warnings."""
    notes = [] if len(run.outcomes) else ["No trials: there was nothing to measure."]
    notes += run.remarks
    notes += [*remarks.restriction(run.meta, listed), *remarks.sampled_rows(run, listed)]
    notes += remarks.left_out(run.left_out, run.unavailable, run.meta.command[2])
    notes += [*remarks.unsuited(run.meta), *remarks.dropped_classes(run.meta, remarks.MOST_NAMED)]
    notes += remarks.own_splits(run.meta) if len(run.meta.splits) <= remarks.MOST_NAMED else []
    notes += [*scores.not_run_yet(run), *_failures(run.failures)]
    for column, words in (
        ("touched", "Changed global state, such as environment variables or random states"),
        ("n_warnings", "Warnings"),
    ):
        marked = remarks.marked_trials(run.outcomes, column)
        if len(marked):
            notes.append(f"{words}: {counted(len(marked), 'trial')} of {listed(list(marked['method'].unique()))}.")
    return notes


def _incomplete_note(completed: Completed) -> str:
    """Return how cells without a score of every fold are treated."""
    note = "Incomplete cells are not compared"
    if completed.filled:
        note += f"; values stand for {counted(completed.filled, 'missing cell')} in ranks"
    if completed.dropped:
        return f"{note}; ranks leave out {listed(completed.dropped, 3)}. {DOCS}missing-cells"
    return f"{note}. {DOCS}{'missing-cells' if completed.filled else 'complete-and-incomplete-cells'}"


def _failures(failures: pd.DataFrame) -> list[str]:
    lines = []
    groups = list(failures.groupby("method", sort=False))
    for method, group in groups[:MOST_FAILURES]:
        first = group.to_dict("records")[0]
        # Missing entries in a string column are None or, in pandas, NaN.
        parts = (first[name] for name in ("status", "error_message"))
        reason = ": ".join(" ".join(part.split()) for part in parts if isinstance(part, str) and part)
        places = listed(list(group["dataset"].unique()), 3)
        lines.append(f"Failed: {method}: {counted(len(group), 'trial')} on {places}; {_cut(reason, LONGEST_REASON)}")
    if len(groups) > MOST_FAILURES:
        lines.append(f"Failed: {counted(len(groups) - MOST_FAILURES, 'more method')}.")
    return lines


def reading_notes(run: Run) -> list[str]:
    """Return one line each on what affects the reading of the short report's numbers, with links into the docs."""
    kind = kind_of(run)
    reference, notes = run.settings.reference, scores.compared_folds(run.coverage, run.protocol.trial_name)
    if kind == "calibration" and reference is not None:
        return [*notes, f"W/T/L: wins, ties, losses of {reference}. {DOCS}wins-ties-and-losses"]
    if kind not in ("comparison", "rounds"):
        return []
    if kind == "comparison" and len(run.methods) > 1:
        notes.append(f"Bold: best. ≈: not significantly worse. {DOCS}marks-in-the-score-table")
        notes += (
            [f"{NO_VERDICT_MARK}: no test is possible. {DOCS}no-verdict"] if without_p_value(run.scores).any() else []
        )
    if reference is not None and len(run.methods) > 1:
        words = f"W/T/L: wins, ties, losses of {reference}. A tie does not prove equality."
        notes.append(f"{words} {DOCS}wins-ties-and-losses")
        verdicts = run.wins_ties_losses()
        if (verdicts[KINDS["sound_"]] == NO_VERDICT).any():
            notes.append(f"W/T/L in brackets: datasets on which no test is possible. {DOCS}no-verdict")
    optimistic = [label for label, selection in run.tuned.items() if selection == "per-dataset"]
    if optimistic:
        notes.append(f"Tuned on the reported folds, so optimistic: {listed(optimistic)}. {DOCS}tuned-per-dataset")
    skewed = [name for name, share in run.largest_classes.items() if share > LARGE]
    if skewed and "accuracy" in (run.settings.metric, run.curve_settings.metric):
        notes.append(f"A constant guess has a high accuracy on {listed(skewed, 3)}. docs/results.md#reading-the-report")
    if not run.scores["complete"].astype(bool).all():
        notes.append(_incomplete_note(run.overall().completed))
    return notes


def _cut(text: str, room: int) -> str:
    """Truncate a text to `room` columns."""
    if cell_len(text) <= room:
        return text
    while cell_len(text) > room - 1:
        text = text[:-1]
    return text.rstrip() + "…"
