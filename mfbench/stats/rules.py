"""The decision rules for two methods on one dataset, by the names that ``[report] test`` accepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mfbench.errors import RunError
from mfbench.stats.bayesian import Posterior, correlated_t_test
from mfbench.stats.cells import CellResults, ComparisonSettings
from mfbench.stats.multiple import holm
from mfbench.stats.paired import (
    LEAST_PAIRS,
    TOO_FEW,
    UNMET,
    DecisionTest,
    PairedTest,
    corrected_t_test,
    mcnemar_test,
    moderated_p_values,
    paired_t_test,
    s_test,
    sign_test,
    wilcoxon_test,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

Comparison = PairedTest | DecisionTest | Posterior
S_TESTS = ("s-test", "s-test-exact")
"""The rules that are one-sided, in the direction suggested by the data."""


@dataclass(frozen=True)
class Rule:
    """A decision rule: its name in reports, the comparison, and whether it uses decisions instead of scores."""

    title: str
    compare: Callable[[CellResults, CellResults, ComparisonSettings], Comparison]
    of_decisions: bool = False


def compare(
    first: CellResults, second: CellResults, settings: ComparisonSettings, test: str | None = None
) -> Comparison:
    """Compare two complete cells of a dataset."""
    # A single test set has no spread between folds, so score tests are undefined and `sound_test` is used instead.
    # Decision tests give no verdict on a metric that does not count decisions.
    name = test or settings.test
    if len(first.scores) < 2 and not RULES[name].of_decisions:
        name = sound_test(first, settings)
    if len(first.scores) > 1 and np.isnan(settings.ratio):
        return _without_test(first, second, settings, UNMET)
    rule = RULES[name]
    if rule.of_decisions and settings.has_groups:
        return _without_test(first, second, settings, f"rows of a group are alike, and {name} counts them one by one")
    if rule.of_decisions and not settings.counts_decisions:
        compared = f"{'weighted ' * settings.has_weights}{settings.metric}"
        return _without_test(first, second, settings, f"{name} compares decisions, not {compared}")
    return rule.compare(first, second, settings)


def _without_test(first: CellResults, second: CellResults, settings: ComparisonSettings, reason: str) -> PairedTest:
    difference = settings.sign * float(np.mean(first.scores - second.scores))
    return PairedTest(difference, np.nan, np.nan, np.nan, reason=reason)


def sound_test(cell: CellResults, settings: ComparisonSettings) -> str:
    """Return the rule to trust: the corrected resampled t-test, or McNemar's test on a single test set."""
    # For a protocol with independent rounds the ratio is 0, and the corrected test equals the plain paired t-test.
    if len(cell.scores) > 1 or not settings.counts_decisions:
        return "corrected-t"
    try:
        cell.decisions()
    except RunError:  # no predictions (ground-truth): a single round allows no test
        return "corrected-t"
    return "mcnemar"


def _of_scores(
    test: Callable[..., PairedTest | Posterior], **names: str
) -> Callable[[CellResults, CellResults, ComparisonSettings], Comparison]:
    """Return a rule that compares fold scores; `names` are the arguments it takes from settings, besides the level."""

    def rule(first: CellResults, second: CellResults, settings: ComparisonSettings) -> Comparison:
        if len(first.scores) < LEAST_PAIRS:
            return _without_test(first, second, settings, TOO_FEW)
        a, b = settings.sign * first.scores, settings.sign * second.scores
        return test(a, b, **{name: getattr(settings, own) for name, own in names.items()}, alpha=settings.alpha)

    return rule


RULES: Mapping[str, Rule] = {
    "corrected-t": Rule("corrected resampled t-test (Nadeau and Bengio)", _of_scores(corrected_t_test, ratio="ratio")),
    "paired-t": Rule("plain paired t-test, which treats overlapping folds as independent", _of_scores(paired_t_test)),
    "bayes-t": Rule(
        "Bayesian correlated t-test (Corani and Benavoli), at a probability above 1 - α of a difference beyond the "
        "region of practical equivalence",
        _of_scores(correlated_t_test, ratio="ratio", rope="margin"),
    ),
    "wilcoxon": Rule(
        "Wilcoxon test over folds, which treats overlapping folds as independent", _of_scores(wilcoxon_test)
    ),
    "sign": Rule("sign test over folds, which treats overlapping folds as independent", _of_scores(sign_test)),
    "s-test": Rule(
        "s-test (Yang and Liu) in its normal form on the pooled decisions of the first repeat, one-sided in the "
        "direction chosen by the data",
        lambda a, b, on: s_test(a.first_repeat, b.first_repeat, exact=False, alpha=on.alpha),
        of_decisions=True,
    ),
    "s-test-exact": Rule(
        "exact s-test on the pooled decisions of the first repeat, one-sided in the direction chosen by the data",
        lambda a, b, on: s_test(a.first_repeat, b.first_repeat, alpha=on.alpha),
        of_decisions=True,
    ),
    "mcnemar": Rule(
        "exact McNemar test on the first test set",
        lambda a, b, on: mcnemar_test(a.first_test_set(), b.first_test_set(), on.alpha),
        of_decisions=True,
    ),
}


LEVEL = 0.05
"""The nominal level behind all figures below."""


