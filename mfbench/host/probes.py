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
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from mfbench.errors import PluginError
from mfbench.host.expressions import Facts, Plugin, Registered, canonical_text
from mfbench.model.evaluation import MetricSpec, Score, SplitterSpec
from mfbench.model.specs import DatasetSpec, RegressorSpec, SelectorSpec
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
                numbers, problem = call(
                    TRY_OUT,
                    registered.plugin,
                    *_request(registered),
                    params,
                    timeout=SECONDS_TO_TRY,
                    memory=memory_limit(),
                    path=sys.path,
                    preload=SHARED,
                )
                self._tried[key] = Facts(takes_numbers=bool(numbers), problem=str(problem))
            except (ChildError, TypeError, ValueError):
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
            facts = self._ask(plugin, group)
        except ChildError as error:
            parts = _parts(group, error)
            for part in parts:
                self._learn(plugin, part)
            if parts:
                return
            sentences = [f"{entry.title!r} of {plugin} cannot be imported: {error}" for entry in group]
            facts = [Facts(problem=sentence) for sentence in sentences]
        self._facts |= {(plugin, _request(entry)): fact for entry, fact in zip(group, facts, strict=True)}

    def _ask(self, plugin: Plugin, group: Sequence[Registered]) -> list[Facts]:
        requests = [_request(entry) for entry in group]
        answers = call(
            ANSWER, plugin, requests, timeout=self.seconds, memory=memory_limit(), path=sys.path, preload=SHARED
        )
        try:
            facts = [
                Facts(tuple(map(str, names)), bool(numbers), bool(two), str(problem), bool(weights), bool(sparse))
                for names, numbers, two, problem, weights, sparse in answers
            ]
        except (TypeError, ValueError):
            facts = []
        if len(facts) != len(group):  # the plugin took over the child
            raise ChildError("error", "its answer has the wrong form")
        return facts


def memory_limit() -> int:
    """Return the memory limit of a child in bytes: most of the machine's memory, since no trial is running yet."""
    return int(available_memory() * _SHARE_OF_MEMORY)


def _parts(group: Sequence[Registered], error: ChildError) -> list[list[Registered]]:
    """Return the groups to retry after a child has failed; empty if the group cannot be divided."""
    modules: dict[str, list[Registered]] = defaultdict(list)
    for entry in group:
        modules[_module(entry)].append(entry)
    if len(modules) > 1:
        return list(modules.values())
    # A slow import is slow for every factory of the module, so only crashes are retried one by one.
    if len(group) > 1 and error.kind == "crash":
        return [[entry] for entry in group]
    return []


def _module(entry: Registered) -> str:
    target = entry.spec.loader if isinstance(entry.spec, DatasetSpec) else entry.spec.factory
    return target.partition(":")[0] if isinstance(target, str) else str(getattr(target, "__module__", ""))


def _request(entry: Registered) -> Request:
    kinds = {
        DatasetSpec: "dataset",
        MetricSpec: "metric",
        SplitterSpec: "splitter",
        SelectorSpec: "selector",
        RegressorSpec: "regressor",
    }
    kind = next((name for spec_class, name in kinds.items() if isinstance(entry.spec, spec_class)), "classifier")
    return kind, entry.spec.name


Check = Callable[[Any], bool]


def spec_problem(spec: object) -> str:
    """Return what is wrong with a spec: field, value and expected value; "" if it is valid."""
    for name, value in vars(spec).items():
        if name in _FIELDS:
            check, expected = _FIELDS[name]
            if not check(value):
                return f"{name} is {shown(value)}, expected {expected}"
    return ""


def shown(value: object) -> str:
    """Return a short text for a plugin's value, even if its class fails when printed."""
    try:
        return reprlib.repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - __repr__ is code of the plugin
        return f"an object of class {type(value).__name__}"


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which terminals and files reject
        return False
    return True


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"([a-z0-9]+:)?[a-z0-9]+([-_][a-z0-9]+)*", value) is not None


