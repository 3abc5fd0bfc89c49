"""What the table of scores shows on demand: values to sort by, published figures, verdicts of groups, details."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.sections import Table
from mfbench.report.cells import size_text
from mfbench.report.render.html.details import Place, details_of
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
    details: list[list[Any]]  # what `mfbench.report.render.html.details.details_of` returns for each dataset and method

    @property
    def all_tags(self) -> list[str]:
        """The tags of all methods, in alphabetical order."""
        return sorted({tag for tags in self.tags for tag in tags})

    def as_plain(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        names = ("first", "metric", "datasets", "methods", "tags", "published", "details")
        return {name: getattr(self, name) for name in names} | {"groups": [asdict(group) for group in self.groups]}


def score_data(run: Run, table: Table, groups: Sequence[Group], tags: Sequence[Sequence[str]] = ()) -> ScoreData:
    """Return the data of a run's table of scores."""
    methods, settings, details = list(run.methods), run.settings, details_of(run)
    datasets = [row[0].text for row in table.rows[: len(table.rows) - table.footer_rows]]
    places = [[(dataset, method) for method in methods] for dataset in datasets]
    cells = {(row["dataset"], row["method"]): row for row in run.scores.to_dict("records")}
    filled = run.overall().completed.scores if settings.missing != "drop-dataset" else None
    missing = _missing(cells, set(zip(run.failures["dataset"], run.failures["method"], strict=True)), filled)
    published = _published(run.published, settings.metric)
    return ScoreData(
        table=table,
        first=len(table.columns) - len(methods),
        metric=settings.metric,
        greater_is_better=settings.greater_is_better,
        datasets=datasets,
        methods=methods,
        values=[[_number(cells[place]["mean"]) if place in cells else None for place in row] for row in places],
        missing=[[missing.get(place, "absent") for place in row] for row in places],
        tags=[list(own) for own in tags] or [[] for _ in methods],
        published=[[published.get(place, "") for place in row] for row in places],
        groups=list(groups),
        details=[[details.get(place) for place in row] for row in places],
    )


def _missing(
    cells: Mapping[Place, Mapping[Any, Any]], failed: Collection[Place], filled: pd.DataFrame | None
) -> dict[Place, str]:
    kinds = {}
    for (dataset, method), cell in cells.items():
        kind = "failed" if (dataset, method) in failed else "pending"
        if cell["complete"]:
            kind = ""
        elif filled is not None and dataset in filled.index and method in filled.columns:
            kind = "imputed"
        elif cell["completed"]:
            kind = "partial"
        kinds[dataset, method] = kind
    return kinds


def _published(figures: pd.DataFrame, metric: str) -> dict[Place, str]:
    own, percent = figures[(figures["metric"] == metric) & figures["published"].notna()], SCORES[metric].percent
    return {
        (row["dataset"], row["method"]): f"{size_text(row['published'], percent)} "
        f"({size_text(row['difference'], percent, '+')})"
        for row in own.to_dict("records")
    }


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None
