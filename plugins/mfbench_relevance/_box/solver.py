"""What FVM and P-SVM share: FVM has no bound on the weights, P-SVM has one.

From a feature kernel to their weights, the solver determines the bound, the penalty, and a solution per target.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mfbench_relevance._box.cross_validation import Curve, cross_validate
from mfbench_relevance._box.descent import optimality_gap, path, solve_box
from mfbench_relevance._selector import AT_LEAST_ONE, SparseSelector, selected_weights, single
from mfbench_relevance._task import Task
from mfbench_relevance.kernels import Kernel, Null

SMALLEST_PENALTY = 0.004  # in bits; below the level of chance
SMALLEST_RATIO = 1e-3
BOUND_RATIO = 0.2
# Weights become zero or nonzero long before their last digits settle, so cross-validation can stop early.
PATH_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class BoxSolution:
    """The minimisers for every target, and the penalty and the bound in use.

    Attributes
    ----------
    choices : (ndarray of shape (n_targets, n_features), the same)
        Without and with the rule of one standard error, which differ only if cross-validation chose the penalty.
    weights : ndarray of shape (n_targets, n_features)
        The one in use.
    epsilon, bound : float
    penalties : ndarray of shape (n_penalties,) or None
        Values of 2 epsilon that cross-validation tried.
    losses : ndarray of shape (n_folds, n_penalties) or None
        Their held-out losses.
    gap : float
        Largest violation of the optimality conditions.
    n_iter : int
        Passes over all features.
    """

    choices: tuple[NDArray[np.float64], NDArray[np.float64]]
    weights: NDArray[np.float64]
    epsilon: float
    bound: float
    penalties: NDArray[np.float64] | None
    losses: NDArray[np.float64] | None
    gap: float
    n_iter: int


@dataclass(frozen=True, kw_only=True)
class BoxSolver:
    """Solve the box-constrained problem with an l1 penalty.

    Attributes
    ----------
    epsilon : float or None
        Half the penalty of FVM; None to tune it.
    bound : float or None
        Largest absolute value of a weight; None is a fifth of the largest |k_i| / K_ii.
    tuning, one_standard_error, n_folds, n_penalties, max_iter, tol
        As in `FVM`.
    """

    epsilon: float | None
    bound: float | None
    tuning: str
    one_standard_error: bool
    n_folds: int
    n_penalties: int
    max_iter: int
    tol: float

    @property
    def uses_null(self) -> bool:
        """Whether the penalty is set by permuted responses."""
        return self.epsilon is None and self.tuning == "null"

    def settings(self, kernel: Kernel) -> dict[str, Any]:
        """Return how the penalty is tuned."""
        return {"tuning": self.tuning}

    def solve(self, task: Task, kernel: Kernel, null: Null | None, random_state: Any) -> BoxSolution:
        """Return the solution, after tuning the penalty if it is not set."""
        bound = largest_weight(kernel) if self.bound is None else float(self.bound)
        penalties = losses = None
        if self.epsilon is not None:
            epsilons = (float(self.epsilon),) * 2
        elif self.tuning == "null":
            assert null is not None
            # Constant features depend on nothing, and would lower the quantile.
            varies = (kernel.diagonal > 0).astype(np.float64)
            epsilons = (task.null_level(null, varies),) * 2
        else:
            grid = self._grid(task, kernel)
            penalties = 2 * grid
            curve = self._cross_validate(task, grid, bound, check_random_state(random_state))
            losses = curve.losses
            epsilons = float(grid[curve.best(False)]), float(grid[curve.best(True)])
        # The folds take much longer than another penalty on their result.
        solved = {epsilon: self._minimise(kernel, epsilon, bound) for epsilon in epsilons}
        epsilon = epsilons[self.one_standard_error]
        weights, n_iter = solved[epsilon]
        gaps = [
            optimality_gap(kernel.features, k, epsilon, bound, w) for k, w in zip(kernel.cross, weights, strict=True)
        ]
        return BoxSolution(
            choices=(solved[epsilons[0]][0], solved[epsilons[1]][0]),
            weights=weights,
            epsilon=epsilon,
            bound=bound,
            penalties=penalties,
            losses=losses,
            gap=max(gaps),
            n_iter=n_iter,
        )

    def _minimise(self, kernel: Kernel, epsilon: float, bound: float) -> tuple[NDArray[np.float64], int]:
        """Return the weights for every target, and the largest number of passes."""
        solved = [
            solve_box(kernel.features, k, epsilon, bound, tol=self.tol, max_iter=self.max_iter) for k in kernel.cross
        ]
        return np.array([w for w, _ in solved]), max(1, *(count for _, count in solved))

    def _grid(self, task: Task, kernel: Kernel) -> NDArray[np.float64]:
        """Return values of epsilon in equal ratios, from the smallest that selects nothing downwards."""
        largest = 2 * float(np.abs(kernel.cross).max(initial=0.0))
        if largest == 0.0:
            return np.zeros(1)
        smallest = min(SMALLEST_PENALTY, largest / 10) if task.informative else SMALLEST_RATIO * largest
        return np.geomspace(largest, smallest, self.n_penalties) / 2

    def _cross_validate(
        self, task: Task, epsilons: NDArray[np.float64], bound: float, random: np.random.RandomState
    ) -> Curve:
        seed = random.randint(np.iinfo(np.int32).max)

        def kernel_of_rows(rows: NDArray[np.intp]) -> Kernel:
            return task.compare(np.random.RandomState(seed), rows)[0]

        def paths(part: Kernel) -> NDArray[np.float64]:
            # A linear kernel is a sum over rows, the others do not grow with them.
            scale = part.n_samples / len(task.X) if task.kernel == "linear" else 1.0
            tol = max(self.tol, PATH_TOLERANCE)
            return np.array(
                [path(part.features, k, scale * epsilons, bound, tol=tol, max_iter=self.max_iter) for k in part.cross]
            )

        return cross_validate(task, self.tuning, self.n_folds, random, kernel_of_rows, paths)


def largest_weight(kernel: Kernel) -> float:
    """Return P-SVM's default bound: a fifth of the largest weight that a feature would have on its own."""
    diagonal = kernel.diagonal
    usable = diagonal > 0
    largest = float((np.abs(kernel.cross[:, usable]) / diagonal[usable]).max(initial=0.0))
    return BOUND_RATIO * largest if largest > 0 else np.inf


