"""The nouns of a history: an entry for each run that was added, the measurements of its cells, and the machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from mfbench.run.store.metadata import Environment


@dataclass(frozen=True)
class Machine:
    """A kind of machine. Times of different kinds do not compare."""

    # The version of the operating system is not part of the kind: an update would end every series.

    cpu: str  # model of the processor
    cpus: int  # number of processors that a run can use
    system: str  # name of the operating system without its version

    @classmethod
    def of(cls, environment: Environment) -> Machine:
        """Return the kind of machine that a run recorded."""
        # `platform.platform` begins with the name of the system, and separates its parts with hyphens.
        return cls(environment.cpu, environment.cpus, environment.system.partition("-")[0])

    @property
    def id(self) -> str:
        """A hash that is the same in every process."""
        return digest([self.cpu, self.cpus, self.system])[:12]

    def __str__(self) -> str:
        return f"{self.cpu}, {self.cpus} processor{'' if self.cpus == 1 else 's'}, {self.system or 'unknown system'}"


@dataclass(frozen=True)
class Measurement:
    """What a run measured of one method on one dataset and one size."""

    method: str  # method, dataset: labels
    dataset: str
    size: str  # size of the subsample in runs of the protocol `timing`, such as `"n=500, p=20"`; otherwise empty
    n_trials: int  # n_trials, n_failed: successful and failed trials
    n_failed: int
    fit_cpu: float  # fit_cpu, predict_cpu: median CPU seconds of a trial to fit selector and classifier, and to predict
    predict_cpu: float
    fit_wall: float  # fit_wall, predict_wall: the same in wall seconds
    predict_wall: float
    memory: float | None  # median peak memory in bytes; None if the system does not report it
    # Hash of the single results behind these numbers. Results that are reused have the same hash, so no measurement is
    # ever counted twice.
    digest: str
    scores: Mapping[str, float] = field(default_factory=dict)  # mean of each metric


@dataclass(frozen=True)
class Calibration:
    """Seconds of three kernels that no commit of the project can change, measured when a run was added."""

    gemm: float  # A product of two matrices: the speed of floating-point arithmetic
    memory: float  # A sweep over an array that is larger than the caches: the speed of memory
    python: float  # A loop of the interpreter: the speed of everything that is not compiled

    @property
    def kernels(self) -> tuple[float, float, float]:
        """The seconds of all kernels."""
        return self.gemm, self.memory, self.python


@dataclass(frozen=True)
class Entry:
    """A run in a history."""

    suite: str
    profile: str
    source: str  # the suite as the run's command names it: a name or a file
    commit: str  # commit of the measured project
    commit_time: str | None  # when it was committed, as ISO 8601 in UTC; None if that could not be read
    added: str  # when the run was added, in the same form
    machine: Machine
    system: str  # the operating system with its version
    python: str  # version of the interpreter
    versions: Mapping[str, str | None]  # versions of mfbench and the libraries; None for one that is not installed
    plugins: tuple[str, ...]  # name and version of each
    calibration: Calibration | None  # none if the run was added on a machine of another kind
    measurements: tuple[Measurement, ...]

    @property
    def id(self) -> str:
        """A hash of the commit, the machine and the measurements."""
        return digest([self.commit, self.machine.id, sorted(one.digest for one in self.measurements)])


def digest(content: object) -> str:
    """Return the SHA-256 of plain values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
