"""Costs of a plan's trials, learned from earlier trials or, without any, from the plugins' declarations.

A trial is expected to take as long as earlier trials of its method on its dataset. Without such trials, the declared
formula is multiplied by the median ratio of measured to declared seconds over the method's other datasets, or over the
other methods if it has no measurements.
"""

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from mfbench.errors import RunError
from mfbench.host.registry import Registry
from mfbench.model.trials import Status, Trial
from mfbench.run.environment import cpu_model
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.suite.costs import LEAST, DeclaredCosts
from mfbench.suite.plan import Cost, Forecast, Plan

STARTUP = 2.5  # seconds until the workers of a run have imported their libraries
COMPILING = 0.3  # seconds for an estimator that compiles on first use, usually from a cache
STORES = 5  # number of most recent other stores to read
LARGEST = 256 * 2**20  # bytes of the largest other store to read
UNFINISHED = 2.0  # a trial stopped at its limit counts as this many limits, because it would have taken longer
FARTHEST = 7.0  # logarithm of the largest plausible ratio
_TUNING = " [tunes "  # start of the tuning in a method's description
# A failed trial took only the time until its failure; a crash has no time at all.
_COUNTED = (Status.OK, Status.TIMEOUT)

_TRIALS = """
SELECT p.dataset, p.method, p.fold, t.status, COUNT(t.duration), TOTAL(t.duration), MAX(t.peak_memory), COUNT(*)
FROM plan p JOIN trials t ON t.key = p.key
WHERE t.duration IS NULL OR (typeof(t.duration) IN ('real', 'integer') AND t.duration BETWEEN 0 AND 1e9)
GROUP BY p.dataset, p.method, p.fold, t.status
"""
_FITS = """
SELECT p.dataset, p.method, COUNT(*), TOTAL(t.select_wall + t.fit_wall + t.predict_wall), MAX(t.peak_memory)
FROM plan p JOIN trials t ON t.key = p.key
WHERE t.status = 'ok' AND t.select_wall + t.fit_wall + t.predict_wall BETWEEN 1e-9 AND 1e9
GROUP BY p.dataset, p.method
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Earlier trials of one method on one dataset."""

    dataset: str  # dataset, method: labels in the plan
    method: str
    log_ratio: float | None  # log(measured / declared seconds); None without a time
    memory: int  # largest increase of a worker's memory in bytes; 0 if unknown
    memory_ratio: float  # measured over declared memory


class LearnedCosts:
    """The costs of a plan's trials from earlier trials."""

    def __init__(self, declared: DeclaredCosts, measured: Sequence[Measured]) -> None:
        self.declared = declared
        self._costs: dict[tuple[str, str, int], Cost] = {}
        self._cells = {(one.dataset, one.method): one for one in measured}
        ratios: dict[str, list[float]] = defaultdict(list)
        self._memory: dict[str, float] = {}
        for one in measured:
            if one.log_ratio is not None:
                ratios[one.method].append(one.log_ratio)
            if one.memory:
                self._memory[one.method] = max(one.memory_ratio, self._memory.get(one.method, 0.0))
        self._methods = {method: median(values) for method, values in ratios.items()}
        self._machine = median(self._methods.values()) if self._methods else 0.0

    def of(self, trial: Trial) -> Cost:
        """Return the cost of a trial of the plan."""
        key = trial.dataset, trial.method, trial.fold
        if key not in self._costs:
            self._costs[key] = self._cost(trial)
        return self._costs[key]

    def _cost(self, trial: Trial) -> Cost:
        declared = self.declared.of(trial)
        cell = self._cells.get((trial.dataset, trial.method))
        log_ratio = None if cell is None else cell.log_ratio
        if log_ratio is None:
            log_ratio = self._methods.get(trial.method, self._machine)
        memory = 0 if cell is None else cell.memory
        return Cost(
            declared.unlimited * math.exp(log_ratio),
            memory or int(declared.memory * self._memory.get(trial.method, 1.0)),
            self.declared.limit,
        )


def forecast(plan: Plan, registry: Registry, folder: Path, jobs: int) -> Forecast:
    """Return the expected cost of running a plan, from earlier trials in a folder of reports, which is only read."""
    declared = DeclaredCosts(plan, registry)
    learned = LearnedCosts(declared, earlier_trials(plan, declared, folder))
    return Forecast(learned, jobs, startup_seconds(plan, registry))


def startup_seconds(plan: Plan, registry: Registry) -> float:
    """Return the seconds until all workers have started and compiled everything that compiles on first use."""
    used = {(step.kind, step.expression.name) for method in plan.methods.values() for step in method.steps}
    return STARTUP + COMPILING * len([each for each in used if registry.entry(*each).spec.warm_up])


