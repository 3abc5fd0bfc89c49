"""Comparisons of the methods in one table of trials, by any settings; each is made once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from mfbench.stats.across_datasets.overall import Overall
from mfbench.stats.summary import Made, compare_with_reference, complete_table, summarise, tabulate

if TYPE_CHECKING:
    import pandas as pd

    from mfbench.stats.one_dataset.cells import Decisions
    from mfbench.stats.settings import ComparisonSettings


class Comparisons:
    """What `mfbench.stats.summary` and `Overall` say about a table of trials; nobody may change the frames."""

    def __init__(self, trials: pd.DataFrame) -> None:
        self._trials = trials
        self._scores: dict[ComparisonSettings, pd.DataFrame] = {}
        self._verdicts: dict[ComparisonSettings, pd.DataFrame] = {}
        self._summaries: dict[ComparisonSettings, pd.DataFrame] = {}
        self._overall: dict[ComparisonSettings, Overall] = {}
        self._made: Made = {}

    def restricted(self, datasets: Collection[str]) -> Comparisons:
        """Return the comparisons on some datasets; none of a dataset depends on the others."""
        part = Comparisons(rows_on(self._trials, datasets))
        part._scores = {settings: rows_on(frame, datasets) for settings, frame in self._scores.items()}
        part._verdicts = {settings: rows_on(frame, datasets) for settings, frame in self._verdicts.items()}
        part._made = self._made
        return part

    def scores(self, settings: ComparisonSettings, decisions: Decisions) -> pd.DataFrame:
        """Return what `tabulate` does."""
        if settings not in self._scores:
            self._scores[settings] = tabulate(self._trials, settings, decisions)
        return self._scores[settings]

    def verdicts(self, settings: ComparisonSettings, decisions: Decisions) -> pd.DataFrame:
        """Return what `compare_with_reference` does."""
        if settings not in self._verdicts:
            self._verdicts[settings] = compare_with_reference(self._trials, settings, decisions, self._made)
        return self._verdicts[settings]

    def summary(self, settings: ComparisonSettings, decisions: Decisions, dummies: Mapping[str, float]) -> pd.DataFrame:
        """Return what `summarise` does."""
        if settings not in self._summaries:
            verdicts = self.verdicts(settings, decisions) if len(self._trials) else None
            self._summaries[settings] = summarise(self._trials, settings, decisions, dummies, verdicts)
        return self._summaries[settings]

    def overall(
        self, settings: ComparisonSettings, decisions: Decisions, dummies: Mapping[str, float], seed: int
    ) -> Overall:
        """Return all datasets together."""
        if settings not in self._overall:
            completed = complete_table(self.scores(settings, decisions), self._trials, settings, dummies)
            greater, reference = settings.greater_is_better, settings.reference
            self._overall[settings] = Overall(completed, greater, reference, settings.alpha, settings.rope, seed)
        return self._overall[settings]


def rows_on(frame: pd.DataFrame, datasets: Collection[str]) -> pd.DataFrame:
    """Return the rows of a frame that are about some datasets."""
    return frame[frame["dataset"].isin(list(datasets))].reset_index(drop=True)
