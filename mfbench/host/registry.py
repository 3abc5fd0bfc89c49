"""The registry: from installed plugins to named specs.

`load_registry` finds plugins by entry point (group ``mfbench``) and collects their specs through pluggy. Plugins that
fail to import and invalid specs are left out with a warning; the others are unaffected. A name that several packages
register must be qualified with the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pluggy

from mfbench.engines import Engine, Executor
from mfbench.errors import MfbenchError, PluginError, UnknownNameError, UsageError, describe_error, suggestion
from mfbench.host import hookspecs
from mfbench.host.declared import DeclaredHooks, declared_plugin
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


@dataclass(frozen=True)
class Hooks:
    """The hooks of the loaded plugins."""

    manager: pluggy.PluginManager
    plugins: Mapping[int, Plugin]  # origin of every plugin object in the manager, by `id`
    problems: Problems  # collects failures
    isolated: bool  # whether this is the main process, whose state a hook must not change

    def call(self, hook: str) -> Iterator[tuple[Plugin, Any]]:
        """Yield the items that each plugin's hook returns; a plugin that fails is left out with the reason."""
        for implementation in getattr(self.manager.hook, hook).get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            self.manager.trace("calling", hook, "of", plugin.name)
            try:
                with contained(isolated=self.isolated):
                    values = list(implementation.function())
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, and the others must still work
                self.leave_out(plugin, f"{hook} raised {describe_error(error)}", error)
                continue
            for value in values:
                yield plugin, value

    def leave_out(self, plugin: Plugin, reason: str, error: BaseException | None = None) -> None:
        """Report a part of a plugin that is left out."""
        self.problems.add(plugin, f": {reason}", error)

    def report_sections(self, open_run: Callable[[Plugin], Any]) -> tuple[list[tuple[Plugin, Section]], list[str]]:
        """Return the sections that plugins add to a report, and a sentence about each plugin that failed."""
        sections: list[tuple[Plugin, Section]] = []
        problems = []
        for implementation in self.manager.hook.mfbench_report_sections.get_hookimpls()[::-1]:
            plugin = self.plugins[id(implementation.plugin)]
            hook: Callable[..., Any] = implementation.function
            try:
                with contained(isolated=self.isolated):
                    returned = list(hook(*([open_run(plugin)] if implementation.argnames else [])))
                for section in returned:
                    if not isinstance(section, Section):
                        raise TypeError(f"it returned {shown(section)}, expected Section objects")
                    section.check()
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a failing plugin must not prevent the report
                reason = describe_error(error)
                problems.append(f"plugin {plugin.name!r} of {plugin}: mfbench_report_sections failed with {reason}")
                continue
            sections += [(plugin, section) for section in returned]
        return sections, problems


