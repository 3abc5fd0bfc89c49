"""The looks of a gate: after how many pairs it judges, planned before anything is judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mfbench_gate.sign_flip import MOST_PAIRS, minimum_pairs

MOST_LOOKS = 3
# A block of four processes, in the order base, head, head, base or the reverse, gives two pairs.
PAIRS_PER_BLOCK = 2
# Each look needs so many times the pairs of the one before: fewer would hardly change a verdict.
GROWTH = 1.4


@dataclass(frozen=True)
class Looks:
    """Numbers of pairs after which all cells are judged, and the level that each look may spend."""

    pairs: tuple[int, ...]  # in ascending order; at least one
    level: float  # probability of any false alarm in all looks together
    n_tests: int  # cells and measures that are judged

    @property
    def share(self) -> float:
        """The level of one look: an equal share (Bonferroni), so looks may stop the job whenever they decide."""
        return self.level / len(self.pairs)

    @property
    def minimum(self) -> int:
        """Number of pairs with which a cell can be called worse at a look."""
        return minimum_pairs(self.n_tests, self.share)


def plan_looks(n_tests: int, level: float, capacity: int) -> Looks:
    """Return up to three looks within a number of pairs."""
    capacity = min(_whole_blocks(capacity), MOST_PAIRS)
    for n_looks in range(MOST_LOOKS, 1, -1):
        # Two pairs more than the minimum, with which a single contrary pair would prevent any alarm.
        first = _whole_blocks(minimum_pairs(n_tests, level / n_looks) + PAIRS_PER_BLOCK, up=True)
        pairs = [first]
        while len(pairs) < n_looks - 1:
            # Halfway to the last look as a ratio.
            pairs.append(_whole_blocks(max(GROWTH * pairs[-1], math.sqrt(pairs[-1] * capacity)), up=True))
        if capacity >= GROWTH * pairs[-1]:
            return Looks((*pairs, capacity), level, n_tests)
    return Looks((max(capacity, PAIRS_PER_BLOCK),), level, n_tests)


def reached(looks: Looks, n_pairs: int) -> Sequence[int]:
    """Return the looks that so many pairs have reached."""
    return [pairs for pairs in looks.pairs if pairs <= n_pairs]


def _whole_blocks(pairs: float, *, up: bool = False) -> int:
    blocks = -(-pairs // PAIRS_PER_BLOCK) if up else pairs // PAIRS_PER_BLOCK
    return int(blocks) * PAIRS_PER_BLOCK
