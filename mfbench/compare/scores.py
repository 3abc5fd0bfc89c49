"""Scores of two versions on the same folds: equal predictions are no worse, changed ones are tested against a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mfbench.analysis.across_datasets.many_methods import holm
from mfbench.analysis.one_dataset.paired import IDENTICAL, LEAST_PAIRS, NO_SPREAD, TOO_FEW, corrected_t_test
from mfbench.compare.comparison import Cell, Change, Verdict
from mfbench.compare.limits import Limits
from mfbench.compare.pairs import FOLD
from mfbench.run.trial.metrics import SCORES
from mfbench.wording import counted

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
    """Judge the scores of a head by those of a base on the same folds.

    Each method, dataset and metric is a cell. Equal predictions and scores are no worse. Otherwise the corrected
    resampled t-test is applied one-sided: a cell is worse if the test shows a loss after Holm's adjustment over all
    tested cells and the mean loss exceeds the limit; it is no worse if the upper bound of the loss is below the limit.

    Parameters
    ----------
    pairs : DataFrame
        As `mfbench.compare.pairs.score_pairs` returns it.
    limits : Limits
        The losses that are accepted.
    level : float
        Probability of any false alarm among the cells; the upper bound of each loss holds with probability 1 - level.
    ratio : float
        Ratio of test rows to training rows; 0 if the pairs are independent, such as the rounds of ``ground-truth``.

    Returns
    -------
    cells : list of Cell
        In the order of `pairs`; a metric that is undefined on both sides has none.
    changes : list of Change
        Methods with predictions that differ.

    Examples
    --------
    >>> folds = pd.DataFrame({"dataset": "d", "method": "m", "repeat": 0, "fold": range(5), "measure": "accuracy"})
    >>> worse = folds.assign(base=[0.9, 0.9, 0.8, 0.9, 0.9], head=[0.7, 0.6, 0.5, 0.7, 0.6], n_rows=20, n_changed=5)
    >>> cells, changes = judge_scores(worse, Limits(), level=0.05, ratio=1 / 4)
    >>> str(cells[0].verdict), round(cells[0].difference, 2), changes[0].n_changed
    ('worse', -0.26, 25)
    """
    places = ["dataset", "method", "measure"]
    tested = [
        _test(folds, *map(str, place), limits, level, ratio)  # type: ignore[misc]
        for place, folds in pairs.groupby(places, sort=False)
        if folds[["base", "head"]].notna().any(axis=None)
    ]
    adjusted = holm([each.p_value for each in tested])
    return [_judge(each, float(p), level) for each, p in zip(tested, adjusted, strict=True)], changed_methods(pairs)


def changed_methods(pairs: pd.DataFrame) -> list[Change]:
    """Return the methods whose predictions differ, with the number of rows.

    Parameters
    ----------
    pairs : DataFrame
        As `mfbench.compare.pairs.score_pairs` returns it.
    """
    folds = pairs.drop_duplicates(FOLD)
    totals = folds.groupby(["dataset", "method"], sort=False)[["n_rows", "n_changed"]].sum()
    return [
        Change(str(method), str(dataset), int(row["n_rows"]), int(row["n_changed"]))
        for (dataset, method), row in totals.iterrows()
        if row["n_changed"] > 0
    ]


def _test(
    folds: pd.DataFrame, dataset: str, method: str, measure: str, limits: Limits, level: float, ratio: float
) -> _Tested:
    """Return the cell of one method, dataset and metric, with its test if there is one."""
    base, head = folds["base"].to_numpy(dtype=float), folds["head"].to_numpy(dtype=float)
    complete = np.isfinite(base) & np.isfinite(head)
    sign = 1.0 if SCORES[measure].greater_is_better else -1.0
    cell = Cell(
        method,
        dataset,
        measure,
        _mean(base[complete] if complete.any() else base),
        _mean(head[complete] if complete.any() else head),
        Verdict.UNDECIDED,
        n_pairs=int(complete.sum()),
        limit=limits.of(measure),
    )
    if not complete.all():
        n_lost = int((~complete).sum())
        reason = f"the score is undefined on one side in {counted(n_lost, 'fold')} of {len(folds)}"
        return _Tested(replace(cell, reason=reason))
    cell = replace(cell, difference=sign * (cell.head - cell.base))
    if np.array_equal(base, head) and not (folds["n_changed"] > 0).any():
        reason = SAME_PREDICTIONS if folds["n_changed"].notna().all() else SAME_SCORES
        return _Tested(replace(cell, verdict=Verdict.NO_WORSE, reason=reason, difference=0.0))
    if cell.n_pairs < LEAST_PAIRS:
        return _Tested(replace(cell, reason=_few(cell.n_pairs)))
    test = corrected_t_test(sign * head, sign * base, ratio, alpha=2.0 * level)
    if test.reason:
        assert test.reason != TOO_FEW
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


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")
