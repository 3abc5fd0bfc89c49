"""Feature packages: they add commands, names of ``import mfbench`` and hooks of a run through entry points.

They are independent of ``MFBENCH_LOAD_PLUGINS``, which selects methods and data. Every command line imports this
module, so it imports little itself.
"""

import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from mfbench.errors import MfbenchError, PluginError, describe_error, plugin_code

COMMANDS = "mfbench.commands"
NAMES = "mfbench.names"
HOOKS = "mfbench.features"
HOST = "mfbench"
"""The distribution with the built-in entries, which no other distribution can replace."""


class CommandSpec(NamedTuple):
    """A command of a package, registered by an entry point in the group ``mfbench.commands``.

    Every ``mfbench --help`` imports the module that defines it, so that module must import nothing large.

    Parameters
    ----------
    summary : str
        One line for ``mfbench --help``.
    target : str
        Import path of the function or `typer.Typer`, e.g. ``"my_package.cli:export"``; imported when the command runs.

    Examples
    --------
    >>> import mfbench
    >>> mfbench.CommandSpec("Export a run to R.", "my_package.cli:export").target
    'my_package.cli:export'
    """

    summary: str
    target: str


class FeatureEntry(NamedTuple):
    """An entry point of a feature: name, import path of its object, and the distribution that provides it."""

    name: str
    value: str
    distribution: str

    def load(self, make: Callable[[Any], Any] = lambda loaded: loaded) -> Any:
        """Return `make` of the object; any exception becomes a `PluginError`."""
        failure = f"{self.name!r} of the package {self.distribution} cannot be loaded"
        with plugin_code(PluginError, f"{failure}:", "; update or uninstall the package", passing=()):
            return make(pkgutil.resolve_name(self.value))


def installed_entries(group: str) -> list[FeatureEntry]:
    """Return the entries of a group in all distributions."""
    points = entry_points(group=group)
    return [FeatureEntry(point.name, point.value, point.dist.name if point.dist else "") for point in points]


@cache
def entries(group: str) -> tuple[dict[str, FeatureEntry], tuple[str, ...]]:
    """Return the entries of a group by name, and a sentence about each one left out."""
    # Another package's entry never replaces a built-in one; if several others share a name, none of them is used.
    candidates: dict[str, list[FeatureEntry]] = {}
    for entry in sorted(installed_entries(group), key=lambda entry: (entry.distribution, entry.value)):
        candidates.setdefault(entry.name, []).append(entry)
    kept, problems = {}, []
    for name, rivals in candidates.items():
        own = [entry for entry in rivals if entry.distribution == HOST]
        packages = " and ".join(entry.distribution for entry in rivals)
        if not re.fullmatch(r"\w[\w.-]*", name):
            problems.append(f"{_kind(group)} {name!r} of the package {packages} is left out: its name is not valid")
        elif own or len(rivals) == 1:
            kept[name] = (own or rivals)[0]
            problems += [taken(group, entry) for entry in rivals if own and entry.distribution != HOST]
        else:
            problems.append(f"{_kind(group)} {name!r} is left out: {packages} provide it; uninstall all but one")
    return kept, tuple(problems)


@cache
def added_names() -> tuple[dict[str, FeatureEntry], tuple[str, ...]]:
    """Return the entries that add names to ``import mfbench``, and a sentence about each one left out."""
    kept, problems = entries(NAMES)
    package = sys.modules[HOST]  # it imports the rooms above this one
    own = {*package.__all__, *(module.name for module in pkgutil.iter_modules(package.__path__))}
    problems += tuple(taken(NAMES, entry) for name, entry in kept.items() if name in own)
    return {name: entry for name, entry in kept.items() if name not in own}, problems


class FeatureHooks(NamedTuple):
    """The hooks of a run that features implement, and a sentence about each feature left out."""

    # Any exception in another package's code becomes a `PluginError` that names the package.

    manager: Any
    features: Mapping[str, FeatureEntry]
    problems: tuple[str, ...]

    @property
    def packages(self) -> set[str]:
        """The import names of the implementing packages."""
        return {entry.value.partition(":")[0].partition(".")[0] for entry in self.features.values()}

    def first(self, hook: str, **arguments: Any) -> Any:
        """Return the first result of a hook that is not None."""
        for implementation in self._implementations(hook):
            with self._explained(implementation):
                answer = _called(implementation, arguments)
            if answer is not None:
                return answer
        return None

    def all(self, hook: str, **arguments: Any) -> list[Iterator[Any]]:
        """Return, for each feature, a generator of what its hook yields."""
        return [self._yielded(each, arguments) for each in self._implementations(hook)]

    def _yielded(self, implementation: Any, arguments: Mapping[str, Any]) -> Iterator[Any]:
        with self._explained(implementation):
            yield from _called(implementation, arguments) or ()

    def _implementations(self, hook: str) -> Iterator[Any]:
        yield from reversed(getattr(self.manager.hook, hook).get_hookimpls())

    @contextmanager
    def _explained(self, implementation: Any) -> Iterator[None]:
        entry = self.features[implementation.plugin_name]
        try:
            yield
        except MfbenchError:
            raise
        except Exception as error:
            if entry.distribution == HOST:
                raise
            failure = f"fails in {implementation.function.__name__}: {describe_error(error)}"
            feature = f"the feature {entry.name!r} of the package {entry.distribution}"
            raise PluginError(f"{feature} {failure}; update or uninstall the package") from error


def _called(implementation: Any, arguments: Mapping[str, Any]) -> Any:
    return implementation.function(*(arguments[name] for name in implementation.argnames))


@cache
def feature_hooks() -> FeatureHooks:
    """Return the hooks of the modules in the group ``mfbench.features``; a broken module affects no other."""
    import pluggy

    from mfbench.host import hookspecs

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    offered, problems = entries(HOOKS)
    registered, left_out = {}, list(problems)
    for name, entry in sorted(offered.items()):
        try:
            manager.register(entry.load(), name)
            manager.check_pending()
            registered[name] = entry
        except PluginError as error:
            left_out.append(f"the feature {error}")
        except Exception as error:  # noqa: BLE001 - a feature may fail in any way, and the failure is reported
            manager.unregister(name=name)
            reason = describe_error(error)
            left_out.append(f"the feature {name!r} of the package {entry.distribution} is left out: {reason}")
    return FeatureHooks(manager, registered, tuple(left_out))


def taken(group: str, entry: FeatureEntry) -> str:
    """Return the sentence that an entry's name belongs to something built in."""
    return f"{_kind(group)} {entry.name!r} of the package {entry.distribution} is left out: mfbench has its own"


def _kind(group: str) -> str:
    return {COMMANDS: "the command", NAMES: "the name"}.get(group, "the feature")
