"""Power: what a run can see, and how many repeats, rows or datasets a difference of a given size needs."""

from __future__ import annotations

from typing import Any

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Report, Section
from mfbench.report.cells import DASH, in_points, precise_text, size_cell, size_text, table_of
from mfbench.stats.power import Power
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES

NONE = Cell("none", "missing")


def power_report(run: Run, power: Power) -> Report:
    """Return what a run can see, and what its difference needs, as a report of two sections."""
    settings = power.settings
    target = f"{in_points(power.difference, SCORES[settings.metric].percent)} ({settings.metric})"
    return Report(
        run.meta.title,
        f"What finds a true difference of {target} from {settings.reference} with a probability of "
        f"{100 * power.power:g} % at α = {settings.alpha:g}, if scores vary as in this run",
        [_on_datasets(power), _across(power)],
        {
            "title": run.meta.title,
            "metric": settings.metric,
            "reference": settings.reference,
            "difference": power.difference,
            "power": power.power,
            "alpha": settings.alpha,
            "comparisons": power.n_comparisons,
        },
    )


def _on_datasets(power: Power) -> Section:
    percent = SCORES[power.settings.metric].percent
    columns = [
        "method", "dataset", "rows", "folds", "difference", "detectable", "with any repeats", "repeats needed",
        "rows needed",
    ]  # fmt: skip
    rows = []
    for row in power.on_datasets.to_dict("records"):
        design = f"{row['folds']} × {row['repeats']}"
        difference = precise_text(row["difference"], percent)
        rows.append([row["method"], row["dataset"], row["rows"], design, difference, *_outlook(row, percent)])
    table = table_of(columns, rows)
    notes = [
        "Detectable: smallest true difference that the corrected resampled t-test (on a single test set: McNemar's "
        "test) finds with these folds and repeats. With any repeats: the same with unlimited repeats. Repeats share "
        "their training rows, so the part n_test/n_train of the variance remains however many there are; 'none' means "
        "that no number of repeats suffices.",
        "Rows needed: of a dataset of the same kind, with the folds and repeats of this run, if the variance of a "
        "fold's score falls as 1/rows.",
    ]
    unknown = power.on_datasets[power.on_datasets["reason"] != ""].to_dict("records")
    silent = [f"{row['dataset']} ({row['method']}: {row['reason']})" for row in unknown]
    if silent:
        notes.append(f"–: nothing is known about {', '.join(silent)}.")
    data = {"on_datasets": lambda: power.on_datasets}
    if not len(power.on_datasets):
        return Section("On one dataset", notes=["No dataset on which two methods have all scores."], data=data)
    return Section(f"On one dataset, {power.settings.reference} against each method", [table], notes=notes, data=data)


def _outlook(row: dict[Any, Any], percent: bool) -> list[Cell]:
    """Return the cells of a row on what is detectable and what is needed."""
    if row["reason"]:
        return [DASH] * 4
    single = row["unlimited"] != row["unlimited"]  # a single test set has no spread between repeats
    repeats = DASH if single else _needed(row["repeats_needed"], NONE)
    sizes = [Cell(size_text(row["detectable"], percent)), size_cell(row["unlimited"], percent)]
    return [*sizes, repeats, _needed(row["rows_needed"], DASH)]


def _needed(number: int | None, otherwise: Cell) -> Cell:
    return otherwise if number is None else Cell(f"{number:,}")


def _across(power: Power) -> Section:
    percent = SCORES[power.settings.metric].percent
    rows = []
    for row in power.across.to_dict("records"):
        sizes = [size_text(row["sd"], percent), size_text(row["detectable"], percent)]
        difference = precise_text(row["difference"], percent)
        rows.append([row["method"], row["datasets"], difference, *sizes, _needed(row["datasets_needed"], DASH)])
    table = table_of(["method", "datasets", "difference", "sd", "detectable", "datasets needed"], rows)
    data = {"across": lambda: power.across}
    if not table.rows:
        return Section("Across datasets", notes=["No spread between datasets: it needs two of them."], data=data)
    note = (
        f"By Wilcoxon's signed-rank test at α/{power.n_comparisons}, the strictest step of Holm's method over "
        f"{counted(power.n_comparisons, 'comparison')}, if differences between datasets are normal with the standard "
        "deviation sd of this run. –: this number of datasets allows no significant result, or there is no spread."
    )
    return Section(f"Across datasets, {power.settings.reference} against each method", [table], notes=[note], data=data)
