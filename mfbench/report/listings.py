"""Lists of suites, methods and datasets as tables on the terminal; importing this loads no numeric library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mfbench.base.untrusted import plain_text
from mfbench.base.wording import listing
from mfbench.data.lookup import Lookup, keys_of
from mfbench.data.reference import FileReference, MirrorReference
from mfbench.data.sources import PULL
from mfbench.errors import MfbenchError, UnknownNameError
from mfbench.host.discovery import LOAD_VARIABLE
from mfbench.host.factories import missing_packages, remedy
from mfbench.host.registered import Plugin, Registered
from mfbench.host.registry import Registry

if TYPE_CHECKING:
    from mfbench.data.lookup import LoadedDataset
    from mfbench.model.specs import Dataset, DatasetSpec


def _table(*columns: str, fold: Sequence[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in fold, overflow="fold")
    return table


def show_plugins(registry: Registry, console: Console, tags: Sequence[str] = ()) -> None:
    """Print selectors, classifiers and executors; with `tags`, only methods that have at least one of the tags."""
    kinds = {"selectors": registry.selectors, "classifiers": registry.classifiers}
    tags_in_use = {tag for table in kinds.values() for entry in table.values() for tag in entry.spec.tags}
    for tag in tags:
        if tag not in tags_in_use:
            raise UnknownNameError("tag", tag, tags_in_use)
    for kind, entries in kinds.items():
        table = _table("name", "what it is", "paper", "package", fold=("what it is", "paper"))
        for name, entry in sorted(entries.items()):
            if not tags or set(tags) & set(entry.spec.tags):
                table.add_row(Text(name, style="bold"), _summary(entry), _paper(entry), Text(_package(entry)))
        console.print(Text(f"{kind} ({table.row_count})", style="bold"))
        if table.row_count:
            console.print(table)
    if not tags:
        _show_executors(registry, console)
        _show_entry_points(registry, console)


def _summary(entry: Registered) -> Text:
    """Return the line about a method, and what it lacks here."""
    text = Text(plain_text(entry.spec.summary))
    missing = missing_packages(entry.spec)
    return text.append(f"; needs {listing(missing)}: {remedy(entry)}", style="yellow") if missing else text


def _show_executors(registry: Registry, console: Console) -> None:
    """Print what ``--executor`` accepts besides "local"."""
    if not registry.executors:
        return
    table = _table("name", "what it is", "package", fold=("what it is",))
    for name, entry in sorted(registry.executors.items()):
        table.add_row(Text(name, style="bold"), Text(plain_text(entry.spec.summary)), Text(_package(entry)))
    console.print(Text(f"executors ({table.row_count})", style="bold"))
    console.print(table)


def _show_entry_points(registry: Registry, console: Console) -> None:
    """Print the names by which ``MFBENCH_LOAD_PLUGINS`` selects plugins."""
    plugins = sorted(registry.plugins.values(), key=lambda plugin: (plugin.distribution, plugin.name))
    table = _table("name", "module", "package", fold=("module",))
    for plugin in plugins:
        table.add_row(Text(plugin.name, style="bold"), Text(plugin.module), Text(_package_of(plugin)))
    console.print(Text(f"plugins ({len(plugins)})", style="bold"))
    if plugins:
        console.print(table)
        console.print(f"To leave one out, set {LOAD_VARIABLE}=all,-{plugins[-1].name}", markup=False, highlight=False)


def _paper(entry: Registered) -> Text:
    return Text(entry.spec.paper or "–")


def _package(entry: Registered) -> str:
    return _package_of(entry.plugin)


def _package_of(plugin: Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}".strip() or plugin.module


def show_suites(registry: Registry, console: Console) -> None:
    """Print the installed suites; for an invalid suite, print the error."""
    from mfbench.suite.loading import parse_suite, read_text

    table = _table("name", "title", "datasets", "methods", "profiles", "parts", "file", fold=("title", "parts", "file"))
    for name, path in sorted(registry.suites().items()):
        try:
            suite = parse_suite(read_text(path), str(path))
        except MfbenchError as error:
            table.add_row(
                Text(name, style="bold"), Text(f"not valid: {error}", style="red"), "", "", "", "", Text(str(path))
            )
            continue
        profiles = dict.fromkeys(["quick", "standard", "full", *suite.profiles])
        table.add_row(
            Text(name, style="bold"),
            Text(suite.suite.title),
            str(sum(len(group.use) for group in suite.datasets)),
            str(len(suite.methods)),
            ", ".join(f"{profile} (default)" if profile == suite.suite.profile else profile for profile in profiles),
            ", ".join(suite.parts),
            Text(str(path)),
        )
    console.print(table)


def show_suite(name: str, registry: Registry, console: Console) -> None:
    """Print the labels of a suite's datasets and methods, which ``--only`` matches, with what restricts them."""
    from mfbench.suite.loading import find_suite, parse_suite, read_text

    path = find_suite(name, registry)
    suite = parse_suite(read_text(path), str(path))
    console.print(Text(plain_text(suite.suite.title or suite.suite.name), style="bold"))
    if suite.suite.description:
        console.print(Text(plain_text(suite.suite.description)))
    datasets = _table("dataset", "profiles", fold=("dataset", "profiles"))
    for group in suite.datasets:
        for use in group.use:
            label = Path(use.removeprefix(FileReference.prefix)).name if use.startswith(FileReference.prefix) else use
            datasets.add_row(Text(plain_text(label), style="bold"), _profiles(group.profiles))
    methods = _table("method", "what it is", "profiles", fold=("what it is", "profiles"))
    for method in suite.methods:
        steps = " → ".join(step for step in (method.selector, method.classifier) if step is not None)
        methods.add_row(
            Text(plain_text(method.label), style="bold"), Text(plain_text(steps)), _profiles(method.profiles)
        )
    for table in (datasets, methods):
        console.print(table)
    for part, content in suite.parts.items():
        console.print(Text(f"--part {part}: {plain_text(', '.join(content.only))}"))


