"""Comparison of our scores with published ones, accounting for the random splits of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from mfbench.suite.published import PublishedCount, PublishedFigure

ABOVE, EQUIVALENT, UNDECIDED, BELOW = "above", "equivalent", "undecided", "below"
COMPARED = (ABOVE, EQUIVALENT, UNDECIDED, BELOW)
NOT_COMPARABLE, INCOMPLETE = "not comparable", "incomplete"
MARGIN = 0.02  # Equivalence margin: two percentage points.
LEVEL = 0.05  # Level of each of the two one-sided tests; the interval has level 1 - 2 * LEVEL.
LEAST_SCORES, LEAST_REPEATS, MOST_REPEATS = 3, 3, 1000
COLUMNS = [
    "table", "dataset", "label", "method", "metric", "ours", "published", "difference", "low", "high", "uncertainty",
    "repeats_to_decide", "verdict", "reason",
]  # fmt: skip
SUMMARY = ["table", "method", "datasets", *COMPARED, "difference", "low", "high", "verdict"]
COUNT_COLUMNS = [
    "table", "reference", "method", "our_wins", "our_ties", "our_losses",
    "printed_wins", "printed_ties", "printed_losses",
]  # fmt: skip


def compare_with_published(
    trials: pd.DataFrame,
    figures: Sequence[PublishedFigure],
    metrics: Mapping[str, str],
    datasets: Sequence[Mapping[str, Any]],
) -> pd.DataFrame:
    """Compare each published figure with our mean."""
    rows_on = {dataset["label"]: dataset["n_samples"] for dataset in datasets}
    # Both are means over random splits of the same data, so nothing but these splits and the method's own randomness
    # lets them differ if the methods are the same: the uncertainty about other data, which makes folds of a cell
    # dependent, does not matter here. See `spread_of` for the standard error.
    #
    # The two are equivalent if two one-sided t-tests (Schuirmann 1987), each at level 0.05, reject a difference of two
    # points in either direction: the 90 % interval of the difference then lies within ±0.02. Otherwise our mean is
    # above or below if the 95 % interval of the difference excludes 0. All other cases are "undecided".
    comparable = bool(len(figures) and len(trials))
    cells = dict(iter(trials.groupby(["dataset", "method"], sort=False))) if comparable else {}
    rows = []
    for figure in figures:
        cell = cells.get((figure.dataset, figure.method))
        if cell is None:
            continue
        metric, needed = metrics[figure.table], np.nan
        ours = float(cell.loc[cell["status"] == "ok", metric].astype(float).mean())
        difference, low, high, uncertainty, reason = ours - figure.value, np.nan, np.nan, np.nan, ""
        if figure.obstacle:
            verdict, reason = NOT_COMPARABLE, figure.obstacle
        elif (cell["status"] != "ok").any() or not np.isfinite(cell[metric].astype(float)).all():
            verdict, reason = INCOMPLETE, "not every fold has a score"
        elif len(cell) < LEAST_SCORES:
            verdict, reason = UNDECIDED, f"fewer than {LEAST_SCORES} scores"
        else:
            spread = spread_of(cell, metric, rows_on[figure.dataset])
            half, uncertainty = spread.half_widths(spread.repeats, figure)
            low, high = difference - half, difference + half
            verdict = _verdict(difference, uncertainty, half)
            if verdict == UNDECIDED:
                needed = spread.repeats_to_decide(difference, figure)
        rows.append(
            [
                *(figure.table, figure.dataset, figure.label, figure.method, metric, ours, figure.value),
                *(difference, low, high, uncertainty, needed, verdict, reason),
            ]
        )
    return pd.DataFrame(rows, columns=COLUMNS)


class Spread(NamedTuple):
    """How much the mean of one repeat varies between random splits of the same data."""

    deviation: float
    repeats: int
    freedom: int

    def half_widths(self, repeats: int, figure: PublishedFigure) -> tuple[float, float]:
        """Return half of the 90 % and the 95 % interval of the difference between a mean over repeats and a figure."""
        error = self.deviation * np.sqrt(1.0 / repeats + 1.0 / figure.repeats)
        freedom = self.freedom if repeats == self.repeats else repeats - 1
        half, wide = error * student.ppf([1.0 - LEVEL, 1.0 - LEVEL / 2.0], freedom) + figure.rounding
        return float(half), float(wide)

    def repeats_to_decide(self, difference: float, figure: PublishedFigure) -> float:
        """Return how many repeats would decide if difference and spread stayed the same; NaN above `MOST_REPEATS`."""
        for repeats in range(max(LEAST_REPEATS, self.repeats + 1), MOST_REPEATS + 1):
            half, wide = self.half_widths(repeats, figure)
            if _verdict(difference, wide, half) != UNDECIDED:
                return repeats
        return np.nan


def spread_of(cell: pd.DataFrame, metric: str, rows: int) -> Spread:
    """Return the spread of the mean of one repeat of a complete cell."""
    # Fewer repeats than three say little. Within a repeat each row is tested once, so that the folds, as if they were
    # independent, vary more than repeats do. A mean of repeats that are equal by chance is not exact: half a row.
    means = cell[metric].astype(float).groupby(cell["repeat"]).mean()
    if len(means) >= LEAST_REPEATS:
        deviation, freedom = float(means.std(ddof=1)), len(means) - 1
    else:
        folds = len(cell) / len(means)
        deviation, freedom = float(cell[metric].astype(float).std(ddof=1) / np.sqrt(folds)), len(cell) - 1
    return Spread(max(deviation, 0.5 / rows), len(means), freedom)


def compare_counts(
    counts: Sequence[PublishedCount],
    figures: Sequence[PublishedFigure],
    verdicts: Callable[[str], pd.DataFrame],
) -> pd.DataFrame:
    """Return the papers' counts of wins, ties and losses beside ours under the papers' rule."""
    datasets: dict[tuple[str, str], set[str]] = {}
    for figure in figures:
        if not figure.obstacle:
            datasets.setdefault((figure.table, figure.method), set()).add(figure.dataset)
    by_reference = {reference: verdicts(reference) for reference in dict.fromkeys(c.reference for c in counts)}
    rows = []
    for count in counts:
        frame = by_reference[count.reference]
        shared = datasets.get((count.table, count.method), set())
        own = frame.loc[(frame["method"] == count.method) & frame["dataset"].isin(shared), "published"].tolist()
        ours = [own.count(word) for word in ("win", "tie", "loss")]
        rows.append([count.table, count.reference, count.method, *ours, count.wins, count.ties, count.losses])
    return pd.DataFrame(rows, columns=COUNT_COLUMNS)


def summarise(comparison: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of each method, and test whether its mean difference over datasets is equivalent to zero."""
    rows: list[list[object]] = []
    compared = comparison[comparison["verdict"].isin(COMPARED)]
    for (table, method), cells in compared.groupby(["table", "method"], sort=False):
        differences = cells["difference"].to_numpy(dtype=float)
        mean, count = float(differences.mean()), len(differences)
        half = np.nan
        if count > 1:
            half = float(student.ppf(1.0 - LEVEL, count - 1) * differences.std(ddof=1) / np.sqrt(count))
        verdicts = [int((cells["verdict"] == verdict).sum()) for verdict in COMPARED]
        overall = _verdict(mean, half, half) if count > 1 else UNDECIDED
        rows.append([table, method, count, *verdicts, mean, mean - half, mean + half, overall])
    return pd.DataFrame(rows, columns=SUMMARY)


def _verdict(difference: float, tolerance: float, half: float) -> str:
    # 1e-9 absorbs differences in summation order.
    if abs(difference) + half <= MARGIN + 1e-9:
        return EQUIVALENT
    if abs(difference) <= tolerance + 1e-9:
        return UNDECIDED
    return ABOVE if difference > 0 else BELOW
