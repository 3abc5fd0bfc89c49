"""The analysis of a published table alone: tests across datasets on its printed figures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.errors import UnknownNameError
from mfbench.model.sections import Cell, Report, Section, Table
from mfbench.report.cells import DASH, rank_text, with_unit
from mfbench.report.sections.across_datasets import section_across, section_of_pairs
from mfbench.stats.across_datasets.missing import complete
from mfbench.stats.across_datasets.overall import Overall
from mfbench.suite.published import PublishedTable
from mfbench.suite.scores import SCORES


def means_of(table: PublishedTable) -> pd.DataFrame:
    """Return a table's figures as datasets by methods, in the order of the table; NaN where it has none."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in table.values))
    methods = list(dict.fromkeys(method for _, method in table.values))
    values = [[table.values.get((dataset, method), np.nan) for method in methods] for dataset in datasets]
    return pd.DataFrame(values, index=datasets, columns=methods, dtype=float)


def reanalyse(table: PublishedTable, reference: str | None = None, alpha: float = 0.05, rope: float = 0.01) -> Overall:
    """Compare the methods of a published table across its datasets."""
    greater = SCORES[table.about.metric].greater_is_better
    completed = complete(means_of(table), "drop-dataset", greater_is_better=greater)
    overall = Overall(completed, greater, reference, alpha, rope)
    methods = [str(name) for name in overall.ranks.index]
    if reference is None:
        return Overall(completed, greater, methods[0] if methods else None, alpha, rope, chosen=True)
    if reference not in methods:
        raise UnknownNameError("method of this table", reference, methods)
    return overall


def report_of_table(table: PublishedTable, overall: Overall, *, statistics: bool = False) -> Report:
    """Return the report of a published table."""
    percent = SCORES[table.about.metric].percent
    return Report(
        table.title,
        f"Analysis of the printed figures of {table.name}; nothing was measured",
        [
            _printed_figures(table, overall, percent),
            section_across(overall, percent),
            *([section_of_pairs(overall, percent)] if statistics else []),
        ],
        {
            "title": table.title,
            "table": table.name,
            "metric": table.about.metric,
            "reference": overall.reference,
            "alpha": overall.alpha,
            "rope": overall.rope,
        },
    )


def _printed_figures(table: PublishedTable, overall: Overall, percent: bool) -> Section:
    means = means_of(table)
    best = means.max(axis=1) if overall.greater_is_better else means.min(axis=1)
    names = [str(name) for name in means.columns]
    printed = Table(["dataset", *names])
    for dataset, values, top in zip(means.index, means.to_numpy(), best.to_numpy(), strict=True):
        printed.rows.append([Cell(str(dataset)), *(_cell(value, float(top), percent) for value in values)])
    footer = []
    if overall.reference is not None and len(names) > 1:
        footer.append([Cell("better/equal/worse"), *(_counts(means, overall, name) for name in names)])
    ranks = [rank_text(overall.ranks[name]) if name in overall.ranks.index else "–" for name in names]
    footer.append([Cell("average rank"), *map(Cell, ranks)])
    printed.rows += footer
    printed.footer_rows = len(footer)
    note = (
        f"Better/equal/worse: number of datasets on which the printed figure of {overall.reference} is better than, "
        "equal to and worse than that of the method. A printed mean has no spread, so differences on single datasets "
        "cannot be tested."
    )
    return Section(
        f"{with_unit(table.about.metric, percent)}, as printed",
        [printed],
        notes=[note],
        rows=lambda: [overall.against_reference],
    )


def _cell(value: float, best: float, percent: bool) -> Cell:
    if not np.isfinite(value):
        return DASH
    return Cell(f"{100 * value:.1f}" if percent else f"{value:.3f}", "best" if value == best else "plain")


def _counts(means: pd.DataFrame, overall: Overall, method: str) -> Cell:
    if method == overall.reference:
        return DASH
    both = means[[str(overall.reference), method]].dropna().to_numpy()
    better = np.sign(both[:, 0] - both[:, 1]) * (1 if overall.greater_is_better else -1)
    return Cell("/".join(str(int(np.sum(better == side))) for side in (1, 0, -1)))
