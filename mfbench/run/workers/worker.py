"""A worker process: forked from a monitor, it loads its plugins and then runs one trial at a time.

A worker caches plugins, methods and the most recent folds. The protocol determines how a trial runs: its spec
names a `mfbench.run.trial.curve.TrialRunner`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import sys
import warnings
from collections import OrderedDict
from pkgutil import resolve_name

import numpy as np
from threadpoolctl import threadpool_limits

from mfbench.host.expressions import Expression
from mfbench.host.factories import resolve_factory
from mfbench.host.registry import Registry, load_registry
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.channel import framed, receive
from mfbench.processes.process import limit_memory, own_memory, redirect_to
from mfbench.run.trial.curve import TrialRunner  # the usual one: forked workers need not import it
from mfbench.run.trial.folds import Fold, SharedFits
from mfbench.run.trial.guard import describe_failure, give_back
from mfbench.run.trial.steps import seeded, selector_key
from mfbench.run.workers.global_state import GlobalState
from mfbench.run.workers.job import BUILT_IN, Job, Owners, visible
from mfbench.suite.methods import ResolvedMethod

# A worker whose memory has grown by this much, or by half of its limit, is replaced: one method's leak must not count
# against the next.
GROWTH = 500 * 2**20
FOLDS_KEPT = 4


def runner_of(job: Job, registry: Registry) -> TrialRunner:
    """Return what runs the trials of a job's protocol."""
    runner: TrialRunner = resolve_name(job.runner)(job, registry)
    return runner


class Worker:
    """State of one worker process."""

    def __init__(self, job: Job, registry: Registry) -> None:
        self.job = job
        self.registry = registry
        self._runner = runner_of(job, registry)
        self._state = GlobalState()
        self._warm: set[tuple[str, str]] = set()
        self._folds: OrderedDict[tuple[str, int, int], Fold] = OrderedDict()

    def run(self, trial: Trial, shared: SharedFits) -> tuple[TrialResult, SharedFits]:
        """Run a trial; return its result, and the selector fits that other trials of its fold can share."""
        method = self.job.methods[trial.method]
        self._state.begin(trial.seed)
        fold = self._fold(trial)
        self._state.accept_files()
        self._warm_up(method)
        fold.adopt(shared)
        result = self._runner.run(trial, method, fold)
        result.touched = self._state.changes()
        key = selector_key(method)
        return result, fold.export(key) if key and not shared else {}

    def import_estimators(self, owners: Owners) -> None:
        """Import the estimators of the methods from one set of distributions."""
        # Otherwise the first trial would be charged its time and memory.
        for label, method in self.job.methods.items():
            if self.job.owners.get(label, BUILT_IN) <= owners:
                for step in method.steps:
                    resolve_factory(self.registry.entry(step.kind, step.expression.name))

    def _warm_up(self, method: ResolvedMethod) -> None:
        """Fit estimators that compile on first use to artificial rows: within the limits, before time is measured."""
        for step in method.steps:
            kind, name = step.kind, step.expression.name
            registered = self.registry.entry(kind, name)
            if not registered.spec.warm_up or (kind, name) in self._warm:
                continue
            self._warm.add((kind, name))
            # A class named by import path may need its parameters, or write files without them.
            expression = Expression(name) if registered.plugin.declared is None else step.expression
            rows = np.random.default_rng(0).normal(size=(16, 3))
            # An estimator may reject these few rows. The real fit comes next and reports its own errors.
            with contextlib.suppress(BaseException):
                seeded(self.registry.make(expression, kind), 0, {}).fit(rows, np.arange(16) % 2)

    def _fold(self, trial: Trial) -> Fold:
        """Return the fold of a trial, cached for its next neighbours."""
        coordinates = (trial.dataset, trial.repeat, trial.fold)
        if coordinates not in self._folds:
            self._folds[coordinates] = self._runner.make_fold(trial)
            while len(self._folds) > FOLDS_KEPT:
                self._folds.popitem(last=False)
        self._folds.move_to_end(coordinates)
        return self._folds[coordinates]


# State that `prepare` leaves in the monitor for the workers forked from it.
_prepared: tuple[Job, Registry] | None = None


def prepare(job: Job) -> None:
    """Load the built-in plugins and their estimators, which all workers forked from this process share."""
    global _prepared
    if job.log is not None:
        redirect_to(job.log)
    sys.path[:] = list(job.path) or sys.path
    registry = _load(job, BUILT_IN)
    _prepared = job, registry
    Worker(job, registry).import_estimators(BUILT_IN)
    threadpool_limits(1)


def serve(connection: socket.socket, owners: Owners) -> None:
    """Run the trials sent by the main process until it closes the connection or this process is spent."""
    assert _prepared is not None
    job, registry = _prepared
    process = os.getpid()
    worker = Worker(job, registry if owners == BUILT_IN else _load(job, owners))
    if owners != BUILT_IN:
        with contextlib.suppress(Exception, SystemExit):  # the trial that needs the failed import reports it
            worker.import_estimators(owners)
    threadpool_limits(1)
    bound = own_memory(process) + min(GROWTH, job.memory_limit // 2 or GROWTH)
    limit_memory(job.memory_limit)
    connection.sendall(framed(b"ready"))
    is_spent = False
    while not is_spent and (message := receive(connection)) is not None:
        trial, shared = pickle.loads(message)  # nosec B301  # from the parent process
        try:
            result, fits = worker.run(trial, shared)
        except BaseException as error:  # noqa: BLE001 - failing data generation is the trial's failure
            result, fits = _failure(trial, error), {}
        if os.getpid() != process:
            os._exit(1)  # a method has forked and its child has returned here: it must not answer
        is_spent = result.status is not Status.OK or bool(result.touched) or _has_grown(bound)
        try:
            answer = pickle.dumps((result, fits, is_spent))
        except Exception as error:  # noqa: BLE001 - a method may put anything into its result
            failure = _failure(trial, error, result.duration)
            is_spent, answer = True, pickle.dumps((failure, {}, True))
        connection.sendall(framed(answer))


def _failure(trial: Trial, error: BaseException, duration: float = 0.0) -> TrialResult:
    status = Status.MEMORY if isinstance(error, MemoryError) else Status.ERROR
    result = TrialResult(key=trial.key, status=status, duration=duration)
    result.error_type, result.error_message, result.error_trace = describe_failure(error)
    return result


def _has_grown(bound: int) -> bool:
    """Return whether this process holds more memory than a new worker would, after returning free memory."""
    if own_memory(os.getpid()) <= bound:
        return False
    give_back()
    return own_memory(os.getpid()) > bound


def _load(job: Job, owners: Owners) -> Registry:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has already reported plugins that fail to load
        return load_registry(exactly=visible(job.plugins, owners))
