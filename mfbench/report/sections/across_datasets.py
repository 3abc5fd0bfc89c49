"""Comparison across all datasets: mean differences, the critical-difference diagram, and tests of ranks."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from mfbench.base.text import counted, listing
from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report import cells
from mfbench.report.answer import Names, where
from mfbench.report.charts.critical_difference import critical_difference_chart
from mfbench.stats.across_datasets import Overall
from mfbench.stats.power import Power
from mfbench.stats.results import Run

CERTAIN = 0.95
PROBABILITIES = "Share of datasets on which the method of the row is better than that of the column; a tie counts half"


def section_across(overall: Overall, metric: str, score: Score, names: Names | None = None) -> Section:
    """Return the section on mean differences over datasets, for a run or a published table."""
    names = names or {label: label for label in overall.claims.methods}
    title = f"Across {counted(overall.n_datasets, 'dataset')}"
    chart = critical_difference_chart(overall)
    return Section(
        title,
        _claims_tables(overall, score, names),
        [] if chart is None else [chart],
        notes=[*cells.notes_of_units(metric, score), *_claims_notes(overall, score, names), *_missing_notes(overall)],
        data={"overall": lambda: overall_data(overall)},
    )


def _claims_tables(overall: Overall, score: Score, names: Names) -> list[Table]:
    """Return the methods, best mean first, on these datasets and on datasets like these."""
    claims, percent = overall.claims, score.percent
    if len(claims.methods) < 2 or not len(claims.scores):
        return []
    compared = str(overall.reference) if overall.reference in claims.methods else claims.methods[0]
    means, groups = overall.completed.scores.mean(axis=0), claims.groups(claims.these, "holm")
    own = claims.against(compared, claims.these).set_index("second").to_dict("index")
    rows: list[list[object]] = []
    for method in claims.methods:
        lead = [names[method], cells.size_cell(means[method], percent), groups[method]]
        row = own.get(method)
        rows.append([*lead, *(_of_these(row, overall, percent) if row else [Cell("compared"), *[cells.DASH] * 4])])
    ahead = f"{names[compared]} ahead by"
    columns = ["method", "mean", "group", ahead, "without any one", "p", "tau", "better/within/worse"]
    tables = [cells.table_of(columns, rows, f"On {where(overall)}")]
    if claims.is_enough:
        groups = claims.groups(claims.like_these, "adjusted")
        own = claims.against(compared, claims.like_these).set_index("second").to_dict("index")
        rows = []
        for method in claims.methods:
            row = own.get(method)
            last = _of_others(row, "adjusted" if claims.reference is None else "named", percent) if row else None
            rows.append([names[method], groups[method], *(last or [Cell("compared"), *[cells.DASH] * 3])])
        columns = ["method", "group", f"{ahead}, capped", "p", "new dataset: better", "new dataset: worse"]
        tables.append(cells.table_of(columns, rows, "On datasets like these"))
    return tables


def _of_these(row: Mapping[Any, Any], overall: Overall, percent: bool) -> list[object]:
    return [
        _interval(row, percent),
        _range(row["least"], row["most"], percent) if overall.n_datasets > 1 else cells.DASH,
        cells.p_text(row["holm"]),
        cells.size_cell(row["tau"], percent),
        "/".join(f"{row[name]:g}" for name in ("better", "within", "worse")),
    ]


def _of_others(row: Mapping[Any, Any], column: str, percent: bool) -> list[object]:
    shares = [f"{row[name]:.2f} [{row[f'{name}_low']:.2f}, {row[f'{name}_high']:.2f}]" for name in ("better", "worse")]
    return [_interval(row, percent), cells.p_text(row[column]), *shares]


def _interval(row: Mapping[Any, Any], percent: bool) -> str:
    middle = cells.size_text(row["mean"], percent, "+")
    return f"{middle} {_range(row['low'], row['high'], percent)}" if np.isfinite(row["low"]) else middle


def _range(low: float, high: float, percent: bool) -> str:
    return f"[{cells.size_text(low, percent, '+')}, {cells.size_text(high, percent, '+')}]"


def _claims_notes(overall: Overall, score: Score, names: Names) -> list[str]:
    claims = overall.claims
    if len(claims.methods) < 2 or not len(claims.scores):
        return ["No comparison: it needs a dataset and two methods with scores."]
    margin, level = cells.in_points(claims.margin, score), f"{100 * (1 - claims.alpha):g} %"
    notes = [
        "Methods that share a letter are not separated, which does not make them equal. On these datasets: mean "
        f"difference with the {level} interval of a single pair, from the errors that folds leave; p and groups with "
        "Holm's adjustment over all pairs of methods. Without any one: range of the difference if a dataset is left "
        "out. Tau: standard deviation of the true differences. Better/within/worse: number of datasets with a "
        f"difference above, within and below {margin}."
    ]
    if claims.is_enough:
        pairs = f"over those of {names[claims.reference]}, in groups over all" if claims.reference else "over all pairs"
        cap = f"capped at {cells.in_points(claims.cap, score)}"
        notes.append(
            f"On datasets like these: mean difference, {cap}, in a population from which these are taken to be drawn; "
            f"p by sign flips of whole datasets, adjusted step-down {pairs}. New dataset: share of datasets that, "
            f"measured in the same way, have a difference of more than {margin}, with its {level} interval."
        )
    related: dict[str, list[str]] = {}
    for label, family in zip(claims.scores.index, claims.families, strict=True):
        related.setdefault(family, []).append(str(label))
    lists = [listing(labels) for labels in related.values() if len(labels) > 1]
    if lists and claims.is_enough:
        notes.append(f"Related datasets, whose signs flip together: {'; '.join(lists)}.")
    equal = claims.these[claims.these["equal"] < claims.alpha]
    if len(equal):
        pairs = "; ".join(f"{names[a]} and {names[b]}" for a, b in zip(equal["first"], equal["second"], strict=True))
        notes.append(f"Equal on these datasets within {margin} (two one-sided tests with Holm's adjustment): {pairs}.")
    return notes


def _reference_table(overall: Overall, percent: bool) -> list[Table]:
    """Return the table of the reference against each method: effect, interval, p-values, probabilities, verdict."""
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
                cells.rank_text(overall.ranks[row["second"]]),
                cells.precise_text(row["mean"], percent),
                *_effect(row, percent),
                *(f"{row[name]:.2f}" for name in ("better", "equal", "worse")),
                verdict if row["holm"] < overall.alpha else Cell("not significant", "missing"),
            ]
        )
    return [cells.table_of(columns, rows)]


def _effect(row: Mapping[Any, Any], percent: bool) -> list[str]:
    """Return the cells of one comparison: interval, detectable difference, effect and p-values."""
    sizes = [cells.interval_text(row, percent), cells.size_text(row["detectable"], percent), f"{row['effect']:+.2f}"]
    return [*sizes, cells.p_text(row["p_value"]), cells.p_text(row["holm"])]


def _rank_notes(overall: Overall, score: Score) -> list[str]:
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
        "P: Bayesian signed-rank test; the probabilities that the reference is better, practically equal (within "
        f"{cells.in_points(overall.rope, score)}) and worse. {CERTAIN:g} is a common threshold.",
    ]


def _friedman_notes(overall: Overall) -> list[str]:
    test = overall.friedman
    if test is None:
        return []
    k, n = test.n_methods, test.n_datasets
    return [
        f"Friedman χ² = {test.chi2:.1f} ({k - 1} degrees of freedom, p = {cells.p_text(test.p_value)}), Iman-Davenport "
        f"F = {test.f:.2f} ({k - 1} and {(k - 1) * (n - 1)} degrees of freedom, p = {cells.p_text(test.f_p_value)})."
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


def section_of_ranks(overall: Overall, score: Score) -> Section:
    """Return the tests of ranks, all pairs of methods and the shares of wins; empty if nothing can be tested."""
    title = f"Ranks across {counted(overall.n_datasets, 'dataset')}"
    if not overall.testable:
        return Section(title)
    pairs = cells.table_of(
        ["pair", "difference [interval]", "detectable", "effect", "p", "p (Holm)"],
        [
            [f"{row['first']} – {row['second']}", *_effect(row, score.percent)]
            for row in overall.pairs.to_dict("records")
        ],
        f"All {len(overall.pairs)} pairs",
    )
    shares = overall.wins.to_dict("index")
    rows = [
        [name, *(cells.DASH if other == name else f"{own[other]:.2f}" for other in shares)]
        for name, own in shares.items()
    ]
    tables = [
        *_reference_table(overall, score.percent),
        pairs,
        cells.table_of(["method", *map(str, shares)], rows, PROBABILITIES),
    ]
    return Section(title, tables, notes=_rank_notes(overall, score))


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
        "not_worse": overall.claims.not_worse,
        "cap": overall.cap,
        "families": dict(zip(overall.claims.scores.index, overall.claims.families, strict=True)),
        "these_datasets": overall.claims.these,
        "like_these": overall.claims.like_these,
        "comparisons": max(0, overall.n_comparisons),
        "against_reference": overall.against_reference,
        "pairs": overall.pairs,
        "win_probabilities": overall.wins.to_dict("index") if testable else {},
    }


NONE = Cell("none", "missing")


def power_report(run: Run, power: Power) -> Report:
    """Return the power analysis of a run as a report of two sections."""
    settings = power.settings
    target = f"{cells.in_points(power.difference, settings.score)} ({settings.metric})"
    return Report(
        run.meta.title,
        f"What finds a true difference of {target} from {settings.reference} with a probability of "
        f"{100 * power.power:g} % at α = {settings.alpha:g}, if scores vary as in this run",
        [_on_datasets(power), _across(power)],
        {
            "title": run.meta.title,
            "metric": settings.metric,
            "reference": settings.reference,
            "difference": power.difference,
            "power": power.power,
            "alpha": settings.alpha,
            "comparisons": power.n_comparisons,
        },
    )


def _on_datasets(power: Power) -> Section:
    percent = power.settings.score.percent
    columns = [
        "method", "dataset", "rows", "folds", "difference", "detectable", "with any repeats", "repeats needed",
        "rows needed",
    ]  # fmt: skip
    rows = []
    for row in power.on_datasets.to_dict("records"):
        design = f"{row['folds']} × {row['repeats']}"
        difference = cells.precise_text(row["difference"], percent)
        rows.append([row["method"], row["dataset"], row["rows"], design, difference, *_outlook(row, percent)])
    table = cells.table_of(columns, rows)
    notes = [
        "Detectable: smallest true difference that the corrected resampled t-test (on a single test set: McNemar's "
        "test) finds with these folds and repeats. With any repeats: the same with unlimited repeats. Repeats share "
        "their training rows, so the part n_test/n_train of the variance remains however many there are; 'none' means "
        "that no number of repeats suffices.",
        "Rows needed: of a dataset of the same kind, with the folds and repeats of this run, if the variance of a "
        "fold's score falls as 1/rows.",
    ]
    unknown = power.on_datasets[power.on_datasets["reason"] != ""].to_dict("records")
    silent = [f"{row['dataset']} ({row['method']}: {row['reason']})" for row in unknown]
    if silent:
        notes.append(f"–: nothing is known about {', '.join(silent)}.")
    data = {"on_datasets": lambda: power.on_datasets}
    if not len(power.on_datasets):
        return Section("On one dataset", notes=["No dataset on which two methods have all scores."], data=data)
    return Section(f"On one dataset, {power.settings.reference} against each method", [table], notes=notes, data=data)


def _outlook(row: dict[Any, Any], percent: bool) -> list[Cell]:
    """Return a row's cells on detectable differences and requirements."""
    if row["reason"]:
        return [cells.DASH] * 4
    single = row["unlimited"] != row["unlimited"]  # a single test set has no spread between repeats
    repeats = cells.DASH if single else _needed(row["repeats_needed"], NONE)
    sizes = [Cell(cells.size_text(row["detectable"], percent)), cells.size_cell(row["unlimited"], percent)]
    return [*sizes, repeats, _needed(row["rows_needed"], cells.DASH)]


