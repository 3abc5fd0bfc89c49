"""Compare scores on the same folds: equal predictions are no worse, changed ones are tested against a limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mfbench.base.text import counted
from mfbench.model.evaluation import Score
from mfbench.model.trials import Status
from mfbench.stats.multiple import holm
from mfbench.stats.paired import IDENTICAL, LEAST_PAIRS, NO_SPREAD, UNMET, corrected_t_test
from mfbench_gate.comparison import CellVerdict, ChangedPredictions, ComparedCell, MeasuredCase, WorseLimits

PLACE = ["method", "dataset", "size"]
FOLD = [*PLACE, "repeat", "fold"]
COLUMNS = [*FOLD, "measure", "base", "head", "n_rows", "n_changed"]


def score_pairs(base: pd.DataFrame, head: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Pair the trials that succeeded on both sides."""
    columns = [*FOLD, "predictions", *metrics]
    # A metric missing on one side is a column in a full run, but not in a job that measured only part of it.
    sides = [side.loc[side["status"] == Status.OK].reindex(columns=columns) for side in (base, head)]
    sides = [side if "size" in run else side.assign(size="") for side, run in zip(sides, (base, head), strict=True)]
    both = sides[0].merge(sides[1], on=FOLD, suffixes=("_base", "_head"))
    counts = [
        _changed_rows(before, after)
        for before, after in zip(both["predictions_base"], both["predictions_head"], strict=True)
    ]
    both[["n_rows", "n_changed"]] = np.array(counts, dtype=float).reshape(len(both), 2)
    shared = both[[*FOLD, "n_rows", "n_changed"]]
    parts = [
        shared.assign(measure=name, base=both[f"{name}_base"].astype(float), head=both[f"{name}_head"].astype(float))
        for name in metrics
    ]
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def _changed_rows(base: Any, head: Any) -> tuple[float, float]:
    """Return the number of rows predicted on both sides, and the number of differing predictions."""
    if base is None or head is None or len(base) != len(head):
        return np.nan, np.nan
    return float(len(base)), float(np.count_nonzero(np.asarray(base) != np.asarray(head)))


SAME_PREDICTIONS = "predictions are identical"
SAME_SCORES = "scores are identical"
_WHY_UNTESTED = {
    IDENTICAL: "every fold has the same score, although predictions differ: without a spread there is no test",
    UNMET: "the folds are not a random resampling, so there is no test",
    NO_SPREAD: "the scores of all folds differ by the same amount: without a spread there is no test",
}


def judge_scores(
    pairs: pd.DataFrame,
    scores: Mapping[str, Score],
    limits: WorseLimits,
    level: float,
    ratio_on: Callable[[str], float],
) -> tuple[list[ComparedCell], list[ChangedPredictions]]:
    """Judge a head's scores against a base's on the same folds."""
    # Each combination of method, dataset and metric is a cell. Equal predictions and scores are no worse. Otherwise the
    # corrected resampled t-test is applied one-sided: a cell is worse if the test shows a loss after Holm's adjustment
    # over all tested cells and the mean loss exceeds the limit; it is no worse if the upper bound of the loss is below
    # the limit. One pandas frame per cell would take a hundred times as long.
    positions: dict[tuple[str, ...], list[int]] = {}
    for position, key in enumerate(zip(*(pairs[name] for name in (*PLACE, "measure")), strict=True)):
        positions.setdefault(key, []).append(position)
    columns = [pairs[name].to_numpy(dtype=float) for name in ("base", "head", "n_changed")]
    tested = []
    for (*place, measure), rows in positions.items():
        folds = [column[rows] for column in columns]
        if not np.isnan(folds[:2]).all():
            case, score = MeasuredCase(*place), scores[measure]
            limit = limits.of_score(measure, score, _mean(folds[0]))
            tested.append(_test(case, measure, score, folds, limit, level, ratio_on(case.dataset)))
    adjusted = holm([p_value for *_, p_value in tested]).tolist()
    cells = [_judge(cell, loss, bound, p, level) for (cell, loss, bound, _), p in zip(tested, adjusted, strict=True)]
    return cells, changed_methods(pairs)


def changed_methods(pairs: pd.DataFrame) -> list[ChangedPredictions]:
    """Return the methods with changed predictions, and the number of rows."""
    totals = pairs.drop_duplicates(FOLD).groupby(PLACE, sort=False)[["n_rows", "n_changed"]].sum()
    return [
        ChangedPredictions(method, "/".join(filter(None, (dataset, size))), int(n_rows), int(n_changed))
        for (method, dataset, size), n_rows, n_changed in totals[totals["n_changed"] > 0].itertuples()
    ]


