"""The base class of the estimators: checked data, solver, and the nearest-neighbour classifier under the weights."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from mfbench_learners.estimators import ImportanceSelectorMixin, ProbabilityClassifier, class_codes
from mfbench_sqpfw._active_set.problem import Floats, Ints, Problem, prepare
from mfbench_sqpfw._active_set.solver import Solution, Solver

# With working_set="auto": up to this many samples all members are watched, above it this many of each row.
_FULL = 64
_WATCHED = 20


class WeightedNeighbours(ImportanceSelectorMixin, ProbabilityClassifier):
    """Base class: k nearest neighbours under feature weights; `transform` keeps the features of positive weight."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "w_bar": ["array-like", None],
        "working_set": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "small_classes": [StrOptions({"skip", "error"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    weights_: Floats

    def __init__(
        self, w_bar: Any, working_set: Any, max_iter: int | None, tol: float, small_classes: str, random_state: Any
    ) -> None:
        self.w_bar = w_bar
        self.working_set = working_set
        self.max_iter = max_iter
        self.tol = tol
        self.small_classes = small_classes
        self.random_state = random_state

    def _check_data(self, X: Any, y: Any) -> tuple[Floats, Ints]:
        """Return X as float64 and y as codes; set ``classes_``."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        return X, class_codes(self, y)

    def _problem(self, X: Floats, codes: Ints, *, kappa: int, lam: int | None) -> Problem:
        watched = self.working_set
        if watched == "auto":
            watched = None if len(X) <= _FULL else _WATCHED
        return prepare(
            X,
            codes,
            kappa=int(kappa),
            lam=int(kappa if lam is None else lam),
            bar=self.w_bar,
            working_set=None if watched is None else int(watched),
            skip=self.small_classes == "skip",
        )

    def _solver(self, **limits: int) -> Solver:
        generator = check_random_state(self.random_state)
        return Solver(tolerance=float(self.tol), max_iter=self.max_iter, generator=generator, **limits)

    def _follow(self, problem: Problem, solver: Solver, *, theta_max: float) -> Solution:
        """Set the attributes of the path; return the solution at its end."""
        self.path_, solution = solver.follow(problem, theta_max=float(theta_max))
        if not self.path_.complete:
            warnings.warn(
                f"{type(self).__name__} did not reach theta = {theta_max:g}: the path ends at theta = "
                f"{self.path_.thetas[-1]:g} after {len(self.path_.events)} breakpoints, where max_iter="
                f"{self.max_iter} cut it; increase max_iter",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_iter_ = len(self.path_.events)
        return solution

    def _set_solution(self, solution: Solution, X: Floats, codes: Ints, *, n_neighbors: int) -> Self:
        """Set what all estimators report about a solution, and fit the classifier under its weights."""
        self.n_skipped_ = len(X) - len(solution.problem.targets)
        self.target_hits_, self.target_misses_ = solution.target_neighbours()
        self.active_set_ = solution.active_set()
        self.weights_ = self.feature_importances_ = solution.weights
        if not solution.weights.any():
            warnings.warn(f"{type(self).__name__}: no feature varies; all weights are 0", RuntimeWarning, stacklevel=3)
        k = min(int(n_neighbors), len(X))
        self._neighbours = KNeighborsClassifier(n_neighbors=k).fit(embed(X, solution.weights), codes)
        return self

    def _probabilities(self, X: Floats) -> Floats:
        shares: Floats = self._neighbours.predict_proba(embed(X, self.weights_))
        return shares


def embed(X: Floats, weights: Floats) -> Floats:
    """Scale the features of positive weight such that the squared Euclidean distance is the weighted distance.

    Without such a feature all rows become one point.
    """
    kept = weights > 0
    if not kept.any():
        return np.zeros((len(X), 1))
    return np.asarray(X[:, kept] * np.sqrt(weights[kept]))
