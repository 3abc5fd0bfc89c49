"""What happens inside a worker process: set up once, then one trial at a time.

A worker holds the plugins, the methods, and the fold it last worked on; a dataset's arrays are mapped from files that
the main process wrote once, so that all workers share one copy.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import threadpoolctl

from mfbench.data.prepare import Columns, restrict_classes
from mfbench.data.rounds import draw_round
from mfbench.host.expressions import Expression
from mfbench.host.registry import Registered, Registry, load_registry, resolve_factory
from mfbench.run.trial.detection import RoundFold, run_round
from mfbench.run.trial.folds import Fold, FoldPath, Selection
from mfbench.run.trial.prediction import run_trial
from mfbench.run.trial.steps import selector_key
from mfbench.suite.plan import PlannedDataset
from mfbench.suite.protocols import EvaluationProtocol, GroundTruth, Split
from mfbench.suite.resolve import ResolvedMethod, Step
from mfbench.suite.schema import ProtocolSettings
from mfbench.suite.seeds import derive_seed
from mfbench.trials import Trial, TrialResult

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
FOLDS_KEPT = 4
PID_PREFIX = "worker-"
LOG_VARIABLE = "MFBENCH_WORKER_LOG"
Shared = dict[tuple[FoldPath, str], Selection]


@dataclass(frozen=True)
class Job:
    """Everything a worker needs to know of a run. Picklable and small: data are in files.

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
        By label, where the interactions of a dataset are known: for the record of what methods say.
    references : mapping of str to str
        By label, what the rounds of a dataset are drawn from, where each trial's data are made by the worker.
    memory_limit : int
        Bytes per worker, 0 for none.
    log : Path or None
        File that gets what plugins print; None leaves it on the terminal.
    plugins : str or None
        Value of ``MFBENCH_LOAD_PLUGINS`` in the main process.
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
    references: Mapping[str, str] = field(default_factory=dict)
    memory_limit: int = 0
    log: Path | None = None
    plugins: str | None = None
    path: tuple[str, ...] = ()


def write_arrays(planned: PlannedDataset, folder: Path, stem: str) -> None:
    """Write a dataset's arrays where workers map them from."""
    np.save(folder / f"{stem}.X.npy", np.ascontiguousarray(planned.data.X), allow_pickle=False)
    np.save(folder / f"{stem}.y.npy", planned.data.y, allow_pickle=False)


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
        self._arrays: dict[str, tuple[Any, Any]] = {}
        self._splits: tuple[tuple[str, int], list[Split]] | None = None
        self._warm: set[tuple[str, str]] = set()
        self._folds: OrderedDict[tuple[str, int, int], Fold] = OrderedDict()

    def run(self, trial: Trial, shared: Shared) -> tuple[TrialResult, Shared]:
        """Run a trial; return its result and the selector fits it leaves for others of its fold.

        Parameters
        ----------
        trial : Trial
        shared : dict
            Selector fits of the same fold that another trial already made.
        """
        method = self.job.methods[trial.method]
        self._warm_up(method)
        fold = self._fold(trial)
        fold.adopt(shared)
        settings, protocol = self.job.settings, self.job.protocol
        if isinstance(fold, RoundFold):
            result = run_round(trial, method, fold, self._make)
        else:
            result = run_trial(trial, method, fold, list(settings.metrics), self._make, decisions=protocol.decisions)
        if fold.X.shape[1] < len(self.job.datasets[trial.dataset].categorical):
            # Numbers of features in a part of them mean nothing to who reads the store.
            result.selected, result.weights, result.interactions = None, None, None
        key = selector_key(method)
        return result, fold.export(key) if key and not shared else {}

    def import_estimators(self) -> None:
        """Import what the methods need now, so that the first trial's time and memory do not contain it."""
        for method in self.job.methods.values():
            for step, _, find in self._steps(method):
                resolve_factory(find(step.expression.name))

    def _steps(self, method: ResolvedMethod) -> Iterator[tuple[Step, str, Callable[[str], Registered]]]:
        """Yield the steps that a method has, each with its kind and where it is looked up."""
        if method.classifier is not None:
            yield method.classifier, "classifier", self.registry.classifier
        if method.selector is not None:
            yield method.selector, "selector", self.registry.selector

    def _make(self, expression: Expression, kind: str, **overrides: Any) -> Any:
        return self.registry.make(expression, kind, **overrides)

    def _warm_up(self, method: ResolvedMethod) -> None:
        """Let estimators that compile on first use do so on made-up rows: within the limits, before the clock."""
        for step, kind, find in self._steps(method):
            name = step.expression.name
            if not find(name).spec.warm_up or (kind, name) in self._warm:
                continue
            self._warm.add((kind, name))
            rows = np.random.default_rng(0).normal(size=(16, 3))
            # It may dislike these few rows. The fit that counts comes next and tells its own errors.
            with contextlib.suppress(BaseException):
                self.registry.make(Expression(name), kind).fit(rows, np.arange(16) % 2)

    def _fold(self, trial: Trial) -> Fold:
        place = (trial.dataset, trial.repeat, trial.fold)
        if place not in self._folds:
            drawn = isinstance(self.job.protocol, GroundTruth)
            self._folds[place] = self._draw(trial) if drawn else self._cut(trial)
            while len(self._folds) > FOLDS_KEPT:
                self._folds.popitem(last=False)
        self._folds.move_to_end(place)
        return self._folds[place]

    def _cut(self, trial: Trial) -> Fold:
        X, y = self._load(trial.dataset)
        columns, true_pairs = self.job.datasets[trial.dataset], self.job.true_pairs.get(trial.dataset, ())
        split = self._split(trial.dataset, trial.repeat, y)[trial.fold]
        features = split.features(X.shape[1])
        if features is not None:  # a part of the features knows no true pairs: their numbers mean others
            X, columns, true_pairs = X[:, features], replace(columns, categorical=columns.categorical[features]), ()
        return Fold(
            X,
            y,
            columns,
            split.train,
            split.test,
            self.job.settings.scale,
            self.job.protocol.inner_folds,
            self._fold_seed(trial),
            true_pairs,
            split.tuning,
        )

    def _draw(self, trial: Trial) -> RoundFold:
        """Make the data of a round. Trials of a round are neighbours, so that few workers make it twice."""
        protocol, settings = self.job.protocol, self.job.settings
        assert isinstance(protocol, GroundTruth)
        reference, seed = self.job.references[trial.dataset], protocol.round_seed(trial.dataset, trial.repeat)
        drawn = draw_round(reference, self.registry, seed)
        data = restrict_classes(drawn.data, settings.classes)
        return RoundFold(data, drawn.order, settings.scale, self._fold_seed(trial), protocol.threshold)

    def _fold_seed(self, trial: Trial) -> int:
        return derive_seed(self.job.protocol.seed, trial.dataset, trial.repeat, trial.fold)

    def _load(self, dataset: str) -> tuple[Any, Any]:
        if dataset not in self._arrays:
            stem = self.job.data_folder / self.job.files[dataset]
            X = np.load(f"{stem}.X.npy", mmap_mode="r", allow_pickle=False)
            y = np.load(f"{stem}.y.npy", allow_pickle=False)
            # A plain view: estimators that look at the type must not meet np.memmap.
            self._arrays = {dataset: (np.asarray(X), y)}
        return self._arrays[dataset]

    def _split(self, dataset: str, repeat: int, y: Any) -> list[Split]:
        if self._splits is None or self._splits[0] != (dataset, repeat):
            self._splits = (dataset, repeat), self.job.protocol.splits(dataset, y, repeat)
        return self._splits[1]