def earlier_trials(plan: Plan, declared: DeclaredCosts, folder: Path) -> list[Measured]:
    """Return the stored measurements of a plan's methods on its datasets."""
    # Trials of this run take precedence. For cells without any, fits in other stores of the same reports folder count
    # if they ran on the same kind of processor. Protocols may differ, so only the time of a fit is used.
    cells = {(one.dataset, one.method): one for one in _read(_own, plan, declared, folder)}
    missing = len(plan.datasets) * len(plan.methods) - len(cells)
    for other in _other_stores(folder) if missing else ():
        for one in _read(_foreign, plan, declared, other):
            cells.setdefault((one.dataset, one.method), one)
    return list(cells.values())


def _read(read: Any, plan: Plan, declared: DeclaredCosts, folder: Path) -> list[Measured]:
    """Read one store; a missing or unreadable store is skipped, since an estimate does not depend on it."""
    if not (folder / FILE_NAME).is_file():
        return []
    try:
        with Store(folder, read_only=True) as store:
            return list(read(plan, declared, store))
    except (RunError, sqlite3.Error, ValueError, KeyError, TypeError, OSError):
        return []


def _own(plan: Plan, declared: DeclaredCosts, store: Store) -> Iterator[Measured]:
    """Yield whole-trial times from a store of the same protocol."""
    totals: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for dataset, method, fold, status, timed, seconds, memory, number in list(store.raw(_TRIALS)):
        if dataset not in plan.datasets or method not in plan.methods:
            continue
        own = plan.datasets[dataset].own_splits
        if not 0 <= fold < (plan.protocol.folds if own is None else own.folds):
            continue
        total = totals[dataset, method]
        total[2] = max(total[2], memory or 0)
        if status not in _COUNTED:
            continue
        one = declared.of(Trial("", dataset, method, 0, fold, 0)).unlimited
        if status == Status.TIMEOUT:
            timed, seconds = number, number * max(UNFINISHED * plan.loaded.protocol.timeout, one)
        total[0] += seconds
        total[1] += timed * one
    for (dataset, method), (seconds, expected, memory) in totals.items():
        yield _measured(declared, dataset, method, seconds, expected, int(memory))


def _foreign(plan: Plan, declared: DeclaredCosts, store: Store) -> Iterator[Measured]:
    """Yield single-fit times on the same data from a store of another protocol or suite."""
    meta = {name: json.loads(value) for name, value in list(store.raw("SELECT name, value FROM meta"))}
    if meta["environment"].get("cpu") != cpu_model():
        return
    methods = {method.describe().partition(_TUNING)[0]: label for label, method in reversed(plan.methods.items())}
    described = {label: methods.get(text.partition(_TUNING)[0]) for label, text in meta["methods"].items()}
    labels = {planned.sha256: label for label, planned in plan.datasets.items() if planned.reference is None}
    names = {name: labels.get(sha) for name, sha in store.raw("SELECT label, sha256 FROM datasets")}
    rows = dict(store.raw("SELECT sha256, AVG(n_train) FROM splits GROUP BY sha256"))
    for name, described_as, number, seconds, memory in list(store.raw(_FITS)):
        dataset, method = names.get(name), described.get(described_as)
        if dataset is not None and method is not None:
            sizes = declared.sizes(dataset, 0)
            n = float(rows.get(plan.datasets[dataset].sha256) or sizes.rows)
            one = declared.one_fit(plan.methods[method], n, sizes.columns, sizes.classes)
            yield _measured(declared, dataset, method, seconds, number * one, int(memory or 0))


def _measured(
    declared: DeclaredCosts, dataset: str, method: str, seconds: float, expected: float, memory: int
) -> Measured:
    ratio = math.log(max(seconds, LEAST) / expected) if expected else None
    if ratio is not None:
        ratio = max(-FARTHEST, min(ratio, FARTHEST))
    of_memory = declared.of(Trial("", dataset, method, 0, 0, 0)).memory
    return Measured(dataset, method, ratio, memory, memory / of_memory)


def _other_stores(folder: Path) -> list[Path]:
    """Return the folders of the most recent other runs in the same reports folder."""
    dated = []
    for path in folder.parent.parent.glob(f"*/*/{FILE_NAME}"):
        try:
            about = path.stat()
        except OSError:  # removed in the meantime
            continue
        if path.parent != folder and not path.parent.name.startswith(".") and about.st_size <= LARGEST:
            dated.append((about.st_mtime_ns, path.parent))
    return [path for _, path in sorted(dated, reverse=True)[:STORES]]
