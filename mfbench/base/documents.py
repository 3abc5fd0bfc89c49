"""Documents, which are nested mappings: how two of them differ, as clauses, and what several have together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mfbench.base.untrusted import plain_text

_LONGEST_VALUE = 200  # characters
_SHOWN = 3


class Mismatch(NamedTuple):
    """One value that two documents do not have in common."""

    path: str  # the keys that lead to it, joined by dots
    left: Any  # left, right: none if a document lacks it
    right: Any

    def clause(self, left: str, right: str) -> str:
        """Return what the value is in each document."""
        return f"{self.path} is {_text(self.left)} {left} and {_text(self.right)} {right}"


def diff(left: Mapping[str, Any], right: Mapping[str, Any], *, shared: bool = False) -> Iterator[Mismatch]:
    """Yield the differences between two documents, in the order of their keys."""
    for key in dict.fromkeys([*left, *right]):
        if shared and not (key in left and key in right):
            continue
        ours, theirs = left.get(key), right.get(key)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            yield from (each._replace(path=f"{key}.{each.path}") for each in diff(ours, theirs, shared=shared))
        elif ours != theirs:
            yield Mismatch(key, ours, theirs)


def first_clauses(clauses: Iterable[str], shown: int = _SHOWN) -> str:
    """Return the first clauses as a part of a sentence, and how many more there are."""
    listed = list(clauses)
    return "; ".join([*listed[:shown], *([f"{len(listed) - shown} more"] if len(listed) > shown else [])])


def union(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the entries of all documents: mappings and lists are united, of other values the first one is kept."""
    joined: dict[str, Any] = {}
    for document in documents:
        for key, value in document.items():
            ours = joined.setdefault(key, value)
            if isinstance(ours, Mapping) and isinstance(value, Mapping):
                joined[key] = union([ours, value])
            elif isinstance(ours, list) and isinstance(value, list):
                # By their text, because an entry may be a document itself.
                joined[key] = list({json.dumps(each, sort_keys=True): each for each in [*ours, *value]}.values())
    return joined


def _text(value: Any) -> str:
    """Return a value, cut if it is long: it may come from a file of somebody else."""
    if value is None:
        return "not set"
    return plain_text(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
