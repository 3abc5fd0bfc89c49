"""The registry: from installed plugins to named specs.

`load_registry` finds plugins by entry point (group ``mfbench``) and collects their specs through pluggy. Plugins that
fail to import and invalid specs are left out with a warning; the others are unaffected. A name that several packages
register must be qualified with the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pluggy

from mfbench.engines import Engine, Executor
from mfbench.errors import PluginError, UnknownNameError, UsageError, plugin_code, suggestion
from mfbench.host import hookspecs
from mfbench.host.declared import declared_plugin
from mfbench.host.discovery import (
    LOAD_VARIABLE,
    PluginWarning,
    Problems,
    chosen_plugins,
    contained,
    import_plugins,
    register,
)
from mfbench.host.expressions import Declaration, Expression, NameTable, Plugin, Registered, is_reference, parse
from mfbench.host.factories import build, import_object, remedy
from mfbench.host.probes import ChildProber, shown, spec_problem
from mfbench.model.evaluation import MetricSpec, ProtocolSpec, SplitterSpec, TaskSpec
from mfbench.model.sections import Section
from mfbench.model.specs import ClassifierSpec, DatasetSpec, ExecutorSpec, RegressorSpec, SelectorSpec


def refusal(spec: object, spec_class: type, kind: str) -> str:
    """Return why the return value of a hook is unusable; "" if it is usable."""
    unchecked = f"mfbench_{kind}s returned a spec that cannot be checked"
    try:
        with plugin_code(PluginError, f"{unchecked}:", passing=()):
            if not isinstance(spec, spec_class):
                return f"mfbench_{kind}s returned {shown(spec)}, expected {spec_class.__name__} objects"
            problem = spec_problem(spec)
            return f"{kind} {shown(spec.name)}: {problem}" if problem else ""  # type: ignore[attr-defined]
    except PluginError as error:
        return str(error)


GROUP = hookspecs.PROJECT
HOST = "mfbench"  # the distribution of the built-in plugins, which are trusted
TRACE_VARIABLE = "MFBENCH_TRACE_PLUGINS"
_KINDS: dict[str, tuple[type, str]] = {
    "selector": (SelectorSpec, "see 'mfbench plugins'"),
    "classifier": (ClassifierSpec, "see 'mfbench plugins'"),
    "regressor": (RegressorSpec, "see 'mfbench plugins'"),
    "dataset": (DatasetSpec, "see 'mfbench datasets list'"),
    "executor": (ExecutorSpec, "see 'mfbench plugins'"),
    "metric": (MetricSpec, "see 'mfbench plugins'"),
    "protocol": (ProtocolSpec, "see 'mfbench plugins'"),
    "splitter": (SplitterSpec, "see 'mfbench plugins'"),
    "task": (TaskSpec, "see 'mfbench plugins'"),
}
STEPS = ("selector", "classifier", "regressor")  # the kinds of estimators; a plain name refers to the first that has it
LOCAL = "local"  # the executor of this machine, which no plugin registers

__all__ = ["GROUP", "LOAD_VARIABLE", "TRACE_VARIABLE", "PluginWarning", "Registry", "load_registry"]


@dataclass
class Registry:
    """Everything that the loaded plugins registered, by kind and name."""

    # The dictionaries are keyed by the names that a user must write: `relieff`, or `relieff@mfbench` if another package
    # registers the same name.

    manager: pluggy.PluginManager  # holds the loaded plugins; its hooks are called once per kind, on first use
    plugins: dict[int, Plugin]  # origin of every plugin object, by `id`; a declared one is its own object
    problems: Problems = field(default_factory=Problems)  # what was left out, and whether that is an error
    # Imports third-party factories in child processes; None imports them in this process.
    prober: ChildProber | None = None
    _tables: dict[str, NameTable[Registered]] = field(default_factory=dict)

    @property
    def strict(self) -> bool:
        """Whether a left-out plugin is an error."""
        return self.problems.strict

    @property
    def failed(self) -> list[str]:
        """One sentence about each plugin, or part of one, that was left out."""
        return self.problems.sentences

    @cached_property
    def suite_folders(self) -> list[tuple[Path, Plugin]]:
        """Folders with suite files, each with the plugin that ships it."""
        folders = []
        for plugin, value in self._call("mfbench_suites"):
            if isinstance(value, Path):
                folders.append((value, plugin))
            else:
                self._leave_out(plugin, f"mfbench_suites returned {shown(value)}, expected pathlib.Path objects")
        return folders

    def listed(self, kind: str) -> dict[str, Registered]:
        """Return everything of a kind, such as ``"dataset"``, by the name that a user must write."""
        return self.table(kind).listed

    def entry(self, kind: str, name: str) -> Registered:
        """Return what is registered under a name, or raise `UnknownNameError`."""
        return self.listed(kind)[self.resolve(kind, name)]

    def resolve(self, kind: str, name: str, home: str = "") -> str:
        """Return the name under which the registry lists what a name refers to."""
        if is_reference(name) and kind != "metric":  # a metric may be named after its library, as in `sklearn:jaccard`
            return self._declared(kind, name)[0]
        try:
            return self.table(kind).resolve(name, home)
        except UnknownNameError:
            others = (other for other in STEPS if kind in STEPS and name in self.listed(other))
            if (other := next(others, None)) is None:
                raise
            names = self.listed(kind)
            raise UsageError(
                f"{name!r} is a {other}, not a {kind}{suggestion(name, names)} ({_KINDS[kind][1]})"
            ) from None

    def declare(self, declaration: Declaration) -> None:
        """Register a class named by import path; `resolve` then accepts this path."""
        plugin = declared_plugin(declaration)
        if plugin not in self.plugins.values():
            self.add_declared(plugin, declaration)

    def add_declared(self, plugin: Plugin, declaration: Declaration) -> None:
        """Register the class that a plugin represents."""
        self.plugins[id(plugin)] = plugin
        if declaration.kind != "part":
            spec_class: Any = _KINDS[declaration.kind][0]
            # Neither its tasks are known nor whether it compiles code on first use; assuming so costs a short fit.
            name, factory = declaration.name, declaration.reference
            spec = spec_class(name=name, summary="", factory=factory, tasks=(), warm_up=True)
            self.table(declaration.kind).add(name, plugin, self._registered(spec, plugin))

    def declare_expression(self, kind: str, expression: Expression) -> None:
        """Declare the classes that an expression names by import path; raises as `declare` does."""
        if is_reference(expression.name):
            self.declare(Declaration(cast(Any, kind), expression.name))
        for part in expression.parts():
            self.declare(Declaration("part", part.name))

    def entries(self, kind: str, expression: Expression) -> list[Registered]:
        """Return what an expression refers to: a method's step, and the classes among its parameters."""
        entries = [self.entry(kind, expression.name)]
        for part in expression.parts():
            name, plugin = self._declared("part", part.name)
            entries.append(Registered(ClassifierSpec(name=name, summary="", factory=part.name), plugin))
        return entries

    def _declared(self, kind: str, reference: str) -> tuple[str, Plugin]:
        """Return the name of a declared class, and the plugin that represents it."""
        for plugin in self.plugins.values():
            declared = plugin.declared
            if declared is not None and (declared.kind, declared.reference) == (kind, reference):
                return declared.name, plugin
        raise UsageError(
            f"{reference!r} is the import path of a class, but a suite names only what plugins register (see 'mfbench "
            f"plugins'); to add a class to a run, use --add"
        )

    def home_of(self, folder: Path) -> str:
        """Return the package that ships a folder of suites; "" for a user's own folder."""
        resolved = folder.resolve()
        return next((plugin.package for own, plugin in self.suite_folders if own.resolve() == resolved), "")

    @cached_property
    def suite_names(self) -> NameTable[Path]:
        """The suite files that plugins ship, by name (the file's stem)."""
        return self.shipped("*.toml", "suite", "see 'mfbench suites', or give the path of a .toml file")

    def shipped(
        self, pattern: str, kind: str, hint: str, is_listed: Callable[[Path], bool] = lambda path: True
    ) -> NameTable[Path]:
        """Return the files that match a pattern in the folders with suites, by their stem."""
        table: NameTable[Path] = NameTable(kind, hint)
        paths: set[Path] = set()
        for folder, plugin in self.suite_folders:
            for path in sorted(folder.glob(pattern)):
                if path not in paths and is_listed(path):  # plugins may share a folder
                    table.add(path.stem, plugin, path)
                paths.add(path)
        return table

    def suites(self) -> dict[str, Path]:
        """Return the suite files that plugins ship, by the name that a user must write."""
        return self.suite_names.listed

    def report_sections(self, open_run: Callable[[Plugin], Any]) -> tuple[list[tuple[Plugin, Section]], list[str]]:
        """Return the sections that plugins add to a report, and a sentence about each plugin that failed."""
        sections: list[tuple[Plugin, Section]] = []
        problems = []
        for plugin, implementation in self._implementations("mfbench_report_sections"):
            try:
                with contained(isolated=self._is_isolated):
                    arguments = [open_run(plugin)] if implementation.argnames else []
                    returned: list[Any] = list(implementation.function(*arguments))
                    for section in returned:
                        if not isinstance(section, Section):
                            raise TypeError(f"it returned {shown(section)}, expected Section objects")
                        section.check()
            except PluginError as error:
                problems.append(f"plugin {plugin.name!r} of {plugin}: mfbench_report_sections failed with {error}")
            else:
                sections += [(plugin, section) for section in returned]
        return sections, problems

    def _call(self, hook: str) -> Iterator[tuple[Plugin, Any]]:
        """Yield the items that each plugin's hook returns; a plugin that fails is left out with the reason."""
        for plugin, implementation in self._implementations(hook):
            self.manager.trace("calling", hook, "of", plugin.name)
            try:
                with contained(isolated=self._is_isolated):
                    values = list(implementation.function())
            except PluginError as error:
                self._leave_out(plugin, f"{hook} raised {error}", error)
            else:
                yield from ((plugin, value) for value in values)

    def _implementations(self, hook: str) -> Iterator[tuple[Plugin, Any]]:
        for implementation in getattr(self.manager.hook, hook).get_hookimpls()[::-1]:
            yield self.plugins[id(implementation.plugin)], implementation

    def _leave_out(self, plugin: Plugin, reason: str, error: BaseException | None = None) -> None:
        self.problems.add(plugin, f": {reason}", error)

    @property
    def _is_isolated(self) -> bool:
        """Whether this is the main process, whose state a hook must not change."""
        return self.prober is not None

    def make(self, expression: str | Expression, kind: str | None = None, **overrides: Any) -> Any:
        """Build the estimator of an expression."""
        expression = parse(expression) if isinstance(expression, str) else expression
        name = expression.name
        if kind is None:
            kind = self._kind_of(name)
        elif kind not in STEPS:
            raise UsageError(f"kind is {kind!r}: use 'selector', 'classifier' or 'regressor'")
        return build(self.entry(kind, name), {**expression.params, **overrides})

    def _kind_of(self, name: str) -> str:
        """Return the kind of a name; that of a selector and a classifier is ambiguous, and guessing could be wrong."""
        kinds = [kind for kind in STEPS if self.table(kind).has(name)]
        if kinds[:2] == ["selector", "classifier"]:
            one, other = self.entry("selector", name).spec, self.entry("classifier", name).spec
            if (one.factory, one.defaults) == (other.factory, other.defaults):
                return kinds[0]
            raise UsageError(f"{name!r} is both a selector and a classifier: add kind='selector' or kind='classifier'")
        if not kinds:
            names = [name for kind in STEPS for name in self.listed(kind)]
            raise UnknownNameError("selector, classifier or regressor", name, names, "see 'mfbench plugins'")
        return kinds[0]

    def table(self, kind: str) -> NameTable[Registered]:
        """Return the names of a kind."""
        if kind not in self._tables:
            spec_class, hint = _KINDS[kind]
            table: NameTable[Registered] = NameTable(kind, hint)
            for plugin, spec in self._call(f"mfbench_{kind}s"):
                reason = refusal(spec, spec_class, kind)
                if not reason and (kind, spec.name) == ("executor", LOCAL):
                    reason = f"executor {LOCAL!r} is that of mfbench itself"
                if not reason and not table.add(spec.name, plugin, self._registered(spec, plugin)):
                    reason = f"{kind} {spec.name!r} is registered twice; the first one is used"
                if reason:
                    self._leave_out(plugin, reason)
            self._tables[kind] = table
        return self._tables[kind]

    def _registered(self, spec: Any, plugin: Plugin) -> Registered:
        # A child process cannot load a plugin that was passed as an object; it is in this process anyway.
        is_here = plugin.distribution == HOST or plugin.is_object
        return Registered(spec, plugin, None if is_here else self.prober)

    def probe(self, entries: Iterable[Registered]) -> None:
        """Collect at once the facts that `check_parameters` and similar functions need from child processes."""
        if self.prober is not None:
            self.prober.prepare(entry for entry in entries if entry.prober is not None)


