"""Shares of a plan: which trials a shard or a task runs, so that all shares together are the plan.

A share keeps the keys and the seeds of its trials.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mfbench.errors import UsageError

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
