"""What a driver and its places send to each other: small pickled records.

Each message is wrapped with the version of mfbench, so that two versions recognize each other before either reads what
it cannot understand.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.fingerprint import VERSION, Fingerprint

PIECE = 4 * 2**20  # bytes of a file in one message
_MARK = "mfbench message 1"


class MessageError(Exception):
    """A message cannot be read: it comes from another version, or is damaged."""


@dataclass(frozen=True)
class Machine:
    """The machine of a place."""

    cache: str  # identifies its cache of arrays: places with the same one share files
    host: str  # its name
    kind: str  # processor, number of processors and system: times of two kinds do not compare


@dataclass(frozen=True)
class Introduce:
    """Ask a place who it is, and whether it computes with the same code."""

    fingerprint: Fingerprint


@dataclass(frozen=True)
class Deliver:
    """A piece of a job or of an array file."""

    name: str  # SHA-256 of the whole
    offset: int  # offset, total: where the piece begins, and the size of the whole, in bytes
    total: int
    data: bytes
    is_job: bool = False  # whether it is a job, which a place keeps in its memory


@dataclass(frozen=True)
class Batch:
    """Trials to run."""

    job: str  # name of the job
    arrays: tuple[str, ...]  # names of the array files that the trials need
    shared: str  # the driver's folder of array files, which the place may be able to read
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Introduction:
    """The answer of a place that computes with the same code."""

    machine: Machine


@dataclass(frozen=True)
class Refused:
    """The answer of a place that computes with other code: it runs nothing."""

    reasons: tuple[str, ...]  # clauses such as "mfbench 0.1.0 instead of 0.2.0"


@dataclass(frozen=True)
class Unable:
    """The answer of a place that cannot work, such as one whose disk is full."""

    reason: str  # A sentence without its full stop


@dataclass(frozen=True)
class Missing:
    """The answer of a place that lacks the job, or array files that it cannot read from the shared folder."""

    job: bool
    arrays: tuple[str, ...]
    machine: Machine


@dataclass(frozen=True)
class Delivered:
    """The answer to a piece."""

    received: int  # bytes that the place has from the beginning on; 0 if the whole turned out to be damaged
    is_complete: bool


@dataclass(frozen=True)
class Answered:
    """The results of a batch."""

    results: tuple[TrialResult, ...]
    machine: Machine


@dataclass(frozen=True)
class Withdrawn:
    """The answer to a batch that nobody wants any more."""


def packed(message: Any) -> bytes:
    """Return a message as it is sent."""
    return pickle.dumps((_MARK, VERSION, pickle.dumps(message)))


def unpacked(data: bytes) -> Any:
    """Read a message."""
    try:
        mark, version, body = pickle.loads(data)  # nosec B301  # from another process of the run
    except Exception as error:
        raise MessageError(f"a message that cannot be read ({error})") from error
    if mark != _MARK or version != VERSION:
        raise MessageError(f"mfbench {version} instead of {VERSION}")
    try:
        return pickle.loads(body)  # nosec B301  # from another process of the run
    except Exception as error:  # the same version with other code
        raise MessageError(f"a message that cannot be read ({error})") from error
