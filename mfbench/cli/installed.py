"""The commands ``mfbench suites`` and ``mfbench plugins``, which list what is installed."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated

import typer

from mfbench.cli.commands import find_commands
from mfbench.cli.options import Strict, make_console
from mfbench.errors import PluginError
from mfbench.host.features import added_names, feature_hooks


def suites(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE", help="List the datasets and methods of this suite. [default: all suites]"),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of suite files instead of the list.")
    ] = False,
    strict: Strict = False,
) -> None:
    """List the installed suites, or the datasets and methods of one."""
    from mfbench.host.registry import load_registry

    if schema:
        import json

        from mfbench.suite.schema import Suite

        sys.stdout.write(json.dumps(Suite.model_json_schema(), indent=2) + "\n")
        return
    from mfbench.report.listings import show_suite, show_suites

    registry = load_registry(strict=strict)
    if name is None:
        show_suites(registry, make_console())
    else:
        show_suite(name, registry, make_console())


def plugins(
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="List only methods with this tag. Can be repeated.")
    ] = None,
    strict: Strict = False,
) -> None:
    """List all selectors, classifiers and executors, each with the package that provides it."""
    from mfbench.host.discovery import PluginWarning
    from mfbench.host.registry import load_registry
    from mfbench.report.listings import show_plugins

    for problem in feature_problems():
        if strict:
            raise PluginError(problem)
        warnings.warn(problem, PluginWarning, stacklevel=1)
    show_plugins(load_registry(strict=strict), make_console(), tag or ())


def feature_problems() -> list[str]:
    """Return a sentence on each command, name and hook of a feature that is left out."""
    return [*find_commands().problems, *added_names()[1], *feature_hooks().problems]
