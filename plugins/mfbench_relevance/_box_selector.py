"""What FVM and P-SVM share: one solver, FVM without a bound on the weights, P-SVM with one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_relevance._box.solver import BoxSolver
from mfbench_relevance._selector import AT_LEAST_ONE, SparseSelector, single


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