def load_registry(
    *,
    strict: bool = False,
    only: Sequence[str] | None = None,
    extra: Sequence[tuple[str, object]] = (),
    exactly: Sequence[Plugin] | None = None,
    isolated: bool = False,
) -> Registry:
    """Load the installed plugins."""
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    if os.environ.get(TRACE_VARIABLE):
        manager.trace.root.setwriter(lambda text: sys.stderr.write(text))
        manager.enable_tracing()
    registry = Registry(manager, {}, Problems(strict), ChildProber() if isolated else None)
    chosen = chosen_plugins(only) if exactly is None else exactly
    loose = [(Plugin(name, getattr(module, "__name__", name), is_object=True), module) for name, module in extra]
    imported = import_plugins(
        [plugin for plugin in chosen if plugin.declared is None], registry.problems, isolated=isolated
    )
    for plugin, module in [*imported, *loose]:
        if register(manager, plugin, module, registry.problems):
            registry.plugins[id(module)] = plugin  # by identity, because a plugin object need not be hashable
    for plugin in chosen:
        if plugin.declared is not None:
            registry.add_declared(plugin, plugin.declared)
    return registry


def check_executor(registry: Registry, name: str, scheduler: str) -> None:
    """Raise an error if a run cannot use this executor, before anything is written."""
    if name == LOCAL and scheduler:
        raise UsageError(f"--scheduler {scheduler} needs --executor: the processes of this machine have no scheduler")
    if name != LOCAL:
        make_engine(registry, name, scheduler, 1)  # starts nothing


def make_engine(registry: Registry, name: str, scheduler: str, jobs: int) -> Engine | Executor:
    """Build the engine of an executor, or the executor itself if the factory returns one; nothing is started."""
    try:
        registered = registry.entry("executor", name)
    except UnknownNameError:
        names = [LOCAL, *registry.listed("executor")]
        raise UnknownNameError("executor", name, names, "see 'mfbench plugins'") from None
    unusable = f"executor {name!r} of {registered.plugin} cannot be used"
    with plugin_code(PluginError, f"{unusable}:"):
        try:
            factory = registered.spec.factory
            engine = (import_object(factory) if isinstance(factory, str) else factory)(scheduler, jobs)
        except ImportError as error:
            is_missing = isinstance(error, ModuleNotFoundError) and error.name
            need = f"the package {error.name!r}" if is_missing else str(error)
            raise PluginError(f"executor {name!r} needs {need}: {remedy(registered)}") from error
    if not isinstance(engine, Engine | Executor):
        raise PluginError(f"{unusable}: its factory returned {shown(engine)}, expected an mfbench.engines.Engine")
    return engine
