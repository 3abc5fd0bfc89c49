"""Features: packages that add commands, names of ``import mfbench`` and hooks of a run, found by their entry points.

Features are independent of ``MFBENCH_LOAD_PLUGINS``, which chooses methods and data. Every command line reads this
module, so it imports little.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple

from mfbench.errors import PluginError, describe_error

COMMANDS = "mfbench.commands"
NAMES = "mfbench.names"
HOOKS = "mfbench.features"
HOST = "mfbench"
"""The distribution whose entries are built in, so that no other takes their place."""


class CommandSpec(NamedTuple):
    """A command of a package, which an entry point of the group ``mfbench.commands`` names.

    The module that holds it is imported by every ``mfbench --help``, so it must import nothing large.

    Parameters
    ----------
    summary : str
        One line for ``mfbench --help``.
    target : str
        Place of the function or `typer.Typer`, such as ``"my_package.cli:export"``; it is imported when it is run.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.CommandSpec("Export a run to R.", "my_package.cli:export").target
    'my_package.cli:export'
    """

    summary: str
    target: str


class Entry(NamedTuple):
    """An entry point of a feature, with the package that provides it."""

    point: EntryPoint
    distribution: str

    def load(self) -> Any:
        """Return the object; whatever its import raises becomes a `PluginError`."""
        return load(self.point.value, self.point.name, self.distribution)


def load(place: str, name: str, distribution: str) -> Any:
    """Return the object at ``"package.module:name"``; whatever its import raises becomes a `PluginError`."""
    try:
        return EntryPoint(name, place, "").load()
    except Exception as error:
        raise PluginError(
            f"{name!r} of the package {distribution} cannot be loaded: {describe_error(error)}; "
            "update or uninstall the package"
        ) from error


@cache
def entries(group: str) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return the entries of a group by name, and a sentence on each that is left out.

    An entry of another package never takes the place of a built-in one; of several others with one name, none is used.
    """
    candidates: dict[str, list[Entry]] = {}
    for point in sorted(entry_points(group=group), key=lambda point: (_distribution(point), point.value)):
        candidates.setdefault(point.name, []).append(Entry(point, _distribution(point)))
    kept, problems = {}, []
    for name, rivals in candidates.items():
        own = [entry for entry in rivals if entry.distribution == HOST]
        if own or len(rivals) == 1:
            kept[name] = (own or rivals)[0]
        if own:
            problems += [taken(group, entry) for entry in rivals if entry.distribution != HOST]
        elif len(rivals) > 1:
            packages = " and ".join(entry.distribution for entry in rivals)
            problems.append(f"{_kind(group)} {name!r} is left out: {packages} provide it; uninstall all but one")
    return kept, tuple(problems)


class FeatureHooks(NamedTuple):
    """The hooks of a run that features implement, the packages that do, and a sentence on each that is left out."""

    relay: Any
    packages: frozenset[str]
    problems: tuple[str, ...]


@cache
def feature_hooks() -> FeatureHooks:
    """Return the hooks of the modules in the group ``mfbench.features``; one that is broken affects no other."""
    import pluggy

    from mfbench.host import hookspecs

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    offered, problems = entries(HOOKS)
    packages, left_out = set(), list(problems)
    for name, entry in sorted(offered.items()):
        try:
            module = entry.load()
            manager.register(module, name)
            manager.check_pending()
            packages.add(entry.point.value.partition(":")[0].partition(".")[0])
        except PluginError as error:
            left_out.append(f"the feature {error}")
        except Exception as error:  # noqa: BLE001 - a feature may fail in any way; the failure is reported
            manager.unregister(name=name)
            left_out.append(
                f"the feature {name!r} of the package {entry.distribution} is left out: {describe_error(error)}"
            )
    return FeatureHooks(manager.hook, frozenset(packages), tuple(left_out))


def taken(group: str, entry: Entry) -> str:
    """Return that the name of an entry is that of something built in."""
    return f"{_kind(group)} {entry.point.name!r} of the package {entry.distribution} is left out: mfbench has its own"


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else ""


def _kind(group: str) -> str:
    return {COMMANDS: "the command", NAMES: "the name"}.get(group, "the feature")
