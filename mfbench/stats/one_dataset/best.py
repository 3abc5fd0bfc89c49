"""The best method of a dataset and those not significantly worse, accounting for the choice of the best."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mfbench.stats.across_datasets.many_methods import holm
from mfbench.stats.one_dataset.bayesian import Posterior
from mfbench.stats.one_dataset.cells import CellResults
from mfbench.stats.one_dataset.decisions import DecisionTest
from mfbench.stats.one_dataset.paired import LEAST_PAIRS, corrected_p_values
from mfbench.stats.one_dataset.rules import S_TESTS, Comparison, compare
from mfbench.stats.settings import ComparisonSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray


def against_best(cells: Sequence[CellResults], best: int, settings: ComparisonSettings) -> NDArray[np.float64]:
    """Return how likely a difference from the best method would be if nothing differed, for each of several methods."""
    # The best of many equal methods is ahead of some of them by chance. Any of the k(k - 1)/2 pairs may turn out to be
    # the best and a worse method, so all of them are compared, and Holm's method adjusts their p-values. The share of
    # datasets on which any of k equal methods is then called worse than the best is at most the level.
    #
    # O(k²) comparisons.
    pairs = np.array(list(combinations(range(len(cells)), 2)), dtype=np.intp).reshape(-1, 2)
    if settings.test == "corrected-t" and cells:
        settings = dataclasses.replace(settings, ratio=ratio_without_repeats(cells[0], settings.ratio))
    differences, p_values = _compare_pairs(cells, pairs, settings)
    adjusted = holm(p_values)
    result = np.ones(len(cells))
    for (i, j), difference, p_value in zip(pairs.tolist(), differences, adjusted, strict=True):
        ahead = difference if i == best else -difference
        # A test of decisions may favour a method whose score is not the best.
        if best in (i, j) and not ahead < 0:
            result[j if i == best else i] = p_value
    return result


def _compare_pairs(
    cells: Sequence[CellResults], pairs: NDArray[np.intp], settings: ComparisonSettings
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the difference and the evidence of each pair, by the test of the settings."""
    lengths = {len(cell.scores) for cell in cells}
    if settings.test == "corrected-t" and len(lengths) == 1 and min(lengths) >= LEAST_PAIRS:
        scores = settings.sign * np.array([cell.scores for cell in cells])
        if np.isfinite(scores).all():
            return corrected_p_values(scores, pairs, settings.ratio)
    comparisons = [compare(cells[i], cells[j], settings) for i, j in pairs.tolist()]
    differences = np.array([comparison.difference for comparison in comparisons])
    return differences, np.array([evidence(comparison, settings.test) for comparison in comparisons])


def ratio_without_repeats(cell: CellResults, ratio: float) -> float:
    """Return the ratio with which the corrected test has the variance of one repeat, however many there are."""
    # Repeats of a single split, such as random thirds, test other rows each time and count in full.
    folds = len(cell.scores) // len(np.unique(cell.repeats))
    return ratio + 1.0 / folds - 1.0 / len(cell.scores) if folds > 1 else ratio


def evidence(comparison: Comparison, test: str) -> float:
    """Return the two-sided p-value of a comparison, or what corresponds to it; NaN if there is no verdict."""
    # The p-value of a one-sided test in the direction of the data is doubled. Of a posterior it is the probability that
    # the better method is not better by more than the region of practical equivalence.
    if comparison.verdict() is None:
        return np.nan
    if isinstance(comparison, Posterior):
        return float(1.0 - np.nanmax([0.0, comparison.first, comparison.second]))
    if isinstance(comparison, DecisionTest) and test in S_TESTS:
        return min(1.0, 2.0 * comparison.p_value)
    return comparison.p_value
