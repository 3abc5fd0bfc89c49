"""Verdicts on time and memory: from paired measurements of two versions to worse, no worse or undecided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mfbench.stats.across_datasets.many_methods import holm
from mfbench_gate.comparison import Cell, Verdict
from mfbench_gate.looks import Looks
from mfbench_gate.sign_flip import interval, p_greater, p_two_sided
from mfbench_gate.texts import amount

# Added to both sides: what costs less than this does not count, and a cost of zero has a logarithm.
OFFSETS = {"fit": 1e-4, "predict": 1e-4, "memory": 2.0**20}
UNITS = {"fit": "s", "predict": "s", "memory": "B"}


@dataclass(frozen=True)
class CostKey:
    """A measure of a method on a dataset."""

    method: str  # method, dataset, size: as in `mfbench_gate.comparison.Cell`
    dataset: str
    size: str
    measure: str


@dataclass
class Costs:
    """Paired costs of one measure."""

    base: list[float] = field(default_factory=list)  # base, head: costs in seconds or bytes; equal positions are a pair
    head: list[float] = field(default_factory=list)
    # Two costs of the base in the same block, which differ by noise alone.
    repeated: list[tuple[float, float]] = field(default_factory=list)

    def log_ratios(self, measure: str, n_pairs: int | None = None) -> NDArray[np.float64]:
        """Return the logarithm of head over base of the first pairs."""
        return _log_ratio(self.head[:n_pairs], self.base[:n_pairs], measure)

    def floor(self, measure: str) -> float:
        """Return the median absolute log ratio of repeated measurements of the base; 0.0 without repetitions."""
        if not self.repeated:
            return 0.0
        first, second = zip(*self.repeated, strict=True)
        return float(np.median(np.abs(_log_ratio(first, second, measure))))


def judge_costs(costs: Mapping[CostKey, Costs], limits: Mapping[str, float], looks: Looks, n_pairs: int) -> list[Cell]:
    """Return the verdicts at one look."""
    # A cell is *worse* if the sign-flip test of its log ratios, adjusted by Holm's method for all cells, is significant
    # at the look's share of the level, and their median exceeds both the limit and the noise floor. It is *no worse* if
    # the one-sided test shows, at the same share, that they are centred below the limit. Otherwise it is undecided.
    ratios = {key: own.log_ratios(key.measure, n_pairs) for key, own in costs.items()}
    present = {key: values for key, values in ratios.items() if len(values)}
    p_values = _adjusted([p_two_sided(values) for values in present.values()], looks.n_tests)
    return [
        _cell(key, costs[key], values, p_value, limits[key.measure], looks)
        for (key, values), p_value in zip(present.items(), p_values, strict=True)
    ]


def is_confirmed(costs: Costs, measure: str, limit: float, floor: float, level: float) -> bool:
    """Tell whether new pairs of a cell, measured after it was called worse, show the same."""
    values = costs.log_ratios(measure)
    if not len(values):
        return False
    return p_greater(values) <= level and float(np.median(values)) > math.log(max(limit, floor))


def _cell(key: CostKey, costs: Costs, ratios: NDArray[np.float64], p_value: float, limit: float, looks: Looks) -> Cell:
    n_pairs, estimate, floor = len(ratios), float(np.median(ratios)), costs.floor(key.measure)
    low, high = interval(ratios, 2 * looks.share)
    verdict, reason = Verdict.UNDECIDED, ""
    base, head = (float(np.median(side[:n_pairs])) for side in (costs.base, costs.head))
    is_beyond = p_value <= looks.share and estimate > max(math.log(limit), floor)
    is_tiny = is_beyond and head - base <= OFFSETS[key.measure]
    if is_beyond and not is_tiny:
        verdict = Verdict.WORSE
    elif p_greater(-ratios, -math.log(limit)) <= looks.share:
        verdict = Verdict.NO_WORSE
    else:
        reason = _reason(estimate, p_value, math.log(limit), floor, n_pairs, looks)
        if is_tiny:
            reason = f"above the limit, but by less than {amount(OFFSETS[key.measure], UNITS[key.measure])}"
    return Cell(
        method=key.method,
        dataset=key.dataset,
        size=key.size,
        measure=key.measure,
        unit=UNITS[key.measure],
        base=base,
        head=head,
        verdict=verdict,
        reason=reason,
        ratio=math.exp(estimate),
        low=math.exp(low),
        high=math.exp(high),
        p_value=p_value,
        n_pairs=n_pairs,
        limit=limit,
        floor=math.exp(floor),
        base_values=tuple(costs.base[:n_pairs]),
        head_values=tuple(costs.head[:n_pairs]),
    )


def _reason(estimate: float, p_value: float, limit: float, floor: float, n_pairs: int, looks: Looks) -> str:
    if n_pairs < looks.minimum:
        return f"{n_pairs} pairs; at least {looks.minimum} are needed to call a cell worse"
    if p_value > looks.share:
        return "noise hides a difference of the size of the limit"
    if estimate <= limit:
        return "slower or larger by about the limit" if estimate > 0 else "noise hides the limit"
    return f"above the limit, but repeated measurements of the base differ by {math.expm1(floor):.0%}"


def _adjusted(p_values: Sequence[float], n_tests: int) -> NDArray[np.float64]:
    """Return Holm's p-values where further tests, which are over, count as not significant."""
    padded = np.concatenate([np.asarray(p_values, dtype=np.float64), np.ones(max(0, n_tests - len(p_values)))])
    adjusted: NDArray[np.float64] = holm(padded)[: len(p_values)]
    return adjusted


def _log_ratio(upper: Sequence[float], lower: Sequence[float], measure: str) -> NDArray[np.float64]:
    offset = OFFSETS[measure]
    ratio: NDArray[np.float64] = np.log((np.asarray(upper) + offset) / (np.asarray(lower) + offset))
    return ratio
