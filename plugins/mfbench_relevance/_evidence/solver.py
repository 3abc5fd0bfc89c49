"""From a feature kernel to RFVM's weights: the noise variance, the algorithm, and one problem per target."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mfbench_relevance._evidence.ascent import empty, fixed_point, sequential
from mfbench_relevance._evidence.posterior import NOISE_FLOOR, GramProblem, Problem, RowProblem, Solution
from mfbench_relevance._task import Task
from mfbench_relevance.kernels import Kernel, Null, RowKernel

MANY_FEATURES = 500
# A difference of the evidence of more than this part of it is not rounding.
EXACT = 1e-6


@dataclass(frozen=True)
class EvidenceSolution:
    """The maximum of the evidence for every target.

    Attributes
    ----------
    targets : list of Solution
        One per target.
    """

    targets: list[Solution]

    @property
    def weights(self) -> NDArray[np.float64]:
        """Mean weights, shape (n_targets, n_features)."""
        return np.array([solution.mean for solution in self.targets])


@dataclass(frozen=True, kw_only=True)
class EvidenceSolver:
    """Maximise the evidence over the precision of every feature.

    Attributes
    ----------
    noise : {"learned", "calibrated"} or float
        Noise variance: learned, fixed at the quantile of the null, or fixed at a number.
    n_eff, algorithm, initial_beta, initial_noise, max_iter, tol
        As in `RFVM`.
    """

    noise: str | float
    n_eff: float | None
    algorithm: str
    initial_beta: float
    initial_noise: float | None
    max_iter: int
    tol: float

    @property
    def uses_null(self) -> bool:
        """Whether the noise is calibrated by permuted responses."""
        return self.noise == "calibrated"

    def settings(self, kernel: Kernel) -> dict[str, Any]:
        """Return the noise setting and the algorithm in use."""
        return {"noise": self.noise, "algorithm": self._algorithm(kernel)}

    def solve(self, task: Task, kernel: Kernel, null: Null | None, random_state: Any) -> EvidenceSolution:
        """Return the solution for every target."""
        fixed_noise = self._fixed_noise(task, kernel, null)
        solutions = [
            self._maximise(self._problem(kernel, target, fixed_noise), self._algorithm(kernel))
            for target in range(len(kernel.target))
        ]
        message = self._trouble(solutions)
        if message:
            warnings.warn(message, ConvergenceWarning, stacklevel=5)
        return EvidenceSolution(solutions)

    def _trouble(self, solutions: list[Solution]) -> str | None:
        """Return what to warn of: a solution that is not stationary, or else one whose evidence fell on the way."""
        for solution in solutions:
            if not solution.converged:
                left = (
                    f"another feature would raise the log evidence by {solution.gain:.3g}"
                    if solution.gain
                    else "the logarithm of a precision or of the noise variance changes by "
                    f"{solution.change:.3g} per iteration (tol={self.tol:.3g})"
                )
                return f"RFVM did not converge in max_iter={self.max_iter} iterations: {left}; increase max_iter or tol"
        for solution in solutions:
            if solution.fall > EXACT * max(1.0, abs(solution.trace[-1])):
                return (
                    f"RFVM: the log evidence fell by {solution.fall:.3g} in one of {solution.n_iter} iterations; no "
                    "theorem excludes this, but compare the result with algorithm='both'"
                )
        return None

    def _algorithm(self, kernel: Kernel) -> str:
        if self.algorithm != "auto":
            return self.algorithm
        if kernel.n_features <= MANY_FEATURES:
            return "fixed-point"
        # From rows, the fixed-point iteration on all features takes seconds; from their kernel, hours.
        return "both" if isinstance(kernel, RowKernel) else "sequential"

    def _fixed_noise(self, task: Task, kernel: Kernel, null: Null | None) -> float | None:
        """Return the noise variance if it is fixed, or None if it is learned.

        With calibrated noise, the rule that keeps feature i, k_i > sqrt(s² K_ii), compares it with the null's quantile.
        """
        if self.noise == "learned":
            return None
        if self.noise != "calibrated":
            return float(self.noise)
        assert null is not None
        unit = np.sqrt(np.maximum(kernel.diagonal, 0.0))
        return task.null_level(null, unit) ** 2

    def _problem(self, kernel: Kernel, target: int, fixed_noise: float | None) -> Problem:
        k, kyy = kernel.cross[target], float(kernel.target[target])
        start = kyy / 100 if self.initial_noise is None else self.initial_noise
        common = {
            "k": k,
            "kyy": kyy,
            "n": float(kernel.n_samples if self.n_eff is None else self.n_eff),
            "noise": start if fixed_noise is None else max(fixed_noise, NOISE_FLOOR * kyy),
            "learn_noise": fixed_noise is None,
        }
        if isinstance(kernel, RowKernel):
            return RowProblem(**common, Z=kernel.rows[: kernel.n_features].T, t=kernel.rows[kernel.n_features + target])
        return GramProblem(**common, K=kernel.features)

    def _maximise(self, problem: Problem, algorithm: str) -> Solution:
        if problem.kyy <= 0:
            return replace(empty(problem), noise=0.0, trace=[0.0], converged=True)
        solution, *others = self._maxima(problem, algorithm)
        for other in others:
            if other.trace[-1] > solution.trace[-1] + EXACT * abs(solution.trace[-1]):
                solution = other
        return solution

    def _maxima(self, problem: Problem, algorithm: str) -> Iterator[Solution]:
        """Yield the local maxima of the evidence that the algorithm reaches."""
        if algorithm != "fixed-point":
            yield sequential(problem, empty(problem), self.max_iter, self.tol)
        if algorithm != "sequential":
            beta = np.full(len(problem.k), float(self.initial_beta))
            solution = fixed_point(problem, beta, self.max_iter, self.tol)
            yield sequential(problem, solution, self.max_iter, self.tol) if algorithm == "both" else solution
