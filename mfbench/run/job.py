"""The description of a run for its worker processes: small and picklable, with the data in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mfbench.data.prepare import Columns
from mfbench.data.reference import RegisteredReference
from mfbench.host.registered import Plugin
from mfbench.run.owners import BUILT_IN, Owners
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.planned_dataset import PlannedDataset
from mfbench.suite.protocols import EvaluationProtocol
from mfbench.suite.schema import ProtocolSettings
from mfbench.trials import Trial

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Job:
    """The description of a run for its workers.

    Attributes
    ----------
    methods : mapping of str to ResolvedMethod
    datasets : mapping of str to Columns
        Column descriptions by label; the arrays are in `data_folder`.
    files : mapping of str to str
        Stem of the array files of each dataset.
    data_folder : Path
    protocol : EvaluationProtocol
    settings : ProtocolSettings
    true_pairs : mapping of str to tuple of (int, int)
        The true interactions of each dataset, by label. They are recorded with the results; no method sees them.
    references : mapping of str to RegisteredReference
        The reference of each dataset whose rounds the workers generate, by label.
    memory_limit : int
        Bytes per worker, 0 for no limit.
    log : Path or None
        File for everything that plugins print; None leaves it on the terminal.
    plugins : tuple of Plugin
        The plugins that the main process has loaded; a worker loads those that its trials need.
    owners : mapping of str to frozenset of str
        The third-party distributions that each method comes from, by label.
    round_owners : mapping of str to frozenset of str
        The same for each dataset whose rounds the workers generate.
    path : tuple of str
        ``sys.path`` of the main process.
    """

    methods: Mapping[str, ResolvedMethod]
    datasets: Mapping[str, Columns]
    files: Mapping[str, str]
    data_folder: Path
    protocol: EvaluationProtocol
    settings: ProtocolSettings
    true_pairs: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    references: Mapping[str, RegisteredReference] = field(default_factory=dict)
    memory_limit: int = 0
    log: Path | None = None
    plugins: tuple[Plugin, ...] = ()
    owners: Mapping[str, Owners] = field(default_factory=dict)
    round_owners: Mapping[str, Owners] = field(default_factory=dict)
    path: tuple[str, ...] = ()

    def owners_of(self, trial: Trial) -> Owners:
        """Return the third-party distributions whose code a trial runs."""
        return self.owners.get(trial.method, BUILT_IN) | self.round_owners.get(trial.dataset, BUILT_IN)


def write_arrays(planned: PlannedDataset, folder: Path, stem: str) -> None:
    """Write a dataset's arrays to the files that `read_arrays` maps into a worker's memory."""
    np.save(folder / f"{stem}.X.npy", np.ascontiguousarray(planned.data.X), allow_pickle=False)
    np.save(folder / f"{stem}.y.npy", planned.data.y, allow_pickle=False)


def read_arrays(job: Job, dataset: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the features and class codes of a dataset; all workers share one copy of the features."""
    stem = job.data_folder / job.files[dataset]
    X = np.load(f"{stem}.X.npy", mmap_mode="r", allow_pickle=False)
    y = np.load(f"{stem}.y.npy", allow_pickle=False)
    return np.asarray(X), y  # a plain view: an estimator that checks the type must not see np.memmap
