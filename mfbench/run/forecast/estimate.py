"""What a run would do and cost, without running or writing anything; used by ``mfbench suite --dry-run``."""

import heapq
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mfbench.errors import ExitCode, RunError
from mfbench.host.registry import Registry
from mfbench.model.earlier import EarlierRun
from mfbench.model.trials import Trial, Unavailable
from mfbench.run import environment
from mfbench.run.forecast.costs import forecast
from mfbench.run.forecast.order import in_rounds, seconds_each
from mfbench.run.reuse import copied_statuses, earlier_runs, offered_keys, opened_sources
from mfbench.run.runner import RETRIED, RunOptions
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.suite.plan import Forecast, Plan

WORKER = 250 * 2**20  # bytes of a worker before its first trial, i.e. of the imported libraries


@dataclass(frozen=True)
class Share:
    """One dataset's or method's share of a run."""

    name: str  # label of the dataset or method
    trials: int  # trials to run
    seconds: float  # predicted seconds of these trials on one worker
    longest: float  # predicted seconds of the longest one
    memory: int  # predicted bytes of the largest one


@dataclass(frozen=True)
class Estimate:
    """The work and cost of a run."""

    suite: str
    profile: str
    folder: str
    planned: int  # planned, stored, pending: numbers of all trials, of those with a stored result, and of those to run
    stored: int
    pending: int
    seconds: float  # predicted seconds of the trials to run, on one worker
    wall: float  # predicted seconds of the run
    jobs: int
    worker_memory: int  # predicted peak bytes of one worker; all workers may peak at the same time
    memory_limit: int  # bytes at which a worker is killed
    datasets: tuple[Share, ...]  # datasets, methods: those with pending trials, in plan order and by cost
    methods: tuple[Share, ...]
    left_out: dict[str, str]  # unusable datasets and methods, each with the reason
    unavailable: dict[str, Unavailable]  # datasets of `left_out` that are merely unavailable
    budget: float = 0.0  # seconds that the run may take; 0 for no limit
    reached: int = 0  # pending trials that are predicted to end within the budget
    # The number of `stored` results from each earlier run; includes runs that the user named, even if 0.
    elsewhere: tuple[tuple[str, int], ...] = ()
    unreached: tuple[str, ...] = ()  # methods without a result that are not predicted to get one within the budget
    # Datasets and methods with trials expected to exceed their time limit, and the number of such trials.
    too_long: tuple[tuple[str, str, int], ...] = ()
    time_limit: float = 0.0  # seconds after which a trial is killed

    @property
    def exit_code(self) -> ExitCode:
        """The matching exit code: whether there is anything to run or resume."""
        return ExitCode.OK if self.planned else ExitCode.NOTHING_MEASURED


def estimate(
    plan: Plan,
    folder: Path,
    registry: Registry,
    options: RunOptions,
    sources: Iterable[Iterable[EarlierRun]] = (),
) -> Estimate:
    """Estimate a run of a plan; its folder need not exist and is only read."""
    jobs = options.jobs or environment.available_cpus()
    costs = forecast(plan, registry, folder, jobs)
    stored, elsewhere = _finished(plan, folder, options, sources)
    keys = stored.union(*(own for _, own in elsewhere))
    pending = [trial for trial in plan.trials if trial.key not in keys]
    peak = max((costs.costs.of(trial).memory for trial in pending), default=0)
    reached = _reached(plan, keys, costs, options.budget)
    measured = {trial.method for trial in plan.trials if trial.key in keys} | {trial.method for trial in reached}
    missing = {trial.method for trial in pending} - measured if options.budget else set()
    return Estimate(
        suite=plan.loaded.suite.suite.name,
        profile=plan.loaded.profile,
        folder=folder.as_posix(),
        planned=len(plan.trials),
        stored=len(plan.trials) - len(pending),
        pending=len(pending),
        seconds=math.fsum(costs.costs.of(trial).seconds for trial in pending),
        wall=costs.wall(pending),
        jobs=jobs,
        worker_memory=WORKER + peak,
        memory_limit=environment.memory_limit(plan.loaded.protocol.memory, jobs),
        datasets=tuple(_shares(pending, costs, lambda trial: trial.dataset)),
        methods=tuple(sorted(_shares(pending, costs, lambda trial: trial.method), key=lambda one: -one.seconds)),
        left_out=dict(plan.left_out),
        unavailable=dict(plan.unavailable),
        budget=options.budget,
        elsewhere=_numbers({trial.key for trial in plan.trials} - stored, elsewhere),
        reached=len(reached),
        unreached=tuple(label for label in plan.methods if label in missing),
        too_long=tuple(costs.too_long(pending)),
        time_limit=plan.loaded.protocol.timeout,
    )


def _reached(plan: Plan, keys: Collection[str], costs: Forecast, budget: float) -> list[Trial]:
    """Return the trials predicted to end within a budget, in order, each on the first free worker."""
    if not budget:
        return []
    pending = [trial for trial in plan.trials if trial.key not in keys]
    trials = in_rounds(plan.trials, keys, seconds_each(pending, costs.costs, plan.methods))
    free = [costs.startup] * costs.jobs  # heap of the times at which workers become free
    reached = []
    for trial in trials:
        if free[0] >= budget:
            break
        seconds = costs.costs.of(trial).seconds
        if free[0] + seconds <= budget:  # a trial that would exceed the remaining budget does not start
            heapq.heapreplace(free, free[0] + seconds)
            reached.append(trial)
    return reached


def _shares(trials: Sequence[Trial], costs: Forecast, name_of: Callable[[Trial], str]) -> Iterable[Share]:
    parts: dict[str, list[Trial]] = {}
    for trial in trials:
        parts.setdefault(name_of(trial), []).append(trial)
    for name, part in parts.items():
        each = [costs.costs.of(trial) for trial in part]
        seconds = [cost.seconds for cost in each]
        yield Share(name, len(part), math.fsum(seconds), max(seconds), max(cost.memory for cost in each))


def _finished(
    plan: Plan, folder: Path, options: RunOptions, sources: Iterable[Iterable[EarlierRun]]
) -> tuple[set[str], list[tuple[EarlierRun, set[str]]]]:
    """Return the keys that a run would find in its folder and in each of the other runs."""
    planned = {trial.key for trial in plan.trials}
    copied = copied_statuses(retry_failed=options.retry_failed)
    stored: set[str] = set()
    if not options.fresh and (folder / FILE_NAME).is_file():
        with Store(folder, read_only=True) as store:
            stored = store.finished(RETRIED if options.retry_failed else ())
    elsewhere = []
    with opened_sources([() if options.fresh else earlier_runs(plan, folder), *sources]) as runs:
        for run in runs:
            keys: set[str] = set()
            if not plan.loaded.spec.times:
                try:
                    with Store(run.folder, read_only=True) as store:
                        keys = offered_keys(store, planned, copied)
                except (RunError, sqlite3.Error):  # the run would skip it too
                    if run.is_requested:
                        raise
            elsewhere.append((run, keys))
    return stored, elsewhere


def _numbers(missing: set[str], elsewhere: Iterable[tuple[EarlierRun, set[str]]]) -> tuple[tuple[str, int], ...]:
    """Return the number of missing trials that each run provides; the first run that has a trial counts."""
    numbers: dict[str, int] = {}
    for run, keys in elsewhere:
        number = len(missing & keys)
        missing = missing - keys
        if number or run.is_requested:
            numbers.setdefault(run.name, number)
    return tuple(numbers.items())
