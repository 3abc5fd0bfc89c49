"""A trial that predicts: fit a method on the training rows of a fold, then predict and score its test rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench.host.registry import Registry
from mfbench.model.trials import Trial, TrialResult
from mfbench.run.trial.curve import CurveProblem
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.guard import guarded
from mfbench.run.trial.one_vs_rest import solve_one_vs_rest
from mfbench.run.trial.problem import Problem
from mfbench.run.trial.runner import TrialRunner
from mfbench.run.trial.steps import Maker
from mfbench.run.workers.job import Job, read_arrays
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.protocols import Split
from mfbench.suite.scores import CURVE_METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PredictionRunner(TrialRunner):
    """Runs trials on folds that are cut from a dataset."""

    # It keeps the arrays and the splits of the dataset that it last worked on: trials come ordered by dataset.

    def __init__(self, job: Job, registry: Registry) -> None:
        super().__init__(job, registry)
        self._arrays: dict[str, tuple[NDArray[np.float64], NDArray[np.int64]]] = {}
        self._splits: dict[tuple[str, int], list[Split]] = {}

    def make_fold(self, trial: Trial) -> Fold:
        """Return the rows, and possibly only some of the features, of a trial's fold."""
        if trial.dataset not in self._arrays:
            self._arrays = {trial.dataset: read_arrays(self.job, trial.dataset)}
        X, y = self._arrays[trial.dataset]
        if (trial.dataset, trial.repeat) not in self._splits:
            self._splits = {(trial.dataset, trial.repeat): self.job.protocol.splits(trial.dataset, y, trial.repeat)}
        split = self._splits[trial.dataset, trial.repeat][trial.fold]
        columns, true_pairs = self.job.datasets[trial.dataset], self.job.true_pairs.get(trial.dataset, ())
        features = split.features(X.shape[1])
        if features is not None:  # the true pairs go too: the remaining features are numbered differently
            X, columns, true_pairs = X[:, features], columns.subset(features), ()
        return Fold(
            X,
            y,
            columns,
            split.train,
            split.test,
            self.job.settings.scale,
            self.job.protocol.inner_folds,
            self.fold_seed(trial),
            true_pairs,
            split.tuning,
        )

    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on a fold; see `run_trial`."""
        metrics: list[str] = [*self.job.settings.metrics]
        result = run_trial(trial, method, fold, metrics, self.registry.make, decisions=self.job.protocol.decisions)
        if fold.X.shape[1] < len(self.job.datasets[trial.dataset].categorical):
            # Among some of the features they are numbered differently, which a reader of the store cannot know.
            result.selected, result.weights, result.interactions = None, None, None
        return result


def run_trial(
    trial: Trial,
    method: ResolvedMethod,
    fold: Fold,
    metrics: list[str],
    make: Maker,
    *,
    decisions: str = "multi-class",
) -> TrialResult:
    """Run one trial in this process."""

    def work(result: TrialResult) -> None:
        scores = [name for name in metrics if name not in CURVE_METRICS]
        if method.curve is not None:
            CurveProblem(method, trial.seed, fold, scores, make).into(result)
        elif decisions == "one-vs-rest" and fold.n_classes > 2:
            solve_one_vs_rest(method, trial.seed, fold, scores, make, result)
        else:
            Problem(method, trial.seed, fold, scores, make).into(result)

    return guarded(trial, work)
