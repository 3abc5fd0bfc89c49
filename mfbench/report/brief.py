"""The short report: the answer, a line per method, scores if they are few, failures and omissions, and the page."""

from pathlib import Path

import pandas as pd
from rich.cells import cell_len, set_cell_size

from mfbench.base.text import counted, plain
from mfbench.host.registry import Registry
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import (
    DASH,
    NO_VERDICT_MARK,
    across_name,
    seconds,
    size_cell,
    table_of,
    time_cell,
    with_unit,
)
from mfbench.report.contents import GAP, answer_of, kind_of, needed_width, plugin_sections
from mfbench.report.heading import listed, setting_of
from mfbench.report.leaderboard import Leaderboard, Standing, leaderboards_of
from mfbench.report.sections import across_datasets, curves, remarks, scores
from mfbench.report.verdicts import verdict_cell, without_p_value
from mfbench.stats.across_datasets import Completed
from mfbench.stats.results import Run
from mfbench.stats.summary import KINDS, LARGE, NO_VERDICT

MOST_FAILURES = 5
LONGEST_REASON = 110
# Seconds of a run, and percent of them, that are worth naming; and how many methods and datasets.
LEAST_SECONDS, LEAST_SHARE, MOST_NAMED = 60.0, 5.0, 3
# Characters of the shown gaps, of a name, and of a terminal that also has room for labels.
LEAST_BAR, WIDEST_BAR = 12, 48
SHORT_NAME, LONGEST_NAME = 21, 30
LABELLED_WIDTH = 100
MOST_DATASETS = 8
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
    if kind in ("comparison", "rounds"):
        sections.insert(0, _methods(run, width))
    if kind == "comparison":
        own, table = curves.curves(run), scores.score_table(run)
        if len(table.rows) - table.footer_rows <= MOST_DATASETS and needed_width(table) <= width:
            title = with_unit(run.settings.metric, run.settings.score)
            sections.append(Section(f"{title}: mean ± sd over {run.protocol.trial_name}s", [table]))
        sections.append(Section(own.title, own.tables, notes=curves.differing_ranges(run)))
    elif kind == "calibration":
        own = across_datasets.calibration(run)
        sections += [Section(own.title, own.tables), _methods(run, width)]
    has_marks = any(table.footer_rows for section in sections for table in section.tables)
    more = [f"All tables, tests and remarks: {full}"] if full else []
    sections += [
        Section("Remarks", notes=[*problems(run), *added[-1].notes]),
        Section("", notes=[*reading_notes(run, has_marks=has_marks), *time_spent(run), *more]),
    ]
    where = [f"Page: {page or command}"] if page is not None or command else []
    sections.append(Section("", notes=where))
    return Report(run.meta.title, setting_of(run), sections, answer=answer_of(run))


def _methods(run: Run, width: int) -> Section:
    return Section(f"Methods, best mean {run.settings.metric} first", [method_lines(run, width)])


def method_lines(run: Run, width: int) -> Table:
    """Return one line per method, best mean first, with its gap to the best shown in the remaining width."""
    reference, names, summary = run.settings.reference, run.meta.display_names, run.summary().to_dict("records")
    verdict = ["W/T/L"] if reference is not None else []
    board = next(iter(leaderboards_of(run)), None) if kind_of(run) != "calibration" else None
    standings = {} if board is None else {one.label: (place, one) for place, one in enumerate(board.standings)}
    failed = ["failed"] if any(row["failed"] for row in summary) else []
    labels = ["label"] if width >= LABELLED_WIDTH and any(plain(label) != name for label, name in names.items()) else []
    gap, longest = ["gap"] if board else [], SHORT_NAME if width < LABELLED_WIDTH else LONGEST_NAME
    rows: list[list[object]] = []
    shown: list[Standing | None] = []
    for row in summary:
        label = row["method"]
        place, one = standings.get(label, (0, None))
        if board is not None and board.is_folded(place):
            continue
        cells = [Cell(_cut(names[label], longest)), *[label for _ in labels]]
        cells.append(size_cell(row["mean"], run.settings.score.percent))
        if board is not None:
            cells.append(DASH if one is None else board.size(one.gap) if one.gap else "best")
        cells += [verdict_cell(row, "sound_", reference) for _ in verdict]
        cells.append(time_cell(row["total_seconds"]))
        cells += [f"{row['failed']} of {row['planned']}" if row["failed"] else DASH for _ in failed]
        rows.append(cells)
        shown.append(one)
    title = across_name("mean", run.settings.score)
    table = table_of(["method", *labels, title, *gap, *verdict, "time", *failed], rows)
    room = min(width - needed_width(table) - GAP, WIDEST_BAR)
    if board is None or room < LEAST_BAR:
        return table
    low, high = (board.size(end) for end in board.axis)
    place = 3 + len(labels)
    for one, line in zip(shown, table.rows, strict=True):
        line.insert(place, DASH if one is None else _bar(board, one, room))
    table.columns.insert(place, low + high.rjust(room - len(low)))
    return table


def _bar(board: Leaderboard, one: Standing, room: int) -> Cell:
    """Draw a gap with its intervals: a dot, hollow if the method is separated from the best, and the zero."""

    def place(gap: float) -> int:
        return round(board.place(gap) / 100.0 * (room - 1))

    signs = [" "] * room
    signs[place(0.0)] = "│"
    if board.is_outside(one.gap):
        return Cell("".join(["◂", *signs[1:]]))
    for (low, high), sign in ((one.joint, "─"), (one.single, "━")):
        if low == low and one.gap:
            signs[place(low) : place(high) + 1] = sign * (place(high) + 1 - place(low))
    signs[place(one.gap)] = "○" if one.is_worse else "●"
    return Cell("".join(signs), "plain" if one.is_worse else "best")


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


def time_spent(run: Run) -> list[str]:
    """Return a line on the methods and datasets that take most of a run's time, if it takes long."""
    spent = run.outcomes.assign(name=run.outcomes["method"].map(run.meta.display_names))
    total, parts = float(spent["duration"].sum()), []
    if total < LEAST_SECONDS:
        return []
    for column in ("name", "dataset"):
        shares = 100.0 * spent.groupby(column)["duration"].sum().nlargest(MOST_NAMED) / total
        parts.append(", ".join(f"{name} {share:.0f} %" for name, share in shares[shares >= LEAST_SHARE].items()))
    named = ". ".join(f"By {column}: {part}" for column, part in zip(("method", "dataset"), parts, strict=True) if part)
    return [f"Trials took {seconds(total)} of worker time. {named}."]


def reading_notes(run: Run, *, has_marks: bool = True) -> list[str]:
    """Return one line each on what affects the reading of the short report's numbers, with links into the docs."""
    kind = kind_of(run)
    reference, notes = run.settings.reference, scores.compared_folds(run.coverage, run.protocol.trial_name)
    if kind == "calibration" and reference is not None:
        return [*notes, f"W/T/L: wins, ties, losses of {reference}. {DOCS}wins-ties-and-losses"]
    if kind not in ("comparison", "rounds"):
        return []
    if has_marks and kind == "comparison" and len(run.methods) > 1:
        notes.append(f"Bold: best. ≈: not significantly worse. {DOCS}marks-in-the-score-table")
        notes += (
            [f"{NO_VERDICT_MARK}: no test is possible. {DOCS}no-verdict"] if without_p_value(run.scores).any() else []
        )
    if reference is not None and len(run.methods) > 1:
        words = f"W/T/L: wins, ties, losses of {run.meta.display_names[reference]}. A tie does not prove equality."
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
    return text if cell_len(text) <= room else f"{set_cell_size(text, room - 1).rstrip()}…"
