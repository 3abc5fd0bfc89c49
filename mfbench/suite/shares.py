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
    """A part of a plan."""

    # A shard is numbered on the command line; a task is read from a file that a batch wrote.
    kind: Literal["shard", "task"]
    number: int  # number, of: from 1 to `of`
    of: int
    run: str  # the name of the folder of the whole run
    digest: str  # of the whole plan, as `digest_of` returns it
    n_trials: int  # number of trials of the whole plan
    positions: tuple[int, ...]  # those of the share's trials in the whole plan, ascending
    batch: str = ""  # what distinguishes the tasks of a batch from those of another

    @property
    def folder_name(self) -> str:
        """The name of the share's run folder."""
        return share_folder_name(self.run, self.kind, self.number, self.of, self.batch)


def share_folder_name(run: str, kind: str, number: int | str, of: int | str, batch: str = "") -> str:
    """Return the name of the run folder of a share."""
    return "-".join([run, kind, str(number), "of", str(of), *([batch] if batch else [])])


def is_share_folder_name(name: str) -> bool:
    """Tell whether a run folder has the name of that of a share."""
    return _SHARE_FOLDER.fullmatch(name) is not None


def parse_shard(text: str) -> tuple[int, int]:
    """Return the two numbers of ``--shard``."""
    match = _SHARD.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of:
        of = of or 3
        raise UsageError(f"--shard {text!r} is not a shard: write its number and how many there are, such as 1/{of}")
    return number, of


def digest_of(keys: Iterable[str]) -> str:
    """Return a text that is the same for plans with the same trials in the same order."""
    digest = hashlib.sha256()
    for key in keys:
        digest.update(f"{key}\n".encode())
    return digest.hexdigest()[:16]
