"""Curves: scores against the number of features, with areas and sufficient sizes per classifier."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.text import counted
from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import (
    DASH,
    notes_of_units,
    number_cell,
    rank_cell,
    size_cell,
    size_text,
    table_of,
    with_unit,
)
from mfbench.report.charts.curves import curve_chart, ranking_chart
from mfbench.report.charts.drawing import MOST_DATASETS
from mfbench.report.sections.scores import flattered
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.curves import AT_SIZE, SHARE
from mfbench.stats.paired import LEAST_PAIRS
from mfbench.stats.results import Run

HEADINGS = {"area": "area", "area_linear": "area,\nlinear"}
SIZES = {"sufficient": "sufficient\nsize", "close": f"{100 * SHARE:g} %\nsize"}


def curves(run: Run) -> Section:
    """Return the section on scores against the number of features; empty for runs without a ``curve``."""
    title = f"{with_unit(run.curve_settings.metric, Score(percent=False))} against the number of features"
    data = {
        "curves": lambda: points(run),
        "curve_summary": lambda: run.curve_summary,
        "curve_overview": lambda: run.curve_overview,
    }
    if not has_curves(run):
        return Section(title, data=data)
    metric, score = run.curve_settings.metric, run.curve_settings.score
    means = run.curve_means[run.curve_means["metric"] == metric]
    parts = [part for _, part in run.curve_overview.groupby("classifier", sort=False)]
    charts = [curve_chart(number, means, part, metric, score) for number, part in enumerate(parts, 1)]
    return Section(title, [_table(run, part) for part in parts], charts, _notes(run), data, rows=lambda: _csv_rows(run))


def curve_details(run: Run) -> Section:
    """Return the same figures per dataset; empty for runs without a ``curve``."""
    title = f"{with_unit(run.curve_settings.metric, Score(percent=False))} against the number of features, by dataset"
    if not has_curves(run):
        return Section(title)
    groups = run.curve_summary.groupby("dataset", sort=False)
    first_area = "largest" if run.curve_settings.greater_is_better else "smallest"
    note = f"Best and sufficient: the size, and the mean score there. Columns as above; {first_area} area first."
    _, first = next(iter(run.curve_overview.groupby("classifier", sort=False)))
    charts = [ranking_chart(figure, run.curve_rankings, first) for figure in AT_SIZE]
    tables = [_dataset_table(str(dataset), part, run.curve_settings) for dataset, part in groups]
    return Section(title, tables, [chart for chart in charts if chart is not None], [note, *_hidden(len(tables))])


def has_curves(run: Run) -> bool:
    """Return whether a trial on the common folds has a curve."""
    return bool(len(run.curves) and len(run.curve_means))


def points(run: Run) -> pd.DataFrame:
    """Return one row per dataset, method, metric and number of features, with all figures of the curves."""
    figures = run.curve_rankings.drop(columns="folds")
    return run.curve_means.merge(figures, on=["dataset", "method", "size"], how="left")


def _table(run: Run, overview: pd.DataFrame) -> Table:
    n_datasets, sign = run.curve_summary["dataset"].nunique(), run.curve_settings.sign
    figures = [name for name in AT_SIZE if overview[name].notna().any()]
    # Fewer than five folds allow no test, and a column of dashes would be useless.
    sizes = [name for name in SIZES if overview[f"{name}_on"].any()]
    columns = [
        overview["method"],
        *(_areas(overview[name], sign) for name in HEADINGS),
        map(rank_cell, overview["rank"]),
        *([_median(row, name, n_datasets) for row in overview.to_dict("records")] for name in sizes),
        *(map(_figure, overview[name]) for name in figures),
    ]
    over = f"over {n_datasets} datasets" if n_datasets > 1 else f"on {run.curve_summary['dataset'].iloc[0]}"
    headings = ["method", *HEADINGS.values(), "rank", *(SIZES[name] for name in sizes), *figures]
    title = f"Classifier {overview['classifier'].iloc[0]}, {over}"
    return table_of(headings, zip(*columns, strict=True), title)


def _dataset_table(dataset: str, summary: pd.DataFrame, settings: ComparisonSettings) -> Table:
    ordered = summary.iloc[np.argsort(-settings.sign * summary["area"].to_numpy(), kind="stable")]
    figures = [name for name in AT_SIZE if ordered[name].notna().any()]
    rows, percent = ordered.to_dict("records"), settings.score.percent
    columns = [
        ordered["method"],
        _areas(ordered["area"], settings.sign, rows),
        _areas(ordered["area_linear"], settings.sign),
        *([_at(row, name, percent) for row in rows] for name in ("best", "sufficient")),
        [number_cell(row["close_size"], "g") for row in rows],
        *(map(_figure, ordered[name]) for name in figures),
    ]
    headings = ["method", *HEADINGS.values(), "best", "sufficient", SIZES["close"], *figures]
    return table_of(headings, zip(*columns, strict=True), dataset)


def _areas(values: pd.Series, sign: float, rows: Sequence[dict[Any, Any]] = ()) -> list[Cell]:
    """Return a cell per mean area; the best is marked, and incomplete ones show their number of folds."""
    whole = np.array([row["folds"] == row["planned"] for row in rows] or [True] * len(values), dtype=bool)
    goodness = (sign * values).round(12).where(whole)
    # A single method is not marked as best.
    best = goodness.max() if goodness.notna().sum() > 1 else np.nan
    cells = []
    for number, value in enumerate(values):
        cell = size_cell(value, percent=False)
        if not whole[number] and cell is not DASH:
            cell = Cell(f"{cell.text} ({rows[number]['folds']}/{rows[number]['planned']})", "missing")
        cells.append(Cell(cell.text, "best") if goodness.iloc[number] == best else cell)
    return cells


def _figure(value: float) -> Cell:
    return number_cell(value, "z.2f")


def _at(row: dict[Any, Any], name: str, percent: bool) -> Cell:
    size = row[f"{name}_size"]
    return Cell(f"{size:g}: {size_text(row[f'{name}_mean'], percent)}") if np.isfinite(size) else DASH


def _median(row: dict[Any, Any], name: str, n_datasets: int) -> Cell:
    """Return a median over datasets, with the number of datasets unless it covers all of them."""
    size, on = row[f"{name}_size"], row[f"{name}_on"]
    if not on:
        return DASH
    return Cell(f"{size:g}" if on == n_datasets else f"{size:g} ({on}/{n_datasets})")


def _notes(run: Run) -> list[str]:
    metric, alpha = run.curve_settings.metric, run.settings.alpha
    several = run.curve_summary["dataset"].nunique() > 1
    counts = "; (8/10): on 8 of 10 datasets" if several else ""
    test = "corrected resampled t-test" if run.settings.ratio else "paired t-test"
    close = f"with at least {100 * SHARE:g} % of the best mean score"
    if not run.curve_settings.greater_is_better:
        close = f"whose mean {metric} is at most 1/{SHARE:g} of the smallest one"
    notes = [
        *notes_of_units(metric, run.curve_settings.score),
        f"Area: area under the curve of {metric} with the number of features on a logarithmic scale, divided by the "
        "range of that scale, so that it is a mean score; linear: with the number itself. Rank: of the area, among the "
        "methods of the same classifier.",
        "Sufficient size: the smallest number of features whose score is not significantly worse than that of the "
        f"method's best number ({test}, one-sided, level {alpha:g}; not defined below {LEAST_PAIRS} folds).",
        f"{100 * SHARE:g} % size: the smallest number {close} of any method at any size on the dataset. "
        f"{'Medians over datasets' if several else 'Of one dataset'}{counts}.",
        "Stability (Nogueira's, over folds), precision and recall of the relevant features: at the sufficient size, or "
        f"at the best one where no test is possible{'; means over datasets' if several else ''}.",
        f"Bands of the charts: {100 * (1 - alpha):g} % intervals of a mean, corrected for shared training rows. They "
        "are not a test of the difference between two methods, which is paired.",
    ]
    constant = flattered(run.largest_classes, run.curve_settings)
    if constant and metric != run.settings.metric:  # otherwise another section already mentions it
        notes.append(f"{constant} at every number of features.")
    left_out = _left_out(run.curve_overview, run.curve_summary["dataset"].nunique(), run.settings.missing)
    return [*notes, *differing_ranges(run), *left_out, *_hidden(run.curve_summary["dataset"].nunique())]


def _hidden(n_datasets: int) -> list[str]:
    """Return a note on the datasets that the charts omit, and where to find them."""
    if n_datasets <= MOST_DATASETS:
        return []
    return [
        f"The charts have the first {MOST_DATASETS} of {n_datasets} datasets. 'mfbench report RUN --curves' writes the "
        "points of all as CSV."
    ]


def differing_ranges(run: Run) -> list[str]:
    """Return a note on the datasets on which the areas of methods cover different ranges of sizes, if any."""
    if not len(run.curves):
        return []
    cells = run.curve_means.groupby(["dataset", "method"], sort=False)["size"].agg(["min", "max"])
    differ = [str(dataset) for dataset, own in cells.groupby("dataset", sort=False) if len(own.drop_duplicates()) > 1]
    if not differ:
        return []
    return [
        "An area is over the range of a method's own sizes. These ranges differ between methods, so compare their "
        f"areas with care: {', '.join(differ)}."
    ]


def _left_out(overview: pd.DataFrame, n_datasets: int, missing: str) -> list[str]:
    """Return a note on the classifiers whose areas and ranks cover fewer datasets than the run."""
    compared = overview.groupby("classifier", sort=False)["compared"].first().astype(int)
    parts = [f"{name}: {n} of {counted(n_datasets, 'dataset')}" for name, n in compared.items() if n < n_datasets]
    if not parts:
        return []
    policy = f"missing = {missing!r}"
    return [
        f"Area and rank are over the datasets that the policy for missing cells keeps ({policy}): {'; '.join(parts)}."
    ]


def _csv_rows(run: Run) -> list[pd.DataFrame]:
    summary = run.curve_summary.drop(columns=["folds", "planned"])
    names = {name: f"curve_{name}" for name in summary.columns if name not in ("dataset", "method", "classifier")}
    return [summary.rename(columns=names)]
