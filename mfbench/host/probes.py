"""Facts about third-party factories that the main process needs, collected in child processes.

To check a suite, mfbench must know the parameters of each method, and must import the method to learn them. An import
may exit the process or hang, which must not affect the run: one child per plugin imports the factories and answers. If
the child fails, smaller groups are tried, so that only the faulty factories are left out.
"""

from __future__ import annotations

import re
import reprlib
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from mfbench.errors import PluginError, printable
from mfbench.host.expressions import Facts, Plugin, Registered, canonical_text
from mfbench.model.specs import DatasetSpec
from mfbench.processes.call import ChildError, call
from mfbench.processes.process import available_memory

ANSWER = "mfbench.host.trying:answer"  # in the child alone: it imports the registry
TRY_OUT = "mfbench.host.trying:try_out"
SHARED = ("mfbench.run.workers.worker",)  # as for trials, so that one server serves both
SECONDS_TO_TRY = 30.0  # a method that takes longer for a few rows is believed
SECONDS = 300.0  # importing a large library takes a minute on a slow disk, and several on a busy machine
_SHARE_OF_MEMORY = 0.8
Request = tuple[str, str]  # kind and name of a spec


@dataclass
class ChildProber:
    """The facts about the factories of one registry, each collected once."""

    seconds: float = SECONDS  # time limit of a child
    _facts: dict[tuple[Plugin, Request], Facts] = field(default_factory=dict)
    _tried: dict[tuple[Plugin, str], Facts] = field(default_factory=dict)

    def facts(self, registered: Registered) -> Facts:
        """Return the facts about a factory or loader."""
        self.prepare([registered])
        facts = self._facts[registered.plugin, _request(registered)]
        if facts.problem:
            raise PluginError(facts.problem)
        return facts

    def tried(self, registered: Registered, params: Mapping[str, Any]) -> Facts:
        """Return what a child learns by fitting a class, named by import path, with parameters on a few rows."""
        # A failing child proves nothing about the class: its trials will show what is wrong.
        key = registered.plugin, canonical_text(params)
        if key not in self._tried:
            try:
                self._tried[key] = _asked(SECONDS_TO_TRY, TRY_OUT, registered.plugin, *_request(registered), params)
            except ChildError:
                self._tried[key] = Facts()
        return self._tried[key]

    def prepare(self, entries: Iterable[Registered]) -> None:
        """Collect the facts about many factories at once, with one child per plugin if nothing fails."""
        groups: dict[Plugin, dict[Request, Registered]] = defaultdict(dict)
        for entry in entries:
            nothing = isinstance(entry.spec, DatasetSpec) and not entry.spec.embedded
            if not nothing and (entry.plugin, _request(entry)) not in self._facts:
                groups[entry.plugin][_request(entry)] = entry
        for plugin, group in groups.items():
            self._learn(plugin, list(group.values()))

    def _learn(self, plugin: Plugin, group: Sequence[Registered]) -> None:
        try:
            requests = [_request(entry) for entry in group]
            facts = _asked(self.seconds, ANSWER, plugin, requests)
        except ChildError as error:
            parts = _parts(group, error)
            for part in parts:
                self._learn(plugin, part)
            if parts:
                return
            sentences = [f"{entry.title!r} of {plugin} cannot be imported: {error}" for entry in group]
            facts = [Facts(problem=sentence) for sentence in sentences]
        self._facts |= {(plugin, _request(entry)): fact for entry, fact in zip(group, facts, strict=True)}


def _asked(seconds: float, function: str, *args: Any) -> Any:
    """Return what a function returns in a child process."""
    return call(function, *args, timeout=seconds, memory=memory_limit(), path=sys.path, preload=SHARED)


def memory_limit() -> int:
    """Return the memory limit of a child in bytes: most of the machine's memory, since no trial is running yet."""
    return int(available_memory() * _SHARE_OF_MEMORY)


def _parts(group: Sequence[Registered], error: ChildError) -> list[list[Registered]]:
    """Return the groups to retry after a child has failed; empty if the group cannot be divided."""
    modules: dict[str, list[Registered]] = defaultdict(list)
    for entry in group:
        modules[entry.module].append(entry)
    if len(modules) > 1:
        return list(modules.values())
    # A slow import is slow for every factory of the module, so only crashes are retried one by one.
    if len(group) > 1 and error.kind == "crash":
        return [[entry] for entry in group]
    return []


def _request(entry: Registered) -> Request:
    return _spec_class(entry.spec).__name__.removesuffix("Spec").lower(), entry.spec.name


def _spec_class(spec: object) -> Any:
    """Return the class of mfbench that a spec has: a plugin's subclass may have fields that nothing here reads."""
    return next(one for one in type(spec).__mro__ if one.__module__.startswith("mfbench.model."))


def spec_problem(spec: object) -> str:
    """Return what is wrong with a spec: field, value and expected value; "" if it is valid."""
    spec_class = _spec_class(spec)
    hints = get_type_hints(spec_class)
    for each in fields(spec_class):
        value = getattr(spec, each.name)
        is_valid, expected = _RULES.get(each.name) or (None, each.type)
        fits = _fits(value, hints[each.name]) and (is_valid is None or is_valid(value))
        if not fits and not (value == "" == each.default):
            return f"{each.name} is {shown(value)}, expected {expected}"
    return ""


def shown(value: object) -> str:
    """Return a short text for a plugin's value, even if its class fails when printed."""
    try:
        return reprlib.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - __repr__ is code of the plugin
        return f"an object of class {type(value).__name__}"


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotated type; a whole number is not negative, a real one is not NaN."""
    kind, arms = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        if any(get_origin(arm) is Callable for arm in arms):  # a `Factory`
            return _is_target(value) or (value is None and type(None) in arms)
        return any(_fits(value, arm) for arm in arms)
    if kind is Literal:
        return isinstance(value, str) and value in arms
    if kind is Mapping:
        key, item = arms
        return isinstance(value, Mapping) and all(_fits(k, key) and _fits(v, item) for k, v in value.items())
    if kind is Sequence:
        return _is_list(value) and all(_fits(item, arms[0]) for item in value)
    if kind is tuple:
        return _is_list(value) and len(value) == len(arms) and all(map(_fits, value, arms))
    if hint in (int, float):
        numbers = isinstance(value, int | hint) and not isinstance(value, bool)
        return numbers and (value >= 0 if hint is int else value == value)
    if hint is str:
        return isinstance(value, str) and printable(value) == value
    return hint is Any or isinstance(value, hint)


def _is_target(value: object) -> bool:
    """Return whether a value is a factory: a callable, or the text ``package.module:attribute``."""
    if not isinstance(value, str):
        return callable(value)
    module, colon, attribute = value.partition(":")
    parts = [*module.split("."), *(attribute.split(".") if colon else ())]
    return all(part.isidentifier() for part in parts)


def _is_list(value: object) -> bool:
    """Return whether a value is an ordered, sized collection; NumPy arrays included."""
    return isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping | Set)


# What a field's type does not say.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (
        lambda name: re.fullmatch(r"([a-z0-9]+:)?[a-z0-9]+([-_][a-z0-9]+)*", name) is not None,
        "lower-case letters, digits and single hyphens, such as 'svm-rbf'",
    ),
    "grid": (lambda grid: all(map(len, grid.values())), "a mapping from parameters to lists of values"),
    "requires": (lambda names: all(map(str.isidentifier, names)), "a list of modules, such as ('skrebate',)"),
    "margin": (lambda margin: margin >= 0, "a number from 0"),
}
