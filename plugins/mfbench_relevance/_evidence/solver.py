"""From a feature kernel to RFVM's weights: the noise variance, the algorithm, and one problem per target."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mfbench_relevance._evidence.fixed_point import fixed_point
from mfbench_relevance._evidence.posterior import NOISE_FLOOR, Problem, Solution
from mfbench_relevance._evidence.sequential import sequential
from mfbench_relevance._task import Task
from mfbench_relevance.kernels import FeatureKernel, Null

MANY_FEATURES = 500
# A fall of the evidence by more than this part of it is worth a warning.
LARGEST_FALL = 1e-8


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

    def settings(self, n_features: int) -> dict[str, Any]:
        """Return the noise setting and the algorithm in use."""
        return {"noise": self.noise, "algorithm": self._algorithm(n_features)}

    def solve(self, task: Task, kernel: FeatureKernel, null: Null | None, random_state: Any) -> EvidenceSolution:
        """Return the solution for every target."""
        fixed_noise = self._fixed_noise(task, kernel, null)
        return EvidenceSolution(
            [
                self._solve_target(kernel, k, float(kyy), fixed_noise)
                for k, kyy in zip(kernel.cross, kernel.target, strict=True)
            ]
        )

    def _algorithm(self, n_features: int) -> str:
        if self.algorithm != "auto":
            return self.algorithm
        return "sequential" if n_features > MANY_FEATURES else "fixed-point"

    def _fixed_noise(self, task: Task, kernel: FeatureKernel, null: Null | None) -> float | None:
        """Return the noise variance if it is fixed, or None if it is learned.

        With calibrated noise, the rule that keeps feature i, k_i > sqrt(s² K_ii), compares it with the null's quantile.
        """
        if self.noise == "learned":
            return None
        if self.noise != "calibrated":
            return float(self.noise)
        assert null is not None
        unit = np.sqrt(np.maximum(np.diagonal(kernel.features), 0.0))
        return task.null_level(null, unit) ** 2

    def _solve_target(
        self, kernel: FeatureKernel, k: NDArray[np.float64], kyy: float, fixed_noise: float | None
    ) -> Solution:
        m = kernel.n_features
        if kyy <= 0:
            return Solution(np.zeros(m), np.full(m, np.inf), 0.0, [0.0], 0, True)
        start = kyy / 100 if self.initial_noise is None else self.initial_noise
        problem = Problem(
            K=kernel.features,
            k=k,
            kyy=kyy,
            n=float(kernel.n_samples if self.n_eff is None else self.n_eff),
            noise=start if fixed_noise is None else max(fixed_noise, NOISE_FLOOR * kyy),
            learn_noise=fixed_noise is None,
        )
        if self._algorithm(m) == "sequential":
            solution = sequential(problem, self.max_iter, self.tol)
        else:
            solution = fixed_point(problem, np.full(m, float(self.initial_beta)), self.max_iter, self.tol)
        if solution.fall > LARGEST_FALL * max(1.0, abs(solution.trace[-1])):
            warnings.warn(
                f"the evidence fell by {solution.fall:.3g} in one of {solution.n_iter} iterations; no theorem excludes "
                "this, but compare the result with algorithm='sequential'",
                ConvergenceWarning,
                stacklevel=4,
            )
        return solution