def refusal(spec: object, spec_class: type, kind: str) -> str:
    """Return why the return value of a hook is unusable; "" if it is usable."""
    try:
        if not isinstance(spec, spec_class):
            return f"mfbench_{kind}s returned {shown(spec)}, expected {spec_class.__name__} objects"
        problem = spec_problem(spec)
        return f"{kind} {shown(spec.name)}: {problem}" if problem else ""  # type: ignore[attr-defined]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a field may be a plugin's object that raises anything
        return f"mfbench_{kind}s returned a spec that cannot be checked: {describe_error(error)}"


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
    plugins: dict[int, Plugin]  # origin of every plugin object in the manager, by `id`
    problems: Problems = field(default_factory=Problems)  # what was left out, and whether that is an error
    # Imports third-party factories in child processes; None imports them in this process.
    prober: ChildProber | None = None
    _tables: dict[str, NameTable[Registered]] = field(default_factory=dict)

    @property
    def _hooks(self) -> Hooks:
        return Hooks(self.manager, self.plugins, self.problems, self.prober is not None)

    @property
    def strict(self) -> bool:
        """Whether a left-out plugin is an error."""
        return self.problems.strict

    @property
    def failed(self) -> list[str]:
        """One sentence about each plugin, or part of one, that was left out."""
        return self.problems.sentences

    @cached_property
    def selectors(self) -> dict[str, Registered]:
        """Selectors by name."""
        return self._table("selector").listed()

    @cached_property
    def classifiers(self) -> dict[str, Registered]:
        """Classifiers by name."""
        return self._table("classifier").listed()

    @cached_property
    def regressors(self) -> dict[str, Registered]:
        """Regressors by name."""
        return self._table("regressor").listed()

    @cached_property
    def tasks(self) -> dict[str, Registered]:
        """Tasks by name."""
        return self._table("task").listed()

    @cached_property
    def datasets(self) -> dict[str, Registered]:
        """Datasets by name."""
        return self._table("dataset").listed()

    @cached_property
    def executors(self) -> dict[str, Registered]:
        """Executors by name, except the local one."""
        return self._table("executor").listed()

    @cached_property
    def metrics(self) -> dict[str, Registered]:
        """Metrics by name."""
        return self._table("metric").listed()

    @cached_property
    def protocols(self) -> dict[str, Registered]:
        """Protocols by name."""
        return self._table("protocol").listed()

    @cached_property
    def splitters(self) -> dict[str, Registered]:
        """Splitters by name."""
        return self._table("splitter").listed()

    @property
    def dataset_names(self) -> NameTable[Registered]:
        """The table of dataset names."""
        return self._table("dataset")

    @cached_property
    def suite_folders(self) -> list[tuple[Path, Plugin]]:
        """Folders with suite files, each with the plugin that ships it."""
        folders = []
        for plugin, value in self._hooks.call("mfbench_suites"):
            if not isinstance(value, Path):
                self._hooks.leave_out(plugin, f"mfbench_suites returned {shown(value)}, expected pathlib.Path objects")
                continue
            folders.append((value, plugin))
        return folders

    def entry(self, kind: str, name: str) -> Registered:
        """Return what is registered under a name, or raise `UnknownNameError`."""
        listed: dict[str, Registered] = getattr(self, f"{kind}s")
        return listed[self.resolve(kind, name)]

    def selector(self, name: str) -> Registered:
        """Return the selector of this name."""
        return self.entry("selector", name)

    def classifier(self, name: str) -> Registered:
        """Return the classifier of this name; raises as `selector` does."""
        return self.entry("classifier", name)

    def dataset(self, name: str) -> Registered:
        """Return the dataset of this name; raises as `selector` does."""
        return self.entry("dataset", name)

    def executor(self, name: str) -> Registered:
        """Return the executor of this name; raises as `selector` does."""
        return self.entry("executor", name)

    def metric(self, name: str) -> Registered:
        """Return the metric of this name; raises as `selector` does."""
        return self.entry("metric", name)

    def protocol(self, name: str) -> Registered:
        """Return the protocol of this name; raises as `selector` does."""
        return self.entry("protocol", name)

    def task(self, name: str) -> Registered:
        """Return the task of this name; raises as `selector` does."""
        return self.entry("task", name)

    def splitter(self, name: str) -> Registered:
        """Return the splitter of this name; raises as `selector` does."""
        return self.entry("splitter", name)

    def resolve(self, kind: str, name: str, home: str = "") -> str:
        """Return the name under which the registry lists what a name refers to."""
        if is_reference(name) and kind != "metric":  # a metric may be named after its library, as in `sklearn:jaccard`
            return self._declared(kind, name)[0]
        try:
            return self._table(kind).resolve(name, home)
        except UnknownNameError:
            others = (other for other in STEPS if kind in STEPS and name in self._table(other).listed())
            if (other := next(others, None)) is None:
                raise
            names = self._table(kind).listed()
            raise UsageError(
                f"{name!r} is a {other}, not a {kind}{suggestion(name, names)} ({_KINDS[kind][1]})"
            ) from None

    def declare(self, declarations: Iterable[Declaration]) -> None:
        """Register classes named by import path; `resolve` then accepts these paths."""
        for declaration in declarations:
            plugin = declared_plugin(declaration)
            hooks = DeclaredHooks(declaration)
            if plugin not in self.plugins.values() and register(self.manager, plugin, hooks, self.problems):
                self.plugins[id(hooks)] = plugin
                self._tables.pop(declaration.kind, None)
                self.__dict__.pop(f"{declaration.kind}s", None)

    def declare_expression(self, kind: str, expression: Expression) -> None:
        """Declare the classes that an expression names by import path; raises as `declare` does."""
        if is_reference(expression.name):
            self.declare([Declaration(cast(Any, kind), expression.name)])
        self.declare([Declaration("part", part.name) for part in expression.parts()])

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
        table: NameTable[Path] = NameTable("suite", "see 'mfbench suites', or give the path of a .toml file")
        paths: set[Path] = set()
        for folder, plugin in self.suite_folders:
            for path in sorted(folder.glob("*.toml")):
                if path not in paths:  # plugins may share a folder
                    table.add(path.stem, plugin, path)
                paths.add(path)
        return table

    def suites(self) -> dict[str, Path]:
        """Return the suite files that plugins ship, by the name that a user must write."""
        return self.suite_names.listed()

    def report_sections(self, open_run: Callable[[Plugin], Any]) -> tuple[list[tuple[Plugin, Section]], list[str]]:
        """Return the sections that plugins add to the report of a run."""
        return self._hooks.report_sections(open_run)

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
        kinds = [kind for kind in STEPS if self._table(kind).has(name)]
        if kinds[:2] == ["selector", "classifier"]:
            one, other = self.selector(name).spec, self.classifier(name).spec
            if (one.factory, one.defaults) == (other.factory, other.defaults):
                return kinds[0]
            raise UsageError(f"{name!r} is both a selector and a classifier: add kind='selector' or kind='classifier'")
        if not kinds:
            names = [*self.selectors, *self.classifiers, *self.regressors]
            raise UnknownNameError("selector, classifier or regressor", name, names, "see 'mfbench plugins'")
        return kinds[0]

    def _table(self, kind: str) -> NameTable[Registered]:
        if kind not in self._tables:
            spec_class, hint = _KINDS[kind]
            table: NameTable[Registered] = NameTable(kind, hint)
            for plugin, spec in self._hooks.call(f"mfbench_{kind}s"):
                reason = refusal(spec, spec_class, kind)
                if not reason and (kind, spec.name) == ("executor", LOCAL):
                    reason = f"executor {LOCAL!r} is that of mfbench itself"
                if not reason and not table.add(spec.name, plugin, self._registered(spec, plugin)):
                    reason = f"{kind} {spec.name!r} is registered twice; the first one is used"
                if reason:
                    self._hooks.leave_out(plugin, reason)
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
    plugins: dict[int, Plugin] = {}
    problems = Problems(strict)
    chosen = chosen_plugins(only) if exactly is None else exactly
    loose = [(Plugin(name, getattr(module, "__name__", name), is_object=True), module) for name, module in extra]
    for plugin, module in [*import_plugins(chosen, problems, isolated=isolated), *loose]:
        if register(manager, plugin, module, problems):
            plugins[id(module)] = plugin  # by identity, because a plugin object need not be hashable
    return Registry(manager, plugins, problems, ChildProber() if isolated else None)


