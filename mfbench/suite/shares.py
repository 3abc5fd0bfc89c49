"""Shares of a plan: which trials a shard or a task runs, so that all shares together are the plan.

Shares are a function of the plan and of predicted costs that do not depend on the machine, so that machines which never
meet agree on them. A share keeps the keys and the seeds of its trials.
"""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mfbench.errors import UsageError
from mfbench.model.trials import Trial

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_SHARE_FOLDER = re.compile(r".+-(?:shard|task)-[0-9]+-of-[0-9]+(?:-[0-9a-f]+)?")


@dataclass(frozen=True)
class Share:
    """A part of a plan.

    Attributes
    ----------
    kind : {"shard", "task"}
        A shard is numbered on the command line; a task is read from a file that a batch wrote.
    number, of : int
        From 1 to `of`.
    run : str
        The name of the folder of the whole run.
    digest : str
        Of the whole plan, as `digest_of` returns it.
    n_trials : int
        Number of trials of the whole plan.
    positions : tuple of int
        Those of the share's trials in the whole plan, ascending.
    batch : str, default=""
        What distinguishes the tasks of a batch from those of another.
    """

    kind: Literal["shard", "task"]
    number: int
    of: int
    run: str
    digest: str
    n_trials: int
    positions: tuple[int, ...]
    batch: str = ""

    @property
    def folder_name(self) -> str:
        """The name of the share's run folder."""
        return share_folder_name(self.run, self.kind, self.number, self.of, self.batch)


def share_folder_name(run: str, kind: str, number: int | str, of: int | str, batch: str = "") -> str:
    """Return the name of the run folder of a share.

    Parameters
    ----------
    run : str
        The name of the folder of the whole run.
    kind : {"shard", "task"}
    number : int or str
        "*" for a shell pattern that matches all shares.
    of : int or str
    batch : str, default=""

    Examples
    --------
    >>> share_folder_name("quick-1a2b3c4d", "shard", 3, 10)
    'quick-1a2b3c4d-shard-3-of-10'
    >>> share_folder_name("quick-1a2b3c4d", "task", "*", 12, "99e1f0")
    'quick-1a2b3c4d-task-*-of-12-99e1f0'
    """
    return "-".join([run, kind, str(number), "of", str(of), *([batch] if batch else [])])


def is_share_folder_name(name: str) -> bool:
    """Tell whether a run folder has the name of that of a share.

    Examples
    --------
    >>> is_share_folder_name("quick-1a2b3c4d-shard-3-of-10"), is_share_folder_name("quick-1a2b3c4d")
    (True, False)
    """
    return _SHARE_FOLDER.fullmatch(name) is not None


def parse_shard(text: str) -> tuple[int, int]:
    """Return the two numbers of ``--shard``.

    Parameters
    ----------
    text : str
        Such as "3/10": the third of ten shards.

    Raises
    ------
    UsageError
        If it has another form, or the first number is not from 1 to the second.

    Examples
    --------
    >>> parse_shard("3/10")
    (3, 10)
    >>> parse_shard("4/3")
    Traceback (most recent call last):
    ...
    mfbench.errors.UsageError: --shard '4/3' is not a shard: write its number and how many there are, such as 1/3
    """
    match = _SHARD.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of:
        of = of or 3
        raise UsageError(f"--shard {text!r} is not a shard: write its number and how many there are, such as 1/{of}")
    return number, of


def digest_of(keys: Iterable[str]) -> str:
    """Return a text that is the same for plans with the same trials in the same order.

    Parameters
    ----------
    keys : iterable of str
        The keys of all trials, in the plan's order.

    Examples
    --------
    >>> digest_of(["a", "b"]) == digest_of(["a", "b"]), digest_of(["a", "b"]) == digest_of(["b", "a"])
    (True, False)
    """
    digest = hashlib.sha256()
    for key in keys:
        digest.update(f"{key}\n".encode())
    return digest.hexdigest()[:16]


def groups_of(
    trials: Sequence[Trial], group_of: Callable[[Trial], Hashable | None], chosen: Iterable[int] | None = None
) -> list[list[int]]:
    """Return the positions of trials that stay together, in the order of their first trials.

    Parameters
    ----------
    trials : sequence of Trial
    group_of : callable
        What the trials of a group have in common; None for a trial that belongs to no group.
    chosen : iterable of int or None, default=None
        The positions to group; None groups all.
    """
    groups: list[list[int]] = []
    by_key: dict[Hashable, list[int]] = {}
    for position in range(len(trials)) if chosen is None else chosen:
        key = group_of(trials[position])
        if key is None:
            groups.append([position])
        elif key in by_key:
            by_key[key].append(position)
        else:
            by_key[key] = [position]
            groups.append(by_key[key])
    return groups


def balanced(costs: Sequence[float], number: int) -> list[list[int]]:
    """Divide items into parts of nearly equal cost: the most expensive item first, each to the cheapest part.

    Parameters
    ----------
    costs : sequence of float
        One for each item.
    number : int
        How many parts; some are empty if there are fewer items.

    Returns
    -------
    list of list of int
        The items of each part. Of equal costs the earlier item comes first, of equal parts the earlier one is filled.

    Examples
    --------
    >>> balanced([1.0, 5.0, 2.0, 2.0, 1.0], 2)
    [[1, 4], [2, 3, 0]]
    """
    parts: list[list[int]] = [[] for _ in range(number)]
    loads = [(0.0, 0, part) for part in range(number)]  # cost, items: costs of 0 are spread as well
    for item in sorted(range(len(costs)), key=lambda item: (-costs[item], item)):
        load, size, part = loads[0]
        parts[part].append(item)
        heapq.heapreplace(loads, (load + costs[item], size + 1, part))
    return parts


def divide(
    trials: Sequence[Trial],
    number: int,
    group_of: Callable[[Trial], Hashable | None],
    weigh: Callable[[Trial], float],
    chosen: Iterable[int] | None = None,
) -> list[tuple[int, ...]]:
    """Divide trials into shares of nearly equal predicted cost; groups are not divided.

    Parameters
    ----------
    trials : sequence of Trial
        Of a whole plan.
    number : int
        How many shares; some are empty if there are fewer groups.
    group_of : callable
        As in `groups_of`.
    weigh : callable
        The predicted cost of a trial, at least 0.
    chosen : iterable of int or None, default=None
        The positions to divide; None divides all.

    Returns
    -------
    list of tuple of int
        The positions of each share, ascending. Each position is in exactly one share.
    """
    groups = groups_of(trials, group_of, chosen)
    costs = [_rounded(math.fsum(weigh(trials[position]) for position in group)) for group in groups]
    return [tuple(sorted(position for group in part for position in groups[group])) for part in balanced(costs, number)]


def _rounded(cost: float) -> float:
    # Mathematical functions may differ in the last digits between machines, which must divide a plan alike.
    return float(f"{cost:.6g}")
