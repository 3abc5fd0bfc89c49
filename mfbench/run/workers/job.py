"""The job package: the description of a run for its workers, small and picklable, with the data in files."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from mfbench.data.prepare import Columns
from mfbench.data.reference import RegisteredReference
from mfbench.host.code_hashes import HOST
from mfbench.host.expressions import Plugin
from mfbench.host.registry import Registry
from mfbench.model.evaluation import TaskSpec
from mfbench.model.specs import Features
from mfbench.model.trials import Trial
from mfbench.suite.loading import shared_entries
from mfbench.suite.methods import PlannedDataset, ResolvedMethod
from mfbench.suite.protocols import EvaluationProtocol
from mfbench.suite.schema import Classes, ProtocolSettings
from mfbench.suite.splitters import Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Names of third-party distributions; a module without a distribution counts as its own.
Owners = frozenset[str]
BUILT_IN: Owners = frozenset()


def owners_of_plugin(plugin: Plugin) -> Owners:
    """Return the distribution of a plugin; empty for a built-in one."""
    if not plugin.distribution:
        return frozenset([f"module {plugin.module}"])
    return BUILT_IN if plugin.distribution == HOST else frozenset([plugin.distribution])


def owners_of_method(method: ResolvedMethod, registry: Registry) -> Owners:
    """Return the distributions of a method's steps, including their parts."""
    entries = [entry for step in method.steps for entry in registry.entries(step.kind, step.expression)]
    return BUILT_IN.union(*(owners_of_plugin(entry.plugin) for entry in entries))


def shared_owners(settings: ProtocolSettings, registry: Registry) -> Owners:
    """Return the distributions of a protocol and its metrics."""
    return BUILT_IN.union(*(owners_of_plugin(entry.plugin) for entry in shared_entries(settings, registry)))


def visible(plugins: Iterable[Plugin], owners: Owners) -> list[Plugin]:
    """Return the plugins that a worker for a set of distributions loads: these and the built-in ones."""
    return [plugin for plugin in plugins if owners_of_plugin(plugin) <= owners]


# File names of the features (three arrays if they are sparse), the targets and, if rows have weights, these.
ArrayFiles = tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """The job package of a run for its workers."""

    methods: Mapping[str, ResolvedMethod]
    datasets: Mapping[str, Columns]  # column descriptions by label; the arrays are in `data_folder`
    # The files of each dataset in `data_folder`, named by the SHA-256 of their bytes.
    files: Mapping[str, ArrayFiles]
    data_folder: Path
    protocol: EvaluationProtocol
    runner: str  # import path of the `mfbench.run.trial.curve.TrialRunner`
    settings: ProtocolSettings
    task: TaskSpec
    # The true interactions of each dataset by label, recorded with the results and hidden from methods.
    true_pairs: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    # The splitter of each dataset that has one, with the groups, times or parts of its rows, by label.
    structures: Mapping[str, Structure] = field(default_factory=dict)
    # The reference of each dataset whose rounds workers generate, by label.
    references: Mapping[str, RegisteredReference] = field(default_factory=dict)
    classes: Mapping[str, Classes] = field(default_factory=dict)  # the classes kept of each dataset, by label
    memory_limit: int = 0  # bytes per worker, 0 means no limit
    log: Path | None = None  # file for the output of plugins; None leaves it on the terminal
    # The plugins loaded by the main process; a worker loads those that its trials need.
    plugins: tuple[Plugin, ...] = ()
    # The third-party distributions of each method, by label.
    owners: Mapping[str, Owners] = field(default_factory=dict)
    # The same for each dataset whose rounds workers generate.
    round_owners: Mapping[str, Owners] = field(default_factory=dict)
    shared_owners: Owners = BUILT_IN  # the same for the protocol and the metrics, which every trial needs
    path: tuple[str, ...] = ()  # `sys.path` of the main process

    def owners_of(self, trial: Trial) -> Owners:
        """Return the third-party distributions whose code a trial runs."""
        owners = self.owners.get(trial.method, BUILT_IN) | self.round_owners.get(trial.dataset, BUILT_IN)
        return owners | self.shared_owners


def write_arrays(planned: PlannedDataset, folder: Path) -> ArrayFiles:
    """Write a dataset's arrays to files that `read_arrays` memory-maps in a worker; return the file names."""
    X, weights = planned.data.X, planned.data.weights
    features = (X.data, X.indices, X.indptr) if planned.data.is_sparse else (np.ascontiguousarray(X),)
    return tuple(_write(array, folder) for array in (*features, planned.data.y, weights) if array is not None)


def _write(array: NDArray[Any], folder: Path) -> str:
    """Write an array atomically to a file named by the hash of its bytes."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
    path = Path(file.name)
    return path.replace(folder / hash_of(path)).name


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, which is an array file's name."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Arrays = tuple[Features, "NDArray[Any]", "NDArray[np.float64] | None"]


def read_arrays(job: Job, dataset: str) -> Arrays:
    """Return a dataset's features, targets and weights; all workers share one copy of the features."""
    # Plain views: an estimator that checks the type must not see np.memmap.
    files = (job.data_folder / name for name in job.files[dataset])
    X: Features
    X, *others = (np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for file in files)
    if X.ndim == 1:
        indices, indptr, *others = others
        shape = (len(indptr) - 1, len(job.datasets[dataset].categorical))
        X = csr_array((X, indices, indptr), shape=shape)
    y, *weights = map(np.array, others)
    return X, y, weights[0] if weights else None
