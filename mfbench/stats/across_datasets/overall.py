"""All datasets together: ranks, tests across datasets, effect sizes, from one value per dataset and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mfbench.stats.across_datasets.bayesian import signed_rank_test
from mfbench.stats.across_datasets.many_methods import (
    Friedman,
    critical_difference,
    friedman_test,
    holm,
    not_separated,
    win_probabilities,
)
from mfbench.stats.across_datasets.missing import Completed
from mfbench.stats.across_datasets.power import detectable_across
from mfbench.stats.one_dataset.signed import differences_of, rank_biserial, wilcoxon_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_DATASETS = 2
COMPARED = ["first", "second", "mean", "difference", "low", "high", "effect", "p_value", "holm", "detectable"]
PROBABILITIES = ["better", "equal", "worse"]


@dataclass(frozen=True)
class Overall:
    """Comparison of methods across datasets."""

    completed: Completed  # one value per dataset and method, none missing
    greater_is_better: bool
    reference: str | None  # method with which the others are compared
    alpha: float = 0.05  # level of tests and intervals
    rope: float = 0.01  # differences of at most this size are practically zero, in the unit of the scores
    seed: int = 0  # seed of the Monte-Carlo draws
    # Whether the reference was chosen as the best of these very scores. Its p-values are then adjusted over all pairs
    # of methods, each of which could have been the best and another one.
    chosen: bool = False

    @property
    def n_datasets(self) -> int:
        """Number of datasets compared on."""
        return len(self.completed.scores)

    @cached_property
    def ranks(self) -> pd.Series:
        """Average rank of each method, best first; empty without a dataset."""
        return self.completed.ranks.mean(axis=0).dropna().sort_values(kind="stable")

    @property
    def testable(self) -> bool:
        """Whether there are at least two datasets and two methods, the minimum for any test."""
        return self.n_datasets >= LEAST_DATASETS and len(self.ranks) >= 2

    @cached_property
    def friedman(self) -> Friedman | None:
        """Friedman's test and that of Iman and Davenport; None with fewer than two datasets or three methods."""
        return friedman_test(self.completed.ranks) if self.testable and len(self.ranks) > 2 else None

    @cached_property
    def critical_difference(self) -> float:
        """Nemenyi's critical difference of average ranks."""
        return critical_difference(len(self.ranks), self.n_datasets, self.alpha)

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last position in `ranks` of each group that the critical difference does not separate."""
        return not_separated(self.ranks.to_numpy(), self.critical_difference)

    @cached_property
    def against_reference(self) -> pd.DataFrame:
        """The reference against each other method, best average rank first."""
        # The columns of `pairs`, and better, equal, worse: posterior probabilities of the Bayesian signed-rank test
        # that the reference is better by more than the region of practical equivalence, within it, and worse.
        others = [method for method in self.ranks.index if method != self.reference]
        comparable = self.testable and self.reference in self.ranks.index
        pairs = [(str(self.reference), str(method)) for method in others] if comparable else []
        table = self._compare(pairs, self.n_comparisons)
        if self.chosen and len(table):
            adjusted = {frozenset(row[:2]): row[2] for row in self.pairs[["first", "second", "holm"]].to_numpy()}
            table["holm"] = [adjusted[frozenset(pair)] for pair in pairs]
        posteriors = [
            signed_rank_test(self._goodness(first), self._goodness(second), self.rope, seed=self.seed)
            for first, second in zip(table["first"], table["second"], strict=True)
        ]
        for name, column in zip(("first", "rope", "second"), PROBABILITIES, strict=True):
            table[column] = [float(getattr(posterior, name)) for posterior in posteriors]
        return table

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """All pairs, the one with the better average rank first."""
        # Columns first, second, mean (of first minus second, in the unit of the scores), difference (Hodges-Lehmann
        # estimate of the same), low, high (its interval), effect (matched-pairs rank-biserial correlation, positive if
        # the first is better), p_value (Wilcoxon, two-sided), holm (adjusted over the rows of the table), detectable
        # (smallest mean difference that the test finds with 80 % power at `alpha` over the number of comparisons, the
        # strictest step of Holm's method; NaN if there are too few datasets or no spread).
        names = [str(method) for method in self.ranks.index]
        pairs = list(combinations(names, 2)) if self.testable else []
        return self._compare(pairs, len(pairs))

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons over which the p-values of `against_reference` are adjusted."""
        k = len(self.ranks)
        return k * (k - 1) // 2 if self.chosen else k - 1

    @cached_property
    def not_worse(self) -> list[str]:
        """The method with the best average rank, then those not significantly worse by `pairs`, best first."""
        # The best is chosen from the same scores, so Holm's adjustment is over all pairs. Empty without a test.
        if not self.testable:
            return []
        best = str(self.ranks.index[0])
        against = self.pairs[self.pairs["first"] == best]
        worse = against[(against["holm"] < self.alpha) & (against["effect"] > 0)]
        return [best, *(name for name in against["second"] if name not in set(worse["second"]))]

    @cached_property
    def wins(self) -> pd.DataFrame:
        """Share of datasets on which the row's method is better than the column's, ties half; best rank first."""
        ordered = self.completed.scores[list(self.ranks.index)]
        return win_probabilities(ordered, greater_is_better=self.greater_is_better)

    def _goodness(self, method: str) -> NDArray[np.float64]:
        """Return a method's scores, with the sign changed if smaller is better."""
        scores = self.completed.scores[method].to_numpy(dtype=float)
        return scores if self.greater_is_better else -scores

    def _compare(self, pairs: Sequence[tuple[str, str]], n_comparisons: int) -> pd.DataFrame:
        rows = []
        for first, second in pairs:
            a, b = self._goodness(first), self._goodness(second)
            test = wilcoxon_test(a, b, self.alpha)
            figures = (test.difference, test.low, test.high)
            if not self.greater_is_better:
                figures = (-test.difference, -test.high, -test.low)
            scores = self.completed.scores
            mean = float((scores[first] - scores[second]).mean())
            sd = float(np.std(differences_of(a, b), ddof=1))
            detectable = detectable_across(sd, self.n_datasets, self.alpha / n_comparisons)
            rows.append([first, second, mean, *figures, rank_biserial(a, b), test.p_value, np.nan, detectable])
        table = pd.DataFrame(rows, columns=COMPARED)
        table["holm"] = holm(table["p_value"].to_numpy(dtype=float))
        return table
