"""The messages between a driver and its workers: small pickled records.

Each message is tagged with the version of mfbench, so that mismatched versions detect each other before unpickling
anything else.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from dataclasses import dataclass
from typing import Any

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.metadata import VERSION, Fingerprint
from mfbench.run.workers.job import Job

PIECE = 4 * 2**20  # bytes of a file in one message
_MARK = "mfbench message 1"
_LOCAL = ("data_folder", "log", "path")  # fields of a job that are only valid on one machine


class MessageError(Exception):
    """A message cannot be read: it comes from another version or is damaged."""


@dataclass(frozen=True)
class WorkerMachine:
    """The machine of a worker."""

    cache: str  # identifies its array cache: workers with the same cache share files
    host: str  # host name
    kind: str  # processor, number of processors and system: times of different kinds are not comparable


@dataclass(frozen=True)
class JobPackage:
    """The handshake message: a run's job without local paths, and the fingerprint of its code."""

    name: str  # SHA-256 checksum of `content`
    content: bytes  # the job's fields, pickled: only unpacked by workers with the same code
    fingerprint: Fingerprint

    @classmethod
    def of(cls, job: Job, fingerprint: Fingerprint) -> JobPackage:
        """Return the package of a job."""
        names = [field.name for field in dataclasses.fields(job) if field.name not in _LOCAL]
        content = packed({name: getattr(job, name) for name in names})
        return cls(hashlib.sha256(content).hexdigest(), content, fingerprint)


@dataclass(frozen=True)
class Piece:
    """A piece of an array file."""

    name: str  # SHA-256 checksum of the whole file
    offset: int  # offset, total: start of the piece and size of the whole file, in bytes
    total: int
    data: bytes


@dataclass(frozen=True)
class RunBatch:
    """Trials to run."""

    job: str  # name of the job
    arrays: tuple[str, ...]  # names of the array files that the trials need
    shared: str  # the driver's folder of array files, which the worker may be able to read
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Accepted:
    """The answer of a worker that runs the same code and now has the job."""

    machine: WorkerMachine


@dataclass(frozen=True)
class Refused:
    """The answer of a worker that runs other code or cannot work; it runs nothing."""

    reasons: tuple[str, ...]  # clauses of the form "mfbench 0.1.0 instead of 0.2.0"


@dataclass(frozen=True)
class Missing:
    """The answer of a worker that lacks the job, or array files that it cannot read from the shared folder."""

    job: bool
    arrays: tuple[str, ...]
    machine: WorkerMachine


@dataclass(frozen=True)
class PieceReceived:
    """The answer to a piece."""

    n_bytes: int  # number of bytes received so far; 0 if the file's checksum was wrong
    is_complete: bool


@dataclass(frozen=True)
class Answered:
    """The results of a batch."""

    results: tuple[TrialResult, ...]
    machine: WorkerMachine


@dataclass(frozen=True)
class Withdrawn:
    """The answer to a cancelled batch."""


def packed(message: Any) -> bytes:
    """Serialise a message."""
    return pickle.dumps((_MARK, VERSION, pickle.dumps(message)))


def unpacked(data: bytes) -> Any:
    """Deserialise a message."""
    try:
        mark, version, body = pickle.loads(data)  # nosec B301  # from another process of the run
    except Exception as error:
        raise MessageError(f"a message that cannot be read ({error})") from error
    if version != VERSION or mark != _MARK:
        raise MessageError(f"mfbench {version} instead of {VERSION}")
    try:
        return pickle.loads(body)  # nosec B301  # from another process of the run
    except Exception as error:  # the same version with different code
        raise MessageError(f"a message that cannot be read ({error})") from error
