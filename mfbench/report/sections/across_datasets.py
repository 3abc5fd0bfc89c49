"""All datasets together: the reference against each method, the critical-difference diagram, and all pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Section, Table
from mfbench.report.cells import DASH, in_points, interval_text, p_text, precise_text, rank_text, size_text, table_of
from mfbench.report.charts.critical_difference import critical_difference_chart
from mfbench.report.charts.win_probabilities import WINS, win_probabilities_chart
from mfbench.stats.across_datasets.overall import Overall

CERTAIN = 0.95


def section_across(overall: Overall, percent: bool) -> Section:
    """Return the section on tests across datasets, of a run or of a published table."""
    title = f"Across {counted(overall.n_datasets, 'dataset')}"
    if len(overall.against_reference):
        title += f", {overall.reference} against each method"
    chart = critical_difference_chart(overall)
    charts = [] if chart is None else [chart, win_probabilities_chart(overall.wins)]
    return Section(
        title,
        _reference_table(overall, percent),
        charts,
        notes=[*_test_notes(overall, percent), *_missing_notes(overall)],
        data={"overall": lambda: overall_data(overall)},
    )


def _reference_table(overall: Overall, percent: bool) -> list[Table]:
    """Return the reference against each method: effect, interval, p-values, probabilities, verdict."""
    frame = overall.against_reference
    if not len(frame):
        return []
    level = f"{100 * (1 - overall.alpha):g} %"
    columns = [
        "method", "rank", "mean", f"difference [{level} interval]", "detectable", "effect", "p", "p (Holm)",
        "P better", "P equal", "P worse", "verdict",
    ]  # fmt: skip
    rows = []
    for row in frame.to_dict("records"):
        verdict = Cell(f"{overall.reference} {'better' if row['effect'] > 0 else 'worse'}")
        rows.append(
            [
                row["second"],
                rank_text(overall.ranks[row["second"]]),
                precise_text(row["mean"], percent),
                *_effect(row, percent),
                *(f"{row[name]:.2f}" for name in ("better", "equal", "worse")),
                verdict if row["holm"] < overall.alpha else Cell("not significant", "missing"),
            ]
        )
    return [table_of(columns, rows)]


def _effect(row: Mapping[Any, Any], percent: bool) -> list[str]:
    """Return the entries on one comparison: interval, detectable difference, effect and p-values."""
    sizes = [interval_text(row, percent), size_text(row["detectable"], percent), f"{row['effect']:+.2f}"]
    return [*sizes, p_text(row["p_value"]), p_text(row["holm"])]


def _test_notes(overall: Overall, percent: bool) -> list[str]:
    if not overall.testable:
        return ["No test across datasets: it needs two datasets and two methods with scores."]
    family = "the methods of the table"
    if overall.chosen:
        family = "all pairs of methods, because the reference was chosen as the best of the same scores"
    return [
        *_friedman_notes(overall),
        "Tests use one value per dataset and method. Mean: mean difference. Difference: Hodges-Lehmann estimate with "
        "the interval of Wilcoxon's test. Effect: matched-pairs rank-biserial correlation. p: two-sided Wilcoxon "
        f"signed-rank test. p (Holm): the same, adjusted by Holm's method over {family}. Verdict: "
        f"whether the two methods differ significantly at α = {overall.alpha:g} after this adjustment. Detectable: "
        f"smallest mean difference that this test finds with a probability of 80 % at α/{overall.n_comparisons}, the "
        "strictest step of Holm's method, if differences vary between datasets as they do here; –: none.",
        *_best_notes(overall),
        "P: Bayesian signed-rank test; the probabilities that the reference is better, practically equal (within "
        f"{in_points(overall.rope, percent)}) and worse. {CERTAIN:g} is a common threshold.",
    ]


def _best_notes(overall: Overall) -> list[str]:
    """Return which methods are not significantly worse than the one with the best average rank."""
    if overall.pairs["detectable"].isna().all():
        return []
    best, *others = overall.not_worse
    return [
        f"Best average rank: {best}. Not significantly worse by Wilcoxon's test, adjusted by Holm's method over all "
        f"{len(overall.pairs)} pairs of methods because the best is chosen from the same scores: "
        f"{', '.join(others) or 'none'}."
    ]


def _friedman_notes(overall: Overall) -> list[str]:
    test = overall.friedman
    if test is None:
        return []
    k, n = test.n_methods, test.n_datasets
    return [
        f"Friedman χ² = {test.chi2:.1f} ({k - 1} degrees of freedom, p = {p_text(test.p_value)}), Iman-Davenport "
        f"F = {test.f:.2f} ({k - 1} and {(k - 1) * (n - 1)} degrees of freedom, p = {p_text(test.f_p_value)})."
    ]


def _missing_notes(overall: Overall) -> list[str]:
    completed, notes = overall.completed, []
    if completed.dropped:
        notes.append(f"Datasets left out because a method has no score: {', '.join(completed.dropped)}.")
    if completed.absent:
        notes.append(f"Methods left out because they have no score on any dataset: {', '.join(completed.absent)}.")
    if completed.filled:
        how = {
            "worst-rank": "the last rank and, for tests on scores, the worst score of the dataset",
            "impute-dummy": "the score of always predicting the most frequent class",
        }[completed.policy]
        notes.append(f"Cells without a score, filled with {how}: {completed.filled}.")
    return notes


def section_of_pairs(overall: Overall, percent: bool) -> Section:
    """Return all pairs of methods and the shares of wins; empty if there is nothing to test."""
    title = f"Pairs of methods across {counted(overall.n_datasets, 'dataset')}"
    if not overall.testable:
        return Section(title)
    pairs = table_of(
        ["pair", "difference [interval]", "detectable", "effect", "p", "p (Holm)"],
        [[f"{row['first']} – {row['second']}", *_effect(row, percent)] for row in overall.pairs.to_dict("records")],
        f"All {len(overall.pairs)} pairs",
    )
    shares = overall.wins.to_dict("index")
    wins = table_of(
        ["method", *map(str, shares)],
        [[name, *(DASH if other == name else f"{own[other]:.2f}" for other in shares)] for name, own in shares.items()],
        WINS,
    )
    return Section(title, [pairs, wins])


def overall_data(overall: Overall) -> dict[str, Any]:
    """Return the comparison across datasets as plain values, for JSON."""
    testable = overall.testable
    return {
        "datasets": [str(name) for name in overall.completed.scores.index],
        "dropped": overall.completed.dropped,
        "absent": overall.completed.absent,
        "filled": overall.completed.filled,
        "ranks": overall.ranks.to_dict(),
        "friedman": None if overall.friedman is None else dataclasses.asdict(overall.friedman),
        "critical_difference": overall.critical_difference if testable else None,
        "not_separated": [list(overall.ranks.index[first : last + 1]) for first, last in overall.groups]
        if testable
        else [],
        "not_worse": overall.not_worse,
        "comparisons": max(0, overall.n_comparisons),
        "against_reference": overall.against_reference,
        "pairs": overall.pairs,
        "win_probabilities": overall.wins.to_dict("index") if testable else {},
    }
