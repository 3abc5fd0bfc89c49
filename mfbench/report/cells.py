"""Number formatting for table cells, shared by all sections."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell, Table

MARK = "≈"
NO_VERDICT_MARK = "?"
DASH = Cell("–", "missing")


def table_of(columns: Sequence[str], rows: Iterable[Iterable[object]], title: str = "", **options: Any) -> Table:
    """Return a table from rows of cells or plain values."""
    cells = [[entry if isinstance(entry, Cell) else Cell(str(entry)) for entry in row] for row in rows]
    return Table(list(columns), cells, title, **options)


def rows_by_dataset(
    frame: pd.DataFrame,
    first: Mapping[str, Sequence[object]],
    methods: Sequence[str],
    cell: Callable[[Mapping[Any, Any]], Cell],
) -> list[list[object]]:
    """Return a row per dataset with a cell per method, and a dash for each pair absent from the frame."""
    cells = {(row["dataset"], row["method"]): cell(row) for row in frame.to_dict("records")}
    return [[*own, *(cells.get((dataset, method), DASH) for method in methods)] for dataset, own in first.items()]


def score_cell(row: Mapping[Any, Any], percent: bool, mark: str | None = None) -> Cell:
    """Return a mean and its standard deviation, with role and mark."""
    if not np.isfinite(row["mean"]):
        return DASH
    text = size_text(row["mean"], percent)
    if np.isfinite(row["sd"]):
        text += f" ± {size_text(row['sd'], percent, like=row['mean'])}"
    if not row["complete"]:
        return Cell(f"{text} ({row['completed']}/{row['planned']})", "missing")
    if mark:
        return Cell(f"{text} {mark}", "best-marked" if row["best"] else "marked")
    if row["best"]:
        return Cell(text, "best")
    if mark == "":
        return Cell(text)
    if row["not_worse"]:
        return Cell(f"{text} {MARK}", "not-worse")
    return Cell(f"{text} {NO_VERDICT_MARK}", "marked") if np.isnan(row["p_best"]) else Cell(text)


def number_cell(value: float, form: str) -> Cell:
    """Return a formatted number, or a dash if it is not finite."""
    return Cell(format(value, form)) if np.isfinite(value) else DASH


def size_text(value: float, percent: bool, sign: str = "", *, like: float | None = None) -> str:
    """Return a score or difference, in percent if it is a share, with the decimals of another; a dash if not finite."""
    if not np.isfinite(value):
        return "–"
    if percent:
        return f"{100.0 * value:{sign}.1f}"
    size = abs(value if like is None else like)
    digits = f",.{max(0, 3 - int(math.log10(size)))}f" if size >= 10 else ".3f"
    return f"{value:{sign}{digits if not 0 < min(size, abs(value)) < 5e-4 else '.1g'}}"


def size_cell(value: float, percent: bool) -> Cell:
    """Return a cell with a score or score difference."""
    return Cell(size_text(value, percent)) if np.isfinite(value) else DASH


def precise_text(value: float, percent: bool) -> str:
    """Return a signed difference of means, with one digit more than `size_text`."""
    if percent:
        return f"{100 * value:+.2f}"
    return f"{value:+.4f}" if 5e-5 <= abs(value) < 10 or not value else size_text(value, percent, "+")


def in_points(size: float, score: Score) -> str:
    """Return a difference that a user or a spec chose, with its unit, if it has one."""
    if score.in_units:
        return f"{size:g} standard deviations of the target"
    points = f"{100 * size:g}"
    return f"{points} percentage point{'' if points == '1' else 's'}" if score.percent else f"{size:g}"


def across_name(metric: str, score: Score) -> str:
    """Return the name of what is averaged over datasets."""
    return f"{metric} / sd" if score.in_units else metric


def notes_of_units(metric: str, score: Score) -> list[str]:
    """Return the sentence on how a score in units is compared across datasets; none for other scores."""
    scaled = (
        f"{metric} is in units of each dataset's target. Across datasets, it is divided by the standard deviation (sd) "
        "of the target, so that all datasets count alike; always predicting the mean has an rmse of about 1 sd."
    )
    return [scaled] if score.in_units else []


def outcomes_text(row: Mapping[Any, Any], prefix: str) -> str:
    """Return a row's counts of wins, ties and losses in the form "3/1/0"."""
    return "/".join(str(row[f"{prefix}_{word}"]) for word in ("wins", "ties", "losses"))


def rank_text(value: float) -> str:
    """Return an average rank with two digits, rounding half to even so that floating-point error does not matter."""
    return f"{np.round(value, 2):.2f}"


def rank_cell(value: float) -> Cell:
    """Return a cell with an average rank, or a dash if there is none."""
    return Cell(rank_text(value)) if np.isfinite(value) else DASH


def interval_text(row: Mapping[Any, Any], percent: bool) -> str:
    """Return a difference with its interval, in percentage points if it is a share."""
    middle, low, high = (size_text(row[name], percent, "+") for name in ("difference", "low", "high"))
    return f"{middle} [{low}, {high}]" if np.isfinite(row["low"]) else f"{middle} [too few]"


def p_text(value: float) -> str:
    """Return a p-value with two significant digits."""
    if value != value:
        return "–"
    if value >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.00095 else f"{value:.1e}" if value > 0 else "0"


def seconds(value: float) -> str:
    """Return a duration in a suitable unit."""
    # Round before choosing the unit; otherwise "1000 ms" and "60.0 s" would appear.
    if round(1000 * value) < 1000:
        return f"{1000 * value:.0f} ms"
    if round(value, 1) < 60.0:
        return f"{value:.1f} s"
    value = round(value)
    if value < 3600:
        return f"{int(value // 60)} min {int(value % 60)} s"
    return f"{int(value // 3600)} h {int(value % 3600 // 60)} min"


def time_cell(value: float) -> Cell:
    """Return a cell with a duration; a dash if nothing was measured."""
    return Cell(seconds(value)) if value > 0 else DASH


def measured(value: float, measure: str, score: Score | None = None) -> str:
    """Return a measured value (time, memory or score) with its unit and three significant digits."""
    if score is not None:
        return f"{100 * value:.2f} %" if score.percent else f"{value:.3f}"
    units = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)) if measure == "memory" else (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
    unit, factor = next(((unit, factor) for unit, factor in units if abs(value) >= factor), units[-1])
    number = value / factor
    return f"{number:.3g} {unit}" if abs(number) < 1000 else f"{number:.0f} {unit}"


def with_unit(metric: str, score: Score) -> str:
    """Return a metric's name and unit for a heading."""
    # Names with underscores stay as suites write them.
    name = metric if "_" in metric else metric.capitalize()
    unit = "percent" if score.percent else "in units of the target" if score.in_units else ""
    return f"{name}, {unit}" if unit else name
