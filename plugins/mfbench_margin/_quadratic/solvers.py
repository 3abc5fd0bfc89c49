"""The two loops that minimise IMMIGRATE's objective over a cone: the published one, and one that only descends.

Both move towards the same matrix V, the one of norm 1 in the cone that decreases the objective fastest. The published
loop jumps there. The monotone loop is Frank-Wolfe over the matrices of the cone with norm at most 1: it goes as far
towards V as the objective decreases enough, and its gap <Σ, W - V> bounds the decrease to first order in any direction:
0 at a stationary point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._quadratic.cones import Direction, best_direction, pruned

Matrix = NDArray[np.float64]

# A step is taken if the objective decreases by this part of what the slope promises (Armijo).
SUFFICIENT = 1e-4
SHORTEST_STEP = 2.0**-40


class Iterate(Protocol):
    """A matrix with the value of the objective there."""

    @property
    def W(self) -> Matrix:  # noqa: N802
        """The matrix."""

    @property
    def value(self) -> float:
        """The objective."""


Point = TypeVar("Point", bound=Iterate)


class Segment(Protocol[Point]):
    """Points on the way from one matrix to another."""

    def at(self, step: float) -> Point:
        """Return the point at a step in (0, 1]."""

    def take(self, point: Point, step: float) -> Point:
        """Return this point as the next iterate; the segment must not be used afterwards."""


class Differentiable(Protocol[Point]):
    """What the solvers need of an objective; `objective.Objective` has it.

    Attributes
    ----------
    unit : float
        Unit of `Settings.tol` where the objective is small.
    """

    unit: float

    def at(self, W: Matrix, components: Matrix | None = None, stored: Matrix | None = None) -> Point:
        """Return the point of W."""

    def slope(self, point: Point) -> Matrix:
        """Return the gradient at a point."""

    def line(self, start: Point, V: Matrix, components: Matrix | None) -> Segment[Point]:
        """Return the points from `start` towards V."""

    def final(self, point: Point, threshold: float | None = None) -> Point:
        """Return the point of the last iterate with norm 1, pruned if there is a threshold."""


@dataclass(frozen=True)
class Settings:
    """How to minimise; every default is resolved.

    Attributes
    ----------
    solver : {"monotone", "published"}
    cone : str
        See `cones`.
    max_iter : int
        Maximum number of steps.
    tol : float
        In units of max(1, |C*|).
    threshold : float or None
        Entries of W below it are pruned; None to keep all.
    package : bool
        Whether the published loop stops as the authors' R package does: when trace(Σ), first compared with 1, changes
        by at most 0.01.
    needs_gap : bool
        Whether the gap is wanted after the last of `max_iter` steps, which takes another slope.
    """

    solver: str
    cone: str
    max_iter: int
    tol: float
    threshold: float | None
    package: bool
    needs_gap: bool = True


@dataclass
class Solution(Generic[Point]):
    """Where a loop ended.

    Attributes
    ----------
    point : Point
        The last iterate.
    trace : list of float
        The objective at every iterate, the first one included.
    converged : bool
    polar : bool
        True if the loop ended because no direction of the cone has a margin.
    gap : float
        How much the slope promises in the best direction; NaN from the published loop, and if it is not needed.
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


