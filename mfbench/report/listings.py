"""What there is: suites, methods and datasets, as tables on the terminal. Loads no data and no numeric library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mfbench.errors import MfbenchError, UnknownNameError
from mfbench.host.registry import Registered, Registry

if TYPE_CHECKING:
    from mfbench.models import Dataset


def _table(*columns: str, fold: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in fold, overflow="fold")
    return table


def show_plugins(registry: Registry, console: Console, tags: Sequence[str] = ()) -> None:
    """Print selectors and classifiers; with `tags`, only those that have one of them."""
    kinds = {"selectors": registry.selectors, "classifiers": registry.classifiers}
    known = {tag for table in kinds.values() for entry in table.values() for tag in entry.spec.tags}
    for tag in tags:
        if tag not in known:
            raise UnknownNameError("tag", tag, known)
    for kind, entries in kinds.items():
        table = _table("name", "what it is", "paper", "package", fold=("what it is", "paper"))
        for name, entry in sorted(entries.items()):
            if not tags or set(tags) & set(entry.spec.tags):
                table.add_row(Text(name, style="bold"), Text(entry.spec.summary), _paper(entry), Text(_package(entry)))
        console.print(Text(f"{kind} ({table.row_count})", style="bold"))
        if table.row_count:
            console.print(table)


def _paper(entry: Registered) -> Text:
    return Text(entry.spec.paper or "–")


def _package(entry: Registered) -> str:
    plugin = entry.plugin
    return f"{plugin.distribution} {plugin.version}".strip() or plugin.module


def show_suites(registry: Registry, console: Console) -> None:
    """Print the installed suites; one that is not valid is named with its mistake."""
    from mfbench.suite.loading import parse_suite, read_text

    table = _table("name", "title", "datasets", "methods", "profiles", "file", fold=("title", "file"))
    for name, path in sorted(registry.suites().items()):
        try:
            suite = parse_suite(read_text(path), str(path))
        except MfbenchError as error:
            table.add_row(
                Text(name, style="bold"), Text(f"not valid: {error}", style="red"), "", "", "", Text(str(path))
            )
            continue
        profiles = dict.fromkeys(["quick", "standard", "paper", *suite.profiles])
        table.add_row(
            Text(name, style="bold"),
            Text(suite.suite.title),
            str(sum(len(group.use) for group in suite.datasets)),
            str(len(suite.methods)),
            ", ".join(f"{profile} (default)" if profile == suite.suite.profile else profile for profile in profiles),
            Text(str(path)),
        )
    console.print(table)


def show_datasets(registry: Registry, console: Console) -> None:
    """Print the registered datasets with their declared sizes."""
    table = _table(
        "name",
        "what it is",
        "rows",
        "features",
        "classes",
        "where",
        "source",
        "licence",
        fold=("what it is", "source", "licence"),
    )
    for name, entry in sorted(registry.datasets.items()):
        spec = entry.spec
        where = "embedded" if spec.embedded else "needs a download"
        sizes = [str(size) if size is not None else "?" for size in (spec.n_samples, spec.n_features, spec.n_classes)]
        table.add_row(
            Text(name, style="bold"), Text(spec.summary), *sizes, where, Text(spec.source), Text(spec.license)
        )
    console.print(table)
    console.print("Your own CSV, ARFF or Parquet file: file:PATH")


def show_dataset(dataset: Dataset, console: Console, rows: int) -> None:
    """Print one dataset: sizes, classes, kinds of columns, provenance and the first rows."""
    import numpy as np

    counts = np.bincount(dataset.y, minlength=dataset.n_classes)
    missing = np.isnan(dataset.X)
    facts = {
        "rows": str(dataset.n_samples),
        "features": f"{dataset.n_features} ({int(dataset.categorical.sum())} categorical, as {dataset.encoding})"
        if dataset.categorical.any()
        else str(dataset.n_features),
        "classes": ", ".join(f"{name} ({count})" for name, count in zip(dataset.class_names, counts, strict=True)),
        "missing values": f"{int(missing.sum())} in {int(missing.any(axis=0).sum())} columns"
        if missing.any()
        else "none",
        "relevant features": "–"
        if dataset.relevant is None
        else ", ".join(dataset.feature_names[index] for index in dataset.relevant),
        "source": dataset.source or "–",
        "licence": dataset.license or "–",
        "cite": dataset.citation or "–",
    }
    console.print(Text(dataset.name, style="bold"))
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        grid.add_row(Text(name, style="dim"), Text(value))
    console.print(grid)
    if rows:
        console.print(_first_rows(dataset, console.width, rows))


def _first_rows(dataset: Dataset, width: int, rows: int) -> Table:
    """Show as many columns as fit, and the class."""
    shown = max(1, min(dataset.n_features, width // 12 - 2))
    names = list(dataset.feature_names[:shown])
    table = _table(*names, *(["…"] if shown < dataset.n_features else []), "class")
    for row in range(min(rows, dataset.n_samples)):
        cells = [_value(dataset, row, column) for column in range(shown)]
        cells += ["…"] if shown < dataset.n_features else []
        table.add_row(*(Text(cell) for cell in [*cells, dataset.class_names[dataset.y[row]]]))
    return table


def _value(dataset: Dataset, row: int, column: int) -> str:
    value = dataset.X[row, column]
    if value != value:
        return "?"
    labels = dataset.categories.get(dataset.feature_names[column])
    return labels[int(value)] if dataset.categorical[column] and labels else f"{value:g}"
