"""The objective of IMMIGRATE: its value and slope at W, and its values on the way from one W to another.

C*(W) = Σ_i w_i (softmin over hits of q - softmin over misses of q), q = |x - x'|^T W |x - x'|; its slope is the scatter
matrix. Distances of all pairs are kept if they fit in memory, and computed again wherever they are needed if not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfbench_margin._quadratic.cones import pruned
from mfbench_margin._quadratic.layout import NOT_STORED, Form, Matrix, TrainingPairs, lay_out
from mfbench_margin._quadratic.pairs import scatter_matrix, softmins


@dataclass(frozen=True)
class Point:
    """A W with the value of the objective there, and what computing the slope needs.

    Attributes
    ----------
    W : ndarray of shape (p, p)
    value : float
        The objective.
    soft : ndarray of shape (2, n)
        Soft minimum over the hits and over the misses of each sample.
    form : Form
        W laid out for the kernels.
    stored : ndarray
        Distances of all pairs, or `NOT_STORED`.
    """

    W: Matrix
    value: float
    soft: Matrix
    form: Form
    stored: Matrix


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
        if stored is None:
            stored = self.distances(form)
        return self._point(W, form, stored, stored, 0.0)

    def distances(self, form: Form) -> Matrix:
        """Return the distances of all pairs under W, or `NOT_STORED`."""
        return self.pairs.distances(form, self.n_threads)

    def _point(self, W: Matrix, form: Form, stored: Matrix, other: Matrix, step: float) -> Point:
        """Return the point of W, whose distances are stored + step (other - stored) if they are stored."""
        pairs = self.pairs
        soft = softmins(pairs, form, stored, other, step, self.sigma, self.n_threads)
        counted = self.weights > 0
        value = float(self.weights[counted] @ (soft[0, counted] - soft[1, counted]))
        return Point(W, value, soft, form, stored if step == 0.0 else NOT_STORED)

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
            return self.objective._point(self.V, self.form, self.stored, self.stored, 0.0)
        W = self.start.W + step * (self.V - self.start.W)
        form = lay_out(W, self.objective.pairs.width)
        return self.objective._point(W, form, self.start.stored, self.stored, step)

    def take(self, point: Point, step: float) -> Point:
        """Return the point with its distances; the line must not be used afterwards."""
        if step == 1.0 or not self.objective.pairs.is_stored:
            return point
        if self.stored.dtype != np.float64:
            # Each blend adds an error of rounding; the bound that allowed single precision is that of one evaluation.
            return Point(point.W, point.value, point.soft, point.form, self.objective.distances(point.form))
        blend = self.stored
        blend -= self.start.stored
        blend *= step
        blend += self.start.stored
        return Point(point.W, point.value, point.soft, point.form, blend)
