"""The description of a run for its worker processes: small and picklable, with the data in files."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbench.data.prepare import Columns
from mfbench.data.reference import RegisteredReference
from mfbench.host.registered import Plugin
from mfbench.model.trials import Trial
from mfbench.run.workers.owners import BUILT_IN, Owners
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.planned_dataset import PlannedDataset
from mfbench.suite.protocols import EvaluationProtocol
from mfbench.suite.schema import Classes, ProtocolSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The names of two files: features, class codes.
ArrayFiles = tuple[str, str]


@dataclass(frozen=True)
class Job:
    """The description of a run for its workers."""

    methods: Mapping[str, ResolvedMethod]
    datasets: Mapping[str, Columns]  # column descriptions by label; the arrays are in `data_folder`
    # The files of each dataset in `data_folder`: features and class codes. A file's name is the SHA-256 of its bytes.
    files: Mapping[str, ArrayFiles]
    data_folder: Path
    protocol: EvaluationProtocol
    settings: ProtocolSettings
    # The true interactions of each dataset, by label. They are recorded with the results; no method sees them.
    true_pairs: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    # The reference of each dataset whose rounds the workers generate, by label.
    references: Mapping[str, RegisteredReference] = field(default_factory=dict)
    classes: Mapping[str, Classes] = field(default_factory=dict)  # which classes of each dataset are kept, by label
    memory_limit: int = 0  # bytes per worker, 0 for no limit
    log: Path | None = None  # file for everything that plugins print; None leaves it on the terminal
    # The plugins that the main process has loaded; a worker loads those that its trials need.
    plugins: tuple[Plugin, ...] = ()
    # The third-party distributions that each method comes from, by label.
    owners: Mapping[str, Owners] = field(default_factory=dict)
    # The same for each dataset whose rounds the workers generate.
    round_owners: Mapping[str, Owners] = field(default_factory=dict)
    path: tuple[str, ...] = ()  # `sys.path` of the main process

    def owners_of(self, trial: Trial) -> Owners:
        """Return the third-party distributions whose code a trial runs."""
        return self.owners.get(trial.method, BUILT_IN) | self.round_owners.get(trial.dataset, BUILT_IN)


def write_arrays(planned: PlannedDataset, folder: Path) -> ArrayFiles:
    """Write a dataset's arrays to the files that `read_arrays` maps into a worker's memory; return their names."""
    return _write(np.ascontiguousarray(planned.data.X), folder), _write(planned.data.y, folder)


def _write(array: NDArray[Any], folder: Path) -> str:
    """Write an array to a file named by the hash of its bytes, complete or not at all."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
    path = Path(file.name)
    return path.replace(folder / hash_of(path)).name


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which is the name of an array file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_arrays(job: Job, dataset: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the features and class codes of a dataset; all workers share one copy of the features."""
    features, classes = (job.data_folder / name for name in job.files[dataset])
    X = np.load(features, mmap_mode="r", allow_pickle=False)
    y: NDArray[np.int64] = np.load(classes, allow_pickle=False)
    return np.asarray(X), y  # a plain view: an estimator that checks the type must not see np.memmap
