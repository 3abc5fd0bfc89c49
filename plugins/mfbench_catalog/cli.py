"""The commands on plugins, suites and datasets."""

import json
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from mfbench.base.console import make_console, print_line
from mfbench.base.text import counted
from mfbench.cli.entry import find_commands, outlive_output
from mfbench.cli.options import Categorical, DataDir, Offline, Strict, Target, Text, Texts
from mfbench.data import lookup as lookups
from mfbench.data.cache import DataOptions
from mfbench.data.lookup import DatasetStatus, Follower, Lookup
from mfbench.errors import ExitCode, PluginError, UsageError
from mfbench.host.discovery import PluginWarning
from mfbench.host.features import added_names, feature_hooks
from mfbench.host.registry import Registry, load_registry
from mfbench_catalog import listings

app = typer.Typer(help="List, show, download and manage datasets.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_datasets(
    collection: Annotated[Text, Option(metavar="NAME", help="List only this collection, with its labels.")] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """List all datasets with size, source and location: embedded, mirror, cached or missing."""
    from mfbench.data.catalog import in_collection

    registry = _registry(strict)
    if collection is not None:
        in_collection(registry, collection)
    listings.show_datasets(registry, make_console(), _lookup(data_dir, offline), collection)


@app.command("show")
def show(
    name: Annotated[str, Argument(help="A dataset, such as 'wine', 'openml:61' or 'file:my.csv'.")],
    target: Target = None,
    categorical: Categorical = None,
    rows: Annotated[int, Option(min=0, help="Number of rows to show.")] = 5,
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """Show a dataset: shape, target, missing values, licence, citation, location and first rows."""
    from mfbench.data.catalog import find, located
    from mfbench.data.reference import RegisteredReference, parse_reference
    from mfbench.report.progress import Downloads

    registry = _registry(strict)
    reference = parse_reference(name, target=target, categorical=categorical)
    outlive_output()
    console = make_console()
    with Downloads(console) as downloads:
        show = find if isinstance(reference, RegisteredReference) else located
        loaded = show(reference, registry, _lookup(data_dir, offline, downloads))
    spec = None
    if isinstance(reference, RegisteredReference):
        spec = registry.entry("dataset", reference.expression.name).spec
    listings.show_dataset(loaded, console, rows, spec)


@app.command("pull")
def pull(
    names: Annotated[
        list[str], Argument(metavar="NAME...", help="Suites, collections, datasets, openml:…, uci:… or openml-suite:…")
    ],
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """Download datasets into the cache and report those that are already available."""
    from mfbench.report.progress import Downloads
    from mfbench.suite.additions import pull as pull_datasets

    outlive_output()
    console = make_console()
    with Downloads(console) as downloads:
        lookup = _lookup(data_dir, offline, downloads)
        _print_statuses(pull_datasets(names, _registry(strict), lookup), console)


@app.command("import")
def import_datasets(
    path: Annotated[Path, Argument(metavar="DIR|FILE", help="A mirror, or a CSV, TSV, ARFF or Parquet file.")],
    name: Annotated[Text, Option(help="Import a file as import:NAME. [default: the name of the file]")] = None,
    target: Target = None,
    categorical: Categorical = None,
) -> None:
    """Copy a mirror or a file into the cache, so that its datasets can be used by name."""
    outlive_output()
    statuses = lookups.import_path(
        path, Lookup(DataOptions(mirror=None)), name=name, target=target, categorical=categorical or None
    )
    _print_statuses(statuses, make_console())


@app.command("verify")
def verify(data_dir: DataDir = None) -> None:
    """Check every dataset in the cache, and in the mirror if there is one, against its checksum."""
    outlive_output()
    lookup = _lookup(data_dir)
    count, damaged = lookups.verify(lookup)
    console = make_console()
    for name, reason in damaged.items():
        print_line(console, f"{name}: {reason}")
    sound = count - len(damaged)
    print_line(console, f"{sound} of {count} datasets are sound, {len(damaged)} damaged. Cache: {lookup.cache.folder}")
    if damaged:
        print_line(console, "Remove one with: mfbench datasets clear NAME. It is downloaded again if possible.")
        raise typer.Exit(ExitCode.FAILED)


@app.command("clear")
def clear(
    names: Annotated[Texts, Argument(metavar="[NAME...]", help="Datasets to delete. [default: all]")] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Delete everything without asking.")] = False,
    strict: Strict = False,
) -> None:
    """Delete datasets from the cache; mirrors and your own files are kept."""
    cache, console = Lookup(DataOptions(mirror=None)).cache, make_console()
    keys = lookups.cached_keys(names, _registry(strict), cache) if names else None
    if keys is None and cache.is_empty():
        print_line(console, f"the cache {cache.folder} is empty")
        return
    if keys is None and not yes:
        question = f"Delete everything in the cache {cache.folder} ({counted(len(cache.entries()), 'dataset')})?"
        if not sys.stdin.isatty():
            raise UsageError(f"{question} Name some of them, or confirm with --yes")
        if not typer.confirm(question):
            return
    deleted = cache.clear(keys)
    print_line(console, f"deleted {counted(len(deleted), 'dataset')}" + (f": {', '.join(deleted)}" if deleted else ""))


def _registry(strict: bool) -> Registry:
    return load_registry(strict=strict, isolated=True)


def _lookup(data_dir: Path | None, offline: bool = False, follower: Follower | None = None) -> Lookup:
    return Lookup(DataOptions.of(data_dir, offline), follower)


def _print_statuses(statuses: Iterable[DatasetStatus], console: Console) -> None:
    """Print the result for each dataset; exit with a failure if any failed."""
    failed = []
    for status in statuses:
        console.print(str(status), soft_wrap=True, style="red" if status.failed else None)
        failed.append(status.failed)
    if not failed:
        print_line(console, "nothing to do: the list of datasets is empty")
    if any(failed):
        print_line(console, f"{sum(failed)} of {counted(len(failed), 'dataset')} failed")
        raise typer.Exit(ExitCode.FAILED)


def suites(
    name: Annotated[
        Text, Argument(metavar="NAME|FILE", help="List the datasets and methods of this suite. [default: all suites]")
    ] = None,
    schema: Annotated[bool, Option("--schema", help="Print the JSON Schema of suite files instead.")] = False,
    strict: Strict = False,
) -> None:
    """List the installed suites, or the datasets and methods of one."""
    from mfbench.suite.schema import Suite

    if schema:
        content = Suite.model_json_schema()
        content["$defs"]["ProtocolSettings"]["properties"]["kind"]["enum"] = list(load_registry().listed("protocol"))
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    elif name is None:
        listings.show_suites(load_registry(strict=strict), make_console())
    else:
        listings.show_suite(name, load_registry(strict=strict), make_console())


def plugins(
    name: Annotated[str | None, Argument(metavar="NAME", help="Show everything about this method.")] = None,
    tag: Annotated[Texts, Option(metavar="TAG", help="List only methods with this tag. Can be repeated.")] = None,
    strict: Strict = False,
) -> None:
    """List all selectors, classifiers, splitters, metrics and executors; with NAME, a method with its paper."""
    for problem in feature_problems():
        if strict:
            raise PluginError(problem)
        warnings.warn(problem, PluginWarning, stacklevel=1)
    if name is not None:
        listings.show_plugin(name, load_registry(strict=strict), make_console())
    else:
        listings.show_plugins(load_registry(strict=strict), make_console(), tag or ())


def feature_problems() -> list[str]:
    """Return a sentence on each command, name and hook of a feature that was left out."""
    return [*find_commands().problems, *added_names()[1], *feature_hooks().problems]
