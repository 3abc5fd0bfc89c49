"""Interactive data of the score table: sortable values, published figures, verdicts per group, and details."""

import base64
import html
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench.model.sections import Table
from mfbench.report.cells import size_text
from mfbench.report.charts.drawing import CONFIG, picture_of, svg_of
from mfbench.report.sections.scores import by_mean
from mfbench.stats.cells import ComparisonSettings, rows_by_cell
from mfbench.stats.results import Run
from mfbench.stats.rules import S_TESTS

MOST_PARAMETERS, MOST_FEATURES, MOST_ERRORS, LONGEST_ERROR = 5, 12, 5, 400
_STEPS = ("tune_wall", "select_wall", "fit_wall", "predict_wall")

Place = tuple[str, str]
"""Labels of a dataset and a method."""


def details_of(run: Run) -> dict[Place, list[Any]]:
    """Return the details of each cell, by dataset and method."""
    outcomes, selected = run.outcomes, _selected(run)
    parameters = run.chosen_parameters if run.tuned else ()
    texts = ((place, ", ".join(f"{name} = {value}" for name, value in own.items())) for place, own in parameters)
    chosen = _counted(texts, MOST_PARAMETERS)
    failures = run.failures[["status", "error_type", "error_message"]].to_dict("records")
    reasons = [": ".join(str(part) for part in row.values() if not pd.isna(part))[:LONGEST_ERROR] for row in failures]
    places_of_failures = zip(run.failures["dataset"], run.failures["method"], strict=True)
    errors = _counted(zip(places_of_failures, reasons, strict=True), MOST_ERRORS)
    ok = outcomes["status"].eq("ok").fillna(False).to_numpy(dtype=bool)
    scores = outcomes[run.settings.metric].to_numpy(dtype=float)
    times = outcomes[list(_STEPS)].to_numpy(dtype=float, na_value=np.nan)
    memory = outcomes["peak_memory"].to_numpy(dtype=float, na_value=np.nan)
    details: dict[Place, list[Any]] = {}
    for place, rows in rows_by_cell(outcomes).items():
        done = rows[ok[rows]]
        largest = memory[done].max(initial=-np.inf, where=np.isfinite(memory[done]))
        details[place] = [
            [_rounded(value) for value in scores[rows].tolist()],
            [_rounded(_median(column), 3) for column in times[done].T],
            int(largest) if np.isfinite(largest) else None,
            chosen.get(place, []),
            selected.get(place, []),
            errors.get(place, []),
        ]
    return details


def _counted(pairs: Iterable[tuple[Place, str]], most: int) -> dict[Place, list[tuple[str, int]]]:
    """Count the texts at each place, most frequent first."""
    counts: dict[Place, Counter[str]] = {}
    for place, text in pairs:
        counts.setdefault(place, Counter())[text] += 1
    return {place: _first(counter.most_common(), most) for place, counter in counts.items()}


def _selected(run: Run) -> dict[Place, list[tuple[str, int]]]:
    frame = run.selected
    leaving_out = frame[frame["least"] < frame["n_features"]]
    selected: dict[Place, list[tuple[str, int]]] = {}
    for dataset, method in leaving_out[["dataset", "method"]].itertuples(index=False, name=None):
        if (dataset, method) in run.selection_counts:
            names, (counts, _) = run.feature_names(dataset), run.selection_counts[dataset, method]
            order = np.argsort(-counts, kind="stable")
            pairs = [(names[index], int(counts[index])) for index in order if counts[index]]
            selected[dataset, method] = _first(pairs, MOST_FEATURES)
    return selected


