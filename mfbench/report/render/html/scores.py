"""What the table of scores shows on demand: values to sort by, published figures, verdicts of groups, details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfbench.model.sections import Table
from mfbench.report.render.html.details import details_of, in_order
from mfbench.stats.results import Run
from mfbench.suite.scores import SCORES


@dataclass(frozen=True)
class Group:
    """Datasets over which verdicts were computed."""

    title: str
    rows: list[list[str]]  # the totals of the table: the heading, then a text per column
    answer: list[str]


@dataclass(frozen=True)
class ScoreData:
    """The table of scores of a run, with what the page shows on demand."""

    table: Table  # as in the report
    first: int  # column of the first method
    metric: str
    greater_is_better: bool
    datasets: list[str]
    methods: list[str]
    values: list[list[float | None]]  # mean of each dataset and method
    # Why a cell has no score of all its folds: across datasets another value stands for it, some folds have none, all
    # folds have none, none has run, or no run planned it; empty for complete cells.
    missing: list[list[str]]
    tags: list[list[str]]  # of each method
    published: list[list[str]]  # published figure and difference of each dataset and method; empty without one
    groups: list[Group]  # the first has all datasets
    details: list[list[Any]]  # as `mfbench.report.render.html.details.in_order` returns them

    @property
    def all_tags(self) -> list[str]:
        """The tags of all methods, in alphabetical order."""
        return sorted({tag for tags in self.tags for tag in tags})

    def as_plain(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        return {
            "first": self.first,
            "metric": self.metric,
            "datasets": self.datasets,
            "methods": self.methods,
            "tags": self.tags,
            "published": self.published,
            "groups": [{"title": group.title, "rows": group.rows, "answer": group.answer} for group in self.groups],
            "details": self.details,
        }


def score_data(run: Run, table: Table, groups: Sequence[Group], tags: Sequence[Sequence[str]] = ()) -> ScoreData:
    """Return the data of a run's table of scores."""
    methods = list(run.methods)
    datasets = [row[0].text for row in table.rows[: len(table.rows) - table.footer_rows]]
    means = {(row["dataset"], row["method"]): row["mean"] for row in run.scores.to_dict("records")}
    values = [[_number(means.get((dataset, method))) for method in methods] for dataset in datasets]
    settings = run.settings
    return ScoreData(
        table=table,
        first=len(table.columns) - len(methods),
        metric=settings.metric,
        greater_is_better=settings.greater_is_better,
        datasets=datasets,
        methods=methods,
        values=values,
        missing=_missing(run, datasets, methods),
        tags=[list(own) for own in tags] or [[] for _ in methods],
        published=_published(run, datasets, methods),
        groups=list(groups),
        details=in_order(details_of(run), datasets, methods),
    )


def _missing(run: Run, datasets: Sequence[str], methods: Sequence[str]) -> list[list[str]]:
    cells = {(row["dataset"], row["method"]): row for row in run.scores.to_dict("records")}
    failed = set(zip(run.failures["dataset"], run.failures["method"], strict=True))
    filled = run.overall().completed.scores if run.settings.missing != "drop-dataset" else None

    def kind(dataset: str, method: str) -> str:
        cell = cells.get((dataset, method))
        if cell is None or cell["complete"]:
            return "absent" if cell is None else ""
        if filled is not None and dataset in filled.index and method in filled.columns:
            return "imputed"
        if cell["completed"]:
            return "partial"
        return "failed" if (dataset, method) in failed else "pending"

    return [[kind(dataset, method) for method in methods] for dataset in datasets]


def _published(run: Run, datasets: Sequence[str], methods: Sequence[str]) -> list[list[str]]:
    factor, form = (100.0, ".1f") if SCORES[run.settings.metric].percent else (1.0, ".3f")
    texts = {
        (row["dataset"], row["method"]): f"{factor * row['published']:{form}} ({factor * row['difference']:+{form}})"
        for row in run.published.to_dict("records")
        if row["metric"] == run.settings.metric and np.isfinite(row["published"])
    }
    return [[texts.get((dataset, method), "") for method in methods] for dataset in datasets]


def _number(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(f"{float(value):.6g}")
