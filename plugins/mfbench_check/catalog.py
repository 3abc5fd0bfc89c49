"""The table of all checks: each is a plain function with an id, registered by a decorator."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mfbench.host.probes import SHARED
from mfbench_check import checks

# In report order; each text is the heading in the documentation.
GROUPS = {
    "contract": "Contract",
    "leakage": "Leakage",
    "symmetry": "Symmetry",
    "determinism": "Determinism",
    "edges": "Edges",
    "growth": "Growth",
    "metrics": "Metrics",
    "splits": "Splits",
    "datasets": "Datasets",
    "suites": "Suites",
}
Kind = Literal["plugin", "selector", "classifier", "regressor", "metric", "splitter", "protocol", "dataset", "suite"]
# What hooks describe.
SPECS: tuple[Kind, ...] = ("selector", "classifier", "regressor", "metric", "splitter", "protocol", "dataset")
KINDS: tuple[Kind, ...] = get_args(Kind)
MODULES = tuple(f"{checks.__name__}.{module.name}" for module in pkgutil.iter_modules(checks.__path__))
# The modules that the children of a check run share: as for trials, and the checks.
PRELOADED = (*SHARED, "mfbench_check.running", *MODULES)

Function = Callable[[Any], str | None]


@dataclass(frozen=True)
class Check:
    """A check."""

    id: str  # its id in reports and in `expected_failures`
    group: str  # one of `GROUPS`
    kinds: tuple[str, ...]  # the kinds of subjects it applies to, of `KINDS`
    # Takes the subject; raises `CheckFailedError` or `NotApplicableError`, or returns a remark or None.
    function: Function
    needs: tuple[str, ...] = ()  # prerequisite checks: if one of them fails, this one is skipped

    @property
    def summary(self) -> str:
        """The first sentence of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def details(self) -> str:
        """The rest of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[2].strip()


CHECKS: dict[str, Check] = {}


def check(
    name: str, *, group: str, kinds: tuple[str, ...], needs: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Register a function as a check."""
    if group not in GROUPS or not set(kinds) <= set(KINDS):
        raise ValueError(f"check {name!r} has the group {group!r} and the kinds {kinds}: see GROUPS and KINDS")

    def register(function: Function) -> Function:
        if name in CHECKS:
            raise ValueError(f"two checks have the id {name!r}")
        CHECKS[name] = Check(name, group, kinds, function, needs)
        return function

    return register


def all_checks() -> list[Check]:
    """Return all checks by group, and within a module in order of definition."""
    for module in MODULES:
        importlib.import_module(module)
    return sorted(CHECKS.values(), key=_position)


def _position(check: Check) -> tuple[int, str, int]:
    """Return a check's sort key, which does not depend on the order in which modules are imported."""
    return list(GROUPS).index(check.group), check.function.__module__, check.function.__code__.co_firstlineno


def by_needs(checks: Sequence[Check]) -> list[Check]:
    """Return the checks in an order in which each follows its prerequisites, across groups."""
    table = {check.id: check for check in checks}
    placed: dict[str, Check] = {}

    def place(check: Check) -> None:
        for name in check.needs:
            if name in table and name not in placed:
                place(table[name])
        placed[check.id] = check

    for check in checks:
        if check.id not in placed:
            place(check)
    return list(placed.values())
