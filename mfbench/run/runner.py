"""The runner: from a plan to a filled store, resumable at any time."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mfbench.base.files import write_whole
from mfbench.data.columns import ROLES
from mfbench.data.prepare import Columns
from mfbench.data.reference import FileReference, parse_reference
from mfbench.engines import Engine, Executor
from mfbench.errors import NothingPlannedError, PluginError, RunError
from mfbench.host.registry import LOCAL, Registry, check_executor, make_engine
from mfbench.model.earlier import EarlierRun
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.processes.process import check_working_directory
from mfbench.run import environment
from mfbench.run.forecast.costs import forecast
from mfbench.run.forecast.order import Budget, in_rounds, longest_first, seconds_each
from mfbench.run.merging import other_environments
from mfbench.run.reuse import copied_statuses, earlier_runs, opened_sources, reuse_results
from mfbench.run.store.file import FILE_NAME, locked, set_aside
from mfbench.run.store.metadata import Environment, display_names, metadata_of
from mfbench.run.store.store import Store
from mfbench.run.workers.job import ArrayFiles, Job, owners_of_method, owners_of_plugin, shared_owners, write_arrays
from mfbench.run.workers.local import LocalPool
from mfbench.suite.loading import LoadedSuite
from mfbench.suite.plan import Plan


class PoolHook(Protocol):
    """The hook ``mfbench_pool``, or one implementation of it."""

    def __call__(
        self, *, engine: Engine, job: Job, plan: Plan, registry: Registry, options: RunOptions
    ) -> Executor | None:
        """Return the executor that runs a job's trials on an engine's workers."""


def open_executor(
    job: Job, plan: Plan, registry: Registry, options: RunOptions, jobs: int, make_pool: PoolHook | None = None
) -> Executor:
    """Return the executor that runs a job's trials with the given number of workers; nothing is started."""
    if options.executor == LOCAL:
        return LocalPool(jobs)
    made = make_engine(registry, options.executor, options.scheduler, jobs)
    if isinstance(made, Executor):
        return made
    if make_pool is not None:
        pool = make_pool(engine=made, job=job, plan=plan, registry=registry, options=options)
        if pool is not None:
            return pool
    raise PluginError(
        f"executor {options.executor!r} needs a pool of remote workers, which the package mfbench_cluster provides"
    )


RETRIED = (Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.CRASH)
_WORK = ".work"
_REASONS_SHOWN = 10
_DESCRIPTION = ("n_samples", "n_features", "class_names", "feature_names", "relevant", "interactions", "source")


class Observer(Protocol):
    """Receives the events of a run, for instance to display progress."""

    def remarked(self, remark: str) -> None:
        """Receive a remark on the previous state of the run folder, one sentence; called before the start."""

    def started(self, plan: Plan, done: Sequence[Trial], pending: Sequence[Trial]) -> None:
        """Receive the start of the run; called once, before the first trial."""

    def running(self, trials: Sequence[tuple[Trial, float]]) -> None:
        """Receive the running trials and their elapsed seconds; called periodically, even if none of them ends."""

    def finished(self, trial: Trial, result: TrialResult) -> None:
        """Receive a trial and its result; called after the result has been stored."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; none of them affects results."""

    jobs: int = 0  # worker processes; 0 means one per available processor
    fresh: bool = False  # delete the results in the folder and start over
    retry_failed: bool = False  # repeat failed trials
    # What runs the trials: local processes, or an engine registered by a plugin, e.g. "dask".
    executor: str = "local"
    scheduler: str = ""  # address of the engine's scheduler; empty for the engine's default
    # Wall seconds after which the run ends, complete or not; 0 means no limit. The results at that time form a fair
    # table: see `mfbench.run.forecast.order.in_rounds`.
    budget: float = 0.0
    wait_for_workers: float = 300.0  # seconds to wait while an engine has no worker


@dataclass
class Progress:
    """The trials resumed, executed and failed in one call of `execute`, and those pending after a budget ended."""

    resumed: int = 0
    executed: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    pending: int = 0


