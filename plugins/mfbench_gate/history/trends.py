"""Trends: the changes of a series, the commits between which each lies, and signs that the machine is the cause."""

from __future__ import annotations

import glob
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mfbench_gate.history.changes import change_points
from mfbench_gate.history.series import MEMORY, TIME, WALL, Point, Series

RESOLUTIONS = {MEMORY: 0.001}
TIME_RESOLUTION = 0.005
SCORE_RESOLUTION = 1e-6
"""Least noise that is assumed: 0.5 % of a time and 0.1 % of memory; equal predictions have equal scores."""
BEYOND_REACH = 1000.0
"""Ratio that no cost exceeds."""
NEAREST = 5
"""Runs on each side of a change whose kernels are compared: at other times the machine may have changed too."""
SHARE = 0.5
"""Part of a change that the kernels must show too, for the machine to be the likelier cause."""


@dataclass(frozen=True)
class Change:
    """A change of the level of a series."""

    position: int  # index of the first point of the new level
    before: float  # before, after: medians of the two levels
    after: float
    size: float  # relative change of time or memory, 0.1 for 10 % more; difference of scores
    is_worse: bool
    last_before: Point  # last_before, first_after: the runs between whose commits the change lies
    first_after: Point
    # Relative change of the calibration kernels between the runs next to the change; None if they were not measured.
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
    changes: tuple[Change, ...]

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


def _change(series: Series, start: int, position: int, end: int) -> Change:
    left, right = series.points[start:position], series.points[position:end]
    before, after = (float(np.median([point.value for point in level])) for level in (left, right))
    size = after - before if series.is_score else after / before - 1.0
    kernels = _kernels(left[-NEAREST:], right[:NEAREST]) if series.is_time else None
    follows = kernels is not None and size != 0.0 and np.log1p(kernels) / np.log1p(size) >= SHARE
    is_worse = size < 0.0 if series.greater_is_better else size > 0.0
    return Change(position, before, after, size, is_worse, left[-1], right[0], kernels, bool(follows))


def _kernels(left: Iterable[Point], right: Iterable[Point]) -> float | None:
    """Return the relative change of the median kernel; two of the three must agree to move the median."""
    levels = [[p.calibration.kernels for p in level if p.calibration is not None] for level in (left, right)]
    if not all(levels):
        return None
    before, after = (np.log(np.median(level, axis=0)) for level in levels)
    return float(np.expm1(np.median(after - before)))


def bisect_command(series: Series, change: Change) -> str | None:
    """Return the command that finds the commit of a change for the worse."""
    # Git treats every exit code from 1 to 127 as "this commit is bad", except 125: "this commit cannot be tested". So
    # only the exit code of a regression may pass as it is.
    if not change.is_worse or change.is_within_commit:
        return None
    # The limit is halfway to the new level, and beyond reach for all other costs.
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
