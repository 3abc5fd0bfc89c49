"""A run that is not complete: the folds on which all methods of a dataset can be compared, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

LEAST_SHARE = 0.5
"""A method with a smaller share of the folds of the method with most is left behind: it shortens no comparison."""
Folds = frozenset[tuple[int, int]]
COLUMNS = ["dataset", "planned", "compared", "not_reached"]


def common_folds(trials: pd.DataFrame) -> dict[str, Folds]:
    """Return the (repeat, fold) pairs on which methods are compared, for each dataset with trials that have not run."""
    # These are the folds that every method has run, whether it failed or not. A method that has run less than half as
    # many folds as another one does not count. A dataset without any such fold, or with one method, is not in the
    # result.
    pending = trials["status"].isna()
    common = {}
    for dataset, own in trials[trials["dataset"].isin(trials.loc[pending, "dataset"])].groupby("dataset", sort=False):
        ended = [
            frozenset(zip(cell["repeat"].tolist(), cell["fold"].tolist(), strict=True))
            for _, cell in own[own["status"].notna()].groupby("method", sort=False)
        ]
        most = max(map(len, ended), default=0) if own["method"].nunique() > 1 else 0
        folds = [one for one in ended if most and len(one) >= LEAST_SHARE * most]
        shared = frozenset.intersection(*folds) if folds else frozenset()
        if shared:
            common[str(dataset)] = shared
    return common


def on_common_folds(trials: pd.DataFrame, common: Mapping[str, Folds]) -> pd.DataFrame:
    """Return the trials on the folds of `common_folds`, and all trials of the other datasets."""
    if not common:
        return trials
    places = zip(trials["dataset"], trials["repeat"], trials["fold"], strict=True)
    kept = [_compared(dataset, (repeat, fold), common) for dataset, repeat, fold in places]
    return trials[kept].reset_index(drop=True)


def is_common(row: Mapping[str, Any], common: Mapping[str, Folds]) -> bool:
    """Return whether a trial is on the folds of `common_folds`; of other datasets each trial is."""
    return _compared(row["dataset"], (row["repeat"], row["fold"]), common)


def _compared(dataset: str, fold: tuple[int, int], common: Mapping[str, Folds]) -> bool:
    return dataset not in common or fold in common[dataset]


def coverage(trials: pd.DataFrame, common: Mapping[str, Folds]) -> pd.DataFrame:
    """Return a row for each dataset with trials that have not run."""
    rows = []
    unfinished = trials[trials["dataset"].isin(trials.loc[trials["status"].isna(), "dataset"])]
    for dataset, own in unfinished.groupby("dataset", sort=False):
        reached = own["status"].notna().groupby(own["method"], sort=False).any()
        rows.append(
            {
                "dataset": dataset,
                "planned": len(own[["repeat", "fold"]].drop_duplicates()),
                "compared": len(common.get(str(dataset), ())),
                "not_reached": reached.index[~reached].tolist(),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
