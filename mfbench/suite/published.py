"""Published figures: CSV tables with which a report compares the results. Pure data; nothing in them is executed.

A table is matched with a plan once, when the plan is made, and the matching figures are stored with the run, so a
stored run can be reported on a machine without the plugins and the tables.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from mfbench.errors import SuiteError, UsageError
from mfbench.host.expressions import NameTable
from mfbench.host.registry import Registry
from mfbench.model.evaluation import Score
from mfbench.suite.loading import LoadedSuite, parse_toml, read_text
from mfbench.suite.methods import PlannedDataset
from mfbench.suite.schema import Part
from mfbench.suite.validation_messages import at, describe

FOLDER = "published"
INDEX = "published.toml"
COLUMNS = ("dataset", "method", "value")
COUNT_COLUMNS = ("table", "reference_method", "opponent", "reference_wins", "ties", "reference_losses")
Shape = tuple[int, int]


class SizesFile(Part):
    """Where the sizes of a table's datasets are: a CSV file in the same folder, and its columns."""

    table: str = Field(description="The file, without .csv.")
    rows: str = Field(description="Its column with the number of rows.")
    features: str = Field(description="Its column with the number of features.")


class Counts(Part):
    """Where a paper's own counts of wins, ties and losses are: a CSV file in the same folder, and the table's rows."""

    table: str = Field(description="The file, without .csv.")
    of: str = Field(description="The text in its column 'table'.")


class Description(Part):
    """The description of a table in ``published.toml``; every key is optional."""

    title: str = Field(default="", description="Name in the report; the file's name if empty.")
    collections: list[str] = Field(default=[], description="Collections whose labels the table uses.")
    metric: str = Field(default="", description="The score in the table; empty: the suite's first metric.")
    unit: Literal["percent", "fraction", "error"] = Field(
        default="fraction", description="Percent, a fraction, or the fraction of wrong answers."
    )
    repeats: int = Field(default=1, ge=1, description="How many repeats of random splits its figures are means over.")
    sizes: SizesFile | None = Field(default=None, description="Where the sizes of its datasets are.")
    counts: Counts | None = Field(default=None, description="Where its counts of wins, ties and losses are.")


