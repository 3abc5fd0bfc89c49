"""The commands ``mfbench check``, which checks what plugins register, and ``mfbench new-plugin``."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from mfbench.base.console import make_console
from mfbench.base.text import shell_command
from mfbench.cli.entry import outlive_output, write_document
from mfbench.cli.options import Strict
from mfbench.errors import UsageError


def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="What to check: names of what plugins register, plugins or packages."),
    ] = None,
    package: Annotated[
        str | None,
        typer.Option(
            metavar="DIST", help="Check only what this package registers; 'mfbench' has the built-in plugins."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON to the terminal instead of the tables.")] = False,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML.")] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option("--skip", metavar="CHECK=REASON", help="Leave out a check, for a reason. Can be repeated."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit of one check, and of the import of a plugin.")
    ] = 120.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of everything random in the checks.")] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Number of subjects checked at once; 0 means one per processor.")
    ] = 0,
    list_only: Annotated[bool, typer.Option("--list", help="List the checks, and check nothing.")] = False,
    strict: Strict = False,
) -> None:
    """Check that plugins keep what they promise, and exit with 1 if a check fails.

    Without names, everything that third parties register is checked.
    """
    from mfbench_check.display import CheckProgress, show_catalog, show_checks

    if list_only:
        from mfbench_check.catalog import all_checks

        show_catalog(all_checks(), make_console())
        return
    from mfbench.base.console import PlainConsole
    from mfbench.base.files import write_text
    from mfbench_check.api import check_plugins, parse_skips

    if junit is not None and junit.is_dir():
        raise UsageError(f"--junit {junit} is a folder: give the path of a file")
    outlive_output()
    progress = CheckProgress(PlainConsole(stderr=True))
    try:
        report = check_plugins(
            names or (),
            package=package,
            skip=parse_skips(skip or ()),
            seed=seed,
            timeout=timeout,
            jobs=jobs,
            strict=strict,
            follow=progress,
        )
    except KeyboardInterrupt:
        progress.interrupted()
        raise
    finally:
        progress.close()
    if as_json:
        write_document(report.to_json())
    else:
        show_checks(report, make_console())
    if junit is not None:
        write_text(junit, report.to_junit())
    raise typer.Exit(report.exit_code)


def new_plugin(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the plugin; its distribution is called mfbench-NAME.")
    ],
    selector: Annotated[bool, typer.Option("--selector", help="Include a selector.")] = False,
    classifier: Annotated[bool, typer.Option("--classifier", help="Include a classifier.")] = False,
    regressor: Annotated[bool, typer.Option("--regressor", help="Include a regressor.")] = False,
    metric: Annotated[bool, typer.Option("--metric", help="Include a metric.")] = False,
    splitter: Annotated[bool, typer.Option("--splitter", help="Include a splitter.")] = False,
    dataset: Annotated[bool, typer.Option("--dataset", help="Include a dataset.")] = False,
    suite: Annotated[bool, typer.Option("--suite", help="Include a suite.")] = False,
    into: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the package. [default: mfbench-NAME]")
    ] = None,
) -> None:
    """Write a plugin package with an example of each chosen part, or of all, with tests and a CI workflow."""
    from mfbench_check.scaffold.render import PARTS, render, write

    chosen = dict(zip(PARTS, (selector, classifier, regressor, metric, splitter, dataset, suite), strict=True))
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
    """Raise UsageError if the package could not be installed alongside the installed ones."""
    from mfbench.host.registry import load_registry
    from mfbench_check.scaffold.render import package_of

    if find_spec(package_of(name)) is not None:
        raise UsageError(f"a package {package_of(name)} is installed already: choose another name than {name!r}")
    registry = load_registry()
    for part, names in (("selector", registry.listed("selector")), ("suite", registry.suites())):
        if part in parts and name in names:
            raise UsageError(f"a {part} {name!r} is registered already: choose another name")
