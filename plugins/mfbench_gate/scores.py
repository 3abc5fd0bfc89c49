"""Scores of two versions on the same folds: equal predictions are no worse, changed ones are tested against a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from mfbench.base.wording import counted
from mfbench.stats.across_datasets.many_methods import holm
from mfbench.stats.one_dataset.paired import IDENTICAL, LEAST_PAIRS, NO_SPREAD, corrected_t_test
from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Cell, Change, Verdict
from mfbench_gate.limits import Limits
from mfbench_gate.pairs import FOLD

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAME_PREDICTIONS = "predictions are identical"
SAME_SCORES = "scores are identical"
_WHY_UNTESTED = {
    IDENTICAL: "every fold has the same score, although predictions differ: without a spread there is no test",
    NO_SPREAD: "the scores of all folds differ by the same amount: without a spread there is no test",
}


@dataclass(frozen=True)
class _Tested:
    """A cell with the mean loss, its upper bound and the one-sided p-value; NaN where nothing was tested."""

    cell: Cell
    loss: float = np.nan
    bound: float = np.nan
    p_value: float = np.nan


def judge_scores(pairs: pd.DataFrame, limits: Limits, level: float, ratio: float) -> tuple[list[Cell], list[Change]]:
    """Judge the scores of a head by those of a base on the same folds."""
    # Each method, dataset and metric is a cell. Equal predictions and scores are no worse. Otherwise the corrected
    # resampled t-test is applied one-sided: a cell is worse if the test shows a loss after Holm's adjustment over all
    # tested cells and the mean loss exceeds the limit; it is no worse if the upper bound of the loss is below the
    # limit.
    tested = [
        _test(*place, folds, limits, level, ratio)
        for place, folds in _folds_by_place(pairs)
        if not (np.isnan(folds.base).all() and np.isnan(folds.head).all())
    ]
    adjusted = holm([each.p_value for each in tested])
    return [_judge(each, float(p), level) for each, p in zip(tested, adjusted, strict=True)], changed_methods(pairs)


def changed_methods(pairs: pd.DataFrame) -> list[Change]:
    """Return the methods whose predictions differ, with the number of rows."""
    folds = pairs.drop_duplicates(FOLD)
    totals: dict[tuple[str, str], list[float]] = {}
    for method, dataset, n_rows, n_changed in zip(
        folds["method"], folds["dataset"], folds["n_rows"].fillna(0), folds["n_changed"].fillna(0), strict=True
    ):
        total = totals.setdefault((method, dataset), [0.0, 0.0])
        total[0] += n_rows
        total[1] += n_changed
    return [Change(*place, int(rows), int(changed)) for place, (rows, changed) in totals.items() if changed > 0]


class _Folds(NamedTuple):
    """The scores of one cell on both sides, and the number of changed predictions; one entry per fold."""

    base: NDArray[np.float64]
    head: NDArray[np.float64]
    n_changed: NDArray[np.float64]


def _folds_by_place(pairs: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], _Folds]]:
    """Yield method, dataset and metric with their folds. Frames of pandas would take a hundred times as long."""
    positions: dict[tuple[str, str, str], list[int]] = {}
    for position, place in enumerate(zip(pairs["method"], pairs["dataset"], pairs["measure"], strict=True)):
        positions.setdefault(place, []).append(position)
    columns = [pairs[name].to_numpy(dtype=float) for name in ("base", "head", "n_changed")]
    for place, rows in positions.items():
        yield place, _Folds(*(column[rows] for column in columns))


def _test(
    method: str, dataset: str, measure: str, folds: _Folds, limits: Limits, level: float, ratio: float
) -> _Tested:
    """Return the cell of one method, dataset and metric, with its test if there is one."""
    base, head, n_changed = folds
    complete = np.isfinite(base) & np.isfinite(head)
    n_pairs = int(complete.sum())
    sign = 1.0 if SCORES[measure].greater_is_better else -1.0
    before, after = (_mean(side[complete] if n_pairs else side) for side in (base, head))
    cell = Cell(method, dataset, measure, before, after, Verdict.UNDECIDED, n_pairs=n_pairs, limit=limits.of(measure))
    if n_pairs < len(base):
        n_lost = counted(len(base) - n_pairs, "fold")
        return _Tested(replace(cell, reason=f"the score is undefined on one side or both in {n_lost} of {len(base)}"))
    cell = replace(cell, difference=sign * (cell.head - cell.base) + 0.0)  # without a negative zero
    if np.array_equal(base, head) and not (n_changed > 0).any():
        reason = SAME_SCORES if np.isnan(n_changed).any() else SAME_PREDICTIONS
        return _Tested(replace(cell, verdict=Verdict.NO_WORSE, reason=reason))
    if n_pairs < LEAST_PAIRS:
        return _Tested(replace(cell, reason=_few(n_pairs)))
    test = corrected_t_test(sign * head, sign * base, ratio, alpha=2.0 * level)
    if test.reason:
        return _Tested(replace(cell, reason=_WHY_UNTESTED[test.reason]))
    one_sided = test.p_value / 2.0 if test.difference < 0 else 1.0 - test.p_value / 2.0
    return _Tested(cell, -test.difference, -test.low, one_sided)


def _judge(tested: _Tested, p_value: float, level: float) -> Cell:
    """Return the cell with its verdict, from the p-value after the adjustment."""
    cell, loss, bound = tested.cell, tested.loss, tested.bound
    if np.isnan(p_value):
        return cell
    if p_value < level and loss > cell.limit:
        verdict, reason = Verdict.WORSE, f"loses {loss:.3g}, and {cell.limit:g} is accepted"
    elif bound < cell.limit:
        verdict, reason = Verdict.NO_WORSE, f"loses at most {max(bound, 0.0):.3g}"
    else:
        verdict, reason = Verdict.UNDECIDED, f"may lose up to {bound:.3g}, and {cell.limit:g} is accepted"
    return replace(cell, verdict=verdict, reason=reason, p_value=p_value)


def _few(n_pairs: int) -> str:
    return f"there {'is' if n_pairs == 1 else 'are'} {counted(n_pairs, 'pair')} of folds; a test needs {LEAST_PAIRS}"


def _mean(values: NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
