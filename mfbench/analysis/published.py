"""Our scores compared with published ones, with the uncertainty of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mfbench.suite.published import PublishedFigure

ABOVE, WITHIN, BELOW = "above", "within", "below"
COMPARED = (ABOVE, WITHIN, BELOW)
NOT_COMPARABLE, INCOMPLETE = "not comparable", "incomplete"
COLUMNS = [
    "table", "dataset", "label", "method", "metric", "ours", "published", "difference", "two_errors", "verdict",
    "reason",
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
