"""The two loops that minimise the objective of IMMIGRATE over a cone: the published one, and one that only descends.

Both move towards the same matrix V, the one of norm 1 in the cone that the slope likes best. The published loop jumps
there. The monotone loop is Frank-Wolfe over the matrices of the cone with norm at most 1: it goes as far towards V as
the objective falls enough, and its gap <Σ, W - V> bounds how much any direction promises: 0 at a stationary point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._quadratic.cones import Direction, best_direction
from mfbench_margin._quadratic.objective import Objective, Point

Matrix = NDArray[np.float64]
# A step is taken if the objective falls by this part of what the slope promises (Armijo).
SUFFICIENT = 1e-4
SHORTEST_STEP = 2.0**-40


@dataclass
class Solution:
    """What a loop found.

    Attributes
    ----------
    point : Point
        The last iterate; not normalised yet.
    trace : list of float
        The objective at every iterate, the first one included.
    converged : bool
    polar : bool
        True if it ended because no direction of the cone has a margin.
    gap : float
        How much the slope promises in the best direction; NaN from the published loop.
    slope : ndarray or None
        In the polar case, the slope at the last iterate.
    """

    point: Point
    trace: list[float] = field(default_factory=list)
    converged: bool = False
    polar: bool = False
    gap: float = np.nan
    slope: Matrix | None = None

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return len(self.trace) - 1


def monotone(objective: Objective, start: Point, cone: str, max_iter: int, tol: float) -> Solution:
    """Descend until the gap is at most tol · max(1, |C*|); C* never rises.

    The start must lie in the cone: every iterate is a mean of it and of other matrices of the cone. Where the sample
    weights sum to less than 1, this sum takes the place of the 1, or small weights would stop the loop at once.
    """
    floor = min(1.0, float(objective.weights.sum()))
    found = Solution(start, [start.value])
    while True:
        point = found.point
        slope = objective.slope(point)
        towards = best_direction(-slope, cone)
        if towards.polar:
            found.converged, found.polar, found.gap, found.slope = True, True, 0.0, slope
            return found
        found.gap = max(0.0, float((slope * (point.W - towards.W)).sum()))
        found.converged = found.gap <= tol * max(floor, abs(point.value))
        if found.converged or found.n_iter == max_iter:
            return found
        further = _descend(objective, point, towards, found.gap)
        if further is None:  # rounding errors hide any further descent
            return found
        found.point = further
        found.trace.append(further.value)


def _descend(objective: Objective, point: Point, towards: Direction, gap: float) -> Point | None:
    line = objective.line(point, towards.W, towards.components)
    step = 1.0
    while step >= SHORTEST_STEP:
        trial = line.at(step)
        if trial.value <= point.value - SUFFICIENT * step * gap:
            return line.take(trial, step)
        step /= 2
    return None


def published(
    objective: Objective,
    start: Point,
    cone: str,
    max_iter: int,
    tol: float,
    *,
    prune: Callable[[Matrix], Matrix] | None = None,
    package: bool = False,
) -> Solution:
    """Jump to V until C* changes by at most tol · max(1, |C*|).

    Of sample weights that sum to less than 1, the sum takes the place of the 1. `prune` is applied to every V. With
    `package` the loop stops as the authors' R package does: when trace(Σ), first compared with 1, changes by at most
    0.01.
    """
    floor = min(1.0, float(objective.weights.sum()))
    found = Solution(start, [start.value])
    before = 1.0
    for _ in range(max_iter):
        slope = objective.slope(found.point)
        towards = best_direction(-slope, cone)
        if towards.polar:
            found.converged, found.polar, found.slope = True, True, slope
            return found
        if prune is None:
            found.point = objective.at(towards.W, towards.components)
        else:
            found.point = objective.at(prune(towards.W))
        found.trace.append(found.point.value)
        if package:
            cost = float(np.trace(slope))
            found.converged, before = abs(cost - before) <= 0.01, cost
        else:
            found.converged = abs(found.trace[-1] - found.trace[-2]) <= tol * max(floor, abs(found.trace[-1]))
        if found.converged:
            break
    return found
