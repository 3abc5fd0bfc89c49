"""Power: what a run can see, and how many repeats, rows or datasets a difference of a given size needs."""

from __future__ import annotations

from typing import Any

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import DASH, size_text
from mfbench.stats.power import Power
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES

NONE = Cell("none", "missing")


def power_report(run: Run, power: Power) -> Report:
    """Return what a run can see, and what its difference needs, as a report of two sections."""
    settings = power.settings
    target = _with_unit(power)
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


def _with_unit(power: Power) -> str:
    if not SCORES[power.settings.metric].percent:
        return f"{power.difference:g} ({power.settings.metric})"
    points = f"{100 * power.difference:g}"
    return f"{points} percentage point{'' if points == '1' else 's'} ({power.settings.metric})"


def _on_datasets(power: Power) -> Section:
    percent = SCORES[power.settings.metric].percent
    table = Table(
        [
            "method", "dataset", "rows", "folds", "difference", "detectable", "with any repeats", "repeats needed",
            "rows needed",
        ]
    )  # fmt: skip
    for row in power.on_datasets.to_dict("records"):
        design = f"{row['folds']} × {row['repeats']}"
        texts = [row["method"], row["dataset"], str(row["rows"]), design, _signed(row["difference"], percent)]
        table.rows.append([*map(Cell, texts), *_outlook(row, percent)])
    notes = [
        "Detectable: smallest true difference that the corrected resampled t-test (on a single test set: McNemar's "
        "test) finds with these folds and repeats. With any repeats: the same with unlimited repeats. Repeats share "
        "their training rows, so the part n_test/n_train of the variance remains however many there are; 'none' means "
        "that no number of repeats suffices.",
        "Rows needed: of a dataset of the same kind, with the folds and repeats of this run, if the variance of a "
        "fold's score falls as 1/rows.",
    ]
    reasons = {(row["dataset"], row["method"]): row["reason"] for row in power.on_datasets.to_dict("records")}
    silent = [f"{dataset} ({method}: {reason})" for (dataset, method), reason in reasons.items() if reason]
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
    repeats = DASH if single else NONE if row["repeats_needed"] is None else Cell(f"{row['repeats_needed']:,}")
    rows = DASH if row["rows_needed"] is None else Cell(f"{row['rows_needed']:,}")
    return [
        Cell(size_text(row["detectable"], percent)),
        DASH if single else Cell(size_text(row["unlimited"], percent)),
        repeats,
        rows,
    ]


def _across(power: Power) -> Section:
    percent = SCORES[power.settings.metric].percent
    table = Table(["method", "datasets", "difference", "sd", "detectable", "datasets needed"])
    for row in power.across.to_dict("records"):
        needed = DASH if row["datasets_needed"] is None else Cell(f"{row['datasets_needed']:,}")
        texts = [row["method"], str(row["datasets"]), _signed(row["difference"], percent)]
        sizes = [size_text(row["sd"], percent), size_text(row["detectable"], percent)]
        table.rows.append([*map(Cell, texts), *map(Cell, sizes), needed])
    data = {"across": lambda: power.across}
    if not table.rows:
        return Section("Across datasets", notes=["No spread between datasets: it needs two of them."], data=data)
    note = (
        f"By Wilcoxon's signed-rank test at α/{power.n_comparisons}, the strictest step of Holm's method over "
        f"{counted(power.n_comparisons, 'comparison')}, if differences between datasets are normal with the standard "
        "deviation sd of this run. –: this number of datasets allows no significant result, or there is no spread."
    )
    return Section(f"Across datasets, {power.settings.reference} against each method", [table], notes=[note], data=data)


def _signed(value: float, percent: bool) -> str:
    return f"{100 * value:+.2f}" if percent else f"{value:+.4f}"
