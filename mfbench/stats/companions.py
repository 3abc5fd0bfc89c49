"""Scores to read alongside accuracy: on a dataset with one large class a constant guess is mostly right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

from mfbench.stats.settings import ComparisonSettings
from mfbench.stats.summary import tabulate
from mfbench.suite.scores import SCORES

LARGE = 0.65
"""Share of the largest class above which accuracy is uninformative."""
FLATTERED = tuple(name for name, score in SCORES.items() if score.counts_decisions)
"""Scores for which a constant guess does well on such a dataset."""
COLUMNS = [
    "metric",
    "dataset",
    "method",
    "largest_class",
    "mean",
    "sd",
    "planned",
    "completed",
    "complete",
    "best",
    "not_worse",
    "p_best",
]


def companion_scores(
    trials: pd.DataFrame, settings: ComparisonSettings, metrics: Iterable[str], shares: Mapping[str, float]
) -> pd.DataFrame:
    """Return every method's other scores on the datasets whose largest class is large.

    Parameters
    ----------
    trials : DataFrame
        As `mfbench.stats.results.Run.outcomes`.
    settings : ComparisonSettings
        The result is empty unless their metric is one of `FLATTERED`. Marks are by the corrected resampled t-test at
        their level.
    metrics : iterable of str
        The metrics measured; those in `FLATTERED` are left out.
    shares : mapping of str to float
        Share of the largest class of each dataset.

    Returns
    -------
    DataFrame
        One row per metric, dataset and method: metric, dataset, method, largest_class (its share), and mean, sd,
        planned, completed, complete, best, not_worse and p_best as `mfbench.stats.summary.tabulate` returns them.

    Examples
    --------
    >>> trials = pd.DataFrame(
    ...     {"dataset": "d", "method": "A", "repeat": 0, "fold": [0, 1], "status": "ok", "mcc": [0.0, 0.0]}
    ... )
    >>> settings = ComparisonSettings("accuracy", True, None, "corrected-t", 0.05, 1 / 9)
    >>> companion_scores(trials, settings, ["accuracy", "mcc"], {"d": 0.9})[["metric", "mean"]].values.tolist()
    [['mcc', 0.0]]
    """
    skewed = trials[trials["dataset"].map(shares) > LARGE]
    if settings.metric not in FLATTERED or not len(skewed):
        return pd.DataFrame(columns=COLUMNS)
    tables = []
    for metric in metrics:
        if metric not in FLATTERED:
            table = tabulate(skewed, settings.replace(metric=metric, test="corrected-t"))
            tables.append(table.assign(metric=metric, largest_class=table["dataset"].map(shares)))
    return pd.concat(tables, ignore_index=True)[COLUMNS] if tables else pd.DataFrame(columns=COLUMNS)
