"""False-positive rates of the decision rules, on pairs of methods that are equal by construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from mfbench.stats.bayesian import correlated_t_test
from mfbench.stats.cells import CellResults, ComparisonSettings, Decisions, results_by_cell
from mfbench.stats.paired import corrected_t_test, mcnemar_test, paired_t_test, s_test, sign_test, wilcoxon_test
from mfbench.stats.rules import against_best

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (2, 5, 20)
"""Numbers of equal methods to choose the best from."""
BEST_COLUMNS = ["first", "methods", "group", "comparisons", "rejected", "frequency", "low", "high"]
COLUMNS = ["rule", "first", "second", "group", "datasets", "rejected", "frequency", "low", "high"]


@dataclass(frozen=True)
class View:
    """The results of a cell as the rules use them: scores of all folds, scores by repeat and fold, and decisions."""

    scores: NDArray[np.float64]
    by_repeat: NDArray[np.float64]
    cell: CellResults


Rejects = Callable[[ComparisonSettings, View, View], bool]  # whether a rule finds a difference on a dataset


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
                (settings.on(dataset), _view(cells[dataset, first]), _view(cells[dataset, second]))
                for dataset in members
                if _complete(cells, dataset, first) and _complete(cells, dataset, second)
            ]
            for name, rejects in rules(settings).items() if both else ():
                if _applies(name, both[0][1]):
                    count = sum(rejects(*views) for views in both)
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


def _view(cell: CellResults) -> View:
    repeats = len(np.unique(cell.repeats))
    return View(cell.scores, cell.scores.reshape(repeats, -1), cell)


def _applies(name: str, view: View) -> bool:
    """Return whether a rule applies to the design: score tests need several scores, means and pooling need folds."""
    repeats, folds = (int(size) for size in view.by_repeat.shape)
    if "first test set" in name:
        return True
    if "repetition means" in name:
        return repeats > 1 and folds > 1
    if "first repetition" in name:
        return folds > 1
    return repeats > 1 if "all folds" in name else repeats * folds > 1


def rules(settings: ComparisonSettings) -> dict[str, Rejects]:
    """Return each rule by its description; tests of decisions only if the score is their share."""
    margin = f"{settings.margin:g}" + (" sd" if settings.score.in_units else "")
    of_scores: dict[str, Rejects] = {
        "paired t, all folds": lambda on, a, b: paired_t_test(a.scores, b.scores).p_value < on.alpha,
        "Wilcoxon, all folds": lambda on, a, b: wilcoxon_test(a.scores, b.scores).p_value < on.alpha,
        "paired t, repetition means": lambda on, a, b: (
            paired_t_test(a.by_repeat.mean(axis=1), b.by_repeat.mean(axis=1)).p_value < on.alpha
        ),
        "corrected t, all folds": lambda on, a, b: corrected_t_test(a.scores, b.scores, on.ratio).p_value < on.alpha,
        "Bayesian correlated t, no ROPE": lambda on, a, b: bool(
            correlated_t_test(a.scores, b.scores, on.ratio, 0.0).verdict(on.alpha)
        ),
        f"Bayesian correlated t, ROPE {margin}": lambda on, a, b: bool(
            correlated_t_test(a.scores, b.scores, on.ratio, on.margin).verdict(on.alpha)
        ),
        "paired t, first repetition": lambda on, a, b: paired_t_test(a.by_repeat[0], b.by_repeat[0]).p_value < on.alpha,
        "corrected t, first repetition": lambda on, a, b: (
            corrected_t_test(a.by_repeat[0], b.by_repeat[0], on.ratio).p_value < on.alpha
        ),
        "sign test, first repetition": lambda on, a, b: sign_test(a.by_repeat[0], b.by_repeat[0]).p_value < on.alpha,
    }
    of_decisions: dict[str, Rejects] = {
        "s-test, normal form, pooled first repetition": lambda on, a, b: (
            s_test(a.cell.first_repeat, b.cell.first_repeat, exact=False).p_value <= on.alpha
        ),
        "s-test, exact, pooled first repetition": lambda on, a, b: (
            s_test(a.cell.first_repeat, b.cell.first_repeat).p_value <= on.alpha
        ),
        "McNemar, exact, pooled first repetition": lambda on, a, b: (
            mcnemar_test(a.cell.first_repeat, b.cell.first_repeat).p_value <= on.alpha
        ),
        "s-test, normal form, first test set": lambda on, a, b: (
            s_test(a.cell.first_test_set(), b.cell.first_test_set(), exact=False).p_value <= on.alpha
        ),
        "McNemar, exact, first test set": lambda on, a, b: (
            mcnemar_test(a.cell.first_test_set(), b.cell.first_test_set()).p_value <= on.alpha
        ),
    }
    return {**of_scores, **(of_decisions if settings.score.counts_decisions else {})}


def design_of(label: str) -> str:
    """Return a dataset's label without its seed, shared by all draws of a design."""
    short = re.sub(r",?\s*\bseed=\d+", "", label)
    return short.replace("(, ", "(").removesuffix("()")


def share(count: int, total: int) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) 95 % interval of a share."""
    interval = stats.binomtest(count, total).proportion_ci()
    return float(interval.low), float(interval.high)
