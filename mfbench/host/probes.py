"""What the main process must know about factories of third parties, learnt in child processes.

To check a suite, mfbench must know which parameters a method has, and for that import it. Whatever the import does,
such as ending the process or never returning, must not reach the run: one child for each plugin imports the factories
and answers. If the child fails, smaller groups are tried, so that only the factories at fault are left out.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mfbench.errors import PluginError
from mfbench.host.expressions import canonical_text
from mfbench.host.registered import Facts, Plugin, Registered
from mfbench.model.specs import DatasetSpec, SelectorSpec
from mfbench.processes.call import ChildError, call
from mfbench.processes.capacity import available_memory

ANSWER = "mfbench.host.probe_answers:answer"  # in the child alone: it imports the registry
TRY_OUT = "mfbench.host.probe_answers:try_out"
SHARED = ("mfbench.run.workers.worker",)  # as for trials, so that one server serves both
SECONDS_TO_TRY = 30.0  # a method that takes longer for a few rows is believed
SECONDS = 300.0  # importing a large library takes a minute on a slow disk, and several on a busy machine
_SHARE_OF_MEMORY = 0.8
Request = tuple[str, str]  # kind and name of a spec


@dataclass
class ChildProber:
    """The facts about the factories of one registry, each learnt once."""

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
        """Return what a child learns by fitting a class that a user names, with parameters, on a few rows."""
        # If the child fails, nothing speaks against the class: its trials will show what is wrong with it.
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
        """Learn the facts about many factories at once: one child for each plugin, if all goes well."""
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
                Facts(tuple(map(str, names)), bool(numbers), bool(two), str(problem))
                for names, numbers, two, problem in answers
            ]
        except (TypeError, ValueError):
            facts = []
        if len(facts) != len(group):  # the plugin took over the child
            raise ChildError("error", "its answer has the wrong form")
        return facts


def memory_limit() -> int:
    """Return the memory that a child may use, in bytes: most of the machine's, since no trial runs yet."""
    return int(available_memory() * _SHARE_OF_MEMORY)


def _parts(group: Sequence[Registered], error: ChildError) -> list[list[Registered]]:
    """Return the groups to try when a child has failed; none if the group cannot be divided."""
    modules: dict[str, list[Registered]] = defaultdict(list)
    for entry in group:
        modules[_module(entry)].append(entry)
    if len(modules) > 1:
        return list(modules.values())
    # An import that takes too long does so for every factory of the module, and each would be waited for.
    if len(group) > 1 and error.kind == "crash":
        return [[entry] for entry in group]
    return []


def _module(entry: Registered) -> str:
    target = entry.spec.loader if isinstance(entry.spec, DatasetSpec) else entry.spec.factory
    return target.partition(":")[0] if isinstance(target, str) else str(getattr(target, "__module__", ""))


def _request(entry: Registered) -> Request:
    if isinstance(entry.spec, DatasetSpec):
        return "dataset", entry.spec.name
    return "selector" if isinstance(entry.spec, SelectorSpec) else "classifier", entry.spec.name
