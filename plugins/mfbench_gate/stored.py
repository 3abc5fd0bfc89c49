"""The comparison of two stored results: scores of the same folds are judged, times and memory are a trend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from mfbench.base.untrusted import plain_text
from mfbench.errors import UsageError
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.suite.forms import KINDS
from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Cell, Comparison, Omission, Verdict
from mfbench_gate.coverage import lost_trials, one_sided, select, why_folds_differ
from mfbench_gate.limits import MEMORY, TIME, Limits
from mfbench_gate.pairs import score_pairs
from mfbench_gate.readers.result import Place, StoredResult
from mfbench_gate.readers.runs import TIMING_RUN
from mfbench_gate.scores import changed_methods, judge_scores
from mfbench_gate.texts import changed_versions
from mfbench_gate.trends import trend_cells, why_trend

LABEL_WIDTH = 300
MOST_NAMED = 3


def compare_stored(
    base: StoredResult,
    head: StoredResult,
    limits: Limits,
    *,
    level: float = 0.05,
    only: Sequence[str] = (),
    undecided_ok: bool = False,
) -> Comparison:
    """Compare two stored results of one kind."""
    if base.kind != head.kind:
        kinds = f"{base.side.name} is a {base.kind} and {head.side.name} is a {head.kind}"
        raise UsageError(f"{kinds}; only results of one kind compare")
    title = head.title if base.title == head.title else f"{base.title} and {head.title}"
    comparison = Comparison(base.side, head.side, title, level=level, undecided_ok=undecided_ok)
    if base.run is None or head.run is None:
        _compare_benchmarks(comparison, base, head, only)
    else:
        _compare_runs(comparison, base, head, base.run, head.run, limits, only)
    if any(cell.verdict is Verdict.TREND and cell.unit for cell in comparison.cells):
        comparison.notes.append(why_trend(base, head))
    comparison.notes += [*_limit_notes(comparison, limits), *_version_notes(base, head)]
    return _with_printable_names(comparison)


def _compare_benchmarks(comparison: Comparison, base: StoredResult, head: StoredResult, only: Sequence[str]) -> None:
    """Add the benchmarks of two files to a comparison."""
    names = [[place.method for place in side.times] for side in (base, head)]
    (kept,) = select([names[0] + names[1]], only)
    base, head = (
        replace(side, times={place: times for place, times in side.times.items() if place.method in kept})
        for side in (base, head)
    )
    comparison.cells = trend_cells(base, head)
    if not comparison.cells:
        there = ", and ".join(f"{side.side.name} has {_some(list(side.times))}" for side in (base, head))
        raise UsageError(f"{base.side.name} and {head.side.name} have no benchmark in common: {there}")
    comparison.omissions = [
        *one_sided("benchmark", [place.method for place in base.times], [place.method for place in head.times]),
        *(
            Omission(omission.name, f"In {side}: {omission.reason}")
            for side, result in (("base", base), ("head", head))
            for omission in result.omissions
        ),
    ]


def _some(places: Sequence[Place]) -> str:
    """Return the first benchmarks, and how many there are."""
    names = ", ".join(plain_text(place.method, LABEL_WIDTH) for place in places[:MOST_NAMED])
    return f"{names}, … ({len(places)} in all)" if len(places) > MOST_NAMED else names or "none that can be read"


def _compare_runs(
    comparison: Comparison,
    base: StoredResult,
    head: StoredResult,
    before: Run,
    after: Run,
    limits: Limits,
    only: Sequence[str],
) -> None:
    """Add the scores, times and memory of two runs to a comparison."""
    columns = ("dataset", "method")
    labels = [[list(dict.fromkeys(run.outcomes[column])) for column in columns] for run in (before, after)]
    datasets, methods = select([[*labels[0][number], *labels[1][number]] for number in (0, 1)], only)
    outcomes = [run.outcomes[_within(run.outcomes, datasets, methods)] for run in (before, after)]
    names = [[list(dict.fromkeys(frame[column])) for column in columns] for frame in outcomes]
    if outcomes[0].merge(outcomes[1], on=list(columns)).empty:
        raise UsageError(f"{base.side.name} and {head.side.name} have nothing in common: no method on the same dataset")
    comparison.omissions = [
        *one_sided("dataset", names[0][0], names[1][0], [before.left_out, after.left_out]),
        *one_sided("method", names[0][1], names[1][1], [before.left_out, after.left_out]),
        *lost_trials(outcomes[0], outcomes[1]),
    ]
    _add_scores(comparison, before, after, datasets, methods, limits)
    times = [cell for cell in trend_cells(base, head) if cell.dataset in datasets and cell.method in methods]
    comparison.cells += times
    if base.kind == TIMING_RUN:
        comparison.omissions += _one_sided_sizes(base, head, {(cell.method, cell.dataset) for cell in times})


def _add_scores(
    comparison: Comparison, before: Run, after: Run, datasets: set[str], methods: set[str], limits: Limits
) -> None:
    """Add verdicts on scores where the folds are the same, and means where they are not."""
    runs = before, after
    metrics = [metric for metric in after.measured if metric in before.measured]
    trials = [run.trials[_within(run.trials, datasets, methods)] for run in runs]
    common = [label for label in dict.fromkeys(trials[1]["dataset"]) if label in set(trials[0]["dataset"])]
    reasons = {label: why_folds_differ(before, after, label) for label in common}
    same = {label for label, reason in reasons.items() if not reason}
    of_base, of_head = (side[side["dataset"].isin(same)] for side in trials)
    pairs = score_pairs(of_base, of_head, metrics)
    if KINDS[after.meta.protocol.kind].times:
        comparison.changes = changed_methods(pairs)
        comparison.notes.append("Scores of a timing run are a learning curve and are not tested.")
        return
    ratio = 0.0 if after.detects else after.protocol.test_train_ratio
    cells, comparison.changes = judge_scores(pairs, limits, comparison.level, ratio)
    comparison.cells += cells
    for label in common:
        if reasons[label]:
            sides = [side[side["dataset"] == label] for side in trials]
            comparison.cells += _mean_cells(sides[0], sides[1], label, metrics, reasons[label])
            comparison.notes.append(
                f"Scores on {label} are not pairs, because {reasons[label]}: means are shown as a trend."
            )


def _mean_cells(
    base: pd.DataFrame, head: pd.DataFrame, dataset: str, metrics: Sequence[str], reason: str
) -> list[Cell]:
    """Return the mean scores of each method on a dataset whose folds differ, without a verdict."""
    means = [
        side[side["status"] == Status.OK].groupby("method", sort=False)[list(metrics)].mean() for side in (base, head)
    ]
    cells = []
    for method in means[1].index.intersection(means[0].index, sort=False):
        for metric in metrics:
            before, after = (float(mean.loc[method, metric]) for mean in means)
            sign = 1.0 if SCORES[metric].greater_is_better else -1.0
            if np.isfinite(before) and np.isfinite(after):
                difference = sign * (after - before)
                cells.append(Cell(method, dataset, metric, before, after, Verdict.TREND, reason, difference=difference))
    return cells


def _one_sided_sizes(base: StoredResult, head: StoredResult, compared: set[tuple[str, str]]) -> list[Omission]:
    """Return an omission for each size that only one of two timing runs measured of a cell that both have."""
    before, after = (
        [place.name for place in side.times if (place.method, place.dataset) in compared] for side in (base, head)
    )
    return one_sided("size", before, after)


def _within(frame: pd.DataFrame, datasets: set[str], methods: set[str]) -> pd.Series[bool]:
    return frame["dataset"].isin(datasets) & frame["method"].isin(methods)


def _limit_notes(comparison: Comparison, limits: Limits) -> list[str]:
    """Return a sentence on limits that the user set and no verdict depends on."""
    changed = [measure for measure in (TIME, MEMORY) if limits.of(measure) != Limits().of(measure)]
    judged = {cell.measure for cell in comparison.cells if cell.verdict is not Verdict.TREND}
    unused = [measure for measure in (*changed, *limits.scores) if measure not in judged]
    return [f"Limits without an effect, because no cell is judged by them: {', '.join(unused)}."] if unused else []


def _version_notes(base: StoredResult, head: StoredResult) -> list[str]:
    """Return a sentence on the libraries and plugins whose versions differ."""
    is_known = base.libraries and head.libraries
    return [note] if is_known and (note := changed_versions(base.libraries, head.libraries)) else []


def _with_printable_names(comparison: Comparison) -> Comparison:
    """Return the comparison with names that are safe on a terminal: a stored run may come from anybody."""

    def safe(text: str) -> str:
        return plain_text(text, LABEL_WIDTH)

    comparison.base, comparison.head = (
        replace(side, name=safe(side.name), version=safe(side.version), machine=safe(side.machine))
        for side in (comparison.base, comparison.head)
    )
    comparison.title = safe(comparison.title)
    comparison.cells = [
        replace(cell, method=safe(cell.method), dataset=safe(cell.dataset)) for cell in comparison.cells
    ]
    comparison.changes = [
        replace(change, method=safe(change.method), dataset=safe(change.dataset)) for change in comparison.changes
    ]
    comparison.omissions = [Omission(safe(each.name), plain_text(each.reason, 1000)) for each in comparison.omissions]
    comparison.notes = [plain_text(note, 1000) for note in comparison.notes]
    return comparison