def _first(pairs: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    """Return the first pairs, plus a final one that counts the rest, with the largest of their numbers."""
    if len(pairs) <= most:
        return pairs
    return [*pairs[:most], (f"… and {len(pairs) - most} more, at most", pairs[most][1])]


def _median(values: NDArray[np.float64]) -> float:
    """Return the median of the finite values, or NaN if there are none (a step that the method does not have)."""
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else np.nan


def _rounded(value: float, digits: int = 4) -> float | None:
    """Round to a few significant digits to keep the page small; None if not finite."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


@dataclass(frozen=True)
class Group:
    """Datasets over which verdicts are computed."""

    title: str
    rows: list[list[str]]  # the table's totals: a heading, then a text per column
    answer: list[str]


@dataclass(frozen=True)
class ScoreData:
    """The table of scores of a run, with its interactive data."""

    table: Table  # as in the report
    first: int  # column of the first method
    metric: str
    greater_is_better: bool
    datasets: list[str]
    methods: list[str]
    values: list[list[float | None]]  # mean of each dataset and method
    # Why a cell does not have all its folds: its value is imputed across datasets, some folds are missing, all folds
    # are missing, none has run, or no run planned it; empty for complete cells.
    missing: list[list[str]]
    published: list[list[str]]  # published figure and difference of each dataset and method; empty without one
    groups: list[Group]  # the first group contains all datasets
    details: list[list[Any]]  # as returned by `mfbench.report.render.html.tables.details_of`, by dataset and method
    names: list[str] = field(default_factory=list)  # of the methods in reports; empty if they are the labels
    percent: bool = True  # whether scores are shares
    marks_worse: bool = False  # whether an unmarked cell is worse than the best of its dataset

    def as_plain(self) -> dict[str, Any]:
        """Return the data for the page's script."""
        names = ("first", "metric", "datasets", "methods", "names", "published", "details")
        return {name: getattr(self, name) for name in names} | {"groups": [asdict(group) for group in self.groups]}


def score_data(run: Run, table: Table, groups: Sequence[Group]) -> ScoreData:
    """Return the data of a run's table of scores."""
    methods, settings, details = by_mean(run), run.settings, details_of(run)
    datasets = [row[0].text for row in table.rows[: len(table.rows) - table.footer_rows]]
    places = [[(dataset, method) for method in methods] for dataset in datasets]
    cells = {(row["dataset"], row["method"]): row for row in run.scores.to_dict("records")}
    filled = run.overall().completed.scores if settings.missing != "drop-dataset" else None
    missing = _missing(cells, set(zip(run.failures["dataset"], run.failures["method"], strict=True)), filled)
    published = _published(run.published, settings)
    return ScoreData(
        table=table,
        first=len(table.columns) - len(methods),
        metric=settings.metric,
        greater_is_better=settings.greater_is_better,
        datasets=datasets,
        methods=methods,
        values=[[_rounded(cells[place]["mean"], 6) if place in cells else None for place in row] for row in places],
        missing=[[missing.get(place, "absent") for place in row] for row in places],
        published=[[published.get(place, "") for place in row] for row in places],
        groups=list(groups),
        details=[[details.get(place) for place in row] for row in places],
        names=[run.meta.display_names[method] for method in methods],
        percent=settings.score.percent,
        marks_worse=settings.test not in S_TESTS and len(methods) > 1,
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


def _published(figures: pd.DataFrame, settings: ComparisonSettings) -> dict[Place, str]:
    own = figures[(figures["metric"] == settings.metric) & figures["published"].notna()]
    percent = settings.score.percent
    return {
        (row["dataset"], row["method"]): f"{size_text(row['published'], percent)} "
        f"({size_text(row['difference'], percent, '+')})"
        for row in own.to_dict("records")
    }


# Larger drawings have thousands of shapes and would slow the page down as elements, so they become images.
LARGEST_SVG = 60_000


def static_picture(content: dict[str, Any], name: str, words: str) -> str:
    """Return a chart as a page element: inline SVG or, if that is too large, a vector or raster image."""
    element = svg_of(content, name, words)
    if len(element) <= LARGEST_SVG:
        return element
    forms = {"png": picture_of(content, "png"), "svg+xml": element.encode()}
    form, image = min(forms.items(), key=lambda item: len(item[1]))
    return f'<img alt="{html.escape(words)}" src="data:image/{form};base64,{base64.b64encode(image).decode()}">'


def packed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification with its data in columnar form, without what the page already contains."""
    rest = {key: value for key, value in content.items() if key not in ("$schema", "config", "description")}
    own = {key: value for key, value in content["config"].items() if CONFIG.get(key) != value}
    return {**rest, **({"config": own} if own else {})}
