"""Many comparisons at once: Holm's adjustment, step-down maxima over resamples, and groups as letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-9


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values adjusted by Holm's method, in the order of the input."""
    # Sorted p-values are multiplied by m, m - 1, …, 1 and made monotone. Rejecting below a level controls the
    # family-wise error rate at that level. NaN stays NaN and is not counted.
    # Reference: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
    # 6:65-70, 1979.
    values = np.asarray(p_values, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    present = np.flatnonzero(~np.isnan(values))
    order = present[np.argsort(values[present], kind="stable")]
    steps = np.minimum(1.0, np.arange(len(order), 0, -1) * values[order])
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def step_down(
    values: NDArray[np.float64], signs: Callable[[], Iterable[NDArray[np.float64]]], alpha: float
) -> tuple[NDArray[np.float64], float]:
    """Return adjusted p-values of sums of values over rows, and the critical value of their largest size."""
    # Each resample is a sign per row. The largest statistic is compared with the maxima over all columns, the second
    # with those over all others, and so on. Those above the critical value are the columns whose p-value would be below
    # the level if each were compared with the maxima over all columns.
    sizes = np.abs(values.sum(axis=0))
    order = np.argsort(-sizes, kind="stable")
    limits, columns = sizes[order] * (1.0 - _ROUNDING), values[:, order[::-1]]
    reached, largest = np.zeros(len(order)), []
    for block in signs():
        maxima = np.maximum.accumulate(np.abs(block @ columns), axis=1)[:, ::-1]
        reached += np.sum(maxima >= limits, axis=0)
        largest.append(maxima[:, 0])
    maxima_of_all = np.sort(np.concatenate(largest))[::-1]
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(reached / len(maxima_of_all))
    allowed = int(np.ceil(alpha * len(maxima_of_all) * (1.0 - _ROUNDING))) - 1
    return adjusted, float(maxima_of_all[min(allowed, len(maxima_of_all) - 1)])


def letters(n: int, different: Iterable[tuple[int, int]]) -> list[str]:
    """Return letters for items such that two share one exactly if they do not differ; the first item has an "a"."""
    # Reference: H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal of
    # Computational and Graphical Statistics 13:456-466, 2004.
    groups: list[frozenset[int]] = [frozenset(range(n))]
    for one, other in different:
        split = [group for group in groups if one in group and other in group]
        parts = [group - {item} for group in split for item in (one, other)]
        groups = _maximal([group for group in groups if group not in split] + parts)
    groups.sort(key=lambda group: sorted(group))
    return [" ".join(_letter(place) for place, group in enumerate(groups) if item in group) for item in range(n)]


def _maximal(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    unique = list(dict.fromkeys(groups))
    return [group for group in unique if not any(group < other for other in unique)]


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else _letter(place // 26 - 1) + _letter(place % 26)
