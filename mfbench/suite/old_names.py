"""Old names of profiles, which are accepted with a warning for one version."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

from mfbench.errors import SuiteError
from mfbench.suite.schema import Suite

# The protocol as a suite has it was called "paper", though it is mfbench's own.
OLD, NEW = "paper", "full"
# Asked for on the command line; the second name was "published" in one suite.
RENAMED = {OLD: NEW, "published": "as-published"}


def current_profile(name: str, profiles: Collection[str]) -> str:
    """Return the current name of a profile that a command asks for; an old one gives a warning."""
    new = RENAMED.get(name, name)
    if name in profiles or new == name or new not in profiles:
        return name
    _warn(f"the profile {name!r} is now called {new!r}")
    return new


def with_current_names(suite: Suite, file: str) -> Suite:
    """Return a suite whose profile "paper" has its current name; using the old one gives a warning."""
    header = suite.suite
    profiles = _renamed_key(suite.profiles, f"{file}: profiles")
    datasets = [
        group.model_copy(
            update={
                "profiles": _renamed_items(group.profiles),
                "replicates": _renamed_key(group.replicates, f"{file}: datasets[{position}].replicates"),
            }
        )
        for position, group in enumerate(suite.datasets)
    ]
    methods = [method.model_copy(update={"profiles": _renamed_items(method.profiles)}) for method in suite.methods]
    if header.profile == OLD:
        header = header.model_copy(update={"profile": NEW})
    current = suite.model_copy(update={"suite": header, "profiles": profiles, "datasets": datasets, "methods": methods})
    if current == suite:
        return suite
    _warn(f"{file}: the profile {OLD!r} is now called {NEW!r}; rename it in the file")
    return current


def _renamed_items(names: list[str] | None) -> list[str] | None:
    return None if names is None else list(dict.fromkeys(NEW if name == OLD else name for name in names))


def _renamed_key(table: Any, location: str) -> Any:
    if not isinstance(table, dict) or OLD not in table:
        return table
    if NEW in table:
        raise SuiteError(f"{location}: {OLD!r} is the old name of {NEW!r}; remove one of them")
    return {NEW if name == OLD else name: value for name, value in table.items()}


def _warn(text: str) -> None:
    warnings.warn(f"{text}; the old name is accepted for one more version", FutureWarning, stacklevel=4)
