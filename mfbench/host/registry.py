"""The registry: plugins in, named specs out.

`load_registry` finds plugins by entry point (group ``mfbench``), asks each for its specs through pluggy, and refuses
two that claim one name. A plugin that fails to import is named in a warning and left out; the rest works.
"""

from __future__ import annotations

import importlib
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
from mfbench.models import ClassifierSpec, DatasetSpec, EstimatorSpec, SelectorSpec
from mfbench.sections import Section

GROUP = hookspecs.PROJECT
LOAD_VARIABLE = "MFBENCH_LOAD_PLUGINS"
TRACE_VARIABLE = "MFBENCH_TRACE_PLUGINS"

Spec = EstimatorSpec | DatasetSpec
S = TypeVar("S", bound=Spec)


class PluginWarning(UserWarning):
    """A plugin was left out because it could not be loaded."""


@dataclass(frozen=True)
class Plugin:
    """Where a loaded plugin comes from.

    Attributes
    ----------
    name : str
        Entry-point name, or the module's name when it was asked for by ``MFBENCH_LOAD_PLUGINS``.
    module : str
        The module that implements the hooks.
    distribution : str
        The installed package that ships it, "" if none does.
    version : str
        That package's version.
    """

    name: str
    module: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.module})" if self.distribution else self.module


@dataclass(frozen=True)
class Registered:
    """A spec and the plugin that registered it."""

    spec: Any
    plugin: Plugin


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
        Raise on a hook that fails instead of warning.
    failed : list of str
        One sentence for each plugin that was left out.
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
        found = []
        for plugin, value in self._call("mfbench_suites"):
            if not isinstance(value, Path):
                self._leave_out(plugin, f"mfbench_suites returned {value!r}, expected pathlib.Path objects")
                continue
            found.append((value, plugin))
        return found

    def selector(self, name: str) -> Registered:
        """Return the selector of that name.

        Raises
        ------
        UnknownNameError
            If there is none; the nearest names are suggested.
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
            If two plugins ship a suite of one name.
        """
        found: dict[str, tuple[Path, Plugin]] = {}
        for folder, plugin in self.suite_folders:
            for path in sorted(folder.glob("*.toml")):
                if path.stem in found and found[path.stem][0] != path:
                    raise PluginError(
                        f"two plugins ship a suite named {path.stem!r}: {found[path.stem][1]} and {plugin}; "
                        "uninstall one of them"
                    )
                found[path.stem] = (path, plugin)
        return {name: path for name, (path, _) in found.items()}

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
            Which of the two is meant; None takes the only one there is, and the classifier where there are both.
        **overrides
            Parameters that go over the expression's.

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
                known = [*self.selectors, *self.classifiers]
                raise UnknownNameError("selector or classifier", expression.name, known, "see 'mfbench plugins'")
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
        """Call one plugin at a time, so that a failing one is known by name and harms nobody else."""
        for implementation in getattr(self.manager.hook, hook).get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            self.manager.trace("calling", hook, "of", plugin.name)
            try:
                values = list(implementation.function())
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a plugin raises, the others must go on
                self._leave_out(plugin, f"{hook} raised {type(error).__name__}: {error}", error)
                continue
            for value in values:
                yield plugin, value

    def _leave_out(self, plugin: Plugin, reason: str, error: BaseException | None = None) -> None:
        _report_failure(f"plugin {plugin.name!r} of {plugin}: {reason}", self.failed, self.strict, error)


