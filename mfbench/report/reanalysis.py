"""The analysis of a published table alone: tests across datasets on its printed figures."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.errors import UnknownNameError
from mfbench.model.sections import Cell, Report, Section
from mfbench.report.cells import DASH, rank_cell, size_text, table_of, with_unit
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
    methods = [str(name) for name in Overall(completed, greater, None, alpha, rope).ranks.index]
    if reference is None:
        return Overall(completed, greater, next(iter(methods), None), alpha, rope, chosen=True)
    if reference not in methods:
        raise UnknownNameError("method of this table", reference, methods)
    return Overall(completed, greater, reference, alpha, rope)


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
    rows: list[list[object]] = [
        [dataset, *(_cell(value, top, percent) for value in values)]
        for dataset, values, top in zip(means.index, means.to_numpy(), best, strict=True)
    ]
    ranks = [rank_cell(overall.ranks.get(name, np.nan)) for name in names]
    footer: list[list[object]] = [["average rank", *ranks]]
    if overall.reference is not None and len(names) > 1:
        counts = [_counts(means, name, overall.reference, overall.greater_is_better) for name in names]
        footer = [["better/equal/worse", *counts], *footer]
    printed = table_of(["dataset", *names], [*rows, *footer], footer_rows=len(footer))
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
    return Cell(size_text(value, percent), "best" if value == best else "plain") if np.isfinite(value) else DASH


def _counts(means: pd.DataFrame, method: str, reference: str, greater_is_better: bool) -> Cell:
    if method == reference:
        return DASH
    both = means[[reference, method]].dropna().to_numpy()
    better = np.sign(both[:, 0] - both[:, 1]) * (1 if greater_is_better else -1)
    return Cell("/".join(str(np.sum(better == side)) for side in (1, 0, -1)))
