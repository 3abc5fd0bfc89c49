"""Comparisons of the methods in one table of trials, under any settings; each is computed once and cached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from mfbench.model.evaluation import Score
from mfbench.stats.across_datasets import Overall
from mfbench.stats.cells import results_by_cell
from mfbench.stats.mean_differences import CAP, error_on
from mfbench.stats.summary import compare_with_reference, complete_table, summarise, tabulate

if TYPE_CHECKING:
    from mfbench.stats.cells import ComparisonSettings, Decisions


class Comparisons:
    """Cached results of `mfbench.stats.summary` and `Overall` for a table of trials; the frames are read-only."""

    def __init__(self, trials: pd.DataFrame) -> None:
        self._trials = trials
        self._frames: dict[tuple[str, ComparisonSettings], pd.DataFrame] = {}
        self._overall: dict[ComparisonSettings, Overall] = {}

    def restricted(self, datasets: Collection[str]) -> Comparisons:
        """Return the comparisons for some of the datasets; comparisons on one dataset do not depend on the others."""
        part = Comparisons(rows_on(self._trials, datasets))
        own = {key: frame for key, frame in self._frames.items() if key[0] in ("scores", "verdicts")}
        part._frames = {key: rows_on(frame, datasets) for key, frame in own.items()}
        return part

    def _frame(self, name: str, settings: ComparisonSettings, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        if (name, settings) not in self._frames:
            self._frames[name, settings] = make()
        return self._frames[name, settings]

    def scores(self, settings: ComparisonSettings, decisions: Decisions) -> pd.DataFrame:
        """Return the result of `tabulate`."""
        return self._frame("scores", settings, lambda: tabulate(self._trials, settings, decisions))

    def verdicts(self, settings: ComparisonSettings, decisions: Decisions) -> pd.DataFrame:
        """Return the result of `compare_with_reference`."""
        return self._frame("verdicts", settings, lambda: compare_with_reference(self._trials, settings, decisions))

    def summary(self, settings: ComparisonSettings, decisions: Decisions, dummies: Mapping[str, float]) -> pd.DataFrame:
        """Return the result of `summarise`."""
        verdicts = self.verdicts(settings, decisions)
        return self._frame("summary", settings, lambda: summarise(self._trials, settings, verdicts, dummies))

    def overall(
        self, settings: ComparisonSettings, decisions: Decisions, dummies: Mapping[str, float], seed: int
    ) -> Overall:
        """Return the comparison across all datasets."""
        if settings not in self._overall:
            completed = complete_table(self.scores(settings, decisions), self._trials, settings, dummies)
            cells, methods = results_by_cell(self._trials, settings.metric, decisions), list(completed.scores.columns)
            self._overall[settings] = Overall(
                completed,
                settings.greater_is_better,
                settings.reference,
                settings.alpha,
                settings.margin,
                seed,
                cap=CAP * (settings.score.margin or Score.margin),
                errors={
                    label: error_on([cells.get((label, method)) for method in methods], label, settings)
                    for label in map(str, completed.scores.index)
                },
                families=dict(settings.families),
            )
        return self._overall[settings]


def rows_on(frame: pd.DataFrame, datasets: Collection[str]) -> pd.DataFrame:
    """Return the rows of a frame that belong to some datasets."""
    return frame[frame["dataset"].isin(list(datasets))].reset_index(drop=True)


LEAST_SHARE = 0.5
"""Minimum share of the longest method's folds; methods below it do not shorten a comparison."""
Folds = frozenset[tuple[int, int]]
COLUMNS = ["dataset", "planned", "compared", "not_reached"]


def common_folds(trials: pd.DataFrame) -> dict[str, Folds]:
    """Return, for each dataset with pending trials, the (repeat, fold) pairs on which methods are compared."""
    # These are the folds that every method has run, successfully or not. A method with fewer than half as many folds as
    # another is ignored. Datasets without a common fold, or with only one method, are omitted.
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
    places = trials[["dataset", "repeat", "fold"]].to_dict("records")
    return trials[[is_common(place, common) for place in places]].reset_index(drop=True)


def is_common(row: Mapping[Any, Any], common: Mapping[str, Folds]) -> bool:
    """Return whether a trial is on a common fold; always true for datasets without pending trials."""
    return row["dataset"] not in common or (row["repeat"], row["fold"]) in common[row["dataset"]]


def coverage(trials: pd.DataFrame, common: Mapping[str, Folds]) -> pd.DataFrame:
    """Return a row for each dataset with pending trials."""
    rows = []
    unfinished = trials[trials["dataset"].isin(trials.loc[trials["status"].isna(), "dataset"])]
    for dataset, own in unfinished.groupby("dataset", sort=False):
        reached = own["status"].notna().groupby(own["method"], sort=False).any()
        planned, compared = len(own[["repeat", "fold"]].drop_duplicates()), len(common.get(str(dataset), ()))
        rows.append([dataset, planned, compared, reached.index[~reached].tolist()])
    return pd.DataFrame(rows, columns=COLUMNS)
