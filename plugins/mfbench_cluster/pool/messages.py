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
    """The machine of a place.

    Attributes
    ----------
    cache : str
        Identifies its cache of arrays: places with the same one share files.
    host : str
        Its name.
    kind : str
        Processor, number of processors and system: times of two kinds do not compare.
    """

    cache: str
    host: str
    kind: str


@dataclass(frozen=True)
class Introduce:
    """Ask a place who it is, and whether it computes with the same code."""

    fingerprint: Fingerprint


@dataclass(frozen=True)
class Deliver:
    """A piece of a job or of an array file.

    Attributes
    ----------
    name : str
        SHA-256 of the whole.
    offset, total : int
        Where the piece begins, and the size of the whole, in bytes.
    data : bytes
    is_job : bool
        Whether it is a job, which a place keeps in its memory.
    """

    name: str
    offset: int
    total: int
    data: bytes
    is_job: bool = False


@dataclass(frozen=True)
class Batch:
    """Trials to run.

    Attributes
    ----------
    job : str
        Name of the job.
    arrays : tuple of str
        Names of the array files that the trials need.
    shared : str
        The driver's folder of array files, which the place may be able to read.
    trials : tuple of Trial
    """

    job: str
    arrays: tuple[str, ...]
    shared: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Introduction:
    """The answer of a place that computes with the same code."""

    machine: Machine


@dataclass(frozen=True)
class Refused:
    """The answer of a place that computes with other code: it runs nothing.

    Attributes
    ----------
    reasons : tuple of str
        Clauses such as "mfbench 0.1.0 instead of 0.2.0".
    """

    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Unable:
    """The answer of a place that cannot work, such as one whose disk is full.

    Attributes
    ----------
    reason : str
        A sentence without its full stop.
    """

    reason: str


@dataclass(frozen=True)
class Missing:
    """The answer of a place that lacks the job, or array files that it cannot read from the shared folder."""

    job: bool
    arrays: tuple[str, ...]
    machine: Machine


@dataclass(frozen=True)
class Delivered:
    """The answer to a piece.

    Attributes
    ----------
    received : int
        Bytes that the place has from the beginning on; 0 if the whole turned out to be damaged.
    is_complete : bool
    """

    received: int
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
    """Read a message.

    Raises
    ------
    MessageError
        If it comes from another version of mfbench, or is not a message.
    """
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
