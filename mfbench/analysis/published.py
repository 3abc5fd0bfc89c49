"""Our scores compared with published ones, with the uncertainty of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from mfbench.suite.published import PublishedCount, PublishedFigure

ABOVE, WITHIN, BELOW = "above", "within", "below"
COMPARED = (ABOVE, WITHIN, BELOW)
NOT_COMPARABLE, INCOMPLETE = "not comparable", "incomplete"
COLUMNS = [
    "table", "dataset", "label", "method", "metric", "ours", "published", "difference", "two_errors", "verdict",
    "reason",
]  # fmt: skip

COUNT_COLUMNS = [
    "table", "reference", "method", "our_wins", "our_ties", "our_losses",
    "printed_wins", "printed_ties", "printed_losses",
]  # fmt: skip


def compare_with_published(
    trials: pd.DataFrame, figures: Sequence[PublishedFigure], metrics: Mapping[str, str], ratio: float
) -> pd.DataFrame:
    r"""Compare each published figure with our mean.

    The standard error of our mean over :math:`J` folds with variance :math:`s^2` is the corrected resampled one,

    .. math:: \sqrt{(1/J + n_{test}/n_{train})\, s^2},

    because folds share training rows. The published figure is treated as exact up to rounding.

    Parameters
    ----------
    trials : DataFrame
        As `mfbench.analysis.results.Run.trials`.
    figures : sequence of PublishedFigure
    metrics : mapping of str to str
        The metric that each table prints.
    ratio : float
        Ratio of test rows to training rows.

    Returns
    -------
    DataFrame
        Columns table, dataset, label (of the paper), method, metric, ours, published, difference (ours minus
        published), two_errors (two standard errors), verdict ("above", "within" or "below" two standard errors, "not
        comparable", "incomplete") and reason.

    Examples
    --------
    >>> trials = pd.DataFrame({"dataset": "d", "method": "m", "status": "ok", "accuracy": [0.8, 0.9]})
    >>> figure = PublishedFigure(table="t", dataset="d", method="m", label="D", value=0.5)
    >>> compare_with_published(trials, [figure], {"t": "accuracy"}, 1 / 9)["verdict"].tolist()
    ['above']
    """
    comparable = bool(len(figures) and len(trials))
    cells = dict(iter(trials.groupby(["dataset", "method"], sort=False))) if comparable else {}
    rows = []
    for figure in figures:
        cell = cells.get((figure.dataset, figure.method))
        if cell is None:
            continue
        metric = metrics[figure.table]
        ours, error, complete = _mean(cell, metric, ratio)
        difference = ours - figure.value
        verdict, reason = _verdict(difference, error, figure.rounding), ""
        if figure.obstacle:
            verdict, reason = NOT_COMPARABLE, figure.obstacle
        elif not complete:
            verdict, reason = INCOMPLETE, "not every fold has a score"
        rows.append(
            [
                *(figure.table, figure.dataset, figure.label, figure.method),
                *(metric, ours, figure.value, difference, 2.0 * error, verdict, reason),
            ]
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def compare_counts(
    counts: Sequence[PublishedCount],
    figures: Sequence[PublishedFigure],
    verdicts: Callable[[str], pd.DataFrame],
) -> pd.DataFrame:
    """Set the papers' counts of wins, ties and losses beside ours by the papers' rule.

    Parameters
    ----------
    counts : sequence of PublishedCount
    figures : sequence of PublishedFigure
        Ours counts the datasets for which a table has a comparable figure of the method.
    verdicts : callable
        Takes a reference; returns dataset, method and its verdict by the papers' rule in the column "published".

    Returns
    -------
    DataFrame
        Columns table, reference, method, then wins, ties and losses of the reference: ours with the prefix our_, the
        paper's with the prefix printed_.
    """
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


def _mean(cell: pd.DataFrame, metric: str, ratio: float) -> tuple[float, float, bool]:
    values = cell.loc[cell["status"] == "ok", metric].to_numpy(dtype=float)
    complete = len(values) == len(cell) and bool(np.isfinite(values).all())
    if not len(values):
        return np.nan, np.nan, complete
    error = float(np.sqrt((1.0 / len(values) + ratio) * values.var(ddof=1))) if len(values) > 1 else np.nan
    return float(values.mean()), error, complete


def _verdict(difference: float, error: float, rounding: float) -> str:
    # A tolerance for rounding: without spread between folds, equal numbers may differ by the order of summation.
    if abs(difference) <= 2.0 * error + rounding + 1e-9:
        return WITHIN
    return ABOVE if difference > 0 else BELOW
