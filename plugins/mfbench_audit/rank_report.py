"""The report of a table of scores."""

from __future__ import annotations

import numpy as np

from mfbench.base.text import counted, listing
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report import cells
from mfbench.report.answer import answer_across
from mfbench.report.sections.across_datasets import section_across, section_of_ranks
from mfbench.stats.mean_differences import LEAST_FAMILIES
from mfbench_audit.ranking import Ranking

MOST_ROWS = 200


def report_of_ranking(ranking: Ranking, title: str) -> Report:
    """Return the report of a table of scores."""
    overall, score = ranking.overall, ranking.score
    metric = ranking.table.metric or "score"
    answer = answer_across(overall, score)
    if ranking.missing is not None:
        answer.append(_missing_sentence(ranking))
    return Report(
        title,
        f"{_shape(ranking)}, read as {ranking.table.source}; nothing was measured",
        [
            section_across(overall, metric, score),
            _limits(ranking),
            _scores(ranking),
            section_of_ranks(overall, score),
        ],
        {
            "title": title,
            "source": ranking.table.source,
            "metric": metric,
            "greater_is_better": score.greater_is_better,
            "folds": ranking.folds,
            "reference": overall.reference,
            "alpha": overall.alpha,
            "remarks": ranking.remarks,
            "visible": ranking.visible if np.isfinite(ranking.visible) else None,
            "usual_readings": ranking.readings,
            "skillings_mack": None if ranking.missing is None else vars(ranking.missing),
            "answer": answer,
        },
        answer=answer,
        problems=ranking.remarks,
    )


def _shape(ranking: Ranking) -> str:
    datasets, methods = ranking.means.shape
    folds = f", {counted(ranking.folds, 'fold')} in a repeat" if ranking.folds else ", means alone"
    return f"{counted(methods, 'method')} on {counted(datasets, 'dataset')}{folds}"


def _missing_sentence(ranking: Ranking) -> str:
    test = ranking.missing
    assert test is not None
    holes = int(ranking.means.isna().to_numpy().sum())
    outcome = "show that methods differ" if test.p_value < ranking.overall.alpha else "do not show that methods differ"
    return (
        f"{counted(holes, 'cell')} of {ranking.means.size} {'is' if holes == 1 else 'are'} missing; with the datasets "
        f"that have some, ranks {outcome} (Skillings and Mack's test, p = {test.p_value:.3g})."
    )


def _limits(ranking: Ranking) -> Section:
    """Return what the table can show, and how often usual readings of it would be wrong."""
    n, percent = ranking.means.shape[0], ranking.score.percent
    notes = []
    if np.isfinite(ranking.visible):
        size = f"{100 * ranking.visible:.1f} points" if percent else f"{ranking.visible:.3g}"
        notes.append(
            f"A true mean difference of {size} between two typical methods would be found in four of five tables."
        )
    if not ranking.folds:
        notes.append(
            "The table has one score per cell, so no difference on single datasets can be tested, and only statements "
            "about datasets like these are made."
        )
    if n < LEAST_FAMILIES:
        notes.append(
            f"{counted(n, 'dataset')} allow{'s' if n == 1 else ''} no statement about others; {LEAST_FAMILIES} "
            "unrelated ones do."
        )
    rows = [[Cell(name), Cell(f"{100 * level:.0f} %")] for name, level in ranking.readings.items()]
    tables = []
    if rows:
        heads = ["reading", "finds a difference"]
        tables = [Table(heads, rows, "If all methods were equal, a table of this shape read in a usual way", wrap=0)]
        notes.append(
            f"These shares are simulated. The verdicts above have a nominal level of {100 * ranking.overall.alpha:g} "
            "%; docs/statistics.md has measured ones."
        )
    return Section("What this table can show", tables, notes=notes)


def _scores(ranking: Ranking) -> Section:
    means, percent = ranking.means, ranking.score.percent
    greater = ranking.score.greater_is_better
    shown = means.iloc[:MOST_ROWS]
    rows = []
    for dataset, values in zip(shown.index, shown.to_numpy(dtype=float), strict=True):
        best = np.nanmax(values) if greater else np.nanmin(values)
        texts = [cells.size_cell(value, percent) if np.isfinite(value) else cells.DASH for value in values]
        marked = [Cell(c.text, "best") if v == best else c for c, v in zip(texts, values, strict=True)]
        rows.append([Cell(str(dataset)), *marked])
    more = [f"The first {MOST_ROWS} of {len(means)} datasets."] if len(means) > MOST_ROWS else []
    incomplete = [str(dataset) for dataset in means.index[means.isna().any(axis=1)]]
    more += (
        [f"Left out of mean differences: {listing(incomplete[:20])}, without a score of each method."]
        if incomplete
        else []
    )
    return Section("Scores", [Table(["dataset", *map(str, means.columns)], rows)], notes=more)
