"""What FVM and P-SVM share: both are the one problem of `_box`, FVM without bound on the weights, P-SVM with one."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_relevance._box.cross_validation import Curve, cross_validate
from mfbench_relevance._box.descent import optimality_gap, path, solve_box
from mfbench_relevance._docstrings import described
from mfbench_relevance._kernel.views import INFORMATION
from mfbench_relevance._selector import AT_LEAST_ONE, KernelSelector, Task, single
from mfbench_relevance.kernels import FeatureKernel, Null, kernel_of, permuted, repaired

SMALLEST_PENALTY = 0.004  # in bits; less than chance gives
SMALLEST_PART = 1e-3

PATH_PARAMETERS = """tuning : {"refit", "kernel", "null"}, default="refit"
        How it is chosen if it is None. "refit" fits an additive model to the features selected on training rows and
        takes its squared error on held-out rows. "kernel" takes the distance of the response from the prediction in the
        kernel of the held-out rows, as the paper's words suggest; with mutual information its bias rewards every
        feature, and nearly all are selected. "null" takes the quantile of the kernel between features and permuted
        responses; no cross-validation.
    one_standard_error : bool, default=False
        Whether the largest value is taken whose loss is within one standard error of the least.
    n_folds : int, default=10
        Folds of the cross-validation.
    n_penalties : int, default=25
        Values tried, in equal ratios: from the least that selects nothing down to 0.004 bits, or to a thousandth for a
        numeric kernel.
    max_iter : int, default=10000
        Most passes over all features.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, as a part of the largest kernel of a feature and the response.
    random_state : int, RandomState or None, default=None
        Seed of permutations and folds."""

SOLUTION_ATTRIBUTES = """dual_ : ndarray of shape (n_features,), or (n_classes, n_features)
        The minimiser. `weights_` differs from it only where the kernel is corrected mutual information: there a feature
        below the null mean has weight 0.
    epsilon_, bound_ : float
        The penalty and the bound that were used.
    penalties_ : ndarray of shape (n_penalties,) or None
        Values of 2 epsilon that cross-validation tried.
    cv_loss_ : ndarray of shape (n_folds, n_penalties) or None
        Their held-out losses.
    optimality_gap_ : float
        Largest violation of the Karush-Kuhn-Tucker conditions.
    n_iter_ : int
        Passes over all features."""


def described_box(cls: type) -> type:
    """Fill the paragraphs above, and those that all selectors share, into a class's docstring."""
    if cls.__doc__ is not None:
        cls.__doc__ = cls.__doc__.replace("{path}", PATH_PARAMETERS).replace("{told}", SOLUTION_ATTRIBUTES)
    return described(cls)


class BoxSelector(KernelSelector):
    """What FVM and P-SVM share: tuning, the solver, and what is told of the solution."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelSelector._parameter_constraints,
        "tuning": [StrOptions({"refit", "kernel", "null"})],
        "one_standard_error": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_penalties": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        preset: str,
        kernel: Any,
        target: str,
        bins: int | None,
        target_bins: int | None,
        binning: str | None,
        bias: str | None,
        gamma: float | None,
        degree: int,
        coef0: float,
        quantile: float,
        n_permutations: int,
        repair: str,
        tuning: str,
        one_standard_error: bool,
        n_folds: int,
        n_penalties: int,
        max_iter: int,
        tol: float,
        random_state: Any,
    ) -> None:
        super().__init__(
            preset, kernel, target, bins, target_bins, binning, gamma, degree, coef0, quantile, n_permutations,
            random_state,
        )  # fmt: skip
        self.bias = bias
        self.repair = repair
        self.tuning = tuning
        self.one_standard_error = one_standard_error
        self.n_folds = n_folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.tol = tol

    def _fit(self, X: Any, y: Any, epsilon: float | None) -> None:
        task = self._prepare(X, y)
        kernel, null = self._kernel(task, null=epsilon is None and self.tuning == "null")
        bound = self._bound(kernel)
        self.penalties_ = self.cv_loss_ = None
        if epsilon is None:
            epsilon = self._tuned(task, kernel, null, bound)
        solved = [
            solve_box(kernel.features, k, epsilon, bound, tol=self.tol, max_iter=self.max_iter) for k in kernel.cross
        ]
        self.dual_ = single(np.array([w for w, _ in solved]))
        self.epsilon_, self.bound_ = float(epsilon), float(bound)
        self.n_iter_ = max(1, *(count for _, count in solved))
        self.optimality_gap_ = max(
            optimality_gap(kernel.features, k, epsilon, bound, w)
            for k, (w, _) in zip(kernel.cross, solved, strict=True)
        )
        self._select(task, kernel, np.array([w for w, _ in solved]))

    def _bound(self, kernel: FeatureKernel) -> float:
        """Return the largest absolute value that a weight may have."""
        return np.inf

    def _resolve(self, n_features: int) -> dict[str, Any]:
        return {**super()._resolve(n_features), "tuning": self.tuning}

    def _tuned(self, task: Task, kernel: FeatureKernel, null: Null | None, bound: float) -> float:
        """Return the half penalty that `tuning` prefers."""
        if self.tuning == "null":
            assert null is not None
            # Constant features depend on nothing, and would pull the quantile down.
            varies = (np.diagonal(kernel.features) > 0).astype(np.float64)
            return null.level(self.quantile, centred=task.bias != "none", two_sided=not task.informative, unit=varies)
        random = check_random_state(self.random_state)
        epsilons = self._grid(kernel)
        self.penalties_ = 2 * epsilons
        curve = self._curve(task, epsilons, bound, len(kernel.target), random)
        self.cv_loss_ = curve.losses
        return float(epsilons[curve.best(self.one_standard_error)])

    def _grid(self, kernel: FeatureKernel) -> NDArray[np.float64]:
        """Return half penalties from the least that selects nothing downwards, in equal ratios."""
        largest = 2 * float(np.abs(kernel.cross).max(initial=0.0))
        smallest = min(SMALLEST_PENALTY, largest / 10) if self.kernel == INFORMATION else SMALLEST_PART * largest
        if largest == 0.0:
            return np.zeros(1)
        return np.geomspace(largest, smallest, self.n_penalties) / 2

    def _curve(
        self, task: Task, epsilons: NDArray[np.float64], bound: float, n_targets: int, random: np.random.RandomState
    ) -> Curve:
        seed = random.randint(np.iinfo(np.int32).max)

        def kernel_of_rows(rows: NDArray[np.intp]) -> FeatureKernel:
            view = task.view(rows)
            null = None
            if task.bias == "null":
                null = permuted(view, self.n_permutations, np.random.RandomState(seed))
            return repaired(kernel_of(view, task.bias, null), self.repair)

        def paths(part: FeatureKernel) -> NDArray[np.float64]:
            # A linear kernel is a sum over rows, the others do not grow with them.
            scale = part.n_samples / len(task.X) if self.kernel == "linear" else 1.0
            found = [path(part.features, k, scale * epsilons, bound, **self._solver()) for k in part.cross]
            return np.array(found)

        return cross_validate(task, self.tuning, self.n_folds, random, kernel_of_rows, paths)

    def _solver(self) -> dict[str, Any]:
        # The support settles long before the last digits do.
        return {"tol": max(self.tol, 1e-6), "max_iter": self.max_iter}
