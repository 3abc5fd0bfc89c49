"""The table of all checks: each is a plain function with an id, registered by a decorator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# In the order of a report; the words behind each are its heading in the documentation.
GROUPS = {
    "contract": "Contract",
    "leakage": "Leakage",
    "symmetry": "Symmetry",
    "determinism": "Determinism",
    "edges": "Edges",
    "growth": "Growth",
    "datasets": "Datasets",
    "suites": "Suites",
}
KINDS = ("plugin", "selector", "classifier", "dataset", "suite")

Function = Callable[[Any], str | None]


@dataclass(frozen=True)
class Check:
    """A check.

    Attributes
    ----------
    id : str
        Its name in reports and in ``expected_failures``.
    group : str
        One of `GROUPS`.
    kinds : tuple of str
        What it applies to, of `KINDS`.
    function : callable
        Takes the subject. It raises `CheckFailedError` or `NotApplicableError`, or returns a remark or None.
    needs : tuple of str
        Checks without which this one means nothing: it is skipped where one of them fails.
    """

    id: str
    group: str
    kinds: tuple[str, ...]
    function: Function
    needs: tuple[str, ...] = ()

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
    """Register a function as a check.

    Parameters
    ----------
    name : str
        The check's id.
    group, kinds, needs
        See `Check`.

    Raises
    ------
    ValueError
        If the id is taken, or the group or a kind does not exist.
    """
    if group not in GROUPS or not set(kinds) <= set(KINDS):
        raise ValueError(f"check {name!r} has the group {group!r} and the kinds {kinds}: see GROUPS and KINDS")

    def register(function: Function) -> Function:
        if name in CHECKS:
            raise ValueError(f"two checks have the id {name!r}")
        CHECKS[name] = Check(name, group, kinds, function, needs)
        return function

    return register
