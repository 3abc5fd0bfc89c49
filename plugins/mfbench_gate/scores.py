"""Scores of two versions on the same folds: equal predictions are no worse, changed ones are tested against a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.base.wording import counted
from mfbench.stats.across_datasets.many_methods import holm
from mfbench.stats.one_dataset.paired import IDENTICAL, LEAST_PAIRS, NO_SPREAD, corrected_t_test
from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Cell, Change, Place, Verdict
from mfbench_gate.limits import Limits
from mfbench_gate.pairs import FOLD, PLACE

SAME_PREDICTIONS = "predictions are identical"
SAME_SCORES = "scores are identical"
_WHY_UNTESTED = {
    IDENTICAL: "every fold has the same score, although predictions differ: without a spread there is no test",
    NO_SPREAD: "the scores of all folds differ by the same amount: without a spread there is no test",
}


def judge_scores(pairs: pd.DataFrame, limits: Limits, level: float, ratio: float) -> tuple[list[Cell], list[Change]]:
    """Judge the scores of a head by those of a base on the same folds."""
    # Each method, dataset and metric is a cell. Equal predictions and scores are no worse. Otherwise the corrected
    # resampled t-test is applied one-sided: a cell is worse if the test shows a loss after Holm's adjustment over all
    # tested cells and the mean loss exceeds the limit; it is no worse if the upper bound of the loss is below the
    # limit.
    # Frames of pandas, one for each cell, would take a hundred times as long.
    positions: dict[tuple[str, ...], list[int]] = {}
    for position, key in enumerate(zip(*(pairs[name] for name in (*PLACE, "measure")), strict=True)):
        positions.setdefault(key, []).append(position)
    columns = [pairs[name].to_numpy(dtype=float) for name in ("base", "head", "n_changed")]
    tested = []
    for (*place, measure), rows in positions.items():
        folds = [column[rows] for column in columns]
        if not np.isnan(folds[:2]).all():
            tested.append(_test(Place(*place), measure, folds, limits.of(measure), level, ratio))
    adjusted = holm([p_value for *_, p_value in tested]).tolist()
    cells = [_judge(cell, loss, bound, p, level) for (cell, loss, bound, _), p in zip(tested, adjusted, strict=True)]
    return cells, changed_methods(pairs)


def changed_methods(pairs: pd.DataFrame) -> list[Change]:
    """Return the methods whose predictions differ, with the number of rows."""
    totals = pairs.drop_duplicates(FOLD).groupby(PLACE, sort=False)[["n_rows", "n_changed"]].sum()
    return [
        Change(method, "/".join(filter(None, (dataset, size))), int(n_rows), int(n_changed))
        for (method, dataset, size), n_rows, n_changed in totals[totals["n_changed"] > 0].itertuples()
    ]


def _test(
    place: Place, measure: str, folds: Sequence[NDArray[np.float64]], limit: float, level: float, ratio: float
) -> tuple[Cell, float, float, float]:
    """Return a cell with its mean loss, the upper bound and the one-sided p-value; all NaN where nothing was tested."""
    base, head, n_changed = folds
    complete = np.isfinite(base) & np.isfinite(head)
    n_pairs = int(complete.sum())
    sign = 1.0 if SCORES[measure].greater_is_better else -1.0
    before, after = (_mean(side[complete] if n_pairs else side) for side in (base, head))
    # Without a negative zero.
    difference = sign * (after - before) + 0.0 if n_pairs == len(base) else np.nan
    cell = Cell(
        place.method, place.dataset, measure, before, after, Verdict.UNDECIDED, size=place.size, difference=difference,
        n_pairs=n_pairs, limit=limit,
    )  # fmt: skip

    def untested(reason: str, verdict: Verdict = Verdict.UNDECIDED) -> tuple[Cell, float, float, float]:
        return replace(cell, verdict=verdict, reason=reason), np.nan, np.nan, np.nan

    if n_pairs < len(base):
        n_lost = counted(len(base) - n_pairs, "fold")
        return untested(f"the score is undefined on one side or both in {n_lost} of {len(base)}")
    if np.array_equal(base, head) and not (n_changed > 0).any():
        return untested(SAME_SCORES if np.isnan(n_changed).any() else SAME_PREDICTIONS, Verdict.NO_WORSE)
    if n_pairs < LEAST_PAIRS:
        verb = "is" if n_pairs == 1 else "are"
        return untested(f"there {verb} {counted(n_pairs, 'pair')} of folds; a test needs {LEAST_PAIRS}")
    test = corrected_t_test(sign * head, sign * base, ratio, alpha=2.0 * level)
    if test.reason:
        return untested(_WHY_UNTESTED[test.reason])
    one_sided = test.p_value / 2.0 if test.difference < 0 else 1.0 - test.p_value / 2.0
    return cell, -test.difference, -test.low, one_sided


def _judge(cell: Cell, loss: float, bound: float, p_value: float, level: float) -> Cell:
    """Return the cell with its verdict, from the p-value after the adjustment."""
    if np.isnan(p_value):
        return cell
    if p_value < level and loss > cell.limit:
        verdict, reason = Verdict.WORSE, f"loses {loss:.3g}, and {cell.limit:g} is accepted"
    elif bound < cell.limit:
        verdict, reason = Verdict.NO_WORSE, f"loses at most {max(bound, 0.0):.3g}"
    else:
        verdict, reason = Verdict.UNDECIDED, f"may lose up to {bound:.3g}, and {cell.limit:g} is accepted"
    return replace(cell, verdict=verdict, reason=reason, p_value=p_value)


def _mean(values: NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
