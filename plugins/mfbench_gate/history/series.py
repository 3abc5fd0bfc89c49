"""Series: one measure of one method on one dataset and one size, over the commits, on one kind of machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from mfbench.errors import UnknownNameError, UsageError
from mfbench.suite.scores import SCORES
from mfbench_gate.comparison import Place
from mfbench_gate.history.entries import Calibration, Entry, Machine, Measurement

TIME, WALL, MEMORY = "time", "wall", "memory"
_COSTS: dict[str, Callable[[Measurement], float | None]] = {
    TIME: lambda one: one.fit_cpu + one.predict_cpu,
    "fit": lambda one: one.fit_cpu,
    "predict": lambda one: one.predict_cpu,
    WALL: lambda one: one.fit_wall + one.predict_wall,
    MEMORY: lambda one: one.memory,
}


@dataclass(frozen=True)
class Point:
    """One run in a series."""

    commit: str
    date: str  # when it was committed or, if that is unknown, when the run was added
    value: float
    calibration: Calibration | None


@dataclass(frozen=True)
class Series:
    """The values of one measure in the order of the commits."""

    suite: str  # suite, profile, source: as in `Entry`; the source is that of the last run
    profile: str
    source: str
    method: str
    dataset: str
    size: str
    measure: str  # "time" (CPU seconds to fit and to predict), "fit", "predict", "wall", "memory", or a metric
    machine: Machine
    points: tuple[Point, ...]
    n_zero: int = 0  # number of runs left out because their time or memory is zero: below what the system can measure

    @property
    def is_score(self) -> bool:
        """Whether the values are scores; otherwise they are compared as ratios."""
        return self.measure not in _COSTS

    @property
    def is_time(self) -> bool:
        """Whether the values are seconds, which depend on the speed of the machine."""
        return not self.is_score and self.measure != MEMORY

    @property
    def greater_is_better(self) -> bool:
        """Whether a rise is an improvement."""
        return self.is_score and SCORES[self.measure].greater_is_better

    @property
    def name(self) -> str:
        """Method, dataset and size, as one word."""
        return Place(self.method, self.dataset, self.size).name


def select_series(entries: Iterable[Entry], measure: str = TIME, method: str = "*", dataset: str = "*") -> list[Series]:
    """Return the series of a history."""
    entries = list(entries)
    measurements = [one for entry in entries for one in entry.measurements]
    names = {*_COSTS, *(metric for one in measurements for metric in one.scores if metric in SCORES)}
    if measure not in names:
        raise UnknownNameError("measure", measure, names, owner="this history")
    is_chosen = False
    groups: dict[tuple[str, ...], list[tuple[Entry, Measurement, float]]] = {}
    for entry in entries:
        for one in entry.measurements:
            if fnmatchcase(one.method, method) and fnmatchcase(one.dataset, dataset):
                is_chosen = True
                value = _COSTS[measure](one) if measure in _COSTS else one.scores.get(measure)
                if value is not None and math.isfinite(value):
                    key = (entry.machine.id, entry.suite, entry.profile, one.method, one.dataset, one.size)
                    groups.setdefault(key, []).append((entry, one, value))
    if measurements and not is_chosen:
        methods, datasets = sorted({one.method for one in measurements}), sorted({one.dataset for one in measurements})
        raise UsageError(
            f"no measurement matches --method {method!r} and --dataset {dataset!r}; the history has the methods "
            f"{', '.join(methods)} and the datasets {', '.join(datasets)}"
        )
    series = []
    for group in groups.values():
        points = tuple(
            Point(entry.commit, entry.commit_time or entry.added, value, entry.calibration)
            for entry, _, value in group
            if value > 0.0 or measure not in _COSTS
        )
        entry, one, _ = group[-1]
        identity = (entry.suite, entry.profile, entry.source, one.method, one.dataset, one.size, measure)
        series.append(Series(*identity, entry.machine, points, n_zero=len(group) - len(points)))
    return series