def _is_target(value: object) -> bool:
    """Return whether a value is a factory: a callable, or the text ``package.module:attribute``."""
    if not isinstance(value, str):
        return callable(value)
    module, colon, attribute = value.partition(":")
    parts = [*module.split("."), *(attribute.split(".") if colon else ())]
    return all(part.isidentifier() for part in parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_list(value: object, is_item: Check) -> bool:
    """Return whether a value is an ordered, sized collection of such items; NumPy arrays included."""
    if isinstance(value, str | bytes | Mapping | Set) or not hasattr(type(value), "__len__"):
        return False
    return hasattr(type(value), "__iter__") and all(map(is_item, value))  # type: ignore[call-overload]


def _is_mapping(value: object, is_value: Check) -> bool:
    return isinstance(value, Mapping) and all(_is_text(key) and is_value(item) for key, item in value.items())


def _is_anything(value: object) -> bool:
    return True


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_path(value: object) -> bool:
    return value is None or (isinstance(value, Sequence) and len(value) == 2 and _is_list(value, _is_text))


def _is_module(value: object) -> bool:
    return isinstance(value, str) and value.isidentifier()


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _texts(value: object) -> bool:
    return _is_list(value, _is_text)


_TEXT = (_is_text, "a text")
_TEXTS = (_texts, "a list of texts")
_SIZE = (_optional(_is_number), "a whole number or None")
# Fields that are not listed here belong to the plugin's own subclass.
_FIELDS: dict[str, tuple[Check, str]] = {
    "name": (_is_name, "lower-case letters, digits and single hyphens, such as 'svm-rbf'"),
    "summary": _TEXT,
    "function": (_is_target, "'package.module:function' or a callable"),
    "protocol": (_is_target, "'package.module:Class' or a callable"),
    "keys": (lambda value: _is_mapping(value, _is_anything), "a mapping from keys to values"),
    "published": (lambda value: _is_mapping(value, _is_anything), "a mapping from keys to values"),
    "profiles": (
        lambda value: _is_mapping(value, lambda item: _is_mapping(item, _is_anything)),
        "a mapping from profiles to values of keys",
    ),
    "metrics": _TEXTS,
    "scores": (
        lambda value: _is_mapping(value, lambda item: isinstance(item, Score)),
        "a mapping from scores to mfbench.Score objects",
    ),
    "runner": _TEXT,
    "resolver": _TEXT,
    **dict.fromkeys(("predicts", "tunes", "draws_curves", "samples", "times", "compares"), (_is_flag, "True or False")),
    "feature_groups": (
        lambda value: _is_mapping(value, lambda item: _is_list(item, _is_text)),
        "a mapping from groups to lists of features",
    ),
    "greater_is_better": (_is_flag, "True or False"),
    "percent": (_is_flag, "True or False"),
    "tasks": (
        lambda value: _texts(value) or _is_mapping(value, lambda item: _is_mapping(item, _is_anything)),
        "a list of tasks, or a mapping from tasks to parameters",
    ),
    "task": _TEXT,
    "extends": _TEXT,
    "learner": _TEXT,
    "guess": (lambda value: value == "" or _is_target(value), "'package.module:function', a callable or ''"),
    "strata": (lambda value: value == "" or _is_target(value), "'package.module:function', a callable or ''"),
    "description": _TEXT,
    "lowest": (_optional(_is_real), "a number or None"),
    "highest": (_optional(_is_real), "a number or None"),
    "counts_decisions": (_is_flag, "True or False"),
    "is_one_vs_rest": (_is_flag, "True or False"),
    "in_units": (_is_flag, "True or False"),
    "margin": (lambda value: _is_real(value) and value >= 0, "a number from 0"),
    "factory": (_is_target, "'package.module:Class' or a callable"),
    "paper": _TEXT,
    "defaults": (lambda value: _is_mapping(value, _is_anything), "a mapping from parameters to values"),
    "grid": (
        lambda value: _is_mapping(value, lambda item: _is_list(item, _is_anything) and len(item) > 0),
        "a mapping from parameters to lists of values",
    ),
    "tags": _TEXTS,
    "warm_up": (_is_flag, "True or False"),
    "complexity": _TEXT,
    "check_parameters": (lambda value: _is_mapping(value, _is_anything), "a mapping from parameters to values"),
    "expected_failures": (lambda value: _is_mapping(value, _is_text), "a mapping from checks to reasons"),
    "requires": (lambda value: _is_list(value, _is_module), "a list of modules, such as ('skrebate',)"),
    "install": _TEXT,
    "bases": (lambda value: _is_mapping(value, _is_text), "a mapping from parameters to datasets"),
    "controls": _TEXTS,
    "invariance": (lambda value: value in ("none", "affine", "monotone"), "'none', 'affine' or 'monotone'"),
    "targets": (lambda value: value in ("", "classes", "numbers"), "'classes', 'numbers' or ''"),
    "needs": (
        lambda value: value in ("labels", "scores", "probabilities", "predictions", "", "groups", "time", "split"),
        "one of the values that its class describes",
    ),
    "is_random": (_is_flag, "True or False"),
    "inner": _TEXT,
    "resampling": (lambda value: value in ("", "folds", "splits", "thirds"), "'folds', 'splits', 'thirds' or ''"),
    "raw_input": (_is_flag, "True or False"),
    "path": (_is_path, "a parameter and the name of a method, or None"),
    "loader": (_optional(_is_target), "'package.module:function', a callable or None"),
    "source": _TEXT,
    "license": _TEXT,
    "citation": _TEXT,
    "n_samples": _SIZE,
    "n_features": _SIZE,
    "n_classes": _SIZE,
    "class_counts": (lambda value: _is_mapping(value, _is_number), "a mapping from classes to numbers of rows"),
    "openml_id": _SIZE,
    "uci_id": _SIZE,
    "mirror_name": _TEXT,
    "target": _TEXT,
    "categorical": (_optional(_texts), "a list of columns or None"),
    "drop": _TEXTS,
    "keep_classes": _TEXTS,
    "collections": (lambda value: _is_mapping(value, _is_text), "a mapping from collections to labels"),
    "groups": _TEXT,
    "time": _TEXT,
    "split": _TEXT,
    "weights": _TEXT,
    "note": _TEXT,
}
