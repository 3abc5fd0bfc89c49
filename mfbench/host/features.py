"""Features: packages that add commands, names of ``import mfbench`` and hooks of a run, found by their entry points.

Features are independent of ``MFBENCH_LOAD_PLUGINS``, which chooses methods and data. Every command line reads this
module, so it imports little.
"""

from __future__ import annotations

import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mfbench.errors import MfbenchError, PluginError, describe_error

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
    """An entry point of a feature: its name, the place of its object, and the distribution that provides it."""

    name: str
    value: str
    distribution: str

    def load(self) -> Any:
        """Return the object; whatever its import raises becomes a `PluginError`."""
        return load(self.value, self.name, self.distribution)


def load(place: str, name: str, distribution: str, make: Callable[[Any], Any] = lambda loaded: loaded) -> Any:
    """Return what is made of the object at ``"package.module:name"``; whatever that raises becomes a `PluginError`."""
    try:
        return make(pkgutil.resolve_name(place))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(
            f"{name!r} of the package {distribution} cannot be loaded: {describe_error(error)}; "
            "update or uninstall the package"
        ) from error


def installed_entries(group: str) -> Iterator[Entry]:
    """Yield the entries of a group of all distributions; of two distributions with one name, the first counts."""
    # `importlib.metadata` knows them too, but its import alone takes a tenth of the time of `mfbench --help`.
    distributions = set()
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as files:
            for file in files:
                if file.name.endswith((".dist-info", ".egg-info")):
                    distribution = re.sub(r"[-_.]+", "-", file.name.rpartition(".")[0].partition("-")[0]).lower()
                    if distribution not in distributions:
                        distributions.add(distribution)
                        yield from _entries_of(file.path, group)


def _entries_of(folder: str, group: str) -> Iterator[Entry]:
    """Yield the entries of a group of the distribution whose metadata are in a folder."""
    text = ""
    with suppress(OSError, ValueError):  # most have no such file
        text = Path(folder, "entry_points.txt").read_text(encoding="utf-8")
    if f"[{group}]" in text:
        section = text.partition(f"[{group}]")[2].partition("\n[")[0]
        for name, value in re.findall(r"^([^#\s=][^=\n]*)=([^\[\n]*)", section, re.MULTILINE):
            yield Entry(name.strip(), value.strip(), _name_of(folder))


@cache
def _name_of(folder: str) -> str:
    for file in ("METADATA", "PKG-INFO"):
        with suppress(OSError, ValueError):
            if stated := re.search(r"^Name: *(.+)", Path(folder, file).read_text(encoding="utf-8"), re.MULTILINE):
                return stated[1].strip()
    return Path(folder).stem.partition("-")[0]


@cache
def entries(group: str) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return the entries of a group by name, and a sentence on each that is left out."""
    # An entry of another package never takes the place of a built-in one; of several others with one name, none is
    # used.
    candidates: dict[str, list[Entry]] = {}
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
def added_names() -> tuple[dict[str, Entry], tuple[str, ...]]:
    """Return the entries that add to ``import mfbench`` by name, and a sentence on each that is left out."""
    kept, problems = entries(NAMES)
    package = sys.modules[HOST]  # it imports the rooms above this one
    own = {*package.__all__, *(module.name for module in pkgutil.iter_modules(package.__path__))}
    shadows = {name: entry for name, entry in kept.items() if name in own}
    return (
        {name: entry for name, entry in kept.items() if name not in shadows},
        (*problems, *(taken(NAMES, entry) for entry in shadows.values())),
    )


class FeatureHooks(NamedTuple):
    """The hooks of a run that features implement, and a sentence on each feature that is left out."""

    # Whatever the code of another package raises becomes a `PluginError` that names it.

    manager: Any
    features: Mapping[str, Entry]
    problems: tuple[str, ...]

    @property
    def packages(self) -> set[str]:
        """The import names of the packages that implement them."""
        return {entry.value.partition(":")[0].partition(".")[0] for entry in self.features.values()}

    def first(self, hook: str, kind: type, **arguments: Any) -> Any:
        """Return the first answer to a hook that is not None, which must be of a type."""
        for implementation in self._implementations(hook):
            with self._guarded(implementation):
                answer = _called(implementation, arguments)
                if answer is not None:
                    return _checked(answer, kind)
        return None

    def all(self, hook: str, kind: type, **arguments: Any) -> list[Iterator[Any]]:
        """Return for each feature a generator of what it yields, which must be of a type."""
        return [self._yielded(each, kind, arguments) for each in self._implementations(hook)]

    def _yielded(self, implementation: Any, kind: type, arguments: Mapping[str, Any]) -> Iterator[Any]:
        with self._guarded(implementation):
            results = iter(_called(implementation, arguments) or ())
            try:
                for result in results:
                    try:
                        yield _checked(result, kind)
                    except GeneratorExit:  # by whoever uses the results, unlike one that the feature raises
                        return
            finally:
                getattr(results, "close", lambda: None)()

    def _implementations(self, hook: str) -> Iterator[Any]:
        yield from reversed(getattr(self.manager.hook, hook).get_hookimpls())

    @contextmanager
    def _guarded(self, implementation: Any) -> Iterator[None]:
        entry = self.features[implementation.plugin_name]
        try:
            yield
        except (KeyboardInterrupt, MfbenchError):
            raise
        except BaseException as error:
            if entry.distribution == HOST:
                raise
            raise PluginError(
                f"the feature {entry.name!r} of the package {entry.distribution} fails in "
                f"{implementation.function.__name__}: {describe_error(error)}; update or uninstall the package"
            ) from error


def _called(implementation: Any, arguments: Mapping[str, Any]) -> Any:
    return implementation.function(*(arguments[name] for name in implementation.argnames))


def _checked(answer: Any, kind: type) -> Any:
    if not isinstance(answer, kind):
        raise TypeError(f"it gives an object of type {type(answer).__name__}, expected {kind.__name__}")
    return answer


@cache
def feature_hooks() -> FeatureHooks:
    """Return the hooks of the modules in the group ``mfbench.features``; one that is broken affects no other."""
    import pluggy

    from mfbench.host import hookspecs

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    offered, problems = entries(HOOKS)
    registered, left_out = {}, list(problems)
    for name, entry in sorted(offered.items()):
        try:
            module = entry.load()
            manager.register(module, name)
            manager.check_pending()
            if not manager.get_hookcallers(module):
                raise ValueError("it implements no hook")
            registered[name] = entry
        except PluginError as error:
            left_out.append(f"the feature {error}")
        except Exception as error:  # noqa: BLE001 - a feature may fail in any way; the failure is reported
            manager.unregister(name=name)
            left_out.append(
                f"the feature {name!r} of the package {entry.distribution} is left out: {describe_error(error)}"
            )
    return FeatureHooks(manager, registered, tuple(left_out))


def taken(group: str, entry: Entry) -> str:
    """Return that the name of an entry is that of something built in."""
    return f"{_kind(group)} {entry.name!r} of the package {entry.distribution} is left out: mfbench has its own"


def _kind(group: str) -> str:
    return {COMMANDS: "the command", NAMES: "the name"}.get(group, "the feature")