def _profiles(names: Sequence[str] | None) -> str:
    return "all" if names is None else ", ".join(names)


def show_datasets(
    registry: Registry, console: Console, lookup: Lookup | None = None, collection: str | None = None
) -> None:
    """Print the registered datasets with their declared sizes and locations."""
    lookup = lookup or Lookup()
    label = () if collection is None else (collection,)
    texts = ("what it is", "source", "licence")
    columns = (*label, "name", "what it is", "rows", "features", "classes", "where", "source", "licence")
    table = _table(*columns, fold=texts)
    counts: Counter[str] = Counter()
    for name, entry in sorted(registry.datasets.items()):
        spec = entry.spec
        if collection is not None and collection not in spec.collections:
            continue
        where = lookup.location(spec)
        counts[where] += 1
        sizes = [str(size) if size is not None else "?" for size in (spec.n_samples, spec.n_features, spec.n_classes)]
        first = [] if collection is None else [Text(spec.collections[collection])]
        location = Text(where, style="yellow" if where == "missing" else "")
        table.add_row(
            *first,
            Text(name, style="bold"),
            Text(plain_text(spec.summary)),
            *sizes,
            location,
            Text(spec.source),
            Text(spec.license),
        )
    console.print(table)
    if collection is None:
        _show_unregistered(registry, console, lookup)
    totals = ", ".join(f"{counts[location]} {location}" for location in ("embedded", "mirror", "cached", "missing"))
    console.print(f"{totals}. Cache: {lookup.cache.folder}", markup=False, highlight=False, soft_wrap=True)
    if counts["missing"]:
        name = "NAME" if collection is None else collection
        console.print(
            f"To download missing datasets, run: {PULL.format(name)}, or name a mirror with --data-dir", highlight=False
        )
    console.print("Your own CSV, ARFF or Parquet file: file:PATH")


def _show_unregistered(registry: Registry, console: Console, lookup: Lookup) -> None:
    """Print the unregistered datasets in mirror and cache with the references that load them."""
    specs = [entry.spec for entry in registry.datasets.values() if not entry.spec.embedded]
    registered = {key for spec in specs for key in keys_of(spec)}
    stored: dict[str, tuple[str, str, str, str, str]] = {}
    for item in lookup.cache.entries():
        facts = item.facts
        sizes = (str(facts["n_samples"]), str(facts["n_features"]), str(len(facts["class_counts"])))
        stored[item.key] = (*sizes, "cached", str(facts["source"]))
    cards = {} if lookup.mirror is None else {name: lookup.mirror.card(name) for name in lookup.mirror.names()}
    for name, card in cards.items():
        sizes = (str(card["n_samples"]), str(card["n_features"]), str(len(card["class_counts"])))
        stored[MirrorReference(name).key] = (*sizes, "mirror", card["source"])
    table = _table("not registered", "rows", "features", "classes", "where", "source", fold=("source",))
    for key, cells in sorted(stored.items()):
        if key not in registered:
            table.add_row(Text(key, style="bold"), *(Text(cell) for cell in cells))
    if table.row_count:
        console.print(table)


def show_dataset(
    dataset: Dataset,
    console: Console,
    rows: int,
    *,
    loaded: LoadedDataset | None = None,
    spec: DatasetSpec | None = None,
) -> None:
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
        "licence": dataset.license or (spec.license if spec is not None else "") or "–",
        "cite": dataset.citation or "–",
    }
    if loaded is not None:
        facts["location"] = f"{loaded.location} ({loaded.key})" if loaded.key else loaded.location
        facts["note"] = (spec.note if spec is not None else "") or str((loaded.card or {}).get("notes", ""))
    if spec is not None:
        facts["collections"] = ", ".join(f"{name} ({label})" for name, label in spec.collections.items())
    console.print(Text(dataset.name, style="bold"))
    grid = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        if value:
            grid.add_row(Text(name, style="dim"), Text(value))
    console.print(grid)
    if rows:
        console.print(_first_rows(dataset, console.width, rows))


def _first_rows(dataset: Dataset, width: int, rows: int) -> Table:
    """Return the first rows: as many columns as fit, and the class."""
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
