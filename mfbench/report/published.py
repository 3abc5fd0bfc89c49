"""What a report says of published figures: one table of all cells, one of the largest differences, and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.analysis.published import ABOVE, BELOW, COMPARED, INCOMPLETE, NOT_COMPARABLE, WITHIN
from mfbench.analysis.results import Run
from mfbench.report.tables import MISSING, PLAIN, Cell, Table, trivial_accuracies
from mfbench.run.trial.metrics import METRICS

MARKS = {ABOVE: "▲", BELOW: "▼"}
MOST = 10


def published_tables(run: Run) -> list[Table]:
    """Return, for each published table, datasets by methods as "ours/published", then the largest differences.

    What always giving the same answer scores stands beside the one metric that it flatters.
    """
    frame = run.published
    titles, trivial = _titles(run), trivial_accuracies(run)
    tables = [_overview(cells, titles[str(name)], trivial) for name, cells in frame.groupby("table", sort=False)]
    return [*tables, *_largest(frame, titles)]


def published_notes(run: Run) -> list[str]:
    """Return the sentences on published figures: the marks, the counts, and what cannot be compared."""
    frame, titles = run.published, _titles(run)
    lines = [
        f"Published: no figure of {title} is about a dataset and a method of this run."
        for name, title in titles.items()
        if name not in set(frame["table"])
    ]
    if not len(frame):
        return lines
    counts = frame["verdict"].value_counts()
    compared = int(counts.reindex(COMPARED).fillna(0).sum())
    lines.append(
        f"Published: of {compared} comparable figures ours is within two standard errors on {counts.get(WITHIN, 0)}, "
        f"above on {counts.get(ABOVE, 0)} and below on {counts.get(BELOW, 0)} ({MARKS[ABOVE]} and {MARKS[BELOW]}). The "
        "standard error of our mean is the corrected resampled one, the root of (1/J + n_test/n_train) s² over J "
        "folds; the published figure is taken as exact but for its rounding."
    )
    apart = frame[frame["verdict"] == NOT_COMPARABLE]
    reasons = [
        f"{', '.join(dict.fromkeys(map(_name, cells['dataset'], cells['label'])))} {reason}"
        for reason, cells in apart.groupby("reason", sort=False)
    ]
    if reasons:
        lines.append(f"Not comparable, in brackets: {'; '.join(reasons)}.")
    if counts.get(INCOMPLETE, 0):
        lines.append(f"Not compared, in brackets: {counts[INCOMPLETE]} figures of cells that are not complete.")
    return lines


def _titles(run: Run) -> dict[str, str]:
    return {name: table["title"] for name, table in run.meta["published"]["tables"].items()}


def _name(dataset: str, label: str) -> str:
    return dataset if dataset == label else f"{dataset} ({label})"


def _overview(frame: pd.DataFrame, title: str, trivial: Mapping[str, float]) -> Table:
    methods = list(dict.fromkeys(frame["method"]))
    metric = str(frame["metric"].iloc[0])
    unit = ", percent" if METRICS[metric].percent else ""
    beside = ["trivial"] if trivial and metric == "one_vs_rest_accuracy" else []
    table = Table(f"ours/published: {title}, {metric}{unit}", ["dataset", *beside, *methods])
    for dataset, row in frame.groupby("dataset", sort=False):
        cells = {cell["method"]: cell for cell in row.to_dict("records")}
        name = _name(str(dataset), str(row["label"].iloc[0]))
        always = [Cell(_figure(trivial[str(dataset)], metric)) for _ in beside]
        table.rows.append([Cell(name), *always, *(_cell(cells.get(method), metric) for method in methods)])
    counts = frame.groupby(["method", "verdict"]).size()
    totals = ["/".join(str(counts.get((method, verdict), 0)) for verdict in COMPARED) for method in methods]
    table.rows.append([Cell("above/within/below"), *(Cell("–", MISSING) for _ in beside), *map(Cell, totals)])
    table.footer_rows = 1
    return table


def _cell(cell: Mapping[Any, Any] | None, metric: str) -> Cell:
    if cell is None:
        return Cell("–", MISSING)
    text = f"{_figure(cell['ours'], metric)}/{_figure(cell['published'], metric)}"
    verdict = str(cell["verdict"])
    if verdict not in COMPARED:
        return Cell(f"({text})", MISSING)
    return Cell(f"{text} {MARKS[verdict]}", verdict) if verdict in MARKS else Cell(text, PLAIN)


def _figure(value: Any, metric: str, form: str = "") -> str:
    number = float(value)
    if number != number:
        return "–"
    return f"{100.0 * number:{form}.1f}" if METRICS[metric].percent else f"{number:{form}.3f}"


def _largest(frame: pd.DataFrame, titles: dict[str, str]) -> list[Table]:
    beyond = frame[frame["verdict"].isin(list(MARKS))]
    if not len(beyond):
        return []
    order = beyond["difference"].abs().sort_values(ascending=False, kind="stable").index
    shown = beyond.loc[order].head(MOST)
    which = f"the {len(shown)} largest of {len(beyond)} differences" if len(beyond) > len(shown) else "all differences"
    several = len(titles) > 1
    columns = ["dataset", "method", "ours ± two errors", "published", "difference"] + (["table"] if several else [])
    table = Table(f"published figures, {which} beyond two standard errors", columns)
    for row in shown.to_dict("records"):
        metric = str(row["metric"])
        texts = [
            _name(row["dataset"], row["label"]),
            row["method"],
            f"{_figure(row['ours'], metric)} ± {_figure(row['two_errors'], metric)}",
            _figure(row["published"], metric),
            _figure(row["difference"], metric, "+"),
            *([titles[row["table"]]] if several else []),
        ]
        table.rows.append([Cell(text) for text in texts])
    return [table]
