"""The interim analyses of a gate: the numbers of pairs after which it judges, planned in advance."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mfbench_gate.scores import MOST_PAIRS, minimum_pairs

MOST_ANALYSES = 3
# A block of four processes (ABBA or BAAB) yields two pairs.
PAIRS_PER_BLOCK = 2
# Minimum ratio of pairs between successive analyses: with fewer, verdicts would hardly change.
GROWTH = 1.4


@dataclass(frozen=True)
class Analyses:
    """Numbers of pairs after which all cells are judged, and the level of each analysis."""

    pairs: tuple[int, ...]  # ascending, at least one; all but the last are interim analyses
    level: float  # probability of any false alarm over all analyses
    n_tests: int  # judged combinations of cell and measure

    @property
    def share(self) -> float:
        """The level of one analysis: an equal share (Bonferroni), so that any of them may stop the job."""
        return self.level / len(self.pairs)

    @property
    def minimum(self) -> int:
        """Number of pairs with which a cell can be called worse in an analysis."""
        return minimum_pairs(self.n_tests, self.share)


def plan_analyses(n_tests: int, level: float, capacity: int) -> Analyses:
    """Return up to three analyses within a number of pairs."""
    capacity = min(capacity - capacity % PAIRS_PER_BLOCK, MOST_PAIRS)
    for n_analyses in range(MOST_ANALYSES, 1, -1):
        # Two pairs above the minimum, at which a single contrary pair would prevent any alarm.
        pairs = [_whole_blocks(minimum_pairs(n_tests, level / n_analyses) + PAIRS_PER_BLOCK)]
        while len(pairs) < n_analyses - 1:
            # The geometric mean with the last analysis.
            pairs.append(_whole_blocks(max(GROWTH * pairs[-1], math.sqrt(pairs[-1] * capacity))))
        if capacity >= GROWTH * pairs[-1]:
            return Analyses((*pairs, capacity), level, n_tests)
    return Analyses((max(capacity, PAIRS_PER_BLOCK),), level, n_tests)


def _whole_blocks(pairs: float) -> int:
    return math.ceil(pairs / PAIRS_PER_BLOCK) * PAIRS_PER_BLOCK
