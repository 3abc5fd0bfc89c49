"""Verdicts on time and memory, from paired measurements of two versions: worse, no worse or undecided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mfbench.stats.across_datasets import holm
from mfbench_gate.comparison import CellVerdict, ComparedCell, MeasuredCase, WorseLimits, amount
from mfbench_gate.interim import Analyses
from mfbench_gate.scores import interval, p_greater, p_two_sided

# Added to both sides, so that negligible costs do not count and zero costs have a logarithm.
OFFSETS = {"fit": 1e-4, "predict": 1e-4, "memory": 2.0**20}
UNITS = {"fit": "s", "predict": "s", "memory": "B"}
CostKey = tuple[MeasuredCase, str]
"""The measured case, and the measure: "fit", "predict" or "memory"."""


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
