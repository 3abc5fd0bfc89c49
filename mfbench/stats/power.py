"""Power analysis: the differences that a run can detect, and the repeats, rows and datasets that smaller ones need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from mfbench.errors import UsageError
from mfbench.stats.across_datasets import Overall, datasets_needed, detectable_across, first_of
from mfbench.stats.cells import CellResults, ComparisonSettings, Decisions, results_by_cell
from mfbench.stats.paired import LEAST_PAIRS, DecisionTest, corrected_t_test, detectable_by_mcnemar, noncentrality
from mfbench.stats.rules import compare, sound_test

MOST_REPEATS = 1_000_000
ON_DATASETS = [
    "method", "dataset", "rows", "folds", "repeats", "difference", "detectable", "unlimited", "repeats_needed",
    "rows_needed", "reason",
]  # fmt: skip
ACROSS = ["method", "datasets", "difference", "sd", "detectable", "datasets_needed"]


@dataclass(frozen=True)
class Power:
    """The differences that a run can detect, and what a difference of a given size needs."""

    difference: float  # difference to detect, in metric units; of scores in units, a share of the target's spread
    power: float  # probability of detecting it
    settings: ComparisonSettings
    n_comparisons: int  # number of comparisons across datasets for Holm's adjustment
    # One row per method and dataset, comparing the reference with the method by the sound rule: method, dataset, rows,
    # folds (per repeat), repeats, difference (observed), detectable (smallest true difference detected), unlimited (the
    # same for infinitely many repeats), repeats_needed and rows_needed (totals; None if no number suffices or it is
    # unknown), reason (why there is no result).
    on_datasets: pd.DataFrame
    # One row per method, comparing the reference with the method by Wilcoxon's test: method, datasets, difference
    # (mean), sd (of the differences over datasets), detectable, datasets_needed (total; None as above).
    across: pd.DataFrame


def power_analysis(
    trials: pd.DataFrame,
    overall: Overall,
    settings: ComparisonSettings,
    methods: Sequence[str],
    rows: Mapping[str, int],
    difference: float,
    power: float,
    decisions: Decisions | None = None,
) -> Power:
    """Plan from the observed spread of a run's differences."""
    if not 0.0 < difference < np.inf:
        raise UsageError(f"difference is {difference:g}; it must be a number above 0")
    if not settings.alpha < power < 1.0:
        raise UsageError(f"power is {power:g}; it must lie between the level, {settings.alpha:g}, and 1")
    cells = results_by_cell(trials, settings.metric, decisions)
    datasets = list(dict.fromkeys(dataset for dataset, _ in cells))
    lines = []
    for method in methods:
        for dataset in datasets:
            first, second = cells.get((dataset, str(settings.reference))), cells.get((dataset, method))
            if first is not None and second is not None and first.complete and second.complete:
                own, unit = settings.on(dataset), settings.unit_on(dataset)
                values = _on_dataset(first, second, own, rows[dataset], difference * unit, power)
                lines.append([method, dataset, *values])
    on_datasets = _frame(lines, ON_DATASETS, ("difference", "detectable", "unlimited"))
    across = _across(overall, methods, difference, power)
    if on_datasets["detectable"].isna().all() and across["detectable"].isna().all() and across["sd"].isna().all():
        raise UsageError(_why_not(on_datasets, settings))
    return Power(difference, power, settings, overall.n_comparisons, on_datasets, across)


def others_of(methods: Sequence[str], reference: str | None, chosen: Sequence[str] | None = None) -> list[str]:
    """Return the methods that a reference is compared with: the chosen ones, or all others."""
    if chosen is None:
        return [name for name in methods if name != reference]
    if reference in chosen:
        raise UsageError(f"{reference} is the reference; name a method to compare it with")
    return list(dict.fromkeys(chosen))


def _why_not(on_datasets: pd.DataFrame, settings: ComparisonSettings) -> str:
    if not len(on_datasets):
        return (
            f"nothing to plan from: no dataset on which {settings.reference} and another method have all their scores"
        )
    reasons = " or ".join(dict.fromkeys(reason for reason in on_datasets["reason"] if reason))
    return f"nothing to plan from: no comparison with {settings.reference} has a spread ({reasons or 'no test'})"