@dataclass(frozen=True)
class PublishedTable:
    """A table of published figures."""

    name: str  # name in the suite
    about: Description
    values: Mapping[tuple[str, str], float]  # the figures in the unit of the metric, by the paper's labels
    shapes: Mapping[str, Shape]  # rows and features of the datasets, where known
    rounding: float = 0.0  # half a unit in the last printed digit, in the unit of the metric
    # Wins, ties and losses of the reference as counted in the paper.
    counts: Mapping[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its name in the report."""
        return self.about.title or self.name


@dataclass(frozen=True)
class PublishedFigure:
    """A published figure and the cell of a plan that it belongs to."""

    table: str  # the table's name
    dataset: str  # dataset, method: labels in the suite
    method: str
    label: str  # the paper's label for the dataset
    value: float  # in the unit of the metric
    obstacle: str = ""  # why it is not comparable with our result; empty if it is
    rounding: float = 0.0  # largest rounding error of the printed digits
    repeats: int = 1  # of random splits whose mean it is


@dataclass(frozen=True)
class PublishedCount:
    """A paper's win/tie/loss count of a reference against a method, both in the plan."""

    table: str  # the table's name
    reference: str  # reference, method: labels in the suite
    method: str
    wins: int  # wins, ties, losses: of the reference
    ties: int
    losses: int


def load_published(loaded: LoadedSuite, registry: Registry) -> list[PublishedTable]:
    """Read the tables listed in a suite's ``[report] published``."""
    # A name refers to a table in the folder `published` next to a plugin's suites; a text ending in `.csv` is a path
    # relative to the suite's folder.
    names = loaded.suite.report.published
    tables: list[PublishedTable] = []
    for position, name in enumerate([names] if isinstance(names, str) else names):
        location = f"{loaded.path}: report.published" + ("" if isinstance(names, str) else f"[{position}]")
        with at(location):
            if any(name == table.name for table in tables):
                raise UsageError(f"{name!r} is listed twice")
            table = read_published(name, registry, loaded.path.resolve().parent)
        if not table.about.metric:
            table = replace(table, about=table.about.model_copy(update={"metric": loaded.protocol.metrics[0]}))
        if table.about.metric not in loaded.protocol.metrics:
            raise SuiteError(
                f"{location}: {name!r} contains {table.about.metric}, which this suite does not measure; add it to "
                "protocol.metrics"
            )
        tables.append(table)
    return tables


def shipped_tables(registry: Registry) -> dict[str, Path]:
    """Return the tables of figures shipped by plugins, by name, without auxiliary tables, e.g. of sizes."""
    return _table_names(registry).listed


def _table_names(registry: Registry) -> NameTable[Path]:
    return registry.shipped(
        f"{FOLDER}/*.csv",
        "published table",
        "or give the path of a .csv file",
        lambda path: set(COLUMNS) <= set(_rows(path)[0]),
    )


def read_published(name: str, registry: Registry, folder: Path) -> PublishedTable:
    """Read one table of published figures."""
    return _read_table(name, _find(name, folder, registry))


def _find(name: str, folder: Path, registry: Registry) -> Path:
    if name.endswith(".csv"):
        path = folder / Path(name).expanduser()
        if not path.is_file():
            raise SuiteError(f"{path} does not exist, or is not a file")
        return path
    tables = _table_names(registry)
    return tables.listed[tables.resolve(name, registry.home_of(folder))]


def _read_table(name: str, path: Path) -> PublishedTable:
    about = _description(path)
    columns, rows = _rows(path)
    if not set(COLUMNS) <= set(columns):
        raise SuiteError(f"{path} needs the columns {', '.join(COLUMNS)}; it has {', '.join(columns)}")
    values: dict[tuple[str, str], float] = {}
    for number, row in enumerate(rows, start=2):
        cell = (row["dataset"], row["method"])
        if cell in values:
            raise SuiteError(f"{path}, line {number}: {row['method']} on {row['dataset']} already has a figure")
        if row["value"]:
            values[cell] = _in_unit(_number(row["value"], path, number), about.unit)
    digits = max((len(row["value"].partition(".")[2]) for row in rows), default=0)
    rounding = 0.5 * 10.0**-digits / (100.0 if about.unit == "percent" else 1.0)
    return PublishedTable(name, about, values, _shapes(about, path), rounding, _counts(about, path))


def _in_unit(value: float, unit: str) -> float:
    # Rounded to the printed value: 67.1 percent is 0.671, not the next floating-point number.
    return round({"percent": value / 100.0, "error": 1.0 - value}.get(unit, value), 12)


def _number(text: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SuiteError(f"{path}, line {line}: {text!r} is not a number")
    return value


def _shapes(about: Description, path: Path) -> dict[str, Shape]:
    if about.sizes is None:
        return {}
    file = path.with_name(f"{about.sizes.table}.csv")
    columns, rows = _rows(file)
    needed = ("dataset", about.sizes.rows, about.sizes.features)
    if not set(needed) <= set(columns):
        raise SuiteError(f"{file} needs the columns {', '.join(needed)}; it has {', '.join(columns)}")
    return {
        row["dataset"]: (int(_number(row[needed[1]], file, line)), int(_number(row[needed[2]], file, line)))
        for line, row in enumerate(rows, start=2)
    }


def _counts(about: Description, path: Path) -> dict[tuple[str, str], tuple[int, int, int]]:
    if about.counts is None:
        return {}
    file = path.with_name(f"{about.counts.table}.csv")
    columns, rows = _rows(file)
    if not set(COUNT_COLUMNS) <= set(columns):
        raise SuiteError(f"{file} needs the columns {', '.join(COUNT_COLUMNS)}; it has {', '.join(columns)}")
    counts: dict[tuple[str, str], tuple[int, int, int]] = {}
    for line, row in enumerate(rows, start=2):
        if row["table"] == about.counts.of:
            wins, ties, losses = (int(_number(row[column], file, line)) for column in COUNT_COLUMNS[3:])
            counts[row["reference_method"], row["opponent"]] = (wins, ties, losses)
    return counts


def _description(path: Path) -> Description:
    """Return a table's description in the index of its folder."""
    index = path.with_name(INDEX)
    if not index.is_file():
        return Description()
    data = parse_toml(read_text(index), str(index)).get(path.stem, {})
    try:
        return Description.model_validate(data)
    except ValidationError as error:
        raise SuiteError(f"{index}: {path.stem}.{describe(error, Description, data)[0]}") from None


def _rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            reader = csv.DictReader(handle, restval="")
            return list(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SuiteError(f"{path} cannot be read: {error}") from None


def match(
    table: PublishedTable,
    datasets: Mapping[str, PlannedDataset],
    methods: list[str],
    score: Score,
    decisions: str = "multi-class",
) -> list[PublishedFigure]:
    """Return a table's figures, which are values of a score, for the datasets and methods of a plan."""
    # A dataset is matched by its label in one of the table's collections, or by its own label. A method is matched by
    # its label or, failing that, by the first word of its label: "IGT" and "IGT nested" are compared with the same
    # figure.
    figures = []
    for dataset, planned in datasets.items():
        labels = [planned.collections[name] for name in table.about.collections if name in planned.collections]
        for label in [*labels, dataset]:
            values = [(method, value) for method in methods if (value := _value(table, label, method)) is not None]
            if values:
                obstacle = _obstacle(table, label, planned, score, decisions)
                figures += [
                    PublishedFigure(
                        table.name, dataset, method, label, value, obstacle, table.rounding, table.about.repeats
                    )
                    for method, value in values
                ]
                break
    return figures


def match_counts(table: PublishedTable, methods: list[str]) -> list[PublishedCount]:
    """Return a table's win/tie/loss counts for pairs of methods of a plan, matched as in `match`."""
    printed = {name for pair in table.counts for name in pair}
    names = {method: next((name for name in (method, method.split()[0]) if name in printed), "") for method in methods}
    return [
        PublishedCount(table.name, reference, method, *table.counts[names[reference], names[method]])
        for reference in methods
        for method in methods
        if (names[reference], names[method]) in table.counts
    ]


def _value(table: PublishedTable, dataset: str, method: str) -> float | None:
    return table.values.get((dataset, method), table.values.get((dataset, method.split()[0])))


def _obstacle(table: PublishedTable, label: str, planned: PlannedDataset, score: Score, decisions: str) -> str:
    ours = (planned.data.n_samples, planned.data.n_features)
    theirs = table.shapes.get(label, ours)
    if ours != theirs:
        return f"was published with {theirs[0]} × {theirs[1]}, ours has {ours[0]} × {ours[1]}"
    if score.is_one_vs_rest and planned.data.n_classes > 2 and decisions != "one-vs-rest":
        return f"has {planned.data.n_classes} classes: was published as one problem per class, here it is one for all"
    return ""
