"""Few features that are enough: sizes not significantly worse than a method's best, or close to a dataset's best."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from mfbench.stats.curves.cells import CurveCell, curve_cells
from mfbench.stats.one_dataset.paired import LEAST_PAIRS, corrected_t_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.95
"""A method is close to the best score of a dataset from this share of it on."""
COLUMNS = ["dataset", "method", "best_size", "best_mean", "sufficient_size", "sufficient_mean", "close_size"]
_ROUNDING = 12


def sufficient_sizes(
    curves: pd.DataFrame,
    metric: str,
    *,
    ratio: float,
    alpha: float = 0.05,
    greater_is_better: bool = True,
    complete: Collection[tuple[str, str]] | None = None,
) -> pd.DataFrame:
    """Return the smallest sizes that are enough for each method on each dataset."""
    cells = curve_cells(curves, metric)
    sign = 1.0 if greater_is_better else -1.0
    judged = set(cells) if complete is None else set(complete)
    best = _best_by_dataset((place[0], cells[place].means * sign) for place in cells if place in judged)
    rows = []
    for place, cell in cells.items():
        means = cell.means
        if np.isnan(means).any():
            rows.append([*place, *[np.nan] * 5])
            continue
        at = int(np.argmax(np.round(sign * means, _ROUNDING)))
        enough = sufficient_size(cell, sign, ratio, alpha)
        close = close_size(cell, sign * best[place[0]], greater_is_better) if place in judged else np.nan
        mean = float(means[cell.sizes == enough][0]) if np.isfinite(enough) else np.nan
        rows.append([*place, float(cell.sizes[at]), float(means[at]), enough, mean, close])
    return pd.DataFrame(rows, columns=COLUMNS)


def sufficient_size(cell: CurveCell, sign: float, ratio: float, alpha: float = 0.05) -> float:
    """Return the smallest size of a curve that is not significantly worse than its best size."""
    # Each smaller size is compared with the best by the corrected resampled t-test, one-sided at level `alpha`. A size
    # for which that test has no verdict is not sufficient.
    if len(cell.sizes) == 1:
        return float(cell.sizes[0])
    scores = sign * cell.whole
    if len(scores) < LEAST_PAIRS:
        return float("nan")
    best = int(np.argmax(np.round(scores.mean(axis=0), _ROUNDING)))
    for position in range(best):
        # The best mean is ahead, so the one-sided p-value is half the two-sided one; it is NaN without a verdict.
        if corrected_t_test(scores[:, best], scores[:, position], ratio).p_value / 2.0 >= alpha:
            return float(cell.sizes[position])
    return float(cell.sizes[best])


def close_size(cell: CurveCell, best: float, greater_is_better: bool = True, share: float = SHARE) -> float:
    """Return the smallest size whose mean score is close to the best."""
    if not best >= 0.0:
        return float("nan")
    # A loss is close if the best is at least the share of it.
    smaller, larger = (share * best, cell.means) if greater_is_better else (share * cell.means, best)
    close = np.round(smaller, _ROUNDING) <= np.round(larger, _ROUNDING)
    return float(cell.sizes[np.argmax(close)]) if close.any() else float("nan")


def _best_by_dataset(means: Iterable[tuple[str, NDArray[np.float64]]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for dataset, values in means:
        if np.isfinite(values).all():
            best[dataset] = max(best.get(dataset, -np.inf), float(values.max()))
    return best
