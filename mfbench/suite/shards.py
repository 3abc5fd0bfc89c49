"""Shards: the parts of a plan that machines run on their own, so that all shards together are the plan.

A shard keeps the keys and the seeds of its trials.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mfbench.errors import UsageError

_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_FOLDER = re.compile(r".+-shard-[0-9]+-of-[0-9]+(?:-[0-9a-f]+)?")


@dataclass(frozen=True)
class Shard:
    """A part of a plan."""

    number: int  # number, of: from 1 to `of`
    of: int
    run: str  # the name of the folder of the whole run
    digest: str  # of the whole plan, as `digest_of` returns it
    n_trials: int  # number of trials of the whole plan
    positions: tuple[int, ...]  # those of the shard's trials in the whole plan, ascending
    batch: str = ""  # what distinguishes the shards of a batch from those of another; empty outside a batch

    @property
    def folder_name(self) -> str:
        """The name of the shard's run folder."""
        return shard_folder_name(self.run, self.number, self.of, self.batch)


def shard_folder_name(run: str, number: int | str, of: int | str, batch: str = "") -> str:
    """Return the name of the run folder of a shard."""
    return f"{run}-shard-{number}-of-{of}" + (f"-{batch}" if batch else "")


def is_shard_folder_name(name: str) -> bool:
    """Tell whether a run folder has the name of that of a shard."""
    return _FOLDER.fullmatch(name) is not None


def parse_shard(text: str) -> tuple[int, int] | Path:
    """Return the number of a shard and how many there are, or the file of a shard."""
    match = _SHARD.fullmatch(text)
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if 1 <= number <= of:
        return number, of
    if text.endswith(".json"):
        return Path(text)
    raise UsageError(f"--shard {text!r} is not a shard: write its number and how many there are, such as 1/{of or 3}")


def digest_of(keys: Iterable[str]) -> str:
    """Return a text that is the same for plans with the same trials in the same order."""
    digest = hashlib.sha256()
    for key in keys:
        digest.update(f"{key}\n".encode())
    return digest.hexdigest()[:16]