_worker: Worker | None = None


def start(job: Job) -> None:
    """Set up this process: called once by the pool."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's business; it stops the pool
    _lead_a_group(job.data_folder)
    _die_with_parent()
    _redirect_output(job.log)
    _never_leave_in_silence()
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    threadpoolctl.threadpool_limits(1)
    sys.path[:] = list(job.path) or sys.path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the main process has named the plugins that fail to load
        _worker = Worker(job, load_registry(only=None if job.plugins is None else job.plugins.split(",")))
        _worker.import_estimators()
    _limit_memory(job.memory_limit)


def work(trial: Trial, shared: Shared) -> tuple[TrialResult, Shared]:
    """Run one trial in this process, after `start`."""
    assert _worker is not None
    return _worker.run(trial, shared)


def _lead_a_group(folder: Path) -> None:
    """Make this process the head of a group and leave its number, so that its children can be ended with it."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
        (folder / f"{PID_PREFIX}{os.getpid()}").touch()


def _never_leave_in_silence() -> None:
    """Let ``os._exit(0)`` in a method be a crash: the pool takes a worker that leaves with code 0 for one at work."""
    leave, worker = os._exit, os.getpid()

    def leave_loudly(status: int) -> NoReturn:
        leave(status or 1 if os.getpid() == worker else status)

    os._exit = leave_loudly


def _die_with_parent() -> None:
    """End this process when the main one is gone, even in the middle of a hanging trial."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="mfbench-parent-watch", daemon=True).start()


def _redirect_output(log: Path | None) -> None:
    if log is None:
        return
    try:
        sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError:  # no room for a log is no reason not to work
        sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)


def _limit_memory(limit: int) -> None:
    """Let allocations beyond the limit fail, so that a greedy trial gets a MemoryError and not the machine."""
    if not limit or not sys.platform.startswith("linux"):
        return
    import resource

    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    wanted = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


if LOG_VARIABLE in os.environ:
    # Imported by the process that workers are forked from; see `mfbench.run.executors`.
    _redirect_output(Path(os.environ[LOG_VARIABLE]))
