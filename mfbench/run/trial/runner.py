"""The interface by which a worker runs the trials of a protocol.

Two modules implement it: `mfbench.run.trial.prediction` and `mfbench.run.trial.detection`. The task of a
protocol names one of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.trial.folds import Fold
from mfbench.run.workers.job import Job
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.seeds import derive_seed


class TrialRunner(ABC):
    """Runs the trials of a protocol: prepares the data of a fold and runs a method on them."""

    def __init__(self, job: Job, registry: Registry) -> None:
        self.job = job
        self.registry = registry

    @abstractmethod
    def make_fold(self, trial: Trial) -> Fold:
        """Return the data of a trial's fold. They depend on dataset, repeat and fold, but not on the method."""

    @abstractmethod
    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on the data that `make_fold` returned; a failure of the method becomes the result's status."""

    def fold_seed(self, trial: Trial) -> int:
        """Return the seed of a fold, the same for all methods."""
        return derive_seed(self.job.protocol.seed, trial.dataset, trial.repeat, trial.fold)
