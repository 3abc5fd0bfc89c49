"""What scikit-learn sees of every selector of this package: parameters, support, and the fit with a solver."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from mfbench_relevance._kernel.views import KERNELS
from mfbench_relevance._task import Task, make_task
from mfbench_relevance.kernels import Kernel, Null

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
CONSTANT_RESPONSE = "the response is constant: no feature is selected"


class SolverResult(Protocol):
    """What a solver returns."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights of the features, shape (n_targets, n_features)."""


ResultT_co = TypeVar("ResultT_co", bound=SolverResult, covariant=True)


class Solver(Protocol[ResultT_co]):
    """A method that turns a feature kernel into weights; each is built from the keyword parameters of its estimator."""

    @property
    def uses_null(self) -> bool:
        """Whether `solve` needs the kernel of permuted responses."""

    def settings(self, kernel: Kernel) -> dict[str, Any]:
        """Return the settings in use, for ``settings_``."""

    def solve(self, task: Task, kernel: Kernel, null: Null | None, random_state: Any) -> ResultT_co:
        """Return the weights of the features and other properties of the solution."""


class KernelSelector(SelectorMixin, BaseEstimator):
    """Base class of selectors that see the data through a feature kernel."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "preset": [StrOptions({"paper", "calibrated"})],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "target": [StrOptions({"auto", "numbers", "classes"})],
        "bins": [AT_LEAST_ONE, None],
        "target_bins": [AT_LEAST_ONE, None],
        "binning": [StrOptions({"width", "frequency"}), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [AT_LEAST_ONE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "quantile": [Interval(Real, 0, 1, closed="both")],
        "n_permutations": [AT_LEAST_ONE],
        "random_state": ["random_state"],
    }

    support_: NDArray[np.bool_]

    def __init__(
        self,
        preset: str = "calibrated",
        kernel: Any = "mutual-information",
        target: str = "auto",
        bins: int | None = None,
        target_bins: int | None = None,
        binning: str | None = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        quantile: float = 0.99,
        n_permutations: int = 20,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.kernel = kernel
        self.target = target
        self.bins = bins
        self.target_bins = target_bins
        self.binning = binning
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.quantile = quantile
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _check_data(self, X: Any, y: Any, *, bias: str | None, repair: str) -> Task:
        """Return the checked data together with the kernel's parameters; set ``settings_``."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        task = make_task(
            X,
            y,
            preset=self.preset,
            kernel=self.kernel,
            target=self.target,
            bins=self.bins,
            target_bins=self.target_bins,
            binning=self.binning,
            bias=bias,
            repair=repair,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            quantile=self.quantile,
            n_permutations=self.n_permutations,
        )
        self.settings_ = task.settings
        return task

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class SparseSelector(KernelSelector):
    """Base class of selectors that keep the features of nonzero weight, as a solver finds them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelSelector._parameter_constraints,
        "bias": [StrOptions({"none", "miller-madow", "null"}), None],
        "repair": [StrOptions({"clip", "raise", "ignore"})],
        "max_iter": [AT_LEAST_ONE],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    bias: str | None
    repair: str
    max_iter: int
    tol: float

    def _fit_with(self, X: Any, y: Any, solver: Solver[ResultT_co]) -> ResultT_co:
        """Compute the kernel, solve, and set weights and selection; return the solution."""
        task = self._check_data(X, y, bias=self.bias, repair=self.repair)
        kernel, null = task.compare(check_random_state(self.random_state), with_null=solver.uses_null)
        self.settings_ = {**task.settings, **solver.settings(kernel)}
        self.smallest_eigenvalue_ = kernel.smallest_eigenvalue
        self.relevance_ = single(kernel.cross.copy())
        if not kernel.target.any():
            warnings.warn(CONSTANT_RESPONSE, RuntimeWarning, stacklevel=3)
        solution = solver.solve(task, kernel, null, self.random_state)
        self._set_weights(task, kernel, solution.weights)
        self._keep(task, kernel, solution)
        return solution

    def _keep(self, task: Task, kernel: Kernel, solution: Any) -> None:
        """Keep what `weights_at` needs of a solution, if the selector has this method."""

    def _set_weights(self, task: Task, kernel: Kernel, weights: NDArray[np.float64]) -> None:
        self.weights_ = selected_weights(task, kernel, weights)
        self.feature_importances_ = np.abs(self.weights_)
        self.support_ = self.weights_ != 0


def selected_weights(task: Task, kernel: Kernel, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each feature's weight: that of largest size over the targets, 0 without more information than chance."""
    # A feature below the mean of the null carries no information, whatever its weight.
    if task.informative and task.bias != "none":
        weights = np.where(kernel.cross > 0, weights, 0.0)
    strongest = np.abs(weights).argmax(axis=0)
    chosen: NDArray[np.float64] = weights[strongest, np.arange(weights.shape[1])]
    return chosen


def single(values: NDArray[np.float64]) -> Any:
    """Return the values of the only target, or those of all targets.

    Examples
    --------
    >>> import numpy as np
    >>> single(np.array([[1.0, 2.0]]))
    array([1., 2.])
    """
    return values[0] if len(values) == 1 else values
