"""The registry: from installed plugins to named specs.

`load_registry` finds plugins by entry point (group ``mfbench``), asks each for its specs through pluggy, and refuses
two specs of the same name. A plugin that cannot be imported is left out with a warning; the others are not affected.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from mfbench.errors import PluginError, UnknownNameError, UsageError, suggestion
from mfbench.host import hookspecs
from mfbench.host.expressions import Expression, parse
from mfbench.host.factories import build, import_object
from mfbench.host.registered import Plugin, Registered
from mfbench.models import ClassifierSpec, DatasetSpec, EstimatorSpec, SelectorSpec
from mfbench.sections import Section

GROUP = hookspecs.PROJECT
LOAD_VARIABLE = "MFBENCH_LOAD_PLUGINS"
TRACE_VARIABLE = "MFBENCH_TRACE_PLUGINS"

Spec = EstimatorSpec | DatasetSpec
S = TypeVar("S", bound=Spec)


class PluginWarning(UserWarning):
    """A plugin was left out because it could not be loaded."""


@dataclass
class Registry:
    """Everything that the loaded plugins registered, by kind and name.

    Parameters
    ----------
    manager : pluggy.PluginManager
        Holds the loaded plugins; its hooks are called once for each kind, on first use.
    plugins : mapping of int to Plugin
        Provenance of every plugin object in the manager, by its `id`.
    strict : bool, default=False
        Raise an error if a hook fails, instead of warning.
    failed : list of str
        One sentence about each plugin that was left out.
    """

    manager: pluggy.PluginManager
    plugins: Mapping[int, Plugin]
    strict: bool = False
    failed: list[str] = field(default_factory=list)

    @cached_property
    def selectors(self) -> dict[str, Registered]:
        """Selectors by name."""
        return self._collect("mfbench_selectors", SelectorSpec, "selector")

    @cached_property
    def classifiers(self) -> dict[str, Registered]:
        """Classifiers by name."""
        return self._collect("mfbench_classifiers", ClassifierSpec, "classifier")

    @cached_property
    def datasets(self) -> dict[str, Registered]:
        """Datasets by name."""
        return self._collect("mfbench_datasets", DatasetSpec, "dataset")

    @cached_property
    def suite_folders(self) -> list[tuple[Path, Plugin]]:
        """Folders with suite files, each with the plugin that ships it."""
        folders = []
        for plugin, value in self._call("mfbench_suites"):
            if not isinstance(value, Path):
                self._leave_out(plugin, f"mfbench_suites returned {value!r}, expected pathlib.Path objects")
                continue
            folders.append((value, plugin))
        return folders

    def selector(self, name: str) -> Registered:
        """Return the selector of that name.

        Raises
        ------
        UnknownNameError
            If there is no such selector; the nearest names are suggested.
        """
        return self._get(self.selectors, "selector", name, "see 'mfbench plugins'", self.classifiers)

    def classifier(self, name: str) -> Registered:
        """Return the classifier of that name, or raise `UnknownNameError`."""
        return self._get(self.classifiers, "classifier", name, "see 'mfbench plugins'", self.selectors)

    def dataset(self, name: str) -> Registered:
        """Return the dataset of that name, or raise `UnknownNameError`."""
        return self._get(self.datasets, "dataset", name, "see 'mfbench datasets list'")

    def suites(self) -> dict[str, Path]:
        """Return the suite files that plugins ship, by name (the file's stem).

        Raises
        ------
        PluginError
            If two plugins ship a suite of the same name.
        """
        paths: dict[str, tuple[Path, Plugin]] = {}
        for folder, plugin in self.suite_folders:
            for path in sorted(folder.glob("*.toml")):
                if path.stem in paths and paths[path.stem][0] != path:
                    raise PluginError(
                        f"two plugins ship a suite named {path.stem!r}: {paths[path.stem][1]} and {plugin}; "
                        "uninstall one of them"
                    )
                paths[path.stem] = (path, plugin)
        return {name: path for name, (path, _) in paths.items()}

    def report_sections(self, run: Any) -> tuple[list[tuple[Plugin, Section]], list[str]]:
        """Return the sections that plugins add to the report of a run.

        Parameters
        ----------
        run : mfbench.Run

        Returns
        -------
        sections : list of (Plugin, Section)
        problems : list of str
            A sentence for each plugin whose sections are missing because its hook failed.
        """
        sections: list[tuple[Plugin, Section]] = []
        problems = []
        for implementation in self.manager.hook.mfbench_report_sections.get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            hook: Callable[..., Any] = implementation.function
            try:
                returned = list(hook(*([run] if implementation.argnames else [])))
                for section in returned:
                    if not isinstance(section, Section):
                        raise TypeError(f"it returned {section!r}, expected Section objects")
                    section.check()
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin must not keep the report from the reader
                reason = f"{type(error).__name__}: {error}"
                problems.append(f"plugin {plugin.name!r} of {plugin}: mfbench_report_sections failed with {reason}")
                continue
            sections += [(plugin, section) for section in returned]
        return sections, problems

    def make(self, expression: str | Expression, kind: str | None = None, **overrides: Any) -> Any:
        """Build the estimator that an expression names.

        Parameters
        ----------
        expression : str or Expression
            Such as ``"relieff(n_neighbors=10)"``.
        kind : {"selector", "classifier"} or None, default=None
            Which of the two to build; None builds whichever exists, and the classifier if both do.
        **overrides
            Parameters that override those of the expression.

        Returns
        -------
        estimator
            Not fitted.

        Raises
        ------
        UsageError
            If the name or a parameter does not exist.
        """
        expression = parse(expression) if isinstance(expression, str) else expression
        if kind is None:
            kind = "classifier" if expression.name in self.classifiers else "selector"
            if expression.name not in self.classifiers and expression.name not in self.selectors:
                names = [*self.selectors, *self.classifiers]
                raise UnknownNameError("selector or classifier", expression.name, names, "see 'mfbench plugins'")
        registered = self.selector(expression.name) if kind == "selector" else self.classifier(expression.name)
        return build(registered, {**expression.params, **overrides})

    def _get(
        self,
        table: Mapping[str, Registered],
        kind: str,
        name: str,
        hint: str,
        other: Mapping[str, Registered] | None = None,
    ) -> Registered:
        if name in table:
            return table[name]
        if other is not None and name in other:
            article = "a classifier" if kind == "selector" else "a selector"
            raise UsageError(f"{name!r} is {article}, not a {kind}{suggestion(name, table)} ({hint})")
        raise UnknownNameError(kind, name, table, hint)

    def _collect(self, hook: str, spec_class: type[Spec], kind: str) -> dict[str, Registered]:
        table: dict[str, Registered] = {}
        for plugin, spec in self._call(hook):
            if not isinstance(spec, spec_class):
                self._leave_out(plugin, f"{hook} returned {spec!r}, expected {spec_class.__name__} objects")
                continue
            if spec.name in table and table[spec.name].plugin == plugin:
                raise PluginError(f"plugin {plugin.name!r} of {plugin} registers the {kind} {spec.name!r} twice")
            if spec.name in table:
                raise PluginError(
                    f"two packages register the {kind} {spec.name!r}: {table[spec.name].plugin} and {plugin}; "
                    f"uninstall one, or name the plugins to load in {LOAD_VARIABLE}"
                )
            table[spec.name] = Registered(spec, plugin)
        return table

    def _call(self, hook: str) -> Iterable[tuple[Plugin, Any]]:
        """Call one plugin at a time, so that a failure is attributed to it and does not affect the others."""
        for implementation in getattr(self.manager.hook, hook).get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            self.manager.trace("calling", hook, "of", plugin.name)
            try:
                values = list(implementation.function())
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin raises, the others must work
                self._leave_out(plugin, f"{hook} raised {type(error).__name__}: {error}", error)
                continue
            for value in values:
                yield plugin, value

    def _leave_out(self, plugin: Plugin, reason: str, error: BaseException | None = None) -> None:
        _report_failure(f"plugin {plugin.name!r} of {plugin}: {reason}", self.failed, self.strict, error)


def load_registry(
    *,
    strict: bool = False,
    only: Sequence[str] | None = None,
    extra: Sequence[tuple[str, object]] = (),
    exactly: Sequence[Plugin] | None = None,
) -> Registry:
    """Load the installed plugins.

    Parameters
    ----------
    strict : bool, default=False
        Raise `PluginError` for a plugin that cannot be loaded, instead of warning.
    only : sequence of str or None, default=None
        Entry points or importable modules to load; ``"all"`` means every installed entry point. None uses the
        environment variable ``MFBENCH_LOAD_PLUGINS`` (comma-separated), and loads all if it is not set.
    extra : sequence of (name, plugin object), default=()
        Plugins that are already imported, for tests and notebooks. Worker processes do not load them.
    exactly : sequence of Plugin or None, default=None
        Load these plugins and no others, whatever is installed.

    Returns
    -------
    Registry

    Examples
    --------
    >>> registry = load_registry(only=["baselines"])
    >>> "knn" in registry.classifiers
    True
    """
    if only is None and os.environ.get(LOAD_VARIABLE) is not None:
        only = [name.strip() for name in os.environ[LOAD_VARIABLE].split(",") if name.strip()]
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get(TRACE_VARIABLE):
        manager.trace.root.setwriter(lambda text: sys.stderr.write(text))
        manager.enable_tracing()
    plugins: dict[int, Plugin] = {}
    registry = Registry(manager, plugins, strict)
    for plugin, module in _import_all(_candidates(only) if exactly is None else exactly, registry):
        _register(manager, plugins, plugin, module, registry)
    for name, module in extra:
        _register(manager, plugins, Plugin(name, getattr(module, "__name__", name)), module, registry)
    return registry


def _candidates(only: Sequence[str] | None) -> list[Plugin]:
    installed = {}
    # Entry points come in the order of installation; sorted by name, the order is the same on every machine.
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_distribution(entry)[0], entry.name)):
        name = entry.name if entry.name not in installed else f"{_distribution(entry)[0]}:{entry.name}"
        installed[name] = Plugin(name, entry.value, *_distribution(entry))
    if only is None:
        return list(installed.values())
    chosen: dict[str, Plugin] = {}
    for name in only:
        for plugin in installed.values() if name == "all" else [installed.get(name, Plugin(name, name))]:
            chosen[plugin.name] = plugin
    return list(chosen.values())


def _distribution(entry: EntryPoint) -> tuple[str, str]:
    return (entry.dist.name, entry.dist.version) if entry.dist is not None else ("", "")


def _import_all(candidates: Iterable[Plugin], registry: Registry) -> Iterable[tuple[Plugin, Any]]:
    for plugin in candidates:
        try:
            yield plugin, import_object(plugin.module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may fail in any way; the failure is reported
            reason = f"plugin {plugin.name!r} of {plugin} cannot be imported: {type(error).__name__}: {error}"
            _report_failure(reason, registry.failed, registry.strict, error)


def _register(
    manager: pluggy.PluginManager, plugins: dict[int, Plugin], plugin: Plugin, module: Any, registry: Registry
) -> None:
    try:
        manager.register(module, plugin.name)
        for name in {caller.name for caller in manager.get_hookcallers(module) or () if not caller.has_spec()}:
            hooks = [hook for hook in vars(hookspecs) if hook.startswith(f"{GROUP}_")]
            manager.unregister(module)
            raise ValueError(f"it implements the unknown hook {name!r}{suggestion(name, hooks)}")
    except (pluggy.PluginValidationError, ValueError) as error:
        _report_failure(
            f"plugin {plugin.name!r} of {plugin} is not valid: {' '.join(str(error).split())}",
            registry.failed,
            registry.strict,
            error,
        )
        return
    plugins[id(module)] = plugin  # by identity: a plugin object need not be hashable


def _report_failure(reason: str, failed: list[str], strict: bool, error: BaseException | None) -> None:
    if strict:
        raise PluginError(f"{reason}; fix or uninstall it, or run without --strict") from error
    failed.append(reason)
    warnings.warn(f"{reason}; it was left out", PluginWarning, stacklevel=2)
