"""False-positive rates of the decision rules, on pairs of methods that are equal by construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from mfbench.stats.bayesian import correlated_t_test
from mfbench.stats.cells import CellResults, ComparisonSettings, Decisions, results_by_cell
from mfbench.stats.paired import (
    PairedTest,
    corrected_t_test,
    mcnemar_test,
    paired_t_test,
    s_test,
    sign_test,
    wilcoxon_test,
)
from mfbench.stats.rules import Comparison, against_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (2, 5, 20)
"""Numbers of equal methods to choose the best from."""
BEST_COLUMNS = ["first", "methods", "group", "comparisons", "rejected", "frequency", "low", "high"]
COLUMNS = ["rule", "first", "second", "group", "datasets", "rejected", "frequency", "low", "high"]


Part = Callable[[CellResults], "NDArray[Any]"]
Test = Callable[["NDArray[Any]", "NDArray[Any]", ComparisonSettings], Comparison]


def rejections(
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    pairs: Sequence[Sequence[str]],
    groups: Mapping[str, str],
    decisions: Decisions,
) -> pd.DataFrame:
    """Return how often each rule finds a significant difference between methods that are equal by construction."""
    cells = results_by_cell(trials, settings.metric, decisions)
    rows = []
    for group in dict.fromkeys(groups.values()):
        members = [d for d, name in groups.items() if name == group and np.isfinite(settings.ratio_on(d))]
        for first, second in pairs:
            both = [
                (settings.on(dataset), cells[dataset, first], cells[dataset, second])
                for dataset in members
                if _complete(cells, dataset, first) and _complete(cells, dataset, second)
            ]
            for name, (part, test) in rules(settings).items() if both else ():
                if _applies(name, both[0][1]):
                    count = sum(_rejects(test(part(a), part(b), own), own.alpha) for own, a, b in both)
                    rows.append(
                        [name, first, second, group, len(both), count, count / len(both), *share(count, len(both))]
                    )
    return pd.DataFrame(rows, columns=COLUMNS)


def worse_than_best(
    trials: pd.DataFrame, settings: ComparisonSettings, equal: Sequence[Sequence[str]], groups: Mapping[str, str]
) -> pd.DataFrame:
    """Return how often one of several equal methods is called significantly worse than the best."""
    cells = results_by_cell(trials, settings.metric)
    rows = []
    for group in dict.fromkeys(groups.values()):
        members = [d for d, name in groups.items() if name == group and np.isfinite(settings.ratio_on(d))]
        for methods in equal:
            whole = [d for d in members if all(_complete(cells, d, method) for method in methods)]
            for size in (size for size in SIZES if whole and size <= len(methods)):
                parts = [methods[i : i + size] for i in range(0, len(methods) - size + 1, size)]
                errors = [
                    _calls_worse([cells[dataset, method] for method in part], settings.on(dataset))
                    for dataset in whole
                    for part in parts
                ]
                count, total = sum(errors), len(errors)
                rows.append([methods[0], size, group, total, count, count / total, *share(count, total)])
    return pd.DataFrame(rows, columns=BEST_COLUMNS)


def _calls_worse(cells: Sequence[CellResults], settings: ComparisonSettings) -> bool:
    best = int(np.argmax([settings.sign * cell.scores.mean() for cell in cells]))
    return bool((against_best(cells, best, settings) < settings.alpha).any())


def _complete(cells: Mapping[tuple[str, str], CellResults], dataset: str, method: str) -> bool:
    return (dataset, method) in cells and cells[dataset, method].complete


def _rejects(comparison: Comparison, alpha: float) -> bool:
    # Not the verdict of a paired test: if most differences are zero, so is the estimate of a significant one.
    is_paired = isinstance(comparison, PairedTest)
    return comparison.p_value < alpha if is_paired else bool(comparison.verdict(alpha))


def _by_repeat(cell: CellResults) -> NDArray[np.float64]:
    return cell.scores.reshape(len(np.unique(cell.repeats)), -1)


def _applies(name: str, cell: CellResults) -> bool:
    """Return whether a rule applies to the design: score tests need several scores, means and pooling need folds."""
    repeats, folds = (int(size) for size in _by_repeat(cell).shape)
    if "first test set" in name:
        return True
    if "repetition means" in name:
        return repeats > 1 and folds > 1
    if "first repetition" in name:
        return folds > 1
    return repeats > 1 if "all folds" in name else repeats * folds > 1


def _paired(first: NDArray[Any], second: NDArray[Any], settings: ComparisonSettings) -> PairedTest:
    return paired_t_test(first, second)


def _corrected(first: NDArray[Any], second: NDArray[Any], settings: ComparisonSettings) -> PairedTest:
    return corrected_t_test(first, second, settings.ratio)


def rules(settings: ComparisonSettings) -> dict[str, tuple[Part, Test]]:
    """Return each rule by its description; tests of decisions only if the score is their share."""
    margin = f"{settings.margin:g}" + (" sd" if settings.score.in_units else "")
    folds, first_folds = attrgetter("scores"), lambda cell: _by_repeat(cell)[0]
    of_scores: dict[str, tuple[Part, Test]] = {
        "paired t, all folds": (folds, _paired),
        "Wilcoxon, all folds": (folds, lambda a, b, _: wilcoxon_test(a, b)),
        "paired t, repetition means": (lambda cell: _by_repeat(cell).mean(axis=1), _paired),
        "corrected t, all folds": (folds, _corrected),
        "Bayesian correlated t, no ROPE": (folds, lambda a, b, on: correlated_t_test(a, b, on.ratio, 0.0)),
        f"Bayesian correlated t, ROPE {margin}": (folds, lambda a, b, on: correlated_t_test(a, b, on.ratio, on.margin)),
        "paired t, first repetition": (first_folds, _paired),
        "corrected t, first repetition": (first_folds, _corrected),
        "sign test, first repetition": (first_folds, lambda a, b, _: sign_test(a, b)),
    }
    if not settings.score.counts_decisions:
        return of_scores
    pooled, first_test_set = attrgetter("first_repeat"), CellResults.first_test_set
    return of_scores | {
        "s-test, normal form, pooled first repetition": (pooled, lambda a, b, _: s_test(a, b, exact=False)),
        "s-test, exact, pooled first repetition": (pooled, lambda a, b, _: s_test(a, b)),
        "McNemar, exact, pooled first repetition": (pooled, lambda a, b, _: mcnemar_test(a, b)),
        "s-test, normal form, first test set": (first_test_set, lambda a, b, _: s_test(a, b, exact=False)),
        "McNemar, exact, first test set": (first_test_set, lambda a, b, _: mcnemar_test(a, b)),
    }


def design_of(label: str) -> str:
    """Return a dataset's label without its seed, shared by all draws of a design."""
    short = re.sub(r",?\s*\bseed=\d+", "", label)
    return short.replace("(, ", "(").removesuffix("()")


def share(count: int, total: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) 95 % interval of a share."""
    interval = stats.binomtest(count, total).proportion_ci()
    return float(interval.low), float(interval.high)
