"""The command ``mfbench new-plugin``, which writes a plugin package to start from."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from mfbench.base.untrusted import shell_command
from mfbench.errors import UsageError


def new_plugin(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the plugin; its distribution is called mfbench-NAME.")
    ],
    selector: Annotated[bool, typer.Option("--selector", help="Include a selector.")] = False,
    classifier: Annotated[bool, typer.Option("--classifier", help="Include a classifier.")] = False,
    dataset: Annotated[bool, typer.Option("--dataset", help="Include a dataset.")] = False,
    suite: Annotated[bool, typer.Option("--suite", help="Include a suite.")] = False,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the package. [default: mfbench-NAME]")
    ] = None,
) -> None:
    """Write a plugin package with an example of each chosen part, or of all four, with tests and a CI workflow."""
    from mfbench_check.scaffold.render import PARTS, render, write

    chosen = dict(zip(PARTS, (selector, classifier, dataset, suite), strict=True))
    parts = [part for part, is_chosen in chosen.items() if is_chosen] or PARTS
    files = render(name, parts)
    _refuse_taken(name, parts)
    folder = into or Path(f"mfbench-{name}")
    write(files, folder)
    lines = [f"wrote {len(files)} files to {folder}:", *(f"  {path}" for path in files), "next:"]
    project = f"{folder}[test,lint]" if folder.is_absolute() else f"./{folder}[test,lint]"
    words = [
        ["pip", "install", "-e", project],
        ["mfbench", "check", name],
        ["python", "-m", "pytest", str(folder)],
    ]
    sys.stdout.write("\n".join([*lines, *(f"  {shell_command(command)}" for command in words), ""]))


def _refuse_taken(name: str, parts: Collection[str]) -> None:
    """Raise UsageError if the package could not be installed beside what is installed here."""
    from mfbench.host.registry import load_registry
    from mfbench_check.scaffold.render import package_of

    if find_spec(package_of(name)) is not None:
        raise UsageError(f"a package {package_of(name)} is installed already: choose another name than {name!r}")
    registry = load_registry()
    for part, names in (("selector", registry.selectors), ("suite", registry.suites())):
        if part in parts and name in names:
            raise UsageError(f"a {part} {name!r} is registered already: choose another name")