def _test(
    place: MeasuredCase,
    measure: str,
    score: Score,
    folds: Sequence[NDArray[np.float64]],
    limit: float,
    level: float,
    ratio: float,
) -> tuple[ComparedCell, float, float, float]:
    """Return a cell with its mean loss, upper bound and one-sided p-value; all NaN if nothing was tested."""
    base, head, n_changed = folds
    complete = np.isfinite(base) & np.isfinite(head)
    n_pairs = int(complete.sum())
    sign = score.sign
    before, after = (_mean(side[complete] if n_pairs else side) for side in (base, head))
    # Avoids a negative zero.
    difference = sign * (after - before) + 0.0 if n_pairs == len(base) else np.nan
    cell = ComparedCell(
        place.method,
        place.dataset,
        measure,
        before,
        after,
        CellVerdict.UNDECIDED,
        size=place.size,
        difference=difference,
        n_pairs=n_pairs,
        limit=limit,
        greater_is_better=score.greater_is_better,
    )

    def untested(reason: str, verdict: CellVerdict = CellVerdict.UNDECIDED) -> tuple[ComparedCell, float, float, float]:
        return replace(cell, verdict=verdict, reason=reason), np.nan, np.nan, np.nan

    if n_pairs < len(base):
        n_lost = counted(len(base) - n_pairs, "fold")
        return untested(f"the score is undefined on one side or both in {n_lost} of {len(base)}")
    if np.array_equal(base, head) and not (n_changed > 0).any():
        return untested(SAME_SCORES if np.isnan(n_changed).any() else SAME_PREDICTIONS, CellVerdict.NO_WORSE)
    if n_pairs < LEAST_PAIRS:
        verb = "is" if n_pairs == 1 else "are"
        return untested(f"there {verb} {counted(n_pairs, 'pair')} of folds; a test needs {LEAST_PAIRS}")
    test = corrected_t_test(sign * head, sign * base, ratio, alpha=2.0 * level)
    if test.reason:
        return untested(_WHY_UNTESTED[test.reason])
    one_sided = test.p_value / 2.0 if test.difference < 0 else 1.0 - test.p_value / 2.0
    return cell, -test.difference, -test.low, one_sided


def _judge(cell: ComparedCell, loss: float, bound: float, p_value: float, level: float) -> ComparedCell:
    """Return the cell with its verdict, based on the adjusted p-value."""
    if np.isnan(p_value):
        return cell
    if p_value < level and loss > cell.limit:
        verdict, reason = CellVerdict.WORSE, f"loses {loss:.3g}, and {cell.limit:g} is accepted"
    elif bound < cell.limit:
        verdict, reason = CellVerdict.NO_WORSE, f"loses at most {max(bound, 0.0):.3g}"
    else:
        verdict, reason = CellVerdict.UNDECIDED, f"may lose up to {bound:.3g}, and {cell.limit:g} is accepted"
    return replace(cell, verdict=verdict, reason=reason, p_value=p_value)


def _mean(values: NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else float("nan")


# More pairs hardly change a verdict.
MOST_PAIRS = 64
# Differences are clipped at this multiple of their median size, so that no single disturbed pair is decisive.
CLIP = 1.5
# Sizes are rounded to this many parts of the largest, so that sums coincide and can be counted.
_PARTS = 1000
_STEPS = 12


def p_greater(differences: ArrayLike, shift: float = 0.0) -> float:
    """Return the p-value of the hypothesis that differences are not centred above a shift."""
    # With residuals r_i = d_i - \text{shift}, clipped at 1.5 times the median of |r_i| and rounded to thousandths of
    # the largest, the statistic is T = \sum r_i, and the p-value the share of the 2^n patterns of signs whose sum is at
    # least T. Clipping and rounding depend only on sizes, which are invariant under sign flips, so the test is exact
    # for any distribution that is symmetric around the shift with independent signs.
    #
    # Takes O(n^2) time and O(n) memory, building the distribution of the sum one difference at a time (M. Pagano, D.
    # Tritchler, Journal of the American Statistical Association 78(382):435-440, 1983).
    residuals = _clipped(np.asarray(differences, dtype=np.float64) - shift)
    largest = float(np.abs(residuals).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    signed = np.rint(residuals / largest * _PARTS).astype(np.int64)
    # A pattern has the sum T if its positive differences sum to half of (T plus the sum of all sizes).
    positive = int(signed[signed > 0].sum())
    return float(_distribution(np.abs(signed))[positive:].sum())


def p_two_sided(differences: ArrayLike) -> float:
    """Return the p-value of the hypothesis that differences are centred at zero: twice the smaller of both sides."""
    values = np.asarray(differences, dtype=np.float64)
    return min(1.0, 2.0 * min(p_greater(values), p_greater(-values)))


def interval(differences: ArrayLike, level: float) -> tuple[float, float]:
    """Return the shifts that neither one-sided test at half the level rejects: a confidence interval for the centre."""
    values = np.asarray(differences, dtype=np.float64)
    if 2.0 ** -len(values) > level / 2:
        return -math.inf, math.inf
    return _lower_bound(values, level / 2), -_lower_bound(-values, level / 2)


def minimum_pairs(n_tests: int, level: float) -> int:
    """Return the smallest number of pairs with which any of several two-sided tests can reject."""
    # The smallest p-value is 2 / 2^n, and Holm compares the first with `level` / `n_tests`.
    return max(1, math.ceil(1 + math.log2(n_tests / level) - 1e-9))


def _clipped(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(residuals):
        return residuals
    bound = CLIP * float(np.median(np.abs(residuals)))
    # The median is zero if most differences are, as often for memory; the others then stay unclipped.
    return residuals if bound == 0.0 else np.clip(residuals, -bound, bound)


def _distribution(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probabilities of the sums 0, 1, 2, … of sizes, each positive with probability 1/2."""
    shares = np.zeros(int(sizes.sum()) + 1)
    shares[0] = 1.0
    for size in sizes:
        if size:
            shares *= 0.5
            shares[size:] += shares[:-size].copy()
    return shares


def _lower_bound(values: NDArray[np.float64], level: float) -> float:
    """Return the largest rejected shift, by bisection within the range of the differences; -inf if there is none."""
    spread = float(np.ptp(values)) or abs(float(values[0])) or 1.0
    low, high = float(values.min()) - 1e-9 * spread, float(values.max())
    if p_greater(values, low) > level:
        return -math.inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_greater(values, middle) <= level else (low, middle)
    return low
