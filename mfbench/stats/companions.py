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
    """Return every method's other scores on the datasets whose largest class is large."""
    skewed = trials[trials["dataset"].map(shares) > LARGE]
    if settings.metric not in FLATTERED or not len(skewed):
        return pd.DataFrame(columns=COLUMNS)
    tables = []
    for metric in metrics:
        if metric not in FLATTERED:
            table = tabulate(skewed, settings.replace(metric=metric, test="corrected-t"))
            tables.append(table.assign(metric=metric, largest_class=table["dataset"].map(shares)))
    return pd.concat(tables, ignore_index=True)[COLUMNS] if tables else pd.DataFrame(columns=COLUMNS)