@dataclass(frozen=True)
class Held:
    """The actual level of a rule at a nominal 5 %, over four simulations."""

    # Each simulation compares two copies of a learner on two views that are equal by construction. The learner is
    # nearest centroid or nearest neighbour, with 100 or 300 rows of five Gaussian features; 1000 datasets each.

    low: float  # low, high: smallest and largest share of datasets on which the rule found a difference
    high: float
    design: str  # resampling design of the simulation


_RANDOM = ("thirds", "splits")
_REPEATED, _ONCE, _THIRDS = "10 × 10 folds", "10 folds", "10 random thirds"
_POOLED = "5 pooled folds"
BEST = "best"
"""In place of a rule: worse than the best of 2, 5 or 20 equal methods, by the corrected t-test."""
# Of numbers: root mean squared errors of ridge regression or nearest neighbour on 200 datasets of 100 rows, with
# Gaussian errors or heavy tails (the suite null-calibration-numbers). Of the best: 100 rows, the profile `many` of
# null-calibration (60 datasets) for unrepeated folds, tests/stats/one_dataset/test_best.py (300) for repeated ones.
_HELD: dict[tuple[str, str, str], tuple[float, float]] = {
    ("classes", "paired-t", _REPEATED): (0.555, 0.634),
    ("classes", "wilcoxon", _REPEATED): (0.536, 0.625),
    ("classes", "corrected-t", _REPEATED): (0.036, 0.117),
    ("classes", BEST, _REPEATED): (0.0, 0.037),
    ("classes", "paired-t", _ONCE): (0.053, 0.138),
    ("classes", "corrected-t", _ONCE): (0.008, 0.047),
    ("classes", BEST, _ONCE): (0.0, 0.033),
    ("classes", "paired-t", _THIRDS): (0.266, 0.353),
    ("classes", "corrected-t", _THIRDS): (0.005, 0.007),
    ("classes", "s-test", _POOLED): (0.101, 0.224),
    ("classes", "s-test-exact", _POOLED): (0.084, 0.197),
    ("numbers", "paired-t", _REPEATED): (0.545, 0.675),
    ("numbers", "wilcoxon", _REPEATED): (0.54, 0.655),
    ("numbers", "corrected-t", _REPEATED): (0.045, 0.125),
    ("numbers", "paired-t", _ONCE): (0.07, 0.16),
    ("numbers", "corrected-t", _ONCE): (0.015, 0.055),
}


def design_name(resampling: str, folds: int, repeats: int) -> str:
    """Return the name of a resampling design, as in `Held.design`."""
    if resampling in _RANDOM:
        return f"{repeats} random {resampling}"
    return f"{repeats} × {folds} folds" if repeats > 1 else f"{folds} folds"


def level_held(rule: str, resampling: str, repeats: int, target: str = "classes") -> Held | None:
    """Return the measured level of a rule, or of `BEST`, in the design closest to a protocol; None if not measured."""
    folds = _POOLED if rule in S_TESTS else _REPEATED if repeats > 1 else _ONCE
    design = {"folds": folds, **dict.fromkeys(_RANDOM, _THIRDS)}.get(resampling, "")
    limits = _HELD.get((target, rule, design))
    return None if limits is None else Held(*limits, design)


def against_best(cells: Sequence[CellResults], best: int, settings: ComparisonSettings) -> NDArray[np.float64]:
    """Return each method's adjusted p-value for its difference from the best."""
    # The best of many equal methods is ahead of some of them by chance. Any of the k(k - 1)/2 pairs could have been the
    # best and a worse method, so all are compared, and Holm's method adjusts their p-values. The probability that any
    # of k equal methods is called worse than the best is then at most the level.
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
        # A decision test may favour a method that does not have the best score.
        if best in (i, j) and not ahead < 0:
            result[j if i == best else i] = p_value
    return result


def _compare_pairs(
    cells: Sequence[CellResults], pairs: NDArray[np.intp], settings: ComparisonSettings
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the difference and evidence of each pair, by the configured test."""
    lengths = {len(cell.scores) for cell in cells}
    if settings.test == "corrected-t" and len(lengths) == 1 and min(lengths) >= LEAST_PAIRS:
        scores = settings.sign * np.array([cell.scores for cell in cells])
        if np.isfinite(scores).all():
            return moderated_p_values(scores, pairs, settings.ratio)
    comparisons = [compare(cells[i], cells[j], settings) for i, j in pairs.tolist()]
    differences = np.array([comparison.difference for comparison in comparisons])
    return differences, np.array([evidence(comparison, settings.test) for comparison in comparisons])


def ratio_without_repeats(cell: CellResults, ratio: float) -> float:
    """Return the ratio that gives the corrected test the variance of a single repeat, for any number of repeats."""
    # Repeats of a single split (random thirds, for example) test different rows each time and count in full.
    folds = len(cell.scores) // len(np.unique(cell.repeats))
    return ratio + 1.0 / folds - 1.0 / len(cell.scores) if folds > 1 else ratio


def evidence(comparison: Comparison, test: str) -> float:
    """Return the two-sided p-value of a comparison, or its counterpart; NaN if there is no verdict."""
    # A one-sided p-value in the direction of the data is doubled. For a posterior, it is the probability that the
    # better method is not better by more than the region of practical equivalence.
    if comparison.verdict() is None:
        return np.nan
    if isinstance(comparison, Posterior):
        return float(1.0 - np.nanmax([0.0, comparison.first, comparison.second]))
    if isinstance(comparison, DecisionTest) and test in S_TESTS:
        return min(1.0, 2.0 * comparison.p_value)
    return comparison.p_value
