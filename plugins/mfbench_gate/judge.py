"""Verdicts on time and memory, from paired measurements of two versions: worse, no worse or undecided.

The numbers of pairs after which a gate judges, the interim analyses, are planned in advance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mfbench.stats.multiple import holm
from mfbench_gate.comparison import CellVerdict, ComparedCell, MeasuredCase, WorseLimits, amount
from mfbench_gate.scores import MOST_PAIRS, interval, minimum_pairs, p_greater, p_two_sided

MOST_ANALYSES = 3
# A block of four processes (ABBA or BAAB) yields two pairs.
PAIRS_PER_BLOCK = 2
# Minimum ratio of pairs between successive analyses: with fewer, verdicts would hardly change.
GROWTH = 1.4
# Added to both sides, so that negligible costs do not count and zero costs have a logarithm.
OFFSETS = {"fit": 1e-4, "predict": 1e-4, "memory": 2.0**20}
UNITS = {"fit": "s", "predict": "s", "memory": "B"}
CostKey = tuple[MeasuredCase, str]
"""The measured case, and the measure: "fit", "predict" or "memory"."""


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


@dataclass
class PairedCosts:
    """Paired costs of one measure."""

    base: list[float] = field(default_factory=list)  # base, head: costs in seconds or bytes; equal positions are a pair
    head: list[float] = field(default_factory=list)
    # Two costs of the base in the same block, which differ only by noise.
    repeated: list[tuple[float, float]] = field(default_factory=list)

    def log_ratios(self, measure: str, n_pairs: int | None = None) -> NDArray[np.float64]:
        """Return the log ratio of head to base for the first pairs."""
        return _log_ratio(self.head[:n_pairs], self.base[:n_pairs], measure)

    def floor(self, measure: str) -> float:
        """Return the median absolute log ratio of repeated base measurements; 0.0 without repetitions."""
        if not self.repeated:
            return 0.0
        first, second = zip(*self.repeated, strict=True)
        return float(np.median(np.abs(_log_ratio(first, second, measure))))


def judge_costs(
    costs: Mapping[CostKey, PairedCosts], limits: WorseLimits, analyses: Analyses, n_pairs: int
) -> dict[CostKey, ComparedCell]:
    """Return the verdicts of one analysis."""
    # A cell is *worse* if the sign-flip test of its log ratios, Holm-adjusted over all cells, is significant at the
    # analysis's share of the level, and their median exceeds both the limit and the noise floor. It is *no worse* if
    # the one-sided test shows, at the same share, that they are centred below the limit. Otherwise it is undecided.
    ratios = {(place, measure): own.log_ratios(measure, n_pairs) for (place, measure), own in costs.items() if own.base}
    p_values = [p_two_sided(values) for values in ratios.values()]
    # Tests already decided count as not significant.
    adjusted = holm(p_values + [1.0] * (analyses.n_tests - len(p_values)))
    return {
        key: _judge(key, costs[key], values, float(p_value), limits.of(key[1]), analyses)
        for (key, values), p_value in zip(ratios.items(), adjusted, strict=False)
    }


def is_confirmed(costs: PairedCosts, measure: str, limit: float, floor: float, level: float) -> bool:
    """Return whether new pairs of a cell, measured after it was called worse, confirm the verdict."""
    values = costs.log_ratios(measure)
    return p_greater(values) <= level and float(np.median(values)) > math.log(max(limit, floor))


def _judge(
    key: CostKey, costs: PairedCosts, ratios: NDArray[np.float64], p_value: float, limit: float, analyses: Analyses
) -> ComparedCell:
    (method, dataset, size), measure = key
    n_pairs, estimate, floor = len(ratios), float(np.median(ratios)), costs.floor(measure)
    low, high = interval(ratios, 2 * analyses.share)
    base, head = (float(np.median(side[:n_pairs])) for side in (costs.base, costs.head))
    verdict, reason = CellVerdict.UNDECIDED, ""
    is_beyond = p_value <= analyses.share and estimate > max(math.log(limit), floor)
    if is_beyond and head - base > OFFSETS[measure]:
        verdict = CellVerdict.WORSE
    elif p_greater(-ratios, -math.log(limit)) <= analyses.share:
        verdict = CellVerdict.NO_WORSE
    elif is_beyond:
        reason = f"above the limit, but by less than {amount(OFFSETS[measure], UNITS[measure])}"
    elif n_pairs < analyses.minimum:
        reason = f"{n_pairs} pairs; at least {analyses.minimum} are needed to call a cell worse"
    elif p_value > analyses.share:
        reason = "noise hides a difference of the size of the limit"
    elif estimate <= math.log(limit):
        reason = "slower or larger by about the limit" if estimate > 0 else "noise hides the limit"
    else:
        reason = f"above the limit, but repeated measurements of the base differ by {math.expm1(floor):.0%}"
    return ComparedCell(
        method, dataset, measure, base, head, verdict, reason, size, UNITS[measure],
        ratio=math.exp(estimate), low=math.exp(low), high=math.exp(high), p_value=p_value, n_pairs=n_pairs,
        limit=limit, floor=math.exp(floor), base_values=tuple(costs.base[:n_pairs]),
        head_values=tuple(costs.head[:n_pairs]),
    )  # fmt: skip


def _log_ratio(upper: Sequence[float], lower: Sequence[float], measure: str) -> NDArray[np.float64]:
    offset = OFFSETS[measure]
    ratio: NDArray[np.float64] = np.log((np.asarray(upper) + offset) / (np.asarray(lower) + offset))
    return ratio
