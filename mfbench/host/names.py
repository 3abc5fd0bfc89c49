"""Names that plugins register: a name that several packages use must be written with the package.

A colliding name harms nothing but itself: ``relieff`` is refused with the names to choose from, ``relieff@mfbench`` and
``relieff@my-package``, and everything else works. What a package ships refers to its own names first, so installing
another package cannot make a suite ambiguous.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mfbench.errors import UnknownNameError, UsageError
from mfbench.host.registered import Plugin

T = TypeVar("T")


@dataclass
class NameTable(Generic[T]):
    """What plugins registered of one kind, by name."""

    kind: str  # in the singular, for messages ("selector")
    hint: str  # how to list the names, such as a command
    _entries: dict[str, list[tuple[Plugin, T]]] = field(default_factory=dict)

    def add(self, name: str, plugin: Plugin, value: T) -> bool:
        """Add a name; return False, and change nothing, if the same plugin has already registered it."""
        entries = self._entries.setdefault(name, [])
        if any(plugin == other for other, _ in entries):
            return False
        entries.append((plugin, value))
        return True

    def listed(self) -> dict[str, T]:
        """Return the values by the name that a user must write: with the package if the name alone is ambiguous."""
        return {
            _written(name, package): value
            for name, entries in self._entries.items()
            for package, (_, value) in zip(_packages(entries), entries, strict=True)
        }

    def has(self, name: str) -> bool:
        """Tell whether something has this name, even if several packages register it."""
        bare, at, package = name.partition("@")
        return bare in self._entries and (not at or self._key(bare, package) is not None)

    def resolve(self, name: str, home: str = "") -> str:
        """Return the key in `listed` that a name stands for."""
        bare, at, package = name.partition("@")
        entries = self._entries.get(bare, [])
        if len(entries) == 1 and not at:
            return bare
        key = self._key(bare, package if at else home)
        if key is not None:
            return key
        keys = sorted(_written(bare, other) for other in _packages(entries))
        if at and len(entries) == 1:
            keys = [_written(bare, entries[0][0].package)]
        if at or not entries:
            raise UnknownNameError(self.kind, name, keys or self.listed(), self.hint)
        raise UsageError(
            f"{len(entries)} packages register the {self.kind} {name!r}: write {' or '.join(map(repr, keys))}"
        )

    def _key(self, bare: str, package: str) -> str | None:
        """Return the key of the one entry that a package registers under a name; None if there is no such entry."""
        entries = self._entries.get(bare, [])
        form = normalized(package)
        for attribute in ("package", "name"):  # an entry point may have the name of another distribution
            own = [
                _written(bare, other)
                for other, (plugin, _) in zip(_packages(entries), entries, strict=True)
                if form and normalized(getattr(plugin, attribute)) == form
            ]
            if len(own) == 1:
                return own[0]
        return None


def _written(name: str, package: str) -> str:
    return f"{name}@{package}" if package else name


def _packages(entries: Sequence[tuple[Plugin, object]]) -> list[str]:
    """Return what tells the plugins of a name apart; nothing if there is one."""
    if len(entries) == 1:
        return [""]
    count = Counter(plugin.package for plugin, _ in entries)
    return [plugin.package if count[plugin.package] == 1 else plugin.name for plugin, _ in entries]


def normalized(package: str) -> str:
    """Return the form in which pip compares names of packages."""
    return re.sub(r"[-_.]+", "-", package).lower()