def run_folder(out: Path, loaded: LoadedSuite, only: Sequence[str] = ()) -> Path:
    """Return the folder of a run, a function of the suite's content and the options that determine its trials."""
    suite = loaded.suite.model_dump(mode="json", include={"suite": {"name", "seed"}, "datasets": True, "methods": True})
    protocol = loaded.protocol.model_dump(mode="json", exclude={"timeout", "memory"})
    younger: list[tuple[dict[str, Any], tuple[str, ...]]] = [(protocol, ("splitter",))]
    younger += [(group, (*ROLES, "task")) for group in suite["datasets"]]
    younger += [(method, ("regressor",)) for method in suite["methods"]]
    for table, names in younger:  # keys that many runs, whose folders must be found, do not know
        for name in names:
            if table[name] is None:
                del table[name]
    for method in suite["methods"]:
        del method["name"]
    # A part is merely a name for `--only` patterns: the same patterns are the same run.
    restrictions = [sorted(patterns) for patterns in (loaded.part_patterns, only) if patterns]
    references = [parse_reference(text) for group in loaded.suite.datasets for text in group.use]
    has_files = any(isinstance(reference, FileReference) for reference in references)
    content = {
        "suite": suite,
        "protocol": protocol,
        "folder": str(loaded.path.resolve().parent) if has_files else "",
        "only": restrictions[0] if len(restrictions) == 1 else restrictions,
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
    # Titles, limits and report settings are excluded: changing them must not start a new run.
    return out / loaded.suite.suite.name / f"{loaded.profile}-{digest}"


def execute(
    plan: Plan,
    folder: Path,
    registry: Registry,
    options: RunOptions,
    observer: Observer,
    sources: Iterable[Iterable[EarlierRun]] = (),
    make_pool: PoolHook | None = None,
) -> Progress:
    """Run the trials that a folder's store lacks."""
    # Runs from `sources` are used after those in the reports folder, and generators are closed. An executor that is an
    # engine requires `make_pool`.
    own = () if options.fresh else earlier_runs(plan, folder)
    with opened_sources([own, *sources]) as runs, prepare(plan, folder, registry, options, observer) as start:
        pending = start.pending(runs)
        start.work(pending, make_pool)
        return start.finish(pending)


@contextmanager
def prepare(
    plan: Plan, folder: Path, registry: Registry, options: RunOptions, observer: Observer
) -> Iterator[PreparedRun]:
    """Check all requirements before anything is written; then lock the run folder and open the store."""

    def predicted(trial: Trial) -> float:
        assert plan.forecast is not None  # made below
        return plan.forecast.costs.of(trial).seconds

    budget = Budget(options.budget, predict=predicted) if options.budget else None
    check_working_directory()
    check_executor(registry, options.executor, options.scheduler)
    jobs = options.jobs or environment.available_cpus()
    setting = plan.loaded.protocol.memory
    # On other machines, the default depends on each machine.
    memory = environment.memory_limit(setting, jobs) if options.executor == LOCAL else int(setting * 2**30)
    with locked(folder), _file_errors(folder):
        shutil.rmtree(folder / _WORK, ignore_errors=True)  # left by a killed process
        if not (plan.trials if plan.shard is None else plan.shard.n_trials):  # an empty shard is fine
            _keep_results(plan, folder)
        plan.forecast = forecast(plan, registry, folder, jobs)  # from results that the lines below may replace
        with set_aside(folder, options.fresh) as discard, Store(folder) as store:
            described = environment.describe(registry, jobs, memory, options.executor)
            yield PreparedRun(plan, folder, registry, options, observer, budget, jobs, store, described, discard)


@dataclass
class PreparedRun:
    """A run with a locked folder and an open store, and its steps from there to the end."""

    plan: Plan
    folder: Path
    registry: Registry
    options: RunOptions
    observer: Observer
    budget: Budget | None
    jobs: int
    store: Store
    described: Environment  # the environment of this start
    discard: Callable[[], None]  # discards the results that this start replaces
    progress: Progress = field(default_factory=Progress)

    def pending(self, runs: Iterable[EarlierRun]) -> list[Trial]:
        """Record the start, reuse results of other runs, and return the remaining trials in execution order."""
        self._remark(self.store.repair())
        names = display_names(self.plan, self.registry)
        _record_start(self.plan, self.folder, self.store, _origin(self.store, self.described), names)
        retried = RETRIED if self.options.retry_failed else ()
        statuses = copied_statuses(retry_failed=self.options.retry_failed)
        # Reported before hours of work that the user expected to save.
        self._remark(reuse_results(self.plan, self.store, statuses, runs, retried))
        keys = self.store.finished(retried)
        done = [trial for trial in self.plan.trials if trial.key in keys]
        pending = self._in_order([trial for trial in self.plan.trials if trial.key not in keys], keys)
        self.progress.resumed = len(done)
        self.observer.started(self.plan, done, pending)
        return pending

    def work(self, pending: list[Trial], make_pool: PoolHook | None = None) -> None:
        """Run trials and store each result as it arrives, until the budget ends."""
        if not pending:
            return
        with _arrays(self.plan, self.folder, pending) as (data_folder, files):
            job = _job(self.plan, self.folder, data_folder, files, self.described.memory_limit_bytes, self.registry)
            jobs = min(self.jobs, len(pending))
            executor = open_executor(job, self.plan, self.registry, self.options, jobs, make_pool)
            executor.start(job, self.budget, self.observer.running)
            # Closing the executor kills the trials that the budget cuts off; they leave no result, so the next start
            # runs them.
            with closing(executor):
                self.discard()
                executor.submit(pending)
                self._collect(executor, set(pending))

    def finish(self, pending: list[Trial]) -> Progress:
        """Record what the budget left undone, and return what this start has done."""
        self.discard()
        self.progress.pending = len(pending) - self.progress.executed
        if self.budget is not None and self.progress.pending:
            self.store.record("ended_budget", self.options.budget)
        return self.progress

    def _remark(self, remarks: Iterable[str]) -> None:
        for remark in remarks:
            self.observer.remarked(remark)

    def _in_order(self, pending: list[Trial], done: Collection[str]) -> list[Trial]:
        assert self.plan.forecast is not None
        costs, methods = self.plan.forecast.costs, self.plan.methods
        if self.budget is None:
            return longest_first(pending, costs, self.jobs, methods)
        self.budget.cells = len(self.plan.ingredients)
        return in_rounds(self.plan.trials, done, seconds_each(pending, costs, methods))

    def _collect(self, executor: Executor, left: set[Trial]) -> None:
        machines, n_machines = self.store.recorded("machines", {}), 0
        for trial, result in executor.collect():
            if trial not in left:
                raise PluginError(f"the executor {self.options.executor!r} gives a result that is not awaited: {trial}")
            left.remove(trial)
            if not self.progress.executed:
                # The origin of earlier results must survive if this start ends before its own first result.
                _record_environment(self.folder, self.store, self.described)
            self.store.add(trial, result)  # replaces a retried failure
            if len(executor.machines) != n_machines:
                n_machines = len(executor.machines)
                self.store.record("machines", {**machines, **executor.machines})
            self.progress.executed += 1
            if result.status is not Status.OK:
                self.progress.failures[result.status] += 1
            self.observer.finished(trial, result)
            if self.budget is not None and self.budget.is_over:  # the executor may check only between trials
                break


@contextmanager
def _file_errors(folder: Path) -> Iterator[None]:
    """Turn an operating system error during a run into one sentence."""
    try:
        yield
    except BrokenPipeError:  # the reader of our output is gone
        raise
    except OSError as error:
        place = error.filename or f"all files of {folder}"
        raise RunError(
            f"cannot use {place}: {error.strerror or error}; free some space there and in the "
            "folder of temporary files (TMPDIR), or choose another folder with --out"
        ) from error


def _keep_results(plan: Plan, folder: Path) -> None:
    """Refuse to replace a stored plan by an empty one: one broken plugin must not hide the results of a run."""
    if not (folder / FILE_NAME).is_file():
        return
    with Store(folder, read_only=True) as store:
        if not store.has_plan():
            return
    lines = [f"nothing of {plan.loaded.suite.suite.name!r} can be run, so the results in {folder} stay as they are"]
    lines += [f"{label}: {reason}" for label, reason in plan.left_out.items()]
    if len(plan.left_out) > _REASONS_SHOWN:
        lines[1 + _REASONS_SHOWN :] = [f"… and {len(plan.left_out) - _REASONS_SHOWN} more"]
    raise NothingPlannedError("\n".join(lines))


def _job(
    plan: Plan, folder: Path, data_folder: Path, files: dict[str, ArrayFiles], memory: int, registry: Registry
) -> Job:
    references = {label: p.reference for label, p in plan.datasets.items() if p.reference is not None}
    return Job(
        methods=plan.methods,
        datasets={label: Columns.of(planned.data) for label, planned in plan.datasets.items()},
        files=files,
        data_folder=data_folder,
        protocol=plan.protocol,
        runner=plan.loaded.spec.runner,
        settings=plan.loaded.protocol,
        task=plan.loaded.task,
        true_pairs={label: tuple(planned.data.interactions or ()) for label, planned in plan.datasets.items()},
        structures={label: p.structure for label, p in plan.datasets.items() if p.structure is not None},
        references=references,
        classes={label: planned.classes for label, planned in plan.datasets.items()},
        memory_limit=memory,
        log=folder.resolve() / "workers.log",
        plugins=tuple(registry.plugins.values()),
        owners={label: owners_of_method(method, registry) for label, method in plan.methods.items()},
        shared_owners=shared_owners(plan.loaded.protocol, registry),
        round_owners={
            label: owners_of_plugin(registry.entry("dataset", reference.expression.name).plugin)
            for label, reference in references.items()
        },
        path=tuple(sys.path),
    )


def _record_start(plan: Plan, folder: Path, store: Store, described: Environment, names: Mapping[str, str]) -> None:
    _write_environment(folder, described)
    metadata = metadata_of(
        plan,
        folder,
        described,
        names=names,
        reused=store.reused(),
        other_environments=_other_environments(store, described),
        machines=store.recorded("machines", {}),
    )
    datasets = [
        {
            "label": planned.label,
            "sha256": planned.sha256,
            "collections": dict(planned.collections),
            "truth": planned.data.y,
            **{name: getattr(planned.data, name) for name in _DESCRIPTION},
        }
        for planned in plan.datasets.values()
    ]
    left_out = [(label, reason, plan.unavailable.get(label)) for label, reason in plan.left_out.items()]
    store.begin(metadata, datasets, left_out)
    store.set_plan(plan.trials, None if plan.shard is None else plan.shard.positions)
    repeats: dict[str, set[int]] = {label: set() for label in plan.datasets}
    for trial in plan.trials:
        repeats[trial.dataset].add(trial.repeat)
    for planned in plan.datasets.values():
        name, shape = f"{metadata.protocol_key}:{planned.label}", (planned.data.n_samples, planned.data.n_features)
        for repeat in sorted(repeats[planned.label] - store.split_repeats(planned.sha256, name)):
            splits = planned.splits(plan.protocol, repeat)
            store.add_splits(planned.sha256, name, repeat, splits, shape)


def _origin(store: Store, described: Environment) -> Environment:
    """Return the environment of the stored results: the recorded one, or this one if there are no results."""
    recorded = store.recorded("environment", None)
    return described if recorded is None or not store.finished() else Environment.model_validate(recorded)


def _record_environment(folder: Path, store: Store, described: Environment) -> None:
    others = _other_environments(store, described)
    store.record("other_environments", [each.model_dump(mode="json") for each in others])
    store.record("environment", described.model_dump(mode="json"))
    _write_environment(folder, described)


def _write_environment(folder: Path, described: Environment) -> None:
    write_whole(folder / "environment.json", (json.dumps(described.model_dump(), indent=2) + "\n").encode())


def _other_environments(store: Store, described: Environment) -> list[Environment]:
    """Return the environments of merged results, which a later start of the run must preserve."""
    others = store.recorded("other_environments", [])
    if not others:
        return []
    before = [store.recorded("environment", None), *others]
    return other_environments(described, [Environment.model_validate(each) for each in before])


@contextmanager
def _arrays(plan: Plan, folder: Path, pending: list[Trial]) -> Iterator[tuple[Path, dict[str, ArrayFiles]]]:
    """Write the arrays of pending trials to files, which workers memory-map; remove the files afterwards."""
    work = folder.resolve() / _WORK
    work.mkdir(exist_ok=True)
    try:
        labels = dict.fromkeys(trial.dataset for trial in pending)
        yield work, {label: write_arrays(plan.datasets[label], work) for label in labels}
    finally:
        shutil.rmtree(work, ignore_errors=True)
