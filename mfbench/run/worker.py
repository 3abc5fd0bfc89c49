"""A worker process: it is set up once and then runs one trial at a time.

A worker holds the plugins, the methods and the folds that it last worked on. The protocol determines how a trial
runs: it names one of the `RUNNERS`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mfbench.host.expressions import Expression
from mfbench.host.factories import resolve_factory
from mfbench.host.registered import Registered
from mfbench.host.registry import Registry, load_registry
from mfbench.run.job import Job
from mfbench.run.process import LOG_VARIABLE, limit_memory, redirect_output, set_up_process
from mfbench.run.trial.detection import DetectionRunner
from mfbench.run.trial.folds import Fold, SharedFits
from mfbench.run.trial.prediction import PredictionRunner
from mfbench.run.trial.runner import TrialRunner
from mfbench.run.trial.steps import selector_key
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.trials import Trial, TrialResult

FOLDS_KEPT = 4
# By `EvaluationProtocol.task`.
RUNNERS: dict[str, type[TrialRunner]] = {"prediction": PredictionRunner, "detection": DetectionRunner}


class Worker:
    """State of one worker process.

    Parameters
    ----------
    job : Job
        The run.
    registry : Registry
        The plugins of this process.
    """

    def __init__(self, job: Job, registry: Registry) -> None:
        self.job = job
        self.registry = registry
        self._runner = RUNNERS[job.protocol.task](job, registry)
        self._warm: set[tuple[str, str]] = set()
        self._folds: OrderedDict[tuple[str, int, int], Fold] = OrderedDict()

    def run(self, trial: Trial, shared: SharedFits) -> tuple[TrialResult, SharedFits]:
        """Run a trial; return its result, and the selector fits that other trials of its fold can share.

        Parameters
        ----------
        trial : Trial
        shared : dict
            Selector fits of the same fold that another trial has made.
        """
        method = self.job.methods[trial.method]
        self._warm_up(method)
        fold = self._fold(trial)
        fold.adopt(shared)
        result = self._runner.run(trial, method, fold)
        key = selector_key(method)
        return result, fold.export(key) if key and not shared else {}

    def import_estimators(self) -> None:
        """Import the methods' estimators, so that the first trial is charged neither time nor memory for it."""
        for method in self.job.methods.values():
            for step, _, lookup in self._steps(method):
                resolve_factory(lookup(step.expression.name))

    def _steps(self, method: ResolvedMethod) -> Iterator[tuple[Step, str, Callable[[str], Registered]]]:
        """Yield the steps of a method, each with its kind and the function that looks it up."""
        if method.classifier is not None:
            yield method.classifier, "classifier", self.registry.classifier
        if method.selector is not None:
            yield method.selector, "selector", self.registry.selector

    def _warm_up(self, method: ResolvedMethod) -> None:
        """Fit estimators that compile on first use to artificial rows: within the limits, before time is measured."""
        for step, kind, lookup in self._steps(method):
            name = step.expression.name
            if not lookup(name).spec.warm_up or (kind, name) in self._warm:
                continue
            self._warm.add((kind, name))
            rows = np.random.default_rng(0).normal(size=(16, 3))
            # An estimator may reject these few rows. The fit that counts comes next and reports its own errors.
            with contextlib.suppress(BaseException):
                self.registry.make(Expression(name), kind).fit(rows, np.arange(16) % 2)

    def _fold(self, trial: Trial) -> Fold:
        """Return the fold of a trial, which its last few neighbours may have used before."""
        coordinates = (trial.dataset, trial.repeat, trial.fold)
        if coordinates not in self._folds:
            self._folds[coordinates] = self._runner.make_fold(trial)
            while len(self._folds) > FOLDS_KEPT:
                self._folds.popitem(last=False)
        self._folds.move_to_end(coordinates)
        return self._folds[coordinates]


_worker: Worker | None = None


def start(job: Job) -> None:
    """Set up this process; the pool calls it once."""
    global _worker
    set_up_process(job.data_folder, job.log)
    sys.path[:] = list(job.path) or sys.path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has already named the plugins that fail to load
        _worker = Worker(job, load_registry(only=None if job.plugins is None else job.plugins.split(",")))
        _worker.import_estimators()
    limit_memory(job.memory_limit)


def work(trial: Trial, shared: SharedFits) -> tuple[TrialResult, SharedFits]:
    """Run one trial in this process, after `start`."""
    assert _worker is not None
    return _worker.run(trial, shared)


if LOG_VARIABLE in os.environ:
    # Imported by the process that workers are forked from; see `mfbench.run.executors`.
    redirect_output(Path(os.environ[LOG_VARIABLE]))