def _on_dataset(
    first: CellResults, second: CellResults, settings: ComparisonSettings, rows: int, difference: float, power: float
) -> list[object]:
    """Return the columns of `Power.on_datasets` after method and dataset."""
    repeats = len(np.unique(first.repeats))
    folds = len(first.scores) // repeats
    observed = float(np.mean(first.scores - second.scores))
    design = [rows, folds, repeats, observed]
    if sound_test(first, settings) == "mcnemar":
        test = compare(first, second, settings, "mcnemar")
        assert isinstance(test, DecisionTest)
        n_discordant = test.first_only + test.second_only
        now = detectable_by_mcnemar(n_discordant, test.n_rows, settings.alpha, power)
        reason = "" if np.isfinite(now) else "the methods differ on too few rows"
        return [*design, now, np.nan, None, _rows_needed(rows, now, difference), reason]
    paired = (
        corrected_t_test(first.scores, second.scores, settings.ratio, settings.alpha) if len(first.scores) > 1 else None
    )
    if paired is None or not np.isfinite(paired.detectable):
        reason = f"fewer than {LEAST_PAIRS} pairs" if paired is None else paired.reason
        return [*design, np.nan, np.nan, None, None, reason]
    spread = float(np.std(first.scores - second.scores, ddof=1))
    plan = RepeatedTest(spread, folds, settings.ratio, settings.alpha, power)
    now = plan.detectable(repeats)
    # Independent rounds generate new rows each time, so the number of rows does not determine their spread.
    rows_needed = _rows_needed(rows, now, difference) if settings.ratio else None
    return [*design, now, plan.unlimited, plan.repeats_needed(difference), rows_needed, ""]


def _rows_needed(rows: int, detectable: float, difference: float) -> int | None:
    """Return the rows needed to detect a difference, if the variance of a fold's score is proportional to 1/rows."""
    return int(np.ceil(rows * (detectable / difference) ** 2 - 1e-9)) if np.isfinite(detectable) else None


@dataclass(frozen=True)
class RepeatedTest:
    """The corrected resampled t-test on one dataset, with a hypothetical number of repeats."""

    spread: float  # standard deviation of the differences between folds
    folds: int  # folds per repeat
    ratio: float  # test rows over training rows
    alpha: float
    power: float

    def detectable(self, repeats: int) -> float:
        """Return the smallest true difference that the test detects with a number of repeats."""
        count = self.folds * repeats
        error = np.sqrt((1.0 / count + self.ratio) * self.spread**2)
        return float(noncentrality(count - 1, self.alpha, self.power) * error)

    @property
    def unlimited(self) -> float:
        """The limit for infinitely many repeats: shared training rows leave the variance term n_test/n_train."""
        quantiles = special.ndtri(1.0 - self.alpha / 2.0) + special.ndtri(self.power)
        return float(quantiles * self.spread * np.sqrt(self.ratio))

    def repeats_needed(self, difference: float) -> int | None:
        """Return the smallest number of repeats that detects a difference, or None."""
        repeats = range(-(-LEAST_PAIRS // self.folds), MOST_REPEATS + 1)
        return first_of(repeats, lambda number: self.detectable(number) <= difference)


def _across(overall: Overall, methods: Sequence[str], difference: float, power: float) -> pd.DataFrame:
    alpha = overall.alpha / max(1, overall.n_comparisons)
    scores, rows = overall.completed.scores, []
    for method in methods:
        if overall.reference in scores.columns and method in scores.columns and overall.n_datasets > 1:
            differences = np.round(scores[overall.reference] - scores[method], 12)
            sd = float(differences.std(ddof=1))
            now = detectable_across(sd, overall.n_datasets, alpha, power)
            needed = datasets_needed(sd, difference, alpha, power)
            rows.append([method, overall.n_datasets, float(differences.mean()), sd if sd > 0 else np.nan, now, needed])
    return _frame(rows, ACROSS, ("difference", "sd", "detectable"))


def _frame(rows: list[list[object]], columns: list[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame whose integer columns stay integers despite None."""
    return pd.DataFrame(rows, columns=columns, dtype=object).astype(dict.fromkeys(numbers, float))
