"""The protocol ``leakage``: each method as it should be, and with its selector fitted to all rows before the split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from mfbench.host.registry import Registry
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.trial.curve import PredictionRunner
from mfbench.run.trial.folds import Fold, Selection
from mfbench.run.trial.guard import guarded
from mfbench.run.trial.metrics import Metric, resolve_metrics
from mfbench.run.trial.problem import TrialProblem
from mfbench.run.trial.steps import GridPoint, Maker, Steps
from mfbench.run.workers.job import Job
from mfbench.suite.methods import ResolvedMethod
from mfbench.suite.protocols import derive_seed
from mfbench_audit.protocol import LEAKAGE_SCORES
from mfbench_protocols.splits import RepeatedCV


class Leakage(RepeatedCV):
    """``leakage``: cross-validation of each method twice, the second time with features selected on all rows."""

    kind = "leakage"


class LeakedSteps(Steps):
    """The steps of a method whose selector has seen all rows, those of the test part among them."""

    def __init__(self, method: ResolvedMethod, seed: int, make: Maker, everything: Fold) -> None:
        super().__init__(method, seed, make)
        self._everything = everything

    def selection(self, fold: Fold, point: GridPoint) -> Selection:
        """Return the selector's weights on all rows, whatever the fold."""
        selection = super().selection(self._everything, point)
        # A category that training rows lack has no column there.
        return replace(selection, column_weights=selection.weights[fold.encoded.groups])


class LeakedProblem(TrialProblem):
    """A method on a fold, with a selector that has seen all rows; its parameters are tuned on that selection too."""

    def __init__(
        self,
        method: ResolvedMethod,
        seed: int,
        fold: Fold,
        metrics: Sequence[Metric],
        make: Maker,
        *,
        everything: Fold,
    ) -> None:
        super().__init__(method, seed, fold, metrics, make)
        self.steps = LeakedSteps(method, seed, make, everything)


class LeakageRunner(PredictionRunner):
    """Runs each method twice on a fold, and scores what the leak adds."""

    def __init__(self, job: Job, registry: Registry) -> None:
        super().__init__(job, registry)
        self._everything: tuple[str, Fold] | None = None

    @cached_property
    def _metrics(self) -> list[Metric]:
        names = (name for name in self.job.settings.metrics if name not in LEAKAGE_SCORES)
        return resolve_metrics(names, self.registry)

    def run(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        """Run a method on a fold, then again with the selection of all rows."""
        result = super().run(trial, method, fold)
        if result.status is not Status.OK:
            return result
        result.scores |= dict.fromkeys(LEAKAGE_SCORES, np.nan)
        if method.selector is None:
            return result
        leaked = self._leaked(trial, method, fold)
        if leaked.status is not Status.OK:
            return leaked
        metric = self._metrics[0]
        gain = leaked.scores[metric.name] - result.scores[metric.name]
        result.scores |= {
            "leaked": leaked.scores[metric.name],
            "optimism": gain if metric.spec.greater_is_better else -gain,
        }
        result.duration += leaked.duration
        return result

    def _leaked(self, trial: Trial, method: ResolvedMethod, fold: Fold) -> TrialResult:
        if self._everything is None or self._everything[0] != trial.dataset:
            rows, seed = np.arange(len(fold.y)), derive_seed(self.job.protocol.seed, trial.dataset, "all rows")
            whole = Fold(
                fold.X,
                fold.y,
                fold.columns,
                rows,
                rows[:0],
                fold.scale,
                0,
                seed,
                weights=fold.weights,
                strata=fold.strata,
            )
            self._everything = trial.dataset, whole
        whole = self._everything[1]

        def work(result: TrialResult) -> None:
            LeakedProblem(method, trial.seed, fold, self._metrics, self.registry.make, everything=whole).into(result)

        return guarded(trial, work)
