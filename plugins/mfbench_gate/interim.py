"""The interim analyses of a gate: after how many pairs it judges, planned before anything is judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mfbench_gate.scores import MOST_PAIRS, minimum_pairs

MOST_ANALYSES = 3
# A block of four processes, in the order base, head, head, base or the reverse, gives two pairs.
PAIRS_PER_BLOCK = 2
# Each analysis needs so many times the pairs of the one before: fewer would hardly change a verdict.
GROWTH = 1.4


@dataclass(frozen=True)
class Analyses:
    """Numbers of pairs after which all cells are judged, and the level that each analysis may spend."""

    pairs: tuple[int, ...]  # in ascending order; at least one. All but the last are interim analyses
    level: float  # probability of any false alarm in all analyses together
    n_tests: int  # cells and measures that are judged

    @property
    def share(self) -> float:
        """The level of one analysis: an equal share (Bonferroni), so any of them may stop the job."""
        return self.level / len(self.pairs)

    @property
    def minimum(self) -> int:
        """Number of pairs with which a cell can be called worse in an analysis."""
        return minimum_pairs(self.n_tests, self.share)


def plan_analyses(n_tests: int, level: float, capacity: int) -> Analyses:
    """Return up to three analyses within a number of pairs."""
    capacity = min(capacity - capacity % PAIRS_PER_BLOCK, MOST_PAIRS)
    for n_analyses in range(MOST_ANALYSES, 1, -1):
        # Two pairs more than the minimum, with which a single contrary pair would prevent any alarm.
        pairs = [_whole_blocks(minimum_pairs(n_tests, level / n_analyses) + PAIRS_PER_BLOCK)]
        while len(pairs) < n_analyses - 1:
            # Halfway to the last analysis as a ratio.
            pairs.append(_whole_blocks(max(GROWTH * pairs[-1], math.sqrt(pairs[-1] * capacity))))
        if capacity >= GROWTH * pairs[-1]:
            return Analyses((*pairs, capacity), level, n_tests)
    return Analyses((max(capacity, PAIRS_PER_BLOCK),), level, n_tests)


def _whole_blocks(pairs: float) -> int:
    return math.ceil(pairs / PAIRS_PER_BLOCK) * PAIRS_PER_BLOCK
