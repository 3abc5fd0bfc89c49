"""The commands of ``mfbench datasets``: words in, calls out, as in `cli`; heavy imports stay inside the commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mfbench.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from mfbench.datasets import Outcome

app = typer.Typer(help="List, show, fetch and keep datasets.", no_args_is_help=True, rich_markup_mode=None)

Strict = Annotated[bool, typer.Option("--strict", help="A plugin that cannot be loaded is an error, not a warning.")]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="A mirror of datasets, looked into first. [default: MFBENCH_DATA_DIR]"
    ),
]
Offline = Annotated[bool, typer.Option("--offline", help="Never use the network.")]
Target = Annotated[
    str | None,
    typer.Option(help="For files and repositories: the label column. [default: the last one, or the repository's]"),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="For files and repositories: a numeric column that holds categories."),
]


def console() -> Console:
    """Return where commands print."""
    from rich.console import Console

    terminal = Console()
    # Without a terminal there is no width to keep to: tables in a log or a pipe stay whole.
    return terminal if terminal.is_terminal else Console(width=160)


@app.command("list")
def datasets_list(
    collection: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the datasets of a collection, with its own labels.")
    ] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """List every dataset with its size, its source and where it is: embedded, mirror, cached or missing."""
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.datasets import in_collection
    from mfbench.host.registry import load_registry
    from mfbench.report.listings import show_datasets

    registry = load_registry(strict=strict)
    if collection is not None:
        in_collection(registry, collection)
    show_datasets(registry, console(), Lookup(DataOptions.of(data_dir, offline)), collection)


@app.command("show")
def datasets_show(
    name: Annotated[str, typer.Argument(help="A dataset, such as 'wine', 'openml:61' or 'file:my.csv'.")],
    target: Target = None,
    categorical: Categorical = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows to show.")] = 5,
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """Show a dataset: shape, classes, missing values, licence, citation, where it was found, first rows."""
    from mfbench.data.catalog import find
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.host.registry import load_registry
    from mfbench.report.downloads import Downloads
    from mfbench.report.listings import show_dataset

    registry = load_registry(strict=strict)
    entry = registry.datasets.get(name.partition("(")[0].strip())
    with Downloads(console()) as downloads:
        lookup = Lookup(DataOptions.of(data_dir, offline), downloads)
        found = find(name, registry, lookup, target=target, categorical=categorical)
    show_dataset(found.data, console(), rows, found=found, spec=None if entry is None else entry.spec)


@app.command("pull")
def datasets_pull(
    names: Annotated[
        list[str],
        typer.Argument(metavar="SUITE|NAME...", help="Suites, collections, datasets, openml:…, uci:…, openml-suite:…"),
    ],
    data_dir: DataDir = None,
    offline: Offline = False,
    strict: Strict = False,
) -> None:
    """Bring datasets into the cache; what is already at hand is said."""
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.datasets import pull
    from mfbench.host.registry import load_registry
    from mfbench.report.downloads import Downloads

    with Downloads(console()) as downloads:
        lookup = Lookup(DataOptions.of(data_dir, offline), downloads)
        _tell(pull(names, load_registry(strict=strict), lookup), downloads.console)


@app.command("import")
def datasets_import(
    path: Annotated[Path, typer.Argument(metavar="DIR|FILE", help="A mirror, or a CSV, TSV, ARFF or Parquet file.")],
    name: Annotated[
        str | None, typer.Option(help="For a file: it becomes import:NAME. [default: the file's name]")
    ] = None,
    target: Annotated[str | None, typer.Option(help="For a file: the label column. [default: the last one]")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="For a file: a numeric column that holds categories.")
    ] = None,
) -> None:
    """Copy a mirror or a file of your own into the cache, to be used by name from then on."""
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.datasets import import_path

    lookup = Lookup(DataOptions(mirror=None))
    _tell(import_path(path, lookup, name=name, target=target, categorical=categorical or None), console())


@app.command("verify")
def datasets_verify(data_dir: DataDir = None) -> None:
    """Read and hash every cached dataset, and those of the mirror if one is named."""
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.datasets import verify

    lookup = Lookup(DataOptions.of(data_dir))
    count, damaged = verify(lookup)
    terminal = console()
    for name, reason in damaged.items():
        _line(terminal, f"{name}: {reason}")
    _line(
        terminal,
        f"{count - len(damaged)} of {count} datasets are sound, {len(damaged)} damaged. Cache: {lookup.cache.folder}",
    )
    if damaged:
        _line(terminal, "Remove them with: mfbench datasets clear NAME; what a repository has is then fetched again.")
        raise typer.Exit(ExitCode.FAILED)


@app.command("clear")
def datasets_clear(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Datasets or references; all if none is given.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete everything without asking.")] = False,
    strict: Strict = False,
) -> None:
    """Delete datasets from the cache; mirrors and your own files stay."""
    from mfbench.data.lookup import Lookup
    from mfbench.data.sources import DataOptions
    from mfbench.datasets import cached_keys
    from mfbench.host.registry import load_registry

    lookup = Lookup(DataOptions(mirror=None))
    keys = cached_keys(names, load_registry(strict=strict), lookup) if names else None
    if keys is None and lookup.cache.is_empty():
        _line(console(), f"the cache {lookup.cache.folder} is empty")
        return
    if keys is None and not yes:
        question = f"Delete all {len(lookup.cache.entries())} datasets of the cache {lookup.cache.folder}?"
        if not sys.stdin.isatty():
            raise UsageError(f"{question} Name some, or confirm with --yes")
        if not typer.confirm(question):
            return
    gone = lookup.cache.clear(keys)
    _line(console(), f"deleted {len(gone)} datasets" + (f": {', '.join(gone)}" if gone else ""))


def _line(terminal: Console, text: str) -> None:
    terminal.print(text, markup=False, highlight=False, soft_wrap=True)


def _tell(outcomes: Iterable[Outcome], terminal: Console) -> None:
    """Print what became of each dataset; leave with a failure if one failed."""
    told = []
    for outcome in outcomes:
        terminal.print(
            str(outcome), markup=False, highlight=False, soft_wrap=True, style="red" if outcome.failed else None
        )
        told.append(outcome)
    if not told:
        _line(terminal, "nothing to do: no datasets are named there")
    failed = sum(outcome.failed for outcome in told)
    if failed:
        _line(terminal, f"{failed} of {len(told)} datasets failed")
        raise typer.Exit(ExitCode.FAILED)
