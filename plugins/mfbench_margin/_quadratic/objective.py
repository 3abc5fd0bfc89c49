"""The objective of IMMIGRATE: its value and slope at W, and its values on the way from one W to another.

C*(W) = Σ_i w_i (softmin over hits of q - softmin over misses of q), q = |x - x'|^T W |x - x'|; its slope is the scatter
matrix. Distances of all pairs are kept if they fit in memory, and computed again wherever they are needed if not.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from mfbench_margin._quadratic.cones import pruned
from mfbench_margin._quadratic.layout import NOT_STORED, Form, Matrix, TrainingPairs, lay_out
from mfbench_margin._quadratic.pairs import scatter_matrix, softmins


class Point:
    """A W with the value of the objective there, which is computed when it is first asked for.

    Parameters
    ----------
    objective : Objective
    W : ndarray of shape (p, p)
    form : Form
        W laid out for the kernels.
    stored, other : ndarray
        Distances of all pairs at the ends of a line, or `NOT_STORED`.
    step : float
        Where on this line W is.

    Attributes
    ----------
    stored : ndarray
        Distances of all pairs under W; `NOT_STORED` for a point inside a line.
    blends : int
        How often these were made of others since they were computed from data.
    """

    def __init__(
        self, objective: Objective, W: Matrix, form: Form, stored: Matrix, other: Matrix = NOT_STORED, step: float = 0.0
    ) -> None:
        self.W, self.form, self.stored, self.blends = W, form, stored if step == 0.0 else NOT_STORED, 0
        self._objective, self._ends, self._step = objective, (stored, stored if step == 0.0 else other), step

    @cached_property
    def soft(self) -> Matrix:
        """The soft minimum over the hits and over the misses of each sample, shape (2, n)."""
        own = self._objective
        return softmins(own.pairs, self.form, *self._ends, self._step, own.sigma, own.n_threads)

    @cached_property
    def value(self) -> float:
        """The objective."""
        weights = self._objective.weights
        counted = weights > 0
        return float(weights[counted] @ (self.soft[0, counted] - self.soft[1, counted]))

    def with_distances(self, stored: Matrix, blends: int = 0) -> Point:
        """Return this point with the distances of all pairs."""
        other = copy(self)
        other.stored, other._ends, other._step, other.blends = stored, (stored, stored), 0.0, blends
        return other


class Objective:
    """C* for one sigma and one set of sample weights.

    Parameters
    ----------
    pairs : TrainingPairs
    sigma : float
    weights : ndarray of shape (n,)
        Weight of each sample as a target, in the original order; 0 for one without a hit.

    Attributes
    ----------
    unit : float
        Changes of the objective are small or large in comparison with its absolute value or this, the larger of both:
        1, or the sum of the weights if that is smaller.
    """

    def __init__(self, pairs: TrainingPairs, sigma: float, weights: Matrix, n_threads: int = 1) -> None:
        self.pairs, self.n_threads = pairs, n_threads
        self.sigma = sigma
        self.weights = weights[pairs.order]
        self.unit = min(1.0, float(self.weights.sum()))
        self.most_blends = pairs.most_blends(sigma)

    def at(self, W: Matrix, components: Matrix | None = None, stored: Matrix | None = None) -> Point:
        """Return the point of W.

        Parameters
        ----------
        W : ndarray of shape (p, p)
            Symmetric.
        components : ndarray of shape (r, p) or None, default=None
            Rows with W = components^T components, if available.
        stored : ndarray or None, default=None
            Distances of all pairs under W, if available.
        """
        form = lay_out(W, self.pairs.width, components)
        return Point(self, W, form, self.distances(form) if stored is None else stored)

    def distances(self, form: Form) -> Matrix:
        """Return the distances of all pairs under W, or `NOT_STORED`."""
        return self.pairs.distances(form, self.n_threads)

    def slope(self, point: Point) -> Matrix:
        """Return the scatter matrix Σ at a point: hits minus misses."""
        pairs = self.pairs
        # The kernel drops pairs of negligible weight by a fixed bound, so the largest sample weight must be about 1.
        largest = float(self.weights.max())
        weights = self.weights / largest
        return largest * scatter_matrix(
            pairs, point.form, point.stored, self.sigma, point.soft, weights, self.n_threads
        )

    def final(self, point: Point, threshold: float | None = None) -> Point:
        """Return the point whose W has norm 1 and no weight on constant features, pruned if there is a threshold."""
        varies = self.pairs.varies
        W = np.where(varies[:, None] & varies, point.W, 0.0)
        norm = float(np.linalg.norm(W))
        W = W / norm
        if threshold is not None:
            return self.at(pruned(W, threshold))
        # Distances are linear in W, so they need only be scaled.
        stored = point.stored if norm == 1.0 else point.stored / norm
        return self.at(W, stored=stored if len(stored) else None)

    def line(self, start: Point, V: Matrix, components: Matrix | None) -> Line:
        """Return the points from `start` towards V."""
        return Line(self, start, V, components)


class Line:
    """Points W + step (V - W). Distances are linear in W: those of both ends give all others."""

    def __init__(self, objective: Objective, start: Point, V: Matrix, components: Matrix | None) -> None:
        self.objective, self.start, self.V = objective, start, V
        self.form = lay_out(V, objective.pairs.width, components)
        self.stored = objective.distances(self.form)

    def at(self, step: float) -> Point:
        """Return the point at a step in (0, 1]; before the end its distances are not stored until `take`."""
        if step == 1.0:
            return Point(self.objective, self.V, self.form, self.stored)
        W = self.start.W + step * (self.V - self.start.W)
        form = lay_out(W, self.objective.pairs.width)
        return Point(self.objective, W, form, self.start.stored, self.stored, step)

    def take(self, point: Point, step: float) -> Point:
        """Return the point with its distances; the line must not be used afterwards."""
        if step == 1.0 or not self.objective.pairs.is_stored:
            return point
        _ = point.value  # from the distances at the ends, of which one is now replaced
        blends = self.start.blends + 1
        if blends > self.objective.most_blends:
            return point.with_distances(self.objective.distances(point.form))
        blend = self.stored
        blend -= self.start.stored
        blend *= step
        blend += self.start.stored
        return point.with_distances(blend, blends)
