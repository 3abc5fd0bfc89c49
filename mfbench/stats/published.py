"""Comparison of our scores with published ones, accounting for the uncertainty of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from mfbench.stats.paired import corrected_error
from mfbench.suite.published import PublishedCount, PublishedFigure

ABOVE, EQUIVALENT, UNDECIDED, BELOW = "above", "equivalent", "undecided", "below"
COMPARED = (ABOVE, EQUIVALENT, UNDECIDED, BELOW)
NOT_COMPARABLE, INCOMPLETE = "not comparable", "incomplete"
MARGIN = 0.02  # Equivalence margin: two percentage points.
LEVEL = 0.05  # Level of each of the two one-sided tests; the interval has level 1 - 2 * LEVEL.
LEAST_SCORES = 5
COLUMNS = [
    "table", "dataset", "label", "method", "metric", "ours", "published", "difference", "low", "high", "two_errors",
    "verdict", "reason",
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
    ratio_on: Callable[[str], float],
) -> pd.DataFrame:
    """Compare each published figure with our mean."""
    # The standard error of our mean over J folds with variance s² is the corrected resampled one,
    #
    #     √((1/J + n_test/n_train) s²),
    #
    # because folds share training rows. The published figure is treated as exact up to rounding.
    #
    # The two are equivalent if two one-sided t-tests (Schuirmann 1987), each at level 0.05, reject a difference of two
    # points in either direction: the 90 % interval of the difference then lies within ±0.02. Otherwise our mean is
    # above or below if it differs by more than two standard errors. All other cases are "undecided".
    comparable = bool(len(figures) and len(trials))
    cells = dict(iter(trials.groupby(["dataset", "method"], sort=False))) if comparable else {}
    rows = []
    for figure in figures:
        cell = cells.get((figure.dataset, figure.method))
        if cell is None:
            continue
        metric = metrics[figure.table]
        values = cell.loc[cell["status"] == "ok", metric].to_numpy(dtype=float)
        ours = float(values.mean()) if len(values) else np.nan
        ratio = ratio_on(figure.dataset)
        error = float(corrected_error(values.var(ddof=1), len(values), ratio)) if len(values) > 1 else np.nan
        half = error * float(student.ppf(1.0 - LEVEL, len(values) - 1)) + figure.rounding if len(values) > 1 else np.nan
        difference = ours - figure.value
        if figure.obstacle:
            verdict, reason = NOT_COMPARABLE, figure.obstacle
        elif len(values) < len(cell) or not np.isfinite(values).all():
            verdict, reason = INCOMPLETE, "not every fold has a score"
        elif len(values) < LEAST_SCORES or np.ptp(values) < 1e-12:
            fewer = len(values) < LEAST_SCORES
            verdict, reason = UNDECIDED, f"fewer than {LEAST_SCORES} scores" if fewer else "all scores are equal"
        else:
            verdict, reason = _verdict(difference, 2.0 * error + figure.rounding, half), ""
        rows.append(
            [
                *(figure.table, figure.dataset, figure.label, figure.method, metric, ours, figure.value),
                *(difference, difference - half, difference + half, 2.0 * error, verdict, reason),
            ]
        )
    return pd.DataFrame(rows, columns=COLUMNS)


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
