"""Policies for cells without a score in comparisons across datasets: drop, rank last, or impute a dummy's score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mfbench.errors import UsageError
from mfbench.run.trial.metrics import Predictions
from mfbench.stats.across_datasets.ranks import rank_table
from mfbench.stats.settings import MissingPolicy
from mfbench.suite.scores import METRICS


@dataclass(frozen=True)
class Completed:
    """One value per dataset and method, none missing."""

    scores: pd.DataFrame
    ranks: pd.DataFrame
    filled: int  # number of cells without a score that received one
    dropped: list[str]  # datasets that were left out
    absent: list[str]  # methods that were left out because they have no score at all
    policy: MissingPolicy


def complete(
    means: pd.DataFrame,
    policy: MissingPolicy,
    *,
    greater_is_better: bool = True,
    ended: pd.DataFrame | None = None,
    dummies: Mapping[str, float] | None = None,
) -> Completed:
    """Apply a policy to cells without a score."""
    rows = list(means.index)
    absent = [str(method) for method in means.columns if means[method].isna().all()]
    if policy == "drop-dataset":
        kept = means.drop(columns=absent).dropna()
        ranks = rank_table(kept, greater_is_better=greater_is_better)
        return Completed(kept, ranks, 0, [str(row) for row in rows if row not in kept.index], absent, policy)
    open_cells = means.isna() if ended is None else means.isna() & ~ended
    judged = means[~(open_cells.any(axis=1) if ended is not None else means.isna().all(axis=1))].dropna(how="all")
    holes = int(judged.isna().to_numpy().sum())
    if policy == "worst-rank":
        worst = judged.min(axis=1) if greater_is_better else judged.max(axis=1)
        scores = judged.apply(lambda column: column.fillna(worst))
        ranks = rank_table(judged, greater_is_better=greater_is_better, missing="bottom")
    else:
        guess = pd.Series({row: (dummies or {}).get(str(row), np.nan) for row in judged.index}, dtype=float)
        scores = judged.apply(lambda column: column.fillna(guess)).dropna()
        ranks = rank_table(scores, greater_is_better=greater_is_better)
    return Completed(scores, ranks, holes, [str(row) for row in rows if row not in scores.index], [], policy)


def dummy_score(truth: np.ndarray[Any, np.dtype[np.int64]], metric: str) -> float:
    """Return the score of a constant guess: the most frequent class, with class frequencies as probabilities."""
    seen, counts = np.unique(truth, return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(truth), 1))
    guess = np.full(len(truth), seen[np.argmax(counts)])
    return METRICS[metric].function(Predictions(truth, guess, shares, seen, True))


def dummy_scores(datasets: Iterable[Mapping[str, Any]], metric: str) -> dict[str, float]:
    """Return the score of a constant guess on each dataset, by its label."""
    if metric not in METRICS:
        raise UsageError(f"missing = 'impute-dummy' needs a score of predictions, and {metric} is not one")
    return {dataset["label"]: dummy_score(dataset["truth"], metric) for dataset in datasets}
