"""Terminal tables that list suites, methods and datasets; importing this module loads no numeric library."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mfbench.base.text import listing, plain_text
from mfbench.data.cache import PULL
from mfbench.data.lookup import LoadedDataset, Lookup, keys_of
from mfbench.data.reference import FileReference, MirrorReference
from mfbench.errors import MfbenchError, UnknownNameError
from mfbench.host.discovery import LOAD_VARIABLE, always_plugins
from mfbench.host.expressions import Plugin, Registered
from mfbench.host.factories import missing_packages, remedy
from mfbench.host.registry import STEPS, Registry
from mfbench.model.specs import Dataset, DatasetSpec, EstimatorSpec

_SIZES = ("rows", "features", "classes")
MOST_CLASSES = 40  # that are listed


def _table(*columns: str, fold: Sequence[str] = (), bold: str = "name") -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, no_wrap=name not in fold, overflow="fold", style="bold" if name == bold else "")
    return table


def _cut(text: str) -> Text:
    """Return a text that is cut off where its column ends, in a column that may fold."""
    return Text(plain_text(text), no_wrap=True, overflow="ellipsis")


def show_plugins(registry: Registry, console: Console, tags: Sequence[str] = ()) -> None:
    """Print methods, splitters, executors and more in a line each; with `tags`, only methods that have one of them."""
    kinds = _methods(registry)
    tags_in_use = {tag for table in kinds.values() for entry in table.values() for tag in entry.spec.tags}
    for tag in tags:
        if tag not in tags_in_use:
            raise UnknownNameError("tag", tag, tags_in_use)
    others = {f"{kind}s": registry.listed(kind) for kind in ("protocol", "splitter", "metric", "task", "executor")}
    for kind, entries in (kinds if tags else kinds | others).items():
        table = _table("name", "what it is", "package", fold=("what it is",))
        for name, entry in sorted(entries.items()):
            if not tags or set(tags) & set(entry.spec.tags):
                table.add_row(name, _summary(entry), _package(entry.plugin))
        if table.row_count or kind in kinds:
            _show_counted(kind, table, console)
    if not tags:
        _show_entry_points(registry, console)


def _methods(registry: Registry) -> dict[str, Mapping[str, Registered]]:
    return {f"{kind}s": registry.listed(kind) for kind in STEPS}


def show_plugin(name: str, registry: Registry, console: Console) -> None:
    """Print everything that a selector, classifier or regressor declares."""
    kinds = _methods(registry)
    entries = [(kind, table[name]) for kind, table in kinds.items() if name in table]
    if not entries:
        raise UnknownNameError("method", name, {one for table in kinds.values() for one in table})
    for kind, entry in entries:
        spec = entry.spec
        grid = "; ".join(f"{parameter} {listing(list(map(str, values)))}" for parameter, values in spec.grid.items())
        facts = {
            "what it is": spec.summary,
            "needs": f"{listing(missing)}: {remedy(entry)}" if (missing := missing_packages(spec)) else "",
            "paper": spec.paper,
            "package": _package(entry.plugin),
            "defaults": ", ".join(f"{parameter}={value!r}" for parameter, value in spec.defaults.items()),
            "default grid": grid,
            "tags": ", ".join(spec.tags),
            "tasks": ", ".join(spec.tasks) or "all",
            "seconds of a fit": spec.complexity,
        }
        console.print(Text(f"{name} ({kind.removesuffix('s')})", style="bold"))
        _show_facts(facts, console)


def _show_facts(facts: Mapping[str, str], console: Console) -> None:
    grid = Table.grid(padding=(0, 2))
    for fact, value in facts.items():
        if value:
            grid.add_row(Text(fact, style="dim"), plain_text(value))
    console.print(grid)


def _show_counted(kind: str, table: Table, console: Console) -> None:
    console.print(Text(f"{kind} ({table.row_count})", style="bold"))
    if table.row_count:
        console.print(table)


def _summary(entry: Registered) -> Text:
    """Return the summary of a spec, after the packages that a method lacks."""
    missing = missing_packages(entry.spec) if isinstance(entry.spec, EstimatorSpec) else []
    needs = Text(f"needs {listing(missing)}: {remedy(entry)}; " if missing else "", style="yellow")
    return _cut("").append_text(needs).append(plain_text(entry.spec.summary))


def _show_entry_points(registry: Registry, console: Console) -> None:
    """Print the names by which ``MFBENCH_LOAD_PLUGINS`` selects plugins."""
    always = always_plugins().values()
    listed = [plugin for plugin in registry.plugins.values() if plugin not in always]
    plugins = sorted(listed, key=lambda plugin: (plugin.distribution, plugin.name))
    table = _table("name", "module", "package", fold=("module",))
    for plugin in plugins:
        table.add_row(plugin.name, plugin.module, _package(plugin))
    _show_counted("plugins", table, console)
    if plugins:
        console.print(f"To leave one out, set {LOAD_VARIABLE}=all,-{plugins[-1].name}")


def _package(plugin: Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}".strip() or plugin.module


def show_suites(registry: Registry, console: Console) -> None:
    """Print the installed suites, or the error for each invalid one."""
    from mfbench.suite.loading import parse_suite, read_text

    table = _table("name", "title", "datasets", "methods", "profiles", "parts", "file", fold=("title", "parts", "file"))
    for name, path in sorted(registry.suites().items()):
        try:
            suite = parse_suite(read_text(path), str(path))
        except MfbenchError as error:
            table.add_row(name, Text(f"not valid: {error}", style="red"), "", "", "", "", str(path))
            continue
        profiles = dict.fromkeys(["quick", "standard", "full", *suite.profiles])
        table.add_row(
            name,
            suite.suite.title,
            str(sum(len(group.use) for group in suite.datasets)),
            str(len(suite.methods)),
            ", ".join(f"{profile} (default)" if profile == suite.suite.profile else profile for profile in profiles),
            ", ".join(suite.parts),
            str(path),
        )
    console.print(table)


def show_suite(name: str, registry: Registry, console: Console) -> None:
    """Print the labels of a suite's datasets and methods, as matched by ``--only``, with their restrictions."""
    from mfbench.suite.loading import find_suite, parse_suite, read_text

    path = find_suite(name, registry)
    suite = parse_suite(read_text(path), str(path))
    console.print(Text(plain_text(suite.suite.title or suite.suite.name), style="bold"))
    if suite.suite.description:
        console.print(plain_text(suite.suite.description))
    datasets = _table("dataset", "profiles", fold=("dataset", "profiles"), bold="dataset")
    for group in suite.datasets:
        for use in group.use:
            label = Path(use.removeprefix(FileReference.prefix)).name if use.startswith(FileReference.prefix) else use
            datasets.add_row(plain_text(label), _profiles(group.profiles))
    methods = _table("method", "what it is", "profiles", fold=("what it is", "profiles"), bold="method")
    for method in suite.methods:
        steps = plain_text(" → ".join(method.steps.values()))
        methods.add_row(plain_text(method.label), steps, _profiles(method.profiles))
    for table in (datasets, methods):
        console.print(table)
    for part, content in suite.parts.items():
        console.print(f"--part {part}: {plain_text(', '.join(content.only))}")


