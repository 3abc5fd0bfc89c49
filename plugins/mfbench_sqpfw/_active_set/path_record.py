"""What `Solver.follow` notes along the path: breakpoints become a `WeightPath`; stalls become leaps."""

from __future__ import annotations

import numpy as np

from mfbench_sqpfw._active_set.breakpoints import (
    END,
    RESTART,
    TIE_BREAKS,
    TIE_FORMS,
    WEIGHT_RETURNS,
    WEIGHT_VANISHES,
    Breakpoint,
)
from mfbench_sqpfw._active_set.problem import Floats, Problem
from mfbench_sqpfw.weight_path import Event, SparseRows, WeightPath

_NAMES = {
    END: "end",
    WEIGHT_VANISHES: "weight vanishes",
    WEIGHT_RETURNS: "weight returns",
    TIE_FORMS: "tie forms",
    TIE_BREAKS: "tie breaks",
    RESTART: "restart",
}
# A change of w at one theta below this is rounding.
_JUMP = 1e-9
# Weights that differ by less are stored once.
_SAME = 1e-13
# After this many breakpoints in a row without progress in theta, plus the number of features, the ties are cycling.
# Progress is at least this share of a leap.
_PATIENCE, _PROGRESS = 50, 1e-3
# Length of a leap over a stalled point, relative to theta; it doubles as long as leaping does not help.
_LEAP = 1e-7


class Pace:
    """Progress along the path: after too many breakpoints at one theta, it leaps to a slightly larger theta."""

    def __init__(self, n_features: int) -> None:
        self._patience = _PATIENCE + n_features
        self._in_vain = 0
        self._last_progress = 0.0
        self._leap = _LEAP

    @property
    def stalled(self) -> bool:
        """Whether the path must leap."""
        return self._in_vain >= self._patience

    def leap(self, theta: float, theta_max: float) -> Breakpoint:
        """Return the point after a leap, at most ``theta_max``; the next leap is twice as long."""
        point = Breakpoint(min(theta_max, theta + self._leap * max(theta, 1e-3)), RESTART, -1, -1)
        self._leap *= 2.0
        return point

    def note(self, point: Breakpoint) -> None:
        """Note that a point was reached."""
        self._in_vain += 1
        if point.theta > self._last_progress + _PROGRESS * _LEAP * max(self._last_progress, 1e-3):
            self._in_vain, self._last_progress = 0, point.theta
            if point.kind != RESTART:
                self._leap = _LEAP

    def give_up(self) -> None:
        """Leap next: nothing can be done at this theta."""
        self._in_vain = self._patience


class PathRecord:
    """Breakpoints, weights and events so far."""

    def __init__(self, problem: Problem, weights: Floats) -> None:
        self._problem = problem
        self._thetas = [0.0]
        self._stored = SparseRows(problem.n_features)
        self._store(weights)
        self._positions = [(0, 0)]
        self.events: list[Event] = []

    @property
    def theta(self) -> float:
        """The last theta."""
        return self._thetas[-1]

    @property
    def cut_short(self) -> bool:
        """Whether the last event is the limit of steps."""
        return bool(self.events) and self.events[-1].kind == "step limit"

    def add(
        self,
        point: Breakpoint,
        *,
        weights: tuple[Floats, Floats],
        objectives: tuple[float, float],
        changes: int,
        cut_short: bool,
    ) -> None:
        """Add a breakpoint with the weights and objectives before and after the sets changed."""
        before, after = weights
        problem, n_targets = self._problem, len(self._problem.targets)
        of_weight = point.kind in (WEIGHT_VANISHES, WEIGHT_RETURNS)
        of_tie = point.kind in (TIE_FORMS, TIE_BREAKS)
        row, member = int(point.first), int(point.second)
        self.events.append(
            Event(
                theta=point.theta,
                kind="step limit" if cut_short else _NAMES[point.kind],
                feature=int(problem.features[row]) if of_weight else -1,
                sample=int(problem.order[problem.targets[row % n_targets]]) if of_tie else -1,
                member=int(problem.order[member]) if of_tie else -1,
                of_hits=of_tie and row < n_targets,
                jump=bool(np.abs(after - before).max() > _JUMP),
                objective_before=float(objectives[0]),
                objective_after=float(objectives[1]),
                changes=changes,
            )
        )
        self._thetas.append(point.theta)
        self._store(before)
        if np.abs(after - before).max() > _SAME:
            self._store(after)
        self._positions.append((self._positions[-1][1] + 1, len(self._stored) - 1))

    def path(self) -> WeightPath:
        """Return the path."""
        reached, left = np.array(self._positions, dtype=np.int64).T
        return WeightPath(np.array(self._thetas), self._stored, reached, left, self.events)

    def _store(self, weights: Floats) -> None:
        row = np.zeros(self._problem.n_features)
        row[self._problem.features] = weights
        self._stored.append(row)
