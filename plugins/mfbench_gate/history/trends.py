"""Trends: the changes in a series, the commits around each, and evidence that the machine is the cause."""

from __future__ import annotations

import glob
import math
import platform
import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import median_filter
from threadpoolctl import threadpool_limits

from mfbench.errors import UnknownNameError, UsageError
from mfbench.model.evaluation import Score
from mfbench.run.environment import available_cpus, cpu_model
from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.history.storage import Calibration, HistoryEntry, Machine, Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    date: str  # commit time or, if unknown, the time of addition
    value: float
    calibration: Calibration | None


@dataclass(frozen=True)
class Series:
    """The values of one measure in commit order."""

    suite: str  # suite, profile, source: as in `HistoryEntry`; the source is the last run's
    profile: str
    source: str
    method: str
    dataset: str
    size: str
    measure: str  # "time" (CPU seconds to fit and to predict), "fit", "predict", "wall", "memory", or a metric
    machine: Machine
    points: tuple[Point, ...]
    score: Score | None = None  # what the values mean if they are scores
    n_zero: int = 0  # number of runs dropped because their time or memory is zero, below what the system can measure

    @property
    def is_score(self) -> bool:
        """Whether the values are scores; otherwise they are compared as ratios."""
        return self.measure not in _COSTS

    @property
    def is_time(self) -> bool:
        """Whether the values are seconds, which depend on the machine's speed."""
        return not self.is_score and self.measure != MEMORY

    @property
    def greater_is_better(self) -> bool:
        """Whether an increase is an improvement."""
        return self.score is not None and self.score.greater_is_better

    @property
    def name(self) -> str:
        """Method, dataset and size, as one word."""
        return MeasuredCase(self.method, self.dataset, self.size).name


def select_series(
    entries: Iterable[HistoryEntry], measure: str = TIME, method: str = "*", dataset: str = "*"
) -> list[Series]:
    """Return the series of a history."""
    entries = list(entries)
    measurements = [one for entry in entries for one in entry.measurements]
    names = {*_COSTS, *(metric for one in measurements for metric in one.scores)}
    if measure not in names:
        raise UnknownNameError("measure", measure, names, owner="this history")
    is_chosen = False
    groups: dict[tuple[str, ...], list[tuple[HistoryEntry, Measurement, float]]] = {}
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
        score = entry.scores.get(measure)
        series.append(Series(*identity, entry.machine, points, score, n_zero=len(group) - len(points)))
    return series


SHORTEST = 3
"""Minimum number of values between two changes."""
FACTOR = 2.5
LEAST_COUNT = 50
CLIP = 2.0
WINDOW = 7
LARGEST_CORRELATION = 0.5
LEAST_FOR_CORRELATION = 10
# Upper quartile of the absolute difference of two standard normal values.
_QUARTILE = 1.1503493803760079 * np.sqrt(2.0)