def load_registry(
    *, strict: bool = False, only: Sequence[str] | None = None, extra: Sequence[tuple[str, object]] = ()
) -> Registry:
    """Load the installed plugins.

    Parameters
    ----------
    strict : bool, default=False
        Raise `PluginError` for a plugin that cannot be loaded, instead of warning.
    only : sequence of str or None, default=None
        Load exactly these: entry-point names or importable modules; ``"all"`` stands for every installed entry point.
        None reads the environment variable ``MFBENCH_LOAD_PLUGINS`` (comma-separated), and loads all if it is unset.
    extra : sequence of (name, plugin object), default=()
        Plugins that are already imported, for tests and notebooks. Worker processes do not see them.

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
    for plugin, module in _import_all(_candidates(only), registry):
        _register(manager, plugins, plugin, module, registry)
    for name, module in extra:
        _register(manager, plugins, Plugin(name, getattr(module, "__name__", name)), module, registry)
    return registry


def _candidates(only: Sequence[str] | None) -> list[Plugin]:
    installed = {}
    # The order of entry points is the order of the installation; by name it is the same on every machine.
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
            yield plugin, _import_object(plugin.module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may fail in any way; it is named, not hidden
            reason = f"plugin {plugin.name!r} of {plugin} cannot be imported: {type(error).__name__}: {error}"
            _report_failure(reason, registry.failed, registry.strict, error)


def _register(
    manager: pluggy.PluginManager, plugins: dict[int, Plugin], plugin: Plugin, module: Any, registry: Registry
) -> None:
    try:
        manager.register(module, plugin.name)
        for name in {caller.name for caller in manager.get_hookcallers(module) or () if not caller.has_spec()}:
            known = [hook for hook in vars(hookspecs) if hook.startswith(f"{GROUP}_")]
            manager.unregister(module)
            raise ValueError(f"it implements the unknown hook {name!r}{suggestion(name, known)}")
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
        raise PluginError(f"{reason}; fix or uninstall it, or leave --strict out") from error
    failed.append(reason)
    warnings.warn(f"{reason}; it was left out", PluginWarning, stacklevel=2)


def _import_object(reference: str) -> Any:
    """Import ``package.module`` or ``package.module:attribute``."""
    module, _, attribute = reference.partition(":")
    value: Any = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value


def resolve_factory(registered: Registered) -> Any:
    """Import what a spec's factory or loader names.

    Raises
    ------
    PluginError
        If it cannot be imported or is not callable; the message names the plugin's package.
    """
    spec = registered.spec
    target = spec.loader if isinstance(spec, DatasetSpec) else spec.factory
    if isinstance(target, str):
        try:
            target = _import_object(target)
        except Exception as error:
            raise PluginError(
                f"{spec.name!r} of {registered.plugin} cannot be imported from {target!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
    if not callable(target):
        raise PluginError(f"{spec.name!r} of {registered.plugin}: {target!r} is not callable")
    return target


def parameter_names(registered: Registered) -> list[str]:
    """Return the parameters that the factory or loader of a spec accepts, in order.

    Notes
    -----
    A factory that is a plain function with ``**kwargs`` is asked for an estimator, and that for its parameters. A
    dataset without a loader has none.
    """
    import inspect

    if isinstance(registered.spec, DatasetSpec) and not registered.spec.embedded:
        return []
    target = resolve_factory(registered)
    signature = inspect.signature(target)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    # A dataset's loader is never called for its parameters: that would load the data.
    if takes_any and isinstance(registered.spec, EstimatorSpec):
        instance = target(**getattr(registered.spec, "defaults", {}))
        if hasattr(instance, "get_params"):
            return list(instance.get_params(deep=False))
    return [name for name, p in signature.parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def check_parameters(registered: Registered, names: Iterable[str]) -> None:
    """Raise `UnknownNameError` for the first name that is no parameter of the spec's factory or loader."""
    allowed = parameter_names(registered)
    for name in names:
        if name not in allowed:
            raise UnknownNameError(f"parameter of {registered.spec.name!r}", name, allowed)


def build(registered: Registered, params: Mapping[str, Any]) -> Any:
    """Call a spec's factory or loader with its defaults and `params`, after checking their names."""
    check_parameters(registered, params)
    target = resolve_factory(registered)
    return target(**{**getattr(registered.spec, "defaults", {}), **params})
