"""The part of a suite that a run has: names that match the patterns of ``--only`` or of one of the suite's parts."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from mfbench.errors import UsageError, suggestion


@dataclass(frozen=True)
class Restriction:
    """Patterns for the names of datasets and methods, and how messages refer to them."""

    # Shell patterns. Datasets are restricted to those that match a pattern, if any does; so are methods. Without
    # patterns nothing is restricted.
    patterns: tuple[str, ...]
    source: str = "--only"  # what has the patterns: an option, or a table of a file
    scope: str = "no dataset and no method of this suite"  # what a pattern without a match has been compared with

    def kept(self, groups: Iterable[Sequence[str]]) -> list[set[str]]:
        """Return the names of each group that the patterns leave."""
        groups = list(groups)
        names = [name for group in groups for name in group]
        for pattern in self.patterns:
            if not matching([pattern], names):
                near = suggestion(pattern.strip("*?"), names)
                if set(pattern) & set("*?[") and not near.startswith(": did you mean"):
                    of_suite = self.scope == Restriction.scope
                    near = "; 'mfbench suites NAME' lists the labels of a suite" if of_suite else ""
                raise UsageError(f"{self.source} {pattern!r} matches {self.scope}{near}")
        return [matching(self.patterns, group) or set(group) for group in groups]


def matching(patterns: Collection[str], names: Iterable[str]) -> set[str]:
    """Return the names that match a shell pattern."""
    return {name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}