def minimise(
    objective: Differentiable[Point],
    W: Matrix,
    settings: Settings,
    fallback: Callable[[Matrix], Matrix],
    stored: Matrix | None = None,
    rough: Differentiable[Point] | None = None,
) -> Solution[Point]:
    """Minimise an objective over the matrices of a cone.

    Parameters
    ----------
    objective : Differentiable
    W : ndarray of shape (p, p)
        The first iterate. The monotone loop requires it to be in the cone: every iterate is a mean of it and of other
        matrices of the cone.
    settings : Settings
    fallback : callable
        In the polar case, returns the final W for the slope at the last iterate.
    stored : ndarray or None, default=None
        Distances of all pairs under the first iterate, in the precision of the first step, if available.
    rough : Differentiable or None, default=None
        The objective with less precision, which all steps use but the last ones: from where it ends, at least one more
        step is allowed, and the gap is that of the objective itself.

    Returns
    -------
    Solution
        Its point is final: of norm 1, with no weight on constant features, and pruned if there is a threshold.
    """
    before: list[float] = []
    if rough is not None and settings.max_iter > 1:
        brief = replace(settings, max_iter=settings.max_iter - 1, needs_gap=False)
        first, stored = descend(rough, W, brief, stored), None
        if first.n_iter and not first.polar:
            W, before = first.point.W, first.trace[:-1]
            settings = replace(settings, max_iter=settings.max_iter - first.n_iter)
        del first  # its distances
    solution = descend(objective, W, settings, stored)
    solution.trace[:0] = before
    is_monotone = settings.solver == "monotone"
    if solution.slope is not None:
        solution.point = objective.at(fallback(solution.slope))
    else:
        solution.point = objective.final(solution.point, settings.threshold if is_monotone else None)
    return solution


def descend(objective: Differentiable[Point], W: Matrix, settings: Settings, stored: Matrix | None) -> Solution[Point]:
    """Return where the loop of the settings ends from W; the point is not final yet."""
    loop = monotone if settings.solver == "monotone" else published
    return loop(objective, objective.at(W, stored=stored), settings)


def monotone(objective: Differentiable[Point], start: Point, settings: Settings) -> Solution[Point]:
    """Descend until the gap is at most tol · max(1, |C*|); C* never increases.

    If the sample weights sum to less than 1, their sum replaces the 1, or small weights would stop the loop at once.
    """
    solution = Solution(start, [start.value])
    while settings.needs_gap or solution.n_iter < settings.max_iter:
        point = solution.point
        slope = objective.slope(point)
        towards = best_direction(-slope, settings.cone)
        if towards.polar:
            solution.converged, solution.polar, solution.gap, solution.slope = True, True, 0.0, slope
            return solution
        solution.gap = max(0.0, float((slope * (point.W - towards.W)).sum()))
        solution.converged = solution.gap <= settings.tol * max(objective.unit, abs(point.value))
        if solution.converged or solution.n_iter == settings.max_iter:
            return solution
        following = _descend(objective, point, towards, solution.gap)
        if following is None:  # rounding errors hide any further descent
            return solution
        solution.point = following
        solution.trace.append(following.value)
    solution.gap = np.nan
    return solution


def _descend(objective: Differentiable[Point], point: Point, towards: Direction, gap: float) -> Point | None:
    line = objective.line(point, towards.W, towards.components)
    step = 1.0
    while step >= SHORTEST_STEP:
        candidate = line.at(step)
        if candidate.value <= point.value - SUFFICIENT * step * gap:
            return line.take(candidate, step)
        step /= 2
    return None


def published(objective: Differentiable[Point], start: Point, settings: Settings) -> Solution[Point]:
    """Jump to V, pruned, until C* changes by at most tol · max(1, |C*|).

    If the sample weights sum to less than 1, their sum replaces the 1.
    """
    solution = Solution(start, [start.value])
    before = 1.0
    for _ in range(settings.max_iter):
        slope = objective.slope(solution.point)
        towards = best_direction(-slope, settings.cone)
        if towards.polar:
            solution.converged, solution.polar, solution.slope = True, True, slope
            return solution
        if settings.threshold is None:
            solution.point = objective.at(towards.W, towards.components)
        else:
            solution.point = objective.at(pruned(towards.W, settings.threshold))
        solution.trace.append(solution.point.value)
        if settings.package:
            cost = float(np.trace(slope))
            solution.converged, before = abs(cost - before) <= 0.01, cost
        else:
            value = solution.trace[-1]
            solution.converged = abs(value - solution.trace[-2]) <= settings.tol * max(objective.unit, abs(value))
        if solution.converged:
            break
    return solution
