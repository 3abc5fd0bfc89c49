"""The table of commands, built-in and added by features; each is imported only when it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from mfbench.errors import MfbenchError, PluginError
from mfbench.host.features import COMMANDS, HOST, CommandSpec, entries, load, taken

CORE = {
    "suite": CommandSpec("Run a suite, and print the report.", "mfbench.cli.runs:suite"),
    "suites": CommandSpec("List the installed suites.", "mfbench.cli.catalog:suites"),
    "plugins": CommandSpec("List all methods and executors.", "mfbench.cli.catalog:plugins"),
    "datasets": CommandSpec("List, show, download and manage datasets.", "mfbench.cli.catalog:app"),
    "report": CommandSpec("Show or export the report of a run.", "mfbench.cli.runs:report"),
    "gallery": CommandSpec("Write the pages of all runs in a folder.", "mfbench.cli.runs:gallery"),
    "power": CommandSpec("Show which differences a run can find.", "mfbench.cli.runs:power"),
}


class CommandTable(NamedTuple):
    """The specs of all commands with their packages, and a sentence on each one left out."""

    specs: dict[str, tuple[CommandSpec, str]]
    problems: list[str]


def find_commands() -> CommandTable:
    """Return the commands in the order of ``--help``; an unusable one does not affect the others."""
    table = CommandTable({name: (spec, HOST) for name, spec in CORE.items()}, [])
    offered, problems = entries(COMMANDS)
    table.problems.extend(problems)
    for name, entry in sorted(offered.items()):
        if name in CORE:
            table.problems.append(taken(COMMANDS, entry))
            continue
        try:
            spec = entry.load()
            if not isinstance(spec, CommandSpec):
                raise PluginError(f"{name!r} of the package {entry.distribution} is not a mfbench.CommandSpec")
            if not all(isinstance(text, str) and text.isprintable() for text in spec):
                raise PluginError(f"{name!r} of the package {entry.distribution} has a field that is not one line")
        except MfbenchError as error:
            table.problems.append(f"the command {error}")
        else:
            table.specs[name] = spec, entry.distribution
    return table


class _Commands(Mapping[str, Any]):
    """A mapping from name to command, imported on first access."""

    def __init__(self, specs: dict[str, tuple[CommandSpec, str]]) -> None:
        self.specs = specs

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def __getitem__(self, name: str) -> Any:
        spec, distribution = self.specs[name]
        return load(spec.target, name, distribution, lambda target: _command_of(target, name))


def _command_of(target: Any, name: str) -> Any:
    if isinstance(target, typer.Typer):
        group = typer.main.get_group(target)
        group.name = name
        return group
    if not callable(target):
        raise TypeError("its target is neither a function nor a typer.Typer")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(target)
    return typer.main.get_command(app)


class CommandGroup(TyperGroup):
    """The command ``mfbench``, with all installed subcommands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands(find_commands().specs)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the command list of ``--help`` from the summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, spec.summary) for name, (spec, _) in self.commands.specs.items()])