def noise(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of a series around its changing level."""
    differences = np.diff(values)
    quartile = float(np.quantile(np.abs(differences), 0.75) / _QUARTILE)
    # Memory often alternates between few values, so that most differences, and their quartile, are zero.
    return max(quartile, float(np.sqrt(_mean_square(differences, 0.15) / 2.0)))


def correlation(values: NDArray[np.float64]) -> float:
    """Return the lag-1 autocorrelation, clipped to [0, `LARGEST_CORRELATION`]; 0 for fewer than 10 values."""
    if len(values) < LEAST_FOR_CORRELATION:
        return 0.0
    neighbours, next_ones = (_mean_square(values[lag:] - values[:-lag]) for lag in (1, 2))
    ratio = next_ones / neighbours if neighbours > 0.0 else 1.0
    return float(np.clip(ratio - 1.0, 0.0, LARGEST_CORRELATION))


def _mean_square(differences: NDArray[np.float64], largest: float = 0.1) -> float:
    """Return the winsorised mean square: the largest values, which may be level changes, are capped."""
    squares = differences**2
    return float(np.minimum(squares, np.quantile(squares, 1.0 - largest)).mean())


def penalty(n_values: int, deviation: float, related: float = 0.0, factor: float = FACTOR) -> float:
    """Return how much a change must reduce the squared residuals."""
    inflation = (1.0 + related) / (1.0 - related) ** 2
    return float(factor * deviation**2 * inflation * np.log(max(n_values, LEAST_COUNT)))


def change_points(values: NDArray[np.float64], resolution: float, factor: float = FACTOR) -> list[int]:
    """Return the positions at which new levels start."""
    if len(values) < 2 * SHORTEST:
        return []
    deviation = max(noise(values), resolution)
    # Mirroring at the ends makes the last run as robust to disturbances as any other.
    level = median_filter(values, WINDOW, mode="reflect")
    clipped = np.clip(values, level - CLIP * deviation, level + CLIP * deviation)
    # Scale by the noise: otherwise sums of squares of large values lose small changes to rounding.
    scaled = (clipped - np.median(clipped)) / deviation
    return _segment_starts(scaled, penalty(len(values), 1.0, correlation(scaled), factor))


def _segment_starts(values: NDArray[np.float64], cost: float) -> list[int]:
    """Return the starts of all segments but the first that minimise squared residuals plus a cost per change."""
    n = len(values)
    least = np.full(n + 1, np.inf)  # minimum cost of the first k values
    least[0] = -cost
    last_start = np.zeros(n + 1, dtype=int)
    means, residuals = np.zeros(n), np.zeros(n)  # for the segments from each start to the current value
    for end in range(1, n + 1):
        difference = values[end - 1] - means[:end]
        means[:end] += difference / np.arange(end, 0, -1)
        residuals[:end] += difference * (values[end - 1] - means[:end])
        if end >= SHORTEST:
            totals = least[: end - SHORTEST + 1] + residuals[: end - SHORTEST + 1] + cost
            last_start[end] = totals.argmin()
            least[end] = totals[last_start[end]]
    starts, start = [], int(last_start[n])
    while start > 0:
        starts.append(start)
        start = int(last_start[start])
    return starts[::-1]


RESOLUTIONS = {MEMORY: 0.001}
TIME_RESOLUTION = 0.005
SCORE_RESOLUTION = 1e-6
"""Assumed minimum noise: 0.5 % of a time and 0.1 % of memory; equal predictions have equal scores."""
BEYOND_REACH = 1000.0
"""A ratio that no cost exceeds."""
NEAREST = 5
"""Number of runs on each side of a change whose kernels are compared; farther away the machine may have changed."""
SHARE = 0.5
"""Share of a change that the kernels must also show for the machine to be the likelier cause."""


@dataclass(frozen=True)
class LevelChange:
    """A level change in a series."""

    position: int  # index of the first point of the new level
    before: float  # before, after: medians of the two levels
    after: float
    size: float  # relative change of time or memory (0.1 for 10 % more); difference of scores
    is_worse: bool
    last_before: Point  # last_before, first_after: the runs whose commits enclose the change
    first_after: Point
    # Relative change of the calibration kernels between the neighbouring runs; None if not measured.
    kernels: float | None
    machine_is_likelier: bool  # whether the kernels changed by at least half as much in the same direction

    @property
    def is_within_commit(self) -> bool:
        """Whether the same commit was measured on both levels, so that no commit can be the cause."""
        return self.last_before.commit == self.first_after.commit


@dataclass(frozen=True)
class Trend:
    """A series and its changes, in order."""

    series: Series
    changes: tuple[LevelChange, ...]

    @property
    def levels(self) -> list[tuple[int, int, float]]:
        """First point, end and median of each level."""
        values = [point.value for point in self.series.points]
        bounds = [0, *(change.position for change in self.changes), len(values)]
        return [(start, end, float(np.median(values[start:end]))) for start, end in pairwise(bounds) if end > start]


def trend_of(series: Series) -> Trend:
    """Return a series with its changes."""
    values = np.array([point.value for point in series.points], dtype=float)
    resolution = SCORE_RESOLUTION if series.is_score else RESOLUTIONS.get(series.measure, TIME_RESOLUTION)
    positions = change_points(values if series.is_score else np.log(values), resolution)
    bounds = [0, *positions, len(values)]
    return Trend(series, tuple(_change(series, *bounds[k : k + 3]) for k in range(len(positions))))


def _change(series: Series, start: int, position: int, end: int) -> LevelChange:
    left, right = series.points[start:position], series.points[position:end]
    before, after = (float(np.median([point.value for point in level])) for level in (left, right))
    size = after - before if series.is_score else after / before - 1.0
    kernels = _kernels(left[-NEAREST:], right[:NEAREST]) if series.is_time else None
    follows = kernels is not None and size != 0.0 and np.log1p(kernels) / np.log1p(size) >= SHARE
    is_worse = size < 0.0 if series.greater_is_better else size > 0.0
    return LevelChange(position, before, after, size, is_worse, left[-1], right[0], kernels, bool(follows))


def _kernels(left: Iterable[Point], right: Iterable[Point]) -> float | None:
    """Return the median relative change of the kernels; at least two of the three must agree to move the median."""
    levels = [[p.calibration.kernels for p in level if p.calibration is not None] for level in (left, right)]
    if not all(levels):
        return None
    before, after = (np.log(np.median(level, axis=0)) for level in levels)
    return float(np.expm1(np.median(after - before)))


def bisect_command(series: Series, change: LevelChange) -> str | None:
    """Return the command that finds the commit of a regression."""
    # Git treats every exit code from 1 to 127 as "bad", except 125 ("cannot be tested"), so all codes but a
    # regression's are mapped to 125.
    if not change.is_worse or change.is_within_commit:
        return None
    # The limit is halfway to the new level, and unreachable for all other costs.
    limits: dict[str, float] = {TIME: BEYOND_REACH, MEMORY: BEYOND_REACH}
    if series.is_score:
        limits[series.measure] = abs(change.size) / 2.0
    else:
        limits[TIME if series.is_time else MEMORY] = (1.0 + change.size) ** 0.5
    good, bad = change.last_before.commit, change.first_after.commit
    words = ["mfbench", "gate", f"git:{good}", "git:HEAD", series.source, "--profile", series.profile]
    words += ["--only", glob.escape(series.method), "--only", glob.escape(series.dataset)]
    words += ["--limit", ",".join(f"{name}={value:.4g}" for name, value in limits.items()), "--undecided", "ok"]
    if series.measure == WALL:
        words += ["--clock", "wall"]
    script = f"{shlex.join(words)}; code=$?; case $code in 0|4) exit $code;; *) exit 125;; esac"
    return f"git bisect start {bad} {good} && git bisect run sh -c {shlex.quote(script)}"


REPEATS = 7
# Each kernel takes about 20 to 60 ms on a processor of 2020.
MATRIX, PRODUCTS = 384, 8
SWEPT_BYTES = 64 * 2**20
LOOPS = 400_000


def this_machine() -> Machine:
    """Return the kind of machine that this process runs on."""
    return Machine(cpu_model(), available_cpus(), platform.platform().partition("-")[0])


def calibrate() -> Calibration:
    """Measure the kernels on one thread."""
    # Takes less than two seconds and 64 MB.
    left = np.random.default_rng(0).normal(size=(MATRIX, MATRIX))
    swept = np.ones(SWEPT_BYTES // 8)

    def gemm() -> None:
        for _ in range(PRODUCTS):
            left @ left

    def sweep() -> None:
        np.add(swept, 1.0, out=swept)

    with threadpool_limits(limits=1):
        return Calibration(gemm=_shortest(gemm), memory=_shortest(sweep), python=_shortest(_loop))


def _loop() -> None:
    total = 0
    for number in range(LOOPS):
        total += number & 7


def _shortest(kernel: Callable[[], None]) -> float:
    kernel()  # the first call also loads code and maps memory
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        kernel()
        times.append(time.process_time() - begin)
    return min(times)
