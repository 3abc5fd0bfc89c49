"""A job as it is sent to another machine: without the data, and without what only holds where it comes from."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfbench.run.fingerprint import Fingerprint
from mfbench.run.workers.job import Job
from mfbench_cluster.pool.messages import Deliver, MessageError, packed, unpacked

_LOCAL = ("data_folder", "log", "path")
_LARGEST = 2**30  # bytes; a job is small, so anything larger is a mistake


@dataclass(frozen=True)
class Parcel:
    """A job and what computes it."""

    fields: dict[str, Any]  # of the job, except for folders and paths
    fingerprint: Fingerprint

    @property
    def job(self) -> Job:
        """The job with no folder yet."""
        return self.placed(data_folder=Path(), log=None, memory_limit=self.fields["memory_limit"])

    def placed(self, *, data_folder: Path, log: Path | None, memory_limit: int) -> Job:
        """Return the job as this machine runs it, with the search path of this process."""
        return Job(**{**self.fields, "data_folder": data_folder, "log": log, "memory_limit": memory_limit})


def wrapped(job: Job, fingerprint: Fingerprint) -> tuple[str, bytes]:
    """Return a job as bytes, and the name by which it is called: their SHA-256."""
    names = [field.name for field in dataclasses.fields(job) if field.name not in _LOCAL]
    blob = packed(Parcel({name: getattr(job, name) for name in names}, fingerprint))
    return hashlib.sha256(blob).hexdigest(), blob


def unwrapped(blob: bytes) -> Parcel:
    """Read what `wrapped` wrote."""
    parcel = unpacked(blob)
    if not isinstance(parcel, Parcel):
        raise MessageError("a message that is not a job")
    return parcel


class JobAssembly:
    """Jobs that arrive in pieces; kept in memory."""

    def __init__(self) -> None:
        self._parts: dict[str, bytearray] = {}

    def add(self, piece: Deliver) -> tuple[int, bytes | None]:
        """Add a piece."""
        if piece.total > _LARGEST:
            raise MessageError(f"a job of {piece.total:,} bytes")
        part = self._parts.setdefault(piece.name, bytearray())
        if piece.offset == len(part):
            part += piece.data
        if len(part) < piece.total:
            return len(part), None
        whole = bytes(self._parts.pop(piece.name))
        return (len(whole), whole) if hashlib.sha256(whole).hexdigest() == piece.name else (0, None)