def _needed(number: int | None, otherwise: Cell) -> Cell:
    return otherwise if number is None else Cell(f"{number:,}")


def _across(power: Power) -> Section:
    percent = power.settings.score.percent
    rows = []
    for row in power.across.to_dict("records"):
        sizes = [cells.size_text(row["sd"], percent), cells.size_text(row["detectable"], percent)]
        difference = cells.precise_text(row["difference"], percent)
        rows.append([row["method"], row["datasets"], difference, *sizes, _needed(row["datasets_needed"], cells.DASH)])
    table = cells.table_of(["method", "datasets", "difference", "sd", "detectable", "datasets needed"], rows)
    data = {"across": lambda: power.across}
    if not table.rows:
        return Section("Across datasets", notes=["No spread between datasets: it needs two of them."], data=data)
    note = (
        f"By Wilcoxon's signed-rank test at α/{power.n_comparisons}, the strictest step of Holm's method over "
        f"{counted(power.n_comparisons, 'comparison')}, if differences between datasets are normal with the standard "
        "deviation sd of this run. –: this number of datasets allows no significant result, or there is no spread."
    )
    return Section(f"Across datasets, {power.settings.reference} against each method", [table], notes=[note], data=data)


def calibration(run: Run) -> Section:
    """Return the section on the false rejection rate of each rule at a level."""
    rejections, alpha = run.rejections, run.settings.alpha
    title = f"Rejected at α = {alpha:g}, percent of datasets [95 % interval]"
    data = {"rejections": lambda: rejections, "worse_than_best": lambda: run.worse_than_best}
    if not len(rejections):
        return Section(title, notes=["No pair of methods is complete on any dataset yet."], data=data)
    level = 100 * alpha
    notes = [
        "The two methods of a pair are equal by construction, so every rejection is an error: a rule that holds its "
        f"level rejects on {level:g} % of the datasets. The s-tests and the Bayesian test decide one-sided, in the "
        f"direction that the data suggest, so their nominal share is {2 * level:g} % (without a ROPE). The interval is "
        "the exact interval of a proportion and describes the Monte-Carlo error of this simulation.",
        "Worse than the best: the share of datasets on which any of the equal methods is called significantly worse "
        f"than the one with the best mean; at most {level:g} % are allowed. A long list of methods is divided into "
        "lists of 2, 5 and 20, each of which counts once per dataset.",
    ]
    best = cells.table_of(
        ["equal methods", "number", "datasets", "comparisons", "rejected"],
        [
            [f"{row['first']} …", row["methods"], row["group"], row["comparisons"], _share(row)]
            for row in run.worse_than_best.to_dict("records")
        ],
        "Worse than the best",
    )
    splitters = dict.fromkeys(own.splitter for own in run.meta.splits.values() if not own.resampling)
    if splitters:
        notes.append(
            f"Reports give no verdict on folds by {listing(list(splitters))}; this is what the rules would do."
        )
    return Section(title, [_table(rejections), *([best] if best.rows else [])], notes=notes, data=data)


def _table(frame: pd.DataFrame) -> Table:
    by_pair: dict[tuple[str, str, str], dict[str, dict[Any, Any]]] = {}
    for row in frame.to_dict("records"):
        by_pair.setdefault((row["first"], row["second"], row["group"]), {})[row["rule"]] = row
    pairs, rules = by_pair.values(), list(dict.fromkeys(frame["rule"]))
    rows = [[rule, *(_share(own[rule]) if rule in own else "–" for own in pairs)] for rule in rules]
    counts = ["datasets", *(own[rules[0]]["datasets"] for own in pairs)]
    headings = [f"{first} – {second}, {group}" for first, second, group in by_pair]
    return cells.table_of(["rule", *headings], [*rows, counts], footer_rows=1)


def _share(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['frequency']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]"
