"""Published figures: ours next to those of the papers, and the largest differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Role, Section, Table
from mfbench.report.cells import DASH, with_unit
from mfbench.stats.one_dataset.rules import RULES
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
from mfbench.suite.scores import SCORES

MARKS: dict[str, tuple[str, Role]] = {
    ABOVE: ("▲", "above"),
    BELOW: ("▼", "below"),
    EQUIVALENT: ("=", "equivalent"),
}
LISTED = 10


def published(
    frame: pd.DataFrame, counts: pd.DataFrame, titles: Mapping[str, str], trivial: Mapping[str, float], rule: str
) -> Section:
    """Return the section on published figures; empty if the suite names none."""
    return Section(
        "Published figures",
        _tables(frame, counts, titles, trivial),
        notes=_notes(frame, titles, RULES[rule].title if len(counts) else ""),
        data={
            "published": lambda: frame,
            "published_summary": lambda: summarise(frame),
            "published_counts": lambda: counts,
        },
        rows=lambda: _csv_rows(frame),
    )


def _tables(
    frame: pd.DataFrame, counts: pd.DataFrame, titles: Mapping[str, str], trivial: Mapping[str, float]
) -> list[Table]:
    """Return, for each published table, its cells and its methods; then the largest differences."""
    tables = []
    for name, rows in frame.groupby("table", sort=False):
        tables += [_overview(rows, titles[str(name)], trivial), *_methods(rows, titles[str(name)])]
    return [*tables, *_counts(counts, titles), *_largest(frame, titles)]


def _overview(frame: pd.DataFrame, title: str, trivial: Mapping[str, float]) -> Table:
    methods = list(dict.fromkeys(frame["method"]))
    metric = str(frame["metric"].iloc[0])
    # Constant decisions score high on this metric alone, so the table shows their score next to it.
    constant = ["trivial"] if trivial and SCORES[metric].is_one_vs_rest else []
    table = Table(
        ["dataset", *constant, *methods],
        title=f"Ours/published: {title}, {with_unit(metric, SCORES[metric].percent).lower()}",
    )
    for dataset, rows in frame.groupby("dataset", sort=False):
        by_method = {row["method"]: row for row in rows.to_dict("records")}
        name = _name(str(dataset), str(rows["label"].iloc[0]))
        trivial_cells = [Cell(_number(trivial[str(dataset)], metric)) for _ in constant]
        table.rows.append([Cell(name), *trivial_cells, *(_cell(by_method.get(method), metric) for method in methods)])
    return table


def _methods(frame: pd.DataFrame, title: str) -> list[Table]:
    """Return a table of the methods of one published table: mean difference, interval, and counts of verdicts."""
    methods = summarise(frame)
    if not len(methods):
        return []
    metric = str(frame["metric"].iloc[0])
    table = Table(
        ["method", "datasets", "ours - published [90 % interval]", "on average", *COMPARED],
        title=f"Methods: {title}, mean difference over comparable datasets",
    )
    for row in methods.to_dict("records"):
        low, high = (_number(row[name], metric, "+") for name in ("low", "high"))
        verdict = str(row["verdict"])
        mark, role = MARKS.get(verdict, ("", "plain"))
        table.rows.append(
            [
                Cell(str(row["method"])),
                Cell(str(row["datasets"])),
                Cell(f"{_number(row['difference'], metric, '+')} [{low}, {high}]"),
                Cell(f"{verdict} {mark}".strip(), role),
                *(Cell(str(row[name])) for name in COMPARED),
            ]
        )
    return [table]


def _cell(row: Mapping[Any, Any] | None, metric: str) -> Cell:
    if row is None:
        return DASH
    text = f"{_number(row['ours'], metric)}/{_number(row['published'], metric)}"
    verdict = str(row["verdict"])
    if verdict not in COMPARED:
        return Cell(f"({text})", "missing")
    if verdict not in MARKS:
        return Cell(text)
    mark, role = MARKS[verdict]
    return Cell(f"{text} {mark}", role)


def _counts(frame: pd.DataFrame, titles: Mapping[str, str]) -> list[Table]:
    """Return the papers' counts of wins, ties and losses beside ours by the papers' rule, if any are printed."""
    if not len(frame):
        return []
    table = Table(
        ["reference", "method", "ours", "printed", "table"],
        title="Wins/ties/losses of the reference: ours by the papers' rule, and as printed",
    )
    for row in frame.to_dict("records"):
        ours, printed = (
            "/".join(str(row[f"{owner}_{word}"]) for word in ("wins", "ties", "losses")) for owner in ("our", "printed")
        )
        table.rows.append(
            [Cell(text) for text in (row["reference"], row["method"], ours, printed, titles[row["table"]])]
        )
    return [table]


def _largest(frame: pd.DataFrame, titles: Mapping[str, str]) -> list[Table]:
    beyond = frame[frame["verdict"].isin([ABOVE, BELOW])]
    if not len(beyond):
        return []
    order = beyond["difference"].abs().sort_values(ascending=False, kind="stable").index
    shown = beyond.loc[order].head(LISTED)
    which = f"The {len(shown)} largest of {len(beyond)} differences" if len(beyond) > len(shown) else "All differences"
    several = len(titles) > 1
    columns = ["dataset", "method", "ours ± two errors", "published", "difference"] + (["table"] if several else [])
    table = Table(columns, title=f"{which} beyond two standard errors")
    for row in shown.to_dict("records"):
        metric = str(row["metric"])
        texts = [
            _name(row["dataset"], row["label"]),
            row["method"],
            f"{_number(row['ours'], metric)} ± {_number(row['two_errors'], metric)}",
            _number(row["published"], metric),
            _number(row["difference"], metric, "+"),
            *([titles[row["table"]]] if several else []),
        ]
        table.rows.append([Cell(text) for text in texts])
    return [table]


def _notes(frame: pd.DataFrame, titles: Mapping[str, str], rule: str) -> list[str]:
    """Return the counts, the reasons why figures are not compared, and the tables without a match."""
    notes = [
        f"{title} has no figure for a dataset and a method of this run."
        for name, title in titles.items()
        if name not in set(frame["table"])
    ]
    if not len(frame):
        return notes
    counts = frame["verdict"].value_counts()
    compared = int(counts.reindex(COMPARED).fillna(0).sum())
    points = f"{100 * MARGIN:.0f} points" if SCORES[str(frame["metric"].iloc[0])].percent else f"{MARGIN:g}"
    notes.append(
        f"Of {counted(compared, 'comparable figure')}, ours is equivalent on {counts.get(EQUIVALENT, 0)} "
        f"({MARKS[EQUIVALENT][0]}), above on {counts.get(ABOVE, 0)} ({MARKS[ABOVE][0]}), below on "
        f"{counts.get(BELOW, 0)} ({MARKS[BELOW][0]}), and {counts.get(UNDECIDED, 0)} are undecided. Equivalent: the "
        f"90 % interval of the difference lies within ±{points}. Above or below: by more than two standard errors. The "
        "standard error of our mean is that of the corrected resampled t-test, the square root of "
        "(1/J + n_test/n_train) s² over J folds; the published figure is treated as exact except for rounding."
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


def _number(value: Any, metric: str, form: str = "") -> str:
    number = float(value)
    if number != number:
        return "–"
    return f"{100.0 * number:{form}z.1f}" if SCORES[metric].percent else f"{number:{form}z.3f}"
