"""All checks, in the order of their groups: importing this module's function registers those of every module."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from mfbench_check import checks
from mfbench_check.catalog import CHECKS, GROUPS, Check


def all_checks() -> list[Check]:
    """Return all checks, group by group and in the order of definition within a module."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return sorted(CHECKS.values(), key=_position)


def _position(check: Check) -> tuple[int, str, int]:
    """Return the place of a check in the list; the order in which modules were imported must not matter."""
    return list(GROUPS).index(check.group), check.function.__module__, check.function.__code__.co_firstlineno


def by_needs(checks: Sequence[Check]) -> list[Check]:
    """Return checks in an order in which each comes after those that it needs, whatever their groups."""
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
