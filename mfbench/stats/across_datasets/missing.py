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
    """One value per dataset and method, none missing.

    Attributes
    ----------
    scores, ranks : DataFrame of shape (n_datasets, n_methods)
    filled : int
        Number of cells without a score that received one.
    dropped : list of str
        Datasets that were left out.
    absent : list of str
        Methods that were left out because they have no score at all.
    policy : {"drop-dataset", "worst-rank", "impute-dummy"}
    """

    scores: pd.DataFrame
    ranks: pd.DataFrame
    filled: int
    dropped: list[str]
    absent: list[str]
    policy: MissingPolicy


def complete(
    means: pd.DataFrame,
    policy: MissingPolicy,
    *,
    greater_is_better: bool = True,
    ended: pd.DataFrame | None = None,
    dummies: Mapping[str, float] | None = None,
) -> Completed:
    """Apply a policy to cells without a score.

    Parameters
    ----------
    means : DataFrame of shape (n_datasets, n_methods)
        Mean scores of complete cells, NaN elsewhere.
    policy : {"drop-dataset", "worst-rank", "impute-dummy"}
        Leave out every dataset on which a method has no score, after leaving out methods without any score; give the
        cell the last rank and, if a number is needed, the worst score on the dataset; or give it the score of a
        constant guess.
    greater_is_better : bool, default=True
        Direction of the score.
    ended : DataFrame of bool or None, default=None
        Cells whose trials have all run. A trial that has not run yet is not a failure: its dataset is left out under
        every policy. None means all cells.
    dummies : mapping of str to float or None, default=None
        The constant guess's score on each dataset, for "impute-dummy".

    Returns
    -------
    Completed

    Examples
    --------
    >>> means = pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, np.nan]}, index=["d", "e"])
    >>> complete(means, "drop-dataset").dropped
    ['e']
    >>> complete(means, "worst-rank").ranks.loc["e"].tolist()
    [1.0, 2.0]
    """
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
    """Return the score of a constant guess: the most frequent class, with class frequencies as probabilities.

    Parameters
    ----------
    truth : ndarray of shape (n_samples,)
        Class codes of the whole dataset.
    metric : str
        Name of the score.

    Examples
    --------
    >>> dummy_score(np.array([0, 1, 1, 1]), "accuracy"), dummy_score(np.array([0, 1, 1, 1]), "balanced_accuracy")
    (0.75, 0.5)
    """
    seen, counts = np.unique(truth, return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(truth), 1))
    guess = np.full(len(truth), seen[np.argmax(counts)])
    return METRICS[metric].function(Predictions(truth, guess, shares, seen, True))


def dummy_scores(datasets: Iterable[Mapping[str, Any]], metric: str) -> dict[str, float]:
    """Return the score of a constant guess on each dataset, by its label."""
    if metric not in METRICS:
        raise UsageError(f"missing = 'impute-dummy' needs a score of predictions, and {metric} is not one")
    return {dataset["label"]: dummy_score(dataset["truth"], metric) for dataset in datasets}
