"""Compare two stored results: scores on the same folds are judged, times and memory are shown as a trend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from mfbench.base.text import counted
from mfbench.errors import UsageError
from mfbench.model.evaluation import Score
from mfbench.model.trials import Status
from mfbench.stats.results import Run
from mfbench.suite.loading import Restriction
from mfbench_gate.comparison import (
    MEMORY,
    TIME,
    CellVerdict,
    ComparedCell,
    Comparison,
    Omission,
    StoredResult,
    WorseLimits,
    changed_versions,
)
from mfbench_gate.history.display import trend_cells, why_trend
from mfbench_gate.readers import TIMING_RUN
from mfbench_gate.scores import changed_methods, judge_scores, score_pairs

CELL = ["dataset", "method"]
SIDES = ("base", "head")


def select(groups: Sequence[Sequence[str]], only: Sequence[str]) -> list[set[str]]:
    """Return the names in each group that ``--only`` keeps."""
    return Restriction(tuple(only), scope="nothing in the two results").kept(groups)


def one_sided(
    kind: str, sides: Sequence[Iterable[str]], left_out: Sequence[Mapping[str, str]] = ({}, {})
) -> list[Omission]:
    """Return an omission for each name present on only one side."""
    omissions = []
    names = [dict.fromkeys(side) for side in sides]
    for here, there in ((0, 1), (1, 0)):
        for name in names[here]:
            if name not in names[there]:
                reason = left_out[there].get(name, "").rstrip(".")
                why = f"; {SIDES[there]} left it out: {reason}" if reason else ""
                omissions.append(Omission(name, f"This {kind} is in {SIDES[here]} only{why}."))
    return omissions


def lost_trials(base: pd.DataFrame, head: pd.DataFrame) -> list[Omission]:
    """Return an omission for each cell of both sides with failed or pending trials."""
    both = base.merge(head, on=[*CELL, "repeat", "fold"], suffixes=("_base", "_head"))
    omissions = []
    for (dataset, method), cell in both.groupby(CELL, sort=False):
        succeeded = {side: cell[f"status_{side}"] == Status.OK for side in SIDES}
        parts = []
        for side, is_ok in succeeded.items():
            if not is_ok.all():
                kinds = ", ".join(dict.fromkeys(cell.loc[~is_ok, f"status_{side}"].fillna("not run yet").map(str)))
                n_lost = f"{(~is_ok).sum()} of {counted(len(cell), 'trial')}"
                parts.append(f"{n_lost} without a result in {side} ({kinds})")
        if parts:
            n_left = int((succeeded["base"] & succeeded["head"]).sum())
            rest = f"the other {counted(n_left, 'trial')} compared" if n_left else "nothing compared"
            omissions.append(Omission(f"{method}/{dataset}", f"{'; '.join(parts)}; {rest}."))
    return omissions


def why_folds_differ(base: Run, head: Run, dataset: str) -> str:
    """Return why the scores of two runs on a dataset cannot be paired; empty if they can."""
    hashes = [run.datasets.set_index("dataset")["sha256"].get(dataset) for run in (base, head)]
    if hashes[0] != hashes[1]:
        return "the data differ"
    if base.meta.protocol_key != head.meta.protocol_key:
        return "the protocols or their seeds differ"
    rows = base.test_rows(dataset), head.test_rows(dataset)
    if any(not np.array_equal(rows[0][fold], rows[1][fold]) for fold in rows[0].keys() & rows[1].keys()):
        return "the test rows of the folds differ"
    return ""


def compare_stored(
    base: StoredResult,
    head: StoredResult,
    limits: WorseLimits,
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
        _compare_runs(comparison, base, head, (base.run, head.run), limits, only)
    notes = comparison.notes
    if any(cell.verdict is CellVerdict.TREND and cell.unit for cell in comparison.cells):
        notes.append(why_trend(base, head))
    changed = [measure for measure in (TIME, MEMORY) if limits.of(measure) != WorseLimits().of(measure)]
    judged = {cell.measure for cell in comparison.cells if cell.verdict is not CellVerdict.TREND}
    if unused := [measure for measure in (*changed, *limits.scores) if measure not in judged]:
        notes.append(f"Limits without an effect, because no cell is judged by them: {', '.join(unused)}.")
    if base.libraries and head.libraries and (note := changed_versions(base.libraries, head.libraries)):
        notes.append(note)
    return comparison


def _compare_benchmarks(comparison: Comparison, base: StoredResult, head: StoredResult, only: Sequence[str]) -> None:
    """Add the benchmarks of two files to a comparison."""
    (kept,) = select([[place.method for side in (base, head) for place in side.times]], only)
    base, head = (
        replace(side, times={place: times for place, times in side.times.items() if place.method in kept})
        for side in (base, head)
    )
    comparison.cells = trend_cells(base, head)
    if not comparison.cells:
        raise UsageError(f"{base.side.name} and {head.side.name} have no benchmark in common")
    comparison.omissions = one_sided("benchmark", [[place.method for place in side.times] for side in (base, head)])
    for name, side in zip(SIDES, (base, head), strict=True):
        comparison.omissions += [Omission(each.name, f"In {name}: {each.reason}") for each in side.omissions]


def _compare_runs(
    comparison: Comparison,
    base: StoredResult,
    head: StoredResult,
    runs: tuple[Run, Run],
    limits: WorseLimits,
    only: Sequence[str],
) -> None:
    """Add the scores, times and memory of two runs to a comparison."""
    left_out = [run.left_out for run in runs]
    labels = [[label for run in runs for label in run.outcomes[column]] for column in CELL]
    datasets, methods = select([list(dict.fromkeys(names)) for names in labels], only)

    def chosen(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["dataset"].isin(datasets) & frame["method"].isin(methods)]

    outcomes = [chosen(run.outcomes) for run in runs]
    if outcomes[0].merge(outcomes[1], on=CELL).empty:
        raise UsageError(f"{base.side.name} and {head.side.name} have nothing in common: no method on the same dataset")
    for kind in CELL:
        comparison.omissions += one_sided(kind, [frame[kind] for frame in outcomes], left_out)
    comparison.omissions += lost_trials(outcomes[0], outcomes[1])
    _add_scores(comparison, runs, [chosen(run.trials) for run in runs], limits)
    times = [cell for cell in trend_cells(base, head) if cell.dataset in datasets and cell.method in methods]
    comparison.cells += times
    if base.kind == TIMING_RUN:
        compared = {(cell.method, cell.dataset) for cell in times}
        sizes = [[place.name for place in side.times if place[:2] in compared] for side in (base, head)]
        comparison.omissions += one_sided("size", sizes)


def _add_scores(
    comparison: Comparison, runs: tuple[Run, Run], trials: Sequence[pd.DataFrame], limits: WorseLimits
) -> None:
    """Add verdicts on scores if the folds are the same, and means otherwise."""
    before, after = runs
    metrics = [metric for metric in after.measured if metric in before.measured]
    common = [label for label in trials[1]["dataset"].unique() if label in set(trials[0]["dataset"])]
    reasons = {label: why_folds_differ(before, after, label) for label in common}
    same = [label for label, reason in reasons.items() if not reason]
    of_base, of_head = (side[side["dataset"].isin(same)] for side in trials)
    pairs = score_pairs(of_base, of_head, metrics)
    if after.protocol.times:
        comparison.changes = changed_methods(pairs)
        comparison.notes.append("Scores of a timing run are a learning curve and are not tested.")
        return
    ratio_on = after.settings.ratio_on
    cells, comparison.changes = judge_scores(pairs, after.meta.scores, limits, comparison.level, ratio_on)
    comparison.cells += cells
    scores = {name: after.meta.scores[name] for name in metrics}
    for label, reason in reasons.items():
        if reason:
            of_base, of_head = (side[side["dataset"] == label] for side in trials)
            comparison.cells += _mean_cells(of_base, of_head, label, scores, reason)
            comparison.notes.append(f"Scores on {label} are not pairs, because {reason}: means are shown as a trend.")


def _mean_cells(
    base: pd.DataFrame, head: pd.DataFrame, dataset: str, scores: Mapping[str, Score], reason: str
) -> list[ComparedCell]:
    """Return the mean scores, without verdicts, of each method on a dataset whose folds differ."""
    means = [
        side[side["status"] == Status.OK].groupby("method", sort=False)[list(scores)].mean() for side in (base, head)
    ]
    cells = []
    for method in means[1].index.intersection(means[0].index, sort=False):
        for metric, score in scores.items():
            before, after = (float(mean.loc[method, metric]) for mean in means)
            if np.isfinite(before) and np.isfinite(after):
                gain = score.sign * (after - before)
                cells.append(
                    ComparedCell(method, dataset, metric, before, after, CellVerdict.TREND, reason, difference=gain)
                )
    return cells
