"""What FVM and P-SVM share: one solver, FVM without a bound on the weights, P-SVM with one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mfbench_relevance._box.solver import BoxSolver
from mfbench_relevance._selector import AT_LEAST_ONE, SparseSelector, selected_weights, single
from mfbench_relevance._task import Task
from mfbench_relevance.kernels import Kernel


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
