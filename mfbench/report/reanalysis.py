"""A published table alone, analysed anew: what its own figures say of all datasets together."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.across_datasets.missing import complete
from mfbench.analysis.across_datasets.overall import Overall
from mfbench.errors import UnknownNameError
from mfbench.report.export import finite, overall_content
from mfbench.report.overall import detail_tables, drawings, overall_notes, reference_table
from mfbench.report.page import Page
from mfbench.report.tables import BEST, MISSING, PLAIN, Cell, Table, rank_text
from mfbench.run.trial.metrics import SCORES
from mfbench.suite.published import PublishedTable


def means_of(table: PublishedTable) -> pd.DataFrame:
    """Return a table's figures as datasets by methods, in its own order; NaN where it has none."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in table.values))
    methods = list(dict.fromkeys(method for _, method in table.values))
    values = [[table.values.get((dataset, method), np.nan) for method in methods] for dataset in datasets]
    return pd.DataFrame(values, index=datasets, columns=methods, dtype=float)


def reanalyse(table: PublishedTable, reference: str | None = None, alpha: float = 0.05, rope: float = 0.01) -> Overall:
    """Compare the methods of a published table across its datasets.

    Parameters
    ----------
    table : PublishedTable
    reference : str or None, default=None
        Method that the others are compared with; None takes the one of the best average rank.
    alpha : float, default=0.05
        Level of tests and intervals.
    rope : float, default=0.01
        Differences of at most this size are practically none, in the unit of the metric.

    Returns
    -------
    Overall
        Datasets where a method has no figure are left out.

    Raises
    ------
    UnknownNameError
        If the table has no such method.
    """
    greater = SCORES[table.about.metric].greater_is_better
    completed = complete(means_of(table), "drop-dataset", greater_is_better=greater)
    found = Overall(completed, greater, reference, alpha, rope)
    known = [str(name) for name in found.ranks.index]
    if reference is None:
        return Overall(completed, greater, known[0] if known else None, alpha, rope)
    if reference not in known:
        raise UnknownNameError("method of this table", reference, known)
    return found


def page_of_table(table: PublishedTable, overall: Overall, *, statistics: bool = False) -> Page:
    """Return the report of a published table.

    Parameters
    ----------
    table : PublishedTable
    overall : Overall
        As `reanalyse` returns.
    statistics : bool, default=False
        Also all pairs of methods and win probabilities.
    """
    percent = SCORES[table.about.metric].percent
    page = Page(table.title, f"the printed figures of {table.name}, analysed anew; nothing was measured")
    page.parts = [
        _figures(table, overall, percent),
        *reference_table(overall, percent),
        *drawings(overall),
        *(detail_tables(overall, percent) if statistics else []),
    ]
    page.notes = [
        f"Better/equal/worse: on how many datasets the printed figure of {overall.reference} is better than, equal to "
        "and worse than that of the method. A printed mean has no spread, so there is no test on one dataset.",
        *overall_notes(overall, percent),
    ]
    return page


def _figures(table: PublishedTable, overall: Overall, percent: bool) -> Table:
    means = means_of(table)
    factor, form = (100.0, ".1f") if percent else (1.0, ".3f")
    unit = ", percent" if percent else ""
    drawn = Table(f"{table.about.metric}{unit}, as printed", ["dataset", *map(str, means.columns)])
    top = means.max(axis=1) if overall.greater_is_better else means.min(axis=1)
    for dataset, row, best in zip(means.index, means.to_numpy(), top.to_numpy(), strict=True):
        drawn.rows.append([Cell(str(dataset)), *(_figure(value, float(best), factor, form) for value in row)])
    names = [str(name) for name in means.columns]
    if overall.reference is not None and len(names) > 1:
        drawn.rows.append([Cell("better/equal/worse"), *(_counts(means, overall, name) for name in names)])
    ranks = [rank_text(overall.ranks[name]) if name in overall.ranks.index else "–" for name in names]
    drawn.rows.append([Cell("average rank"), *map(Cell, ranks)])
    drawn.footer_rows = 2 if len(names) > 1 else 1
    return drawn


def _figure(value: float, best: float, factor: float, form: str) -> Cell:
    if not np.isfinite(value):
        return Cell("–", MISSING)
    return Cell(format(factor * value, form), BEST if value == best else PLAIN)


def _counts(means: pd.DataFrame, overall: Overall, method: str) -> Cell:
    if method == overall.reference:
        return Cell("–", MISSING)
    both = means[[str(overall.reference), method]].dropna().to_numpy()
    better = np.sign(both[:, 0] - both[:, 1]) * (1 if overall.greater_is_better else -1)
    return Cell("/".join(str(int(np.sum(better == side))) for side in (1, 0, -1)))


def table_to_json(table: PublishedTable, overall: Overall) -> str:
    """Return the comparison as JSON."""
    content: dict[str, Any] = {
        "title": table.title,
        "table": table.name,
        "metric": table.about.metric,
        "reference": overall.reference,
        "alpha": overall.alpha,
        "rope": overall.rope,
        "overall": overall_content(overall),
    }
    return json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n"
