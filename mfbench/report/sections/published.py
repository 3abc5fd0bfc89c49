"""Published figures: ours next to the papers', and the largest differences."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from mfbench.base.text import counted
from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell, Role, Section, Table
from mfbench.report.cells import outcomes_text, rows_by_dataset, size_text, table_of, with_unit
from mfbench.report.sections.scores import trivial_accuracies
from mfbench.stats.published import (
    ABOVE,
    BELOW,
    COMPARED,
    EQUIVALENT,
    INCOMPLETE,
    MARGIN,
    NOT_COMPARABLE,
    UNDECIDED,
    summarise,
)
from mfbench.stats.results import Run
from mfbench.stats.rules import RULES

MARKS: dict[str, tuple[str, Role]] = {ABOVE: ("▲", "above"), BELOW: ("▼", "below"), EQUIVALENT: ("=", "equivalent")}
LISTED = 10


def published(run: Run) -> Section:
    """Return the section on published figures; empty if the suite names none."""
    frame, counts = run.published, run.published_counts
    titles = {name: table.title for name, table in run.meta.published.tables.items()}
    trivial, scores, tables = trivial_accuracies(run), run.meta.scores, []
    for name, rows in frame.groupby("table", sort=False):
        tables += [_overview(rows, titles[str(name)], trivial, scores), *_methods(rows, titles[str(name)], scores)]
    return Section(
        "Published figures",
        [*tables, *_counts(counts, titles), *_largest(frame, titles, scores)],
        notes=_notes(frame, titles, scores, RULES[run.settings.published_test].title if len(counts) else ""),
        data={
            "published": lambda: frame,
            "published_summary": lambda: summarise(frame),
            "published_counts": lambda: counts,
        },
        rows=lambda: _csv_rows(frame),
    )


def _overview(frame: pd.DataFrame, title: str, trivial: Mapping[str, float], scores: Mapping[str, Score]) -> Table:
    metric = str(frame["metric"].iloc[0])
    score = scores[metric]
    # Constant predictions score high only on this metric, so the table shows their score next to it.
    constant = ["trivial"] if trivial and score.is_one_vs_rest else []
    first = {
        dataset: [_name(dataset, label), *(size_text(trivial[dataset], score.percent, "z") for _ in constant)]
        for dataset, label in frame.drop_duplicates("dataset")[["dataset", "label"]].itertuples(index=False, name=None)
    }
    methods = list(dict.fromkeys(frame["method"]))
    title = f"Ours/published: {title}, {with_unit(metric, score).lower()}"
    return table_of(
        ["dataset", *constant, *methods], rows_by_dataset(frame, first, methods, partial(_cell, score=score)), title
    )


def _methods(frame: pd.DataFrame, title: str, scores: Mapping[str, Score]) -> list[Table]:
    """Return a table of the methods in one published table: mean difference, interval, and counts of verdicts."""
    methods = summarise(frame)
    if not len(methods):
        return []
    score = scores[str(frame["metric"].iloc[0])]
    rows = []
    for row in methods.to_dict("records"):
        difference, low, high = (size_text(row[name], score.percent, "+z") for name in ("difference", "low", "high"))
        mark, role = MARKS.get(row["verdict"], ("", "plain"))
        verdict = Cell(f"{row['verdict']} {mark}".strip(), role)
        counts = [row[name] for name in COMPARED]
        rows.append([row["method"], row["datasets"], f"{difference} [{low}, {high}]", verdict, *counts])
    columns = ["method", "datasets", "ours - published [90 % interval]", "on average", *COMPARED]
    return [table_of(columns, rows, f"Methods: {title}, mean difference over comparable datasets")]


def _cell(row: Mapping[Any, Any], score: Score) -> Cell:
    ours, printed = (size_text(row[name], score.percent, "z") for name in ("ours", "published"))
    verdict = str(row["verdict"])
    if verdict not in COMPARED:
        return Cell(f"({ours}/{printed})", "missing")
    mark, role = MARKS.get(verdict, ("", "plain"))
    return Cell(f"{ours}/{printed} {mark}".strip(), role)


def _counts(frame: pd.DataFrame, titles: Mapping[str, str]) -> list[Table]:
    """Return the papers' counts of wins, ties and losses beside ours under the papers' rule, if any are printed."""
    if not len(frame):
        return []
    rows = []
    for row in frame.to_dict("records"):
        counts = [outcomes_text(row, "our"), outcomes_text(row, "printed")]
        rows.append([row["reference"], row["method"], *counts, titles[row["table"]]])
    title = "Wins/ties/losses of the reference: ours by the papers' rule, and as printed"
    return [table_of(["reference", "method", "ours", "printed", "table"], rows, title)]


def _largest(frame: pd.DataFrame, titles: Mapping[str, str], scores: Mapping[str, Score]) -> list[Table]:
    beyond = frame[frame["verdict"].isin([ABOVE, BELOW])]
    if not len(beyond):
        return []
    order = beyond["difference"].abs().sort_values(ascending=False, kind="stable").index
    shown = beyond.loc[order].head(LISTED)
    which = f"The {len(shown)} largest of {len(beyond)} differences" if len(beyond) > len(shown) else "All differences"
    several = len(titles) > 1
    columns = ["dataset", "method", "ours", "published", "difference ± 95 %", *(["table"] if several else [])]
    rows = []
    for row in shown.to_dict("records"):
        percent = scores[row["metric"]].percent
        ours, error, figure = (size_text(row[name], percent, "z") for name in ("ours", "uncertainty", "published"))
        lead = [_name(row["dataset"], row["label"]), row["method"], ours, figure]
        difference = size_text(row["difference"], percent, "+z")
        rows.append([*lead, f"{difference} ± {error}", *([titles[row["table"]]] if several else [])])
    return [table_of(columns, rows, f"{which} that are above or below")]


def _notes(frame: pd.DataFrame, titles: Mapping[str, str], scores: Mapping[str, Score], rule: str) -> list[str]:
    """Return notes on the counts, on figures that are not compared, and on tables without a match."""
    notes = [
        f"{title} has no figure for a dataset and a method of this run."
        for name, title in titles.items()
        if name not in set(frame["table"])
    ]
    if not len(frame):
        return notes
    counts = frame["verdict"].value_counts()
    compared = int(counts.reindex(COMPARED).fillna(0).sum())
    points = f"{100 * MARGIN:.0f} points" if scores[str(frame["metric"].iloc[0])].percent else f"{MARGIN:g}"
    notes.append(
        f"Of {counted(compared, 'comparable figure')}, ours is equivalent on {counts.get(EQUIVALENT, 0)} "
        f"({MARKS[EQUIVALENT][0]}), above on {counts.get(ABOVE, 0)} ({MARKS[ABOVE][0]}), below on "
        f"{counts.get(BELOW, 0)} ({MARKS[BELOW][0]}), and {counts.get(UNDECIDED, 0)} are undecided. Equivalent: the "
        f"90 % interval of the difference lies within ±{points}. Above or below: the 95 % interval excludes 0. Both "
        "are means over random splits of the same data; the intervals are those of the difference, from the spread "
        "between repeats, or with fewer than three from that between folds, which is larger."
    )
    undecided = frame[(frame["verdict"] == UNDECIDED) & (frame["reason"] != "")]
    for reason, rows in undecided.groupby("reason", sort=False):
        notes.append(f"Undecided because {reason}: {counted(len(rows), 'figure')}.")
    reasons = [
        f"{', '.join(dict.fromkeys(map(_name, rows['dataset'], rows['label'])))} {reason}"
        for reason, rows in frame[frame["verdict"] == NOT_COMPARABLE].groupby("reason", sort=False)
    ]
    if reasons:
        notes.append(f"Not comparable, in brackets: {'; '.join(reasons)}.")
    if rule:
        notes.append(
            "Wins, ties and losses: ours count the comparable datasets of this run, the paper's all of its own. Both "
            f"are by the {rule}."
        )
    if counts.get(INCOMPLETE, 0):
        notes.append(f"Not compared, in brackets: {counted(int(counts[INCOMPLETE]), 'figure')} of incomplete cells.")
    return notes


def _csv_rows(published: pd.DataFrame) -> list[pd.DataFrame]:
    """Return a frame for each published table: figure, difference and verdict by dataset and method."""
    frames = []
    for table, rows in published.groupby("table", sort=False):
        frame = rows[["dataset", "method", "published", "difference", "verdict"]]
        frames.append(frame.rename(columns={name: f"{table}_{name}" for name in frame.columns[2:]}))
    return frames


def _name(dataset: str, label: str) -> str:
    return dataset if dataset == label else f"{dataset} ({label})"
