"""FVM and P-SVM: sparse weights of features by an l1 penalty in the space of a feature kernel.

Both are the one problem of `_box`: FVM without bound on the weights, P-SVM with one.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_relevance._box import optimality_gap, path, solve_box
from mfbench_relevance._selector import AT_LEAST_ONE, KernelSelector, Task, single
from mfbench_relevance._text import described
from mfbench_relevance._tuning import Curve, cross_validate
from mfbench_relevance._views import INFORMATION
from mfbench_relevance.kernels import FeatureKernel, Null, kernel_of, permuted, repaired

SMALLEST_PENALTY = 0.004  # in bits; less than chance gives
SMALLEST_PART = 1e-3
FIFTH = 0.2


class _BoxSelector(KernelSelector):
    """What FVM and P-SVM share: tuning, the solver, and what is told of the solution."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelSelector._parameter_constraints,
        "tuning": [StrOptions({"refit", "kernel", "null"})],
        "one_standard_error": ["boolean"],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_penalties": [AT_LEAST_ONE],
    }

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
            return null.level(self.quantile, centred=task.bias != "none", two_sided=not task.informative)
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


_PATH = """tuning : {"refit", "kernel", "null"}, default="refit"
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

_TOLD = """dual_ : ndarray of shape (n_features,), or (n_classes, n_features)
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


def _complete(cls: type) -> type:
    if cls.__doc__ is not None:
        cls.__doc__ = cls.__doc__.replace("{path}", _PATH).replace("{told}", _TOLD)
    return described(cls)


