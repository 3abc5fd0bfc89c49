"""Detection: how many of the relevant and of the irrelevant features the selectors select."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.report.cells import DASH
from mfbench.report.charts.rounds import rounds_chart
from mfbench.report.charts.weights import weights_chart
from mfbench.run.store.metadata import RunMetadata
from mfbench.stats.detection import FIGURES, STABILITY
from mfbench.stats.results import Run

HEADINGS = {
    "area": "area",
    "detection": "detection",
    "false_alarm": "false alarms",
    "fdp": "false discoveries",
    "precision": "precision",
    "f1": "F1",
    "pair_detection": "pairs",
    STABILITY: "stability",
}
# Figures that can be judged alone, larger being better. The detection rate cannot: false alarms raise it.
JUDGED = ("area", "f1", "pair_detection", STABILITY)
SELECTED_BY = {"positive": "weight", "relevant": "rank", "all": "all"}

Rows = Mapping[tuple[str, str, str], Mapping[Any, Any]]


def detection(run: Run) -> Section:
    """Return the section on relevant features; empty for runs that predict classes."""
    title = "Detection of relevant features"
    frame = run.detection
    data = {"detection": lambda: frame, "compare_rounds": run.compare_rounds}
    if not run.detects:
        return Section(title, data=data)
    if not len(frame):
        return Section(title, data=data, rows=lambda: _csv_rows(frame, run.compare_rounds()))
    return Section(
        title,
        _tables(frame, run.meta),
        _charts(run.trials, run.relevant),
        _notes(run.meta),
        data,
        rows=lambda: _csv_rows(frame, run.compare_rounds()),
    )


def _tables(frame: pd.DataFrame, meta: RunMetadata) -> list[Table]:
    """Return an overview of all methods, then one table per dataset with the intervals."""
    by_cell: Rows = {(row["dataset"], row["method"], row["figure"]): row for row in frame.to_dict("records")}
    datasets, methods = list(dict.fromkeys(dataset for dataset, _, _ in by_cell)), list(meta.methods)
    # A joined run may lack cells that no run planned.
    absent = {place: {"mean": np.nan} for place in itertools.product(datasets, methods, FIGURES)}
    by_cell = {**absent, **by_cell}
    selected_by = [_selected_by(str(meta.rules[method])) for method in methods]
    overview = _overview(by_cell, datasets, methods, selected_by)
    return [overview, *(_dataset_table(by_cell, dataset, methods) for dataset in datasets)]


def _overview(by_cell: Rows, datasets: Sequence[str], methods: Sequence[str], selected_by: Sequence[str]) -> Table:
    columns = []
    for figure in FIGURES:
        means = np.array([[by_cell[d, m, figure]["mean"] for m in methods] for d in datasets], dtype=float)
        # The mean is over the datasets on which any method has the figure; a method needs it on all of these.
        defined = np.isfinite(means).any(axis=1)
        columns.append(_column(figure, means[defined].mean(axis=0) if defined.any() else means[0] * np.nan))
    rows = [
        [Cell(method), Cell(rule), *cells] for method, rule, *cells in zip(methods, selected_by, *columns, strict=True)
    ]
    return Table(["method", "selected by", *HEADINGS.values()], rows, "Mean over datasets")


def _dataset_table(by_cell: Rows, dataset: str, methods: Sequence[str]) -> Table:
    figures = [f for f in FIGURES if any(np.isfinite(by_cell[dataset, m, f]["mean"]) for m in methods)]
    columns = []
    for figure in figures:
        rows = [by_cell[dataset, method, figure] for method in methods]
        columns.append(_column(figure, np.array([row["mean"] for row in rows], dtype=float), rows))
    return Table(
        ["method", *(HEADINGS[figure] for figure in figures)],
        [[Cell(method), *cells] for method, *cells in zip(methods, *columns, strict=True)],
        f"{dataset}: mean ± half-width of the interval",
    )


def _column(figure: str, means: Any, rows: Sequence[Mapping[Any, Any]] | None = None) -> list[Cell]:
    """Return a cell per method, with its interval if `rows` are available; the best is marked if it can be judged."""
    finite = means[np.isfinite(means)]
    best = finite.max() if len(finite) and figure in JUDGED else np.nan
    cells = []
    for position, mean in enumerate(means):
        if not np.isfinite(mean):
            cells.append(DASH)
            continue
        text = f"{mean:.2f}".replace("-0.00", "0.00")
        if rows is not None:
            text += _interval(figure, mean, rows[position])
        cells.append(Cell(text, "best" if mean == best else "plain"))
    return cells


def _interval(figure: str, mean: float, row: Mapping[Any, Any]) -> str:
    half = max(mean - row["low"], row["high"] - mean)
    text = f" ± {half:.2f}" if np.isfinite(half) else ""
    if row["rounds"] < row["planned"] and figure != "pair_detection":
        text += f" ({row['rounds']}/{row['planned']})"
    return text


def _selected_by(rule: str) -> str:
    return SELECTED_BY.get(rule, f"top {rule}")


def _notes(meta: RunMetadata) -> list[str]:
    level = 100 * (1 - meta.report.alpha)
    return [
        *_selection_notes(meta),
        *_target_notes(meta),
        f"±: half-width of the {level:g} % interval of the mean over {meta.protocol.rounds} independent rounds "
        "(Student's; Nogueira's asymptotic interval for stability). A half-width of 0 means that all rounds agree.",
        "False discoveries: share of the selected features that are irrelevant. Area: area under the curve of "
        "detection rate against false-alarm rate. Pairs: share of the true pairs among equally many pairs of the "
        "largest weights, for methods that weigh pairs.",
        "–: undefined; in the table of means, undefined on at least one dataset. Stability is undefined if no round "
        "selects a feature.",
    ]


def _selection_notes(meta: RunMetadata) -> list[str]:
    rules = meta.rules
    notes = []
    weight = [method for method, rule in rules.items() if rule == "positive"]
    if weight:
        notes.append(
            f"Selected by weight ({', '.join(weight)}): features whose weight exceeds "
            f"{meta.protocol.threshold:g} times the largest absolute weight of the round, possibly none."
        )
    rank = [method for method, rule in rules.items() if rule == "relevant"]
    if rank:
        notes.append(
            f"Selected by rank ({', '.join(rank)}): these methods only rank features and use the number of relevant "
            "features. Their detection rate, false-alarm rate, precision and F1 are not comparable with those of "
            "methods that decide for themselves; the area is."
        )
    return notes


def _target_notes(meta: RunMetadata) -> list[str]:
    # The tables show the parameters of these datasets; the note only needs the names.
    datasets = list(dict.fromkeys(label.partition("(")[0] for label in meta.real_valued))
    if not datasets:
        return []
    numbers = [method for method in meta.methods if method in meta.takes_numbers]
    classes = [method for method in meta.methods if method not in numbers]
    parts = [f"{', '.join(numbers)} received the numbers"] if numbers else []
    parts += [f"{', '.join(classes)} received two classes, cut at the median"] if classes else []
    return [f"Real-valued response ({', '.join(datasets)}): {'; '.join(parts)}."]


def _charts(trials: pd.DataFrame, relevant: Callable[[str], Sequence[int]]) -> list[Chart]:
    """Return two charts per dataset: detection and false alarms of each round, and the weights of the features."""
    successful = trials[trials["status"] == "ok"]
    charts = []
    for number, (label, own) in enumerate(successful.groupby("dataset", sort=False), 1):
        dataset = str(label)
        charts += [
            rounds_chart(number, dataset, own),
            weights_chart(number, dataset, own, relevant(dataset)),
        ]
    return charts


def _csv_rows(frame: pd.DataFrame, comparison: pd.DataFrame) -> list[pd.DataFrame]:
    comparison = comparison.drop(columns="rounds").rename(columns={"low": "difference_low", "high": "difference_high"})
    return [frame.merge(comparison, on=["dataset", "method", "figure"], how="left")]