def _profiles(names: Sequence[str] | None) -> str:
    return "all" if names is None else ", ".join(names)


def show_datasets(
    registry: Registry, console: Console, lookup: Lookup | None = None, collection: str | None = None
) -> None:
    """Print the registered datasets with their declared sizes and locations."""
    lookup = lookup or Lookup()
    label = () if collection is None else (collection,)
    table = _table(*label, "name", "what it is", *_SIZES, "where", fold=("what it is",))
    counts: Counter[str] = Counter()
    for name, entry in sorted(registry.listed("dataset").items()):
        spec = entry.spec
        if collection is not None and collection not in spec.collections:
            continue
        where = lookup.location(spec)
        counts[where] += 1
        sizes = [str(size) if size is not None else "?" for size in (spec.n_samples, spec.n_features)]
        classes = "?" if registry.entry("task", spec.task).spec.target == "classes" else "–"
        sizes.append(classes if spec.n_classes is None else str(spec.n_classes))
        labels = [] if collection is None else [spec.collections[collection]]
        location = Text(where, style="yellow" if where == "missing" else "")
        table.add_row(*labels, name, _cut(spec.summary), *sizes, location)
    console.print(table)
    if collection is None:
        _show_unregistered(registry, console, lookup)
    totals = ", ".join(f"{counts[location]} {location}" for location in ("embedded", "mirror", "cached", "missing"))
    console.print(f"{totals}. Cache: {lookup.cache.folder}", soft_wrap=True)
    if counts["missing"]:
        command = PULL.format(collection or "NAME")
        console.print(f"To download missing datasets, run: {command}, or name a mirror with --data-dir")
    console.print("Your own CSV, ARFF or Parquet file: file:PATH")