class BoxSelector(SparseSelector):
    """Base class of FVM and P-SVM."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseSelector._parameter_constraints,
        "tuning": [StrOptions({"refit", "kernel", "null"})],
        "one_standard_error": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_penalties": [AT_LEAST_ONE],
    }

    tuning: str
    one_standard_error: bool
    n_folds: int
    n_penalties: int

    def _fit_box(self, X: Any, y: Any, *, epsilon: float | None, bound: float | None) -> None:
        """Fit with a penalty and a bound, where None leaves the choice to the solver; set the fitted attributes."""
        solver = BoxSolver(
            epsilon=epsilon,
            bound=bound,
            tuning=self.tuning,
            one_standard_error=self.one_standard_error,
            n_folds=self.n_folds,
            n_penalties=self.n_penalties,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        solution = self._fit_with(X, y, solver)
        self.dual_ = single(solution.weights)
        self.epsilon_, self.bound_ = solution.epsilon, solution.bound
        self.penalties_, self.cv_loss_ = solution.penalties, solution.losses
        self.optimality_gap_ = solution.gap
        self.n_iter_ = solution.n_iter

    def _keep(self, task: Task, kernel: Kernel, solution: Any) -> None:
        self._sizes = [np.abs(selected_weights(task, kernel, weights)) for weights in solution.choices]

    def weights_at(self, one_standard_error: bool) -> NDArray[np.float64]:
        """Return the importances that a fit with another `one_standard_error` would have, from the same folds.

        Parameters
        ----------
        one_standard_error : bool
            As the parameter of this name. It matters only if the penalty was chosen by cross-validation.

        Returns
        -------
        ndarray of shape (n_features,)
            Importances.
        """
        check_is_fitted(self)
        return self._sizes[bool(one_standard_error)].copy()