@_complete
class FVM(_BoxSelector):
    r"""Select features by the feature vector machine: the lasso in the space of a feature kernel.

    .. math:: \min_w \tfrac12 w^T K w \quad \text{subject to} \quad |K w - k|_j \le \lambda / 2 \ \text{for all } j,

    equation (7) of [1]_, solved in its dual form :math:`\min_w \frac12 w^T K w - k^T w + \frac{\lambda}{2} \|w\|_1`,
    which has sparse solutions also if K is singular [2]_. With the linear kernel it is the lasso of the standardised
    data.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" takes log2 of the number of features as bins of equal width; "calibrated" 16 x 4 bins of equal frequency
        and a kernel free of its finite-sample bias. Every kernel setting below that is None follows the preset.
    {kernel_parameters}
    penalty : float or None, default=None
        :math:`\lambda`; None chooses it by `tuning`. From twice the largest :math:`|k_i|` on nothing is selected.
    {path}

    Attributes
    ----------
    {kernel_attributes}
    penalty_ : float
        :math:`\lambda`.
    {told}

    Raises
    ------
    {raises}
    ConvergenceWarning
        If coordinate descent did not settle.

    See Also
    --------
    mfbench_relevance.PSVM : With a bound on the weights.
    mfbench_relevance.RFVM : A sparse prior in place of the penalty.

    Notes
    -----
    Time O(m² (n + N²)) for each of the kernels, one per fold and one for all rows, and O(a m) per pass over a features.
    Penalties of the linear kernel grow with the number of rows and are scaled to the folds.

    References
    ----------
    .. [1] H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine.
       MLDM 2007, LNCS 4571:144-159.
    .. [2] F. Li, Y. Yang, E. P. Xing: From lasso regression to feature vector machine. NIPS 18, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_relevance import FVM
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 5))
    >>> FVM(tuning="null", random_state=0).fit(X, X[:, 1] ** 2).support_.tolist()
    [False, True, False, False, False]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_BoxSelector._parameter_constraints,
        "penalty": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        preset: str = "calibrated",
        kernel: Any = "mutual-information",
        target: str = "auto",
        bins: int | None = None,
        target_bins: int | None = None,
        binning: str | None = None,
        bias: str | None = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        quantile: float = 0.99,
        n_permutations: int = 20,
        repair: str = "clip",
        penalty: float | None = None,
        tuning: str = "refit",
        one_standard_error: bool = False,
        n_folds: int = 10,
        n_penalties: int = 25,
        max_iter: int = 10_000,
        tol: float = 1e-10,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.kernel = kernel
        self.target = target
        self.bins = bins
        self.target_bins = target_bins
        self.binning = binning
        self.bias = bias
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.quantile = quantile
        self.n_permutations = n_permutations
        self.repair = repair
        self.penalty = penalty
        self.tuning = tuning
        self.one_standard_error = one_standard_error
        self.n_folds = n_folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> FVM:
        """Learn weights and select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            The response: numbers or class labels.

        Returns
        -------
        FVM
            The fitted selector.
        """
        self._fit(X, y, None if self.penalty is None else self.penalty / 2)
        self.penalty_ = 2 * self.epsilon_
        return self


@_complete
class PSVM(_BoxSelector):
    r"""Select features by the potential support vector machine on a feature kernel.

    .. math:: \min_{w^+, w^-} \tfrac12 (w^+ - w^-)^T K (w^+ - w^-) - k^T (w^+ - w^-) + \epsilon \mathbf 1^T (w^+ + w^-),
        \qquad 0 \le w^+, w^- \le C,

    equation (8) of [1]_, the dual of the potential support vector machine [2]_. At the minimum one of each pair is 0,
    and :math:`w = w^+ - w^-`. A small C allows more redundancy: weights of the strongest features are cut, so that they
    do not take their copies' place. With C infinite it is FVM at :math:`\lambda = 2 \epsilon`.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" takes log2 of the number of features as bins of equal width; "calibrated" 16 x 4 bins of equal frequency
        and a kernel free of its finite-sample bias. Every kernel setting below that is None follows the preset.
    {kernel_parameters}
    epsilon : float or None, default=None
        None chooses it by `tuning`. From the largest :math:`|k_i|` on nothing is selected.
    C : float or None, default=None
        Bound on the weights. None is a fifth of the largest :math:`|k_i| / K_{ii}`. It is not tuned: it changes sizes
        of weights but hardly which are 0, so that held-out rows cannot tell one C from another.
    {path}

    Attributes
    ----------
    {kernel_attributes}
    {told}

    Raises
    ------
    {raises}
    ConvergenceWarning
        If coordinate descent did not settle.

    See Also
    --------
    mfbench_relevance.FVM : Without a bound.

    Notes
    -----
    Time as for FVM.

    References
    ----------
    .. [1] H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine.
       MLDM 2007, LNCS 4571:144-159.
    .. [2] S. Hochreiter, K. Obermayer: Nonlinear feature selection with the potential support vector machine. In: I.
       Guyon et al. (eds.): Feature extraction, foundations and applications. Springer, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_relevance import PSVM
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 5))
    >>> psvm = PSVM(tuning="null", random_state=0).fit(X, X[:, 1] ** 2)
    >>> psvm.support_.tolist(), bool(psvm.weights_.max() == psvm.bound_)
    ([False, True, False, False, False], True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_BoxSelector._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="left"), None],
        "C": [Interval(Real, 0, None, closed="right"), None],
    }

    def __init__(
        self,
        preset: str = "calibrated",
        kernel: Any = "mutual-information",
        target: str = "auto",
        bins: int | None = None,
        target_bins: int | None = None,
        binning: str | None = None,
        bias: str | None = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        quantile: float = 0.99,
        n_permutations: int = 20,
        repair: str = "clip",
        epsilon: float | None = None,
        C: float | None = None,
        tuning: str = "refit",
        one_standard_error: bool = False,
        n_folds: int = 10,
        n_penalties: int = 25,
        max_iter: int = 10_000,
        tol: float = 1e-10,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.kernel = kernel
        self.target = target
        self.bins = bins
        self.target_bins = target_bins
        self.binning = binning
        self.bias = bias
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.quantile = quantile
        self.n_permutations = n_permutations
        self.repair = repair
        self.epsilon = epsilon
        self.C = C
        self.tuning = tuning
        self.one_standard_error = one_standard_error
        self.n_folds = n_folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> PSVM:
        """Learn weights and select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            The response: numbers or class labels.

        Returns
        -------
        PSVM
            The fitted selector.
        """
        self._fit(X, y, self.epsilon)
        return self

    def _bound(self, kernel: FeatureKernel) -> float:
        if self.C is not None:
            return float(self.C)
        diagonal = np.diagonal(kernel.features)
        usable = diagonal > 0
        largest = float((np.abs(kernel.cross[:, usable]) / diagonal[usable]).max(initial=0.0))
        return FIFTH * largest if largest > 0 else np.inf