def _show_unregistered(registry: Registry, console: Console, lookup: Lookup) -> None:
    """Print the unregistered datasets in mirror and cache, with the references that load them."""
    specs = [entry.spec for entry in registry.listed("dataset").values() if not entry.spec.embedded]
    registered = {key for spec in specs for key in keys_of(spec)}
    facts = {key: ("cached", own) for key, own in lookup.cache.entries().items()}
    mirror = lookup.mirror
    if mirror is not None:
        facts |= {MirrorReference(name).key: ("mirror", mirror.card(name)) for name in mirror.names()}
    table = _table("not registered", *_SIZES, "where", "source", fold=("source",), bold="not registered")
    for key, (where, own) in sorted(facts.items()):
        if key not in registered:
            sizes = (own["n_samples"], own["n_features"], len(own["class_counts"]))
            table.add_row(key, *map(str, sizes), where, str(own["source"]))
    if table.row_count:
        console.print(table)


def show_dataset(loaded: LoadedDataset, console: Console, rows: int, spec: DatasetSpec | None = None) -> None:
    """Print one dataset: sizes, target, kinds of columns, provenance and the first rows."""
    import numpy as np

    dataset = loaded.data
    missing = np.isnan([[0.0]] if dataset.is_sparse else dataset.X)
    facts = {
        "rows": str(dataset.n_samples),
        "features": f"{dataset.n_features} ({int(dataset.categorical.sum())} categorical, as {dataset.encoding})"
        if dataset.categorical.any()
        else str(dataset.n_features),
        **_target(dataset),
        "missing values": f"{int(missing.sum())} in {int(missing.any(axis=0).sum())} columns"
        if missing.any()
        else "none",
        "relevant features": "–"
        if dataset.relevant is None
        else ", ".join(dataset.feature_names[index] for index in dataset.relevant),
        "source": dataset.source or "–",
        "licence": dataset.license or (spec.license if spec is not None else "") or "–",
        "cite": dataset.citation or "–",
        "location": f"{loaded.location} ({loaded.key})" if loaded.key else loaded.location,
        "note": (spec.note if spec is not None else "") or str((loaded.card or {}).get("notes", "")),
    }
    if spec is not None:
        facts["collections"] = ", ".join(f"{name} ({label})" for name, label in spec.collections.items())
    console.print(Text(dataset.name, style="bold"))
    _show_facts(facts, console)
    if rows:
        console.print(_first_rows(dataset, console.width, rows))


def _target(dataset: Dataset) -> dict[str, str]:
    """Return the classes with their numbers of rows, or the range of the numbers."""
    from mfbench.data.columns import class_counts

    if not dataset.n_classes:
        return {"target": f"numbers from {dataset.y.min():g} to {dataset.y.max():g}, mean {dataset.y.mean():g}"}
    parts = [f"{name} ({count})" for name, count in class_counts(dataset).items()]
    more = [f"… ({dataset.n_classes} in all)"] if len(parts) > MOST_CLASSES else []
    return {"classes": ", ".join([*parts[:MOST_CLASSES], *more])}


def _first_rows(dataset: Dataset, width: int, rows: int) -> Table:
    """Print the first rows: as many columns as fit, and the target."""
    shown = max(1, min(dataset.n_features, width // 12 - 2))
    more = ["…"] if shown < dataset.n_features else []
    table = _table(*dataset.feature_names[:shown], *more, "class" if dataset.n_classes else "target", bold="")
    for row in range(min(rows, dataset.n_samples)):
        values = [_value(dataset, row, column) for column in range(shown)]
        target = dataset.class_names[dataset.y[row]] if dataset.n_classes else f"{dataset.y[row]:g}"
        table.add_row(*values, *more, target)
    return table


def _value(dataset: Dataset, row: int, column: int) -> str:
    value = dataset.X[row, column]
    if value != value:
        return "?"
    labels = dataset.categories.get(dataset.feature_names[column])
    return labels[int(value)] if dataset.categorical[column] and labels else f"{value:g}"
