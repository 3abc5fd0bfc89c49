"""The command ``mfbench check``, which checks what plugins register."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbench.cli.options import Strict, make_console
from mfbench.cli.streams import outlive_output, write_document
from mfbench.errors import UsageError


def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Methods, datasets, suites, plugins or packages to check."),
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
        from mfbench_check.listing import all_checks

        show_catalog(all_checks(), make_console())
        return
    from mfbench.report.console import PlainConsole
    from mfbench.report.files import write_text
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
