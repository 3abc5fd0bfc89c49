"""Times and memory of earlier trials of a plan's methods on its datasets, from this run's store and from others."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfbench.errors import RunError
from mfbench.model.trials import Status, Trial
from mfbench.run.environment import cpu_model
from mfbench.run.store.file import FILE_NAME
from mfbench.run.store.store import Store
from mfbench.suite.costs import LEAST, DeclaredCosts

if TYPE_CHECKING:
    from mfbench.suite.plan import Plan

STORES = 5  # other stores that are read, the latest ones
LARGEST = 256 * 2**20  # bytes of another store that is read
UNFINISHED = 2.0  # times its limit that a trial counts which was stopped there: it would have taken longer
FARTHEST = 7.0  # logarithm of the largest ratio that is believed
_TUNING = " [tunes "  # begins the tuning in the description of a method
# Trials that failed otherwise took the time that their failure took; a crash has no time of its own.
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
    """Earlier trials of a method on a dataset."""

    dataset: str  # dataset, method: labels in the plan
    method: str
    rows: float  # rows, columns, classes: sizes of the fits
    columns: float
    classes: float
    trials: float  # the number of trials with a time
    log_ratio: float  # logarithm of the measured over the declared seconds
    memory: int  # largest number of bytes by which the memory of a worker rose; 0 if unknown
    memory_ratio: float  # measured over declared memory


def earlier_trials(plan: Plan, declared: DeclaredCosts, folder: Path) -> list[Measured]:
    """Return what is stored about a plan's methods on its datasets."""
    # Trials of this run come first. For a method and a dataset that it lacks, fits in other stores of the same folder
    # of reports count, if they ran on such a processor: their protocols may differ, so the time of a fit is what they
    # tell.
    cells = {(one.dataset, one.method): one for one in _read(_own, plan, declared, folder)}
    missing = len(plan.datasets) * len(plan.methods) - len(cells)
    for other in _other_stores(folder) if missing else ():
        for one in _read(_foreign, plan, declared, other):
            cells.setdefault((one.dataset, one.method), one)
    return list(cells.values())


def _read(read: Any, plan: Plan, declared: DeclaredCosts, folder: Path) -> list[Measured]:
    """Read one store; there may be none, or one that this version cannot read, and an estimate does without it."""
    if not (folder / FILE_NAME).is_file():
        return []
    try:
        with Store(folder, read_only=True) as store:
            return list(read(plan, declared, store))
    except (RunError, sqlite3.Error, ValueError, KeyError, TypeError, OSError):
        return []


def _own(plan: Plan, declared: DeclaredCosts, store: Store) -> Iterator[Measured]:
    """Yield what a store of the same protocol has: the times of whole trials."""
    limit = plan.loaded.protocol.timeout
    folds = plan.protocol.folds
    totals: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
    for dataset, method, fold, status, timed, seconds, memory, number in list(store.raw(_TRIALS)):
        if dataset not in plan.datasets or method not in plan.methods or not 0 <= fold < folds:
            continue
        total = totals[dataset, method]
        total[3] = max(total[3], memory or 0)
        if status not in _COUNTED:
            continue
        one = declared.of(Trial("", dataset, method, 0, fold, 0)).unlimited
        if status == Status.TIMEOUT:
            timed, seconds = number, number * max(UNFINISHED * limit, one)
        total[0] += timed
        total[1] += seconds
        total[2] += timed * one
    for (dataset, method), (timed, seconds, expected, memory) in totals.items():
        sizes = declared.sizes(dataset, 0)
        bytes_declared = declared.of(Trial("", dataset, method, 0, 0, 0)).memory
        yield Measured(
            dataset,
            method,
            sizes.rows,
            sizes.columns,
            sizes.classes,
            timed,
            _log_ratio(seconds, expected),
            int(memory),
            memory / bytes_declared,
        )


def _foreign(plan: Plan, declared: DeclaredCosts, store: Store) -> Iterator[Measured]:
    """Yield what a store of another protocol, or another suite, has on the same data: the times of single fits."""
    meta = {name: json.loads(value) for name, value in list(store.raw("SELECT name, value FROM meta"))}
    if meta["environment"].get("cpu") != cpu_model():
        return
    methods = {_untuned(method.describe()): label for label, method in reversed(plan.methods.items())}
    described = {label: methods.get(_untuned(text)) for label, text in meta["methods"].items()}
    labels = {planned.sha256: label for label, planned in plan.datasets.items() if planned.reference is None}
    names = {name: labels.get(sha) for name, sha in store.raw("SELECT label, sha256 FROM datasets")}
    rows = dict(store.raw("SELECT sha256, AVG(n_train) FROM splits GROUP BY sha256"))
    for name, described_as, number, seconds, memory in list(store.raw(_FITS)):
        dataset, method = names.get(name), described.get(described_as)
        if dataset is None or method is None:
            continue
        sizes = declared.sizes(dataset, 0)
        n = float(rows.get(plan.datasets[dataset].sha256) or sizes.rows)
        one = declared.one_fit(plan.methods[method], n, sizes.columns, sizes.classes)
        bytes_declared = declared.of(Trial("", dataset, method, 0, 0, 0)).memory
        ratio, memory = _log_ratio(seconds / number, one), int(memory or 0)
        yield Measured(dataset, method, n, sizes.columns, sizes.classes, 1.0, ratio, memory, memory / bytes_declared)


def _untuned(description: str) -> str:
    return description.partition(_TUNING)[0]


def _log_ratio(seconds: float, expected: float) -> float:
    ratio = math.log(max(seconds, LEAST) / max(expected, LEAST))
    return max(-FARTHEST, min(ratio, FARTHEST))


def _other_stores(folder: Path) -> list[Path]:
    """Return the folders of the latest other runs beside a run, in the same folder of reports."""
    dated = []
    for path in folder.parent.parent.glob(f"*/*/{FILE_NAME}"):
        try:
            about = path.stat()
        except OSError:  # removed in the meantime
            continue
        if path.parent != folder and not path.parent.name.startswith(".") and about.st_size <= LARGEST:
            dated.append((about.st_mtime_ns, path.parent))
    return [path for _, path in sorted(dated, reverse=True)[:STORES]]
