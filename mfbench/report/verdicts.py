"""Verdicts on single datasets: the underlying tests, and the notes that describe them.

The tests depend on how the test sets of a dataset relate: rounds are independent, folds share training rows, and a
single test set allows no test of fold scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mfbench.base.text import listing
from mfbench.model.evaluation import Score
from mfbench.model.sections import Cell
from mfbench.report.cells import MARK, NO_VERDICT_MARK, precise_text
from mfbench.run.store.metadata import RecordedProtocol
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.paired import IDENTICAL, UNMET
from mfbench.stats.results import Run
from mfbench.stats.rules import BEST, LEVEL, RULES, S_TESTS, design_name, level_held
from mfbench.stats.summary import KINDS, NO_VERDICT, VERDICTS

MODERATED = " with variances moderated over all pairs of methods"
CHOICE = ", with Holm's adjustment over all pairs of methods, because the best is chosen from the same scores"

_SOUND_TITLES = {
    "independent": "paired t-test",
    "single": "exact McNemar test",
    "overlapping": "corrected resampled t-test",
}


def relation_of_test_sets(run: Run) -> str:
    """Return how the test sets of a dataset relate to each other: a key of `_SOUND_TITLES`."""
    if run.detects:
        return "independent"
    return "single" if run.folds_per_dataset == 1 else "overlapping"


def sound_test(run: Run) -> str:
    """Return the name of the test that is valid on a dataset."""
    return _SOUND_TITLES[relation_of_test_sets(run)]


def verdict_columns(run: Run) -> list[tuple[str, str]]:
    """Return the columns of wins, ties and losses: the heading of each, and its prefix in the summary."""
    settings, relation = run.settings, relation_of_test_sets(run)
    test = settings.test
    if relation == "independent":
        # The ordinary paired test is valid here, so the published and the sound verdict agree.
        return [("W/T/L", "sound_")]
    if relation == "single":
        own = RULES[test].of_decisions and test != "mcnemar"
        return [("W/T/L", "sound_"), *([(f"{test} W/T/L", "")] if own else [])]
    columns = [("papers' rule W/T/L", "published_"), ("sound W/T/L", "sound_")]
    if test not in (settings.published_test, "corrected-t"):
        columns.append((f"{test} W/T/L", ""))
    return columns


def verdict_cell(row: Mapping[Any, Any], prefix: str, reference: str | None = None) -> Cell:
    """Return wins, ties and losses as "3/1/0", or as "3/1/0 (2)" if two comparisons have no verdict."""
    if row["method"] == reference:
        return Cell("reference")
    counts = "/".join(str(int(row[f"{prefix}{verdict}"])) for verdict in VERDICTS)
    open_ones = int(row[f"{prefix}no_verdict"])
    return Cell(f"{counts} ({open_ones})" if open_ones else counts)


def verdict_notes(run: Run) -> list[str]:
    """Return the sentences that explain marks and verdicts."""
    settings, verdicts = run.settings, run.wins_ties_losses()
    relation, limits = relation_of_test_sets(run), [*_limits(run), *_untested(run, verdicts)]
    if relation == "independent":
        return [*_notes_of_rounds(settings), *limits]
    counts = f"W/T/L: number of datasets on which {settings.reference} wins, ties and loses against the method"
    level = f"at α = {settings.alpha:g}"
    hint = "A verdict on a single dataset is weak evidence; rely on the comparison over datasets."
    if relation == "single":
        no_test = "A single test set gives no spread between folds, so scores of folds cannot be tested"
        if not settings.score.counts_decisions:
            return [
                f"Bold: best mean of the dataset. {no_test}, and tests of decisions compare accuracies, not "
                f"{settings.metric}: there is no verdict on a dataset.",
                *limits,
            ]
        return [
            _marks(settings, "mcnemar" if not RULES[settings.test].of_decisions else settings.test),
            f"{counts}, {level}, by the {RULES['mcnemar'].title}. {no_test}.",
            *limits,
            hint,
        ]
    return [
        _marks(settings, settings.test),
        f"{counts}, {level}. Papers' rule: our count by the test of the papers, the "
        f"{RULES[settings.published_test].title}. Sound: by the {RULES['corrected-t'].title}.",
        *_single_test_sets(settings.score, run.compared, verdicts),
        *_levels(settings, run.protocol, run.meta.task.target),
        *limits,
        hint,
    ]


def _limits(run: Run) -> list[str]:
    """Return the sentences on the limits of the verdicts: small differences, and cases without a verdict."""
    notes, verdicts = [], run.wins_ties_losses()
    if verdicts["detectable"].notna().any():
        test = _SOUND_TITLES[relation_of_test_sets(run)]
        notes.append(
            f"Detectable: smallest true difference from {run.settings.reference} that the {test} finds with a "
            "probability of 80 %; median over datasets. A tie does not exclude smaller differences; "
            "'mfbench power' shows how much more data would find them."
        )
    columns = [KINDS[prefix] for _, prefix in verdict_columns(run)]
    without = verdicts[(verdicts[columns] == NO_VERDICT).any(axis=1)]
    if len(without):
        reasons = "; ".join(f"{reason!s}: {_places(rows)}" for reason, rows in without.groupby("reason", sort=False))
        notes.append(
            f"W/T/L in brackets: number of datasets without a verdict, because no test is possible ({reasons})."
        )
    identical = verdicts[verdicts["reason"] == IDENTICAL]
    if len(identical):
        notes.append(f"Ties without evidence, because all scores are identical: {_places(identical)}.")
    if without_p_value(run.scores).any():
        notes.append(f"{NO_VERDICT_MARK}: no verdict on the difference from the best.")
    return notes


def _untested(run: Run, verdicts: pd.DataFrame) -> list[str]:
    """Return a sentence on each dataset for whose splits no test is valid, with what holds: means and ranges."""
    notes, settings = [], run.settings
    for dataset, rows in verdicts[verdicts["reason"] == UNMET].groupby("dataset", sort=False):
        own = run.compared[run.compared["dataset"] == dataset].pivot(
            index=["repeat", "fold"], columns="method", values=settings.metric
        )
        percent, texts = settings.score.percent, []
        for name in rows["method"]:
            apart = own[settings.reference] - own[name]
            mean, low, high = (precise_text(value, percent) for value in (apart.mean(), apart.min(), apart.max()))
            texts.append(f"{name} {mean} ({low} to {high})")
        notes.append(
            f"{dataset} is split by {run.meta.splits[str(dataset)].splitter}, and tests of fold scores assume a random "
            f"resampling, so there is no verdict. What holds: {settings.metric} of {settings.reference} minus that of "
            f"the method{' in percent' if percent else ''}, mean and range over folds: {', '.join(texts)}."
        )
    return notes


def without_p_value(scores: pd.DataFrame) -> pd.Series[bool]:
    """Return the complete cells that no test can compare with the best of their dataset."""
    return scores["complete"].astype(bool) & ~scores["best"].astype(bool) & scores["p_best"].isna()


def _places(rows: pd.DataFrame) -> str:
    """Format datasets, each with its methods: "iris (1NN, REL), wine (1NN)"."""
    methods: dict[str, list[str]] = {}
    for dataset, method in zip(rows["dataset"], rows["method"], strict=True):
        methods.setdefault(str(dataset), []).append(str(method))
    return ", ".join(f"{dataset} ({', '.join(names)})" for dataset, names in methods.items())


def _notes_of_rounds(settings: ComparisonSettings) -> list[str]:
    return [
        f"Bold: best mean of the dataset. {MARK}: not significantly worse than the best{CHOICE}. W/T/L: number of "
        f"datasets on which {settings.reference} wins, ties and loses against the method. All at α = "
        f"{settings.alpha:g} by the paired t-test over rounds; rounds are independent, so the test needs no "
        "correction.",
        f"W/T/L have no correction for multiple testing: of the pairs of methods that do not differ, about "
        f"{100 * settings.alpha:g} % are expected to differ significantly by chance.",
    ]


def _single_test_sets(score: Score, compared: pd.DataFrame, verdicts: pd.DataFrame) -> list[str]:
    """Return the sentence on datasets with one common fold, on which fold scores are not tested."""
    folds = compared.groupby(["dataset", "method"], sort=False).size().groupby("dataset", sort=False).max()
    tested = verdicts.query("sound != @NO_VERDICT")["dataset"]
    single = [str(dataset) for dataset in dict.fromkeys(tested) if folds[dataset] == 1]
    if not single or not score.counts_decisions:
        return []
    return [
        f"On {listing(single)} methods are compared on a single test set: verdicts and detectable differences are by "
        f"the {RULES['mcnemar'].title}."
    ]


def _marks(settings: ComparisonSettings, test: str) -> str:
    if settings.test in S_TESTS:
        return (
            f"Bold: best mean of the dataset. ≫ and ≪: better and worse than {settings.reference} at level 0.01; > "
            f"and <: at level 0.05; =: no significant difference; by the {RULES[settings.test].title}."
        )
    return (
        f"Bold: best mean of the dataset. {MARK}: not significantly worse than the best at α = "
        f"{settings.alpha:g} by the {RULES[test].title}{MODERATED * (test == 'corrected-t')}{CHOICE}."
    )


def _levels(settings: ComparisonSettings, protocol: RecordedProtocol, target: str) -> list[str]:
    """Return the sentence on the actual levels of the report's tests, and whether its own design was measured."""
    kind, repeats = protocol.resampling, protocol.repeats
    if protocol.splitter:
        return []  # docs/statistics.md has the measured levels
    rules = dict.fromkeys((settings.published_test, "corrected-t", settings.test))
    levels = {rule: level for rule in rules if (level := level_held(rule, kind, repeats, target))}
    best = level_held(BEST, kind, repeats, target)
    if best is not None and settings.test == "corrected-t":
        levels["any of 2 to 20 methods called worse than the best"] = best
    if not levels:
        return []
    texts = [f"{rule} {100 * held.low:.0f} to {100 * held.high:.0f} % ({held.design})" for rule, held in levels.items()]
    own = design_name(kind, protocol.folds, repeats)
    other = any(held.design.replace(" pooled", "") != own for held in levels.values())
    return [
        f"Actual level at a nominal {100 * LEVEL:g} %, measured on pairs of methods that are equal by construction: "
        f"{'; '.join(texts)}. The suite null-calibration{'-numbers' if target == 'numbers' else ''} repeats the "
        "measurement."
        + (f" The levels of this run's design, {own}, were not measured and may differ." if other else "")
    ]
