"""Discovery of plugins and registration of their hooks: which plugins load, and what is reported if one fails.

A plugin that raises anything is left out with one sentence; the others are unaffected.
"""

from __future__ import annotations

import difflib
import inspect
import os
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import pluggy

from mfbench.errors import PluginError, UsageError, describe_error, plugin_code, suggestion
from mfbench.host import hookspecs
from mfbench.host.expressions import Plugin
from mfbench.host.factories import import_object


@contextmanager
def contained(*, isolated: bool) -> Iterator[None]:
    """Run code of a plugin: anything that it raises becomes a `PluginError`, and its changes to warnings are undone."""
    # If `isolated`, its changes to `sys.path` and `os.environ` are undone too.
    path, environ = list(sys.path), dict(os.environ)
    try:
        with warnings.catch_warnings(), plugin_code(PluginError, "", passing=()):
            yield
    finally:
        if isolated:
            sys.path[:] = path
            if os.environ != environ:
                os.environ.clear()
                os.environ.update(environ)


GROUP = hookspecs.PROJECT
ALWAYS = f"{GROUP}.always"  # plugins without which no suite can be read, whichever others are loaded
LOAD_VARIABLE = "MFBENCH_LOAD_PLUGINS"
HOOKS = tuple(name for name in vars(hookspecs) if name.startswith(f"{GROUP}_"))
_PREFIX_OF_EXCLUDED = "-"


class PluginWarning(UserWarning):
    """A plugin, or part of one, was left out."""


@dataclass(frozen=True)
class PluginProblem:
    """A plugin, or part of one, that was left out."""

    plugin: Plugin
    sentence: str  # plugin and reason
    outcome: str  # the consequence or the remedy

    def warn(self, stacklevel: int = 2) -> None:
        """Emit a warning."""
        warnings.warn(f"{self.sentence}; {self.outcome}", PluginWarning, stacklevel=stacklevel + 1)


@dataclass
class Problems:
    """The plugins left out; each problem is a warning, or an error in strict mode."""

    strict: bool = False  # raise `PluginError` instead of warning
    records: list[PluginProblem] = field(default_factory=list)

    @property
    def sentences(self) -> list[str]:
        """One sentence per problem."""
        return [problem.sentence for problem in self.records]

    def add(
        self, plugin: Plugin, reason: str, error: BaseException | None = None, outcome: str = "it was left out"
    ) -> None:
        """Report a problem."""
        sentence = f"plugin {plugin.name!r} of {plugin}{reason}"
        if self.strict:
            raise PluginError(f"{sentence}; fix or uninstall it, or run without --strict") from error
        problem = PluginProblem(plugin, sentence, outcome)
        self.records.append(problem)
        problem.warn()


def chosen_plugins(only: Sequence[str] | None) -> list[Plugin]:
    """Return the plugins to load, sorted by distribution, so that the order is the same on every machine."""
    if only is None and os.environ.get(LOAD_VARIABLE) is not None:
        only = os.environ[LOAD_VARIABLE].split(",")
    always = always_plugins()
    installed = always | _installed(GROUP, always)
    if only is None:
        return list(installed.values())
    words = [word.strip() for word in only if word.strip()]
    excluded = [word.removeprefix(_PREFIX_OF_EXCLUDED) for word in words if word.startswith(_PREFIX_OF_EXCLUDED)]
    chosen: dict[str, Plugin] = {}
    for name in [word for word in words if not word.startswith(_PREFIX_OF_EXCLUDED)] or ["all"] * bool(excluded):
        for plugin in installed.values() if name == "all" else [installed.get(name, Plugin(name, name))]:
            chosen[plugin.name] = plugin
    for name in excluded:
        if name not in installed and name not in chosen:
            raise UsageError(
                f"{LOAD_VARIABLE} leaves out {name!r}, which is not a plugin{suggestion(name, installed)} "
                "(see 'mfbench plugins')"
            )
        chosen.pop(name, None)
    return list((always | chosen).values())


def always_plugins() -> dict[str, Plugin]:
    """Return the plugins that load in any case, by name."""
    return _installed(ALWAYS)


def _installed(group: str, others: Collection[str] = ()) -> dict[str, Plugin]:
    plugins: dict[str, Plugin] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: (_distribution(entry)[0], entry.name)):
        is_taken = entry.name in plugins or entry.name in others
        name = f"{_distribution(entry)[0]}:{entry.name}" if is_taken else entry.name
        plugins[name] = Plugin(name, entry.value, *_distribution(entry))
    return plugins


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("", "")


def import_plugins(plugins: Iterable[Plugin], problems: Problems, *, isolated: bool) -> Iterator[tuple[Plugin, Any]]:
    """Yield each plugin with the object of its entry point; one that fails to import is left out."""
    for plugin in plugins:
        try:
            with contained(isolated=isolated):
                module = import_object(plugin.module)
        except PluginError as error:
            problems.add(plugin, f" cannot be imported: {error}", error)
        else:
            yield plugin, module


def register(manager: pluggy.PluginManager, plugin: Plugin, module: Any, problems: Problems) -> bool:
    """Register the hooks of a plugin; return False if it was left out."""
    # Pluggy silently ignores a hook that its author forgot to mark, so it is reported here.
    try:
        if inspect.isclass(module):
            raise ValueError("its entry point names a class; name the module, or an object of the class")
        manager.register(module, plugin.name)
        callers = list(manager.get_hookcallers(module) or ())
        for name in {caller.name for caller in callers if not caller.has_spec()}:
            manager.unregister(module)
            raise ValueError(f"it implements the unknown hook {name!r}{suggestion(name, HOOKS)}")
        forgotten = _forgotten_hooks(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - attributes of an object may run code of the plugin
        text = " ".join(str(error).split()) if isinstance(error, ValueError) else describe_error(error)
        problems.add(plugin, f" is not valid: {text}", error)
        return False
    for name in forgotten:
        problems.add(
            plugin,
            f": {name} is not marked as a hook, so it is never called",
            outcome="mark it with @mfbench.hookimpl",
        )
    if not callers and not forgotten:
        problems.add(
            plugin,
            " implements no hook, so it adds nothing: its entry point must name the module, or the object, whose "
            "functions are marked with @mfbench.hookimpl",
        )
    return bool(callers)


def _forgotten_hooks(module: Any) -> list[str]:
    """Return unmarked functions with the name of a hook, or nearly so."""
    marker = f"{GROUP}_impl"  # set by `hookimpl`
    return [
        name
        for name in dir(module)
        if name.startswith(f"{GROUP}_")
        and difflib.get_close_matches(name, HOOKS, n=1, cutoff=0.8)
        and inspect.isroutine(getattr(module, name))
        and not hasattr(getattr(module, name), marker)
    ]