def check_executor(registry: Registry, name: str, scheduler: str) -> None:
    """Raise an error if a run cannot use this executor, before anything is written."""
    if name == LOCAL and scheduler:
        raise UsageError(f"--scheduler {scheduler} needs --executor: the processes of this machine have no scheduler")
    if name != LOCAL:
        make_engine(registry, name, scheduler, 1)  # starts nothing


def make_engine(registry: Registry, name: str, scheduler: str, jobs: int) -> Engine | Executor:
    """Build the engine of an executor, or the executor itself if the factory returns one; nothing is started."""
    registered = _look_up(registry, name)
    try:
        factory = registered.spec.factory
        engine = (import_object(factory) if isinstance(factory, str) else factory)(scheduler, jobs)
    except (KeyboardInterrupt, MfbenchError):
        raise
    except ImportError as error:
        raise PluginError(f"executor {name!r} needs {_missing(error)}: {remedy(registered)}") from error
    except BaseException as error:
        raise PluginError(
            f"executor {name!r} of {registered.plugin} cannot be used: {describe_error(error)}"
        ) from error
    if not isinstance(engine, Engine | Executor):
        raise PluginError(
            f"executor {name!r} of {registered.plugin} cannot be used: its factory returned {shown(engine)}, "
            "expected an mfbench.engines.Engine"
        )
    return engine


def _look_up(registry: Registry, name: str) -> Registered:
    try:
        return registry.executor(name)
    except UnknownNameError:
        raise UnknownNameError("executor", name, [LOCAL, *registry.executors], "see 'mfbench plugins'") from None


def _missing(error: ImportError) -> str:
    return f"the package {error.name!r}" if isinstance(error, ModuleNotFoundError) and error.name else str(error)
