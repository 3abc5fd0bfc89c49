"""RFVM, the relevance feature vector machine: sparse Bayesian weights of features in the space of a feature kernel."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_relevance._docstrings import described
from mfbench_relevance._evidence.fixed_point import fixed_point
from mfbench_relevance._evidence.posterior import Problem, Solution
from mfbench_relevance._evidence.sequential import sequential
from mfbench_relevance._selector import KernelSelector, Task, single
from mfbench_relevance.kernels import FeatureKernel, Null

MANY = 500
FALL = 1e-8


@described
class RFVM(KernelSelector):
    r"""Select features by evidence maximisation over their weights in the space of a feature kernel.

    The response is modelled as :math:`\phi(y) = \sum_i w_i \phi(f_i) + \varepsilon` with weights :math:`w_i \sim N(0,
    1/\beta_i)` and noise of variance :math:`\sigma^2` [1]_; only kernel values :math:`K = \phi(f_i)^T \phi(f_j)`,
    :math:`k = \phi(f_i)^T \phi(y)` and :math:`k_{yy}` are needed. Equations (20) to (24) maximise the probability of
    the response over :math:`\beta` and :math:`\sigma^2`; most :math:`\beta_i` grow without bound, and their features
    are removed. If features hardly depend on each other, feature i is kept if and only if :math:`k_i > \sqrt{\sigma^2
    K_{ii}}`.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" is the method as published: log2 of the number of features as bins of equal width, noise learned by
        (24). "calibrated" takes 16 x 4 bins of equal frequency, subtracts the bias of the kernel, and holds the noise
        where just the wanted part of independent features passes. Every setting below that is None follows the preset.
    {kernel_parameters}
    noise : {"learned", "calibrated"}, float or None, default=None
        Noise variance: learned by (24) (None for "paper"), held at the square of the null's quantile in units of
        :math:`\sqrt{K_{ii}}` (None for "calibrated"), or held at a number.
    n_eff : float or None, default=None
        Number of observations in the likelihood; None is the number of rows. With learned noise it sets how many
        features are kept.
    algorithm : {"auto", "fixed-point", "sequential"}, default="auto"
        "fixed-point" repeats (20) to (24) on all features, "sequential" adds, weighs and removes one feature at a time
        [2]_, "auto" is "fixed-point" up to 500 features.
    initial_beta : float, default=10.0
        Precision of every weight to start with; for "fixed-point".
    initial_noise : float or None, default=None
        Noise variance to start with, if it is learned; None is :math:`k_{yy} / 100`.
    max_iter : int, default=2000
        Most iterations, or most steps of the sequential variant.
    tol : float, default=1e-6
        Largest change of the logarithm of any precision and of the noise variance at the end.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Attributes
    ----------
    {kernel_attributes}
    precisions_ : ndarray of shape (n_features,), or (n_classes, n_features)
        :math:`\beta`; infinite for removed features.
    noise_variance_ : float, or ndarray of shape (n_classes,)
        :math:`\sigma^2`.
    noise_floored_ : bool
        Whether the learned noise variance met its floor, :math:`10^{-10} k_{yy}`.
    evidence_ : float, or ndarray of shape (n_classes,)
        Log marginal likelihood at the end.
    evidence_trace_ : list of float, or list of such lists
        The same at every iteration; it rises.
    n_iter_ : int
        Iterations; the most of all classes.
    converged_ : bool
        Whether all precisions settled. A feature near the threshold takes many iterations.

    Raises
    ------
    {raises}
    ConvergenceWarning
        If the evidence fell in an iteration, which no theorem excludes.

    See Also
    --------
    mfbench_relevance.FVM : The l1 penalty in place of the prior.

    Notes
    -----
    Time for m features, n rows and N bins: O(m² (n + N²)) for the kernel, O(a³) per iteration for a active features;
    the sequential variant O(m a²) per step. Memory O(m²).

    The paper is corrected where it contradicts itself: (10), (15) and (16) lack the 1/2 in the exponent; mutual
    information is no Mercer kernel; the initial noise, std(y) / 10, does not have the unit of the kernel. Initial
    values hardly matter.

    As published the method is insensitive: :math:`\sigma^2` comes out near :math:`H(y) / n`, so that a feature needs
    more than :math:`\sqrt{H(y) H(f) / n}` bits, far above what chance gives; and bins of equal width that are wider
    than half a period hide a periodic dependence. ``preset="calibrated"`` mends both.

    References
    ----------
    .. [1] H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine.
       MLDM 2007, LNCS 4571:144-159.
    .. [2] M. E. Tipping, A. C. Faul: Fast marginal likelihood maximisation for sparse Bayesian models. AISTATS 2003.

    Examples
    --------
    The response depends on the second feature alone, and not monotonically.

    >>> import numpy as np
    >>> from mfbench_relevance import RFVM
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 5))
    >>> rfvm = RFVM(random_state=0).fit(X, X[:, 1] ** 2)
    >>> rfvm.support_.tolist()
    [False, True, False, False, False]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelSelector._parameter_constraints,
        "noise": [StrOptions({"learned", "calibrated"}), Interval(Real, 0, None, closed="neither"), None],
        "n_eff": [Interval(Real, 0, None, closed="neither"), None],
        "algorithm": [StrOptions({"auto", "fixed-point", "sequential"})],
        "initial_beta": [Interval(Real, 0, None, closed="neither")],
        "initial_noise": [Interval(Real, 0, None, closed="neither"), None],
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
        noise: str | float | None = None,
        n_eff: float | None = None,
        algorithm: str = "auto",
        initial_beta: float = 10.0,
        initial_noise: float | None = None,
        max_iter: int = 2000,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            preset, kernel, target, bins, target_bins, binning, gamma, degree, coef0, quantile, n_permutations,
            random_state,
        )  # fmt: skip
        self.bias = bias
        self.repair = repair
        self.noise = noise
        self.n_eff = n_eff
        self.algorithm = algorithm
        self.initial_beta = initial_beta
        self.initial_noise = initial_noise
        self.max_iter = max_iter
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> RFVM:
        """Learn weights and select features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            The response: numbers or class labels.

        Returns
        -------
        RFVM
            The fitted selector.
        """
        task = self._prepare(X, y)
        calibrated = self.settings_["noise"] == "calibrated"
        kernel, null = self._kernel(task, null=calibrated)
        held = self._held_noise(task, kernel, null)
        found = [self._solve(kernel, target, held) for target in range(len(kernel.target))]
        self._select(task, kernel, np.array([solution.mean for solution in found]))
        self.precisions_ = single(np.array([solution.beta for solution in found]))
        self.noise_variance_ = single(np.array([solution.noise for solution in found]))
        self.noise_floored_ = any(solution.floored for solution in found)
        self.evidence_ = single(np.array([solution.trace[-1] for solution in found]))
        self.evidence_trace_ = found[0].trace if len(found) == 1 else [solution.trace for solution in found]
        self.n_iter_ = max(1, *(solution.n_iter for solution in found))
        self.converged_ = all(solution.converged for solution in found)
        return self

    def _resolve(self, n_features: int) -> dict[str, Any]:
        noise = ("learned" if self.preset == "paper" else "calibrated") if self.noise is None else self.noise
        many = n_features > MANY
        algorithm = ("sequential" if many else "fixed-point") if self.algorithm == "auto" else self.algorithm
        return {**super()._resolve(n_features), "noise": noise, "algorithm": algorithm}

    def _held_noise(self, task: Task, kernel: FeatureKernel, null: Null | None) -> float | None:
        """Return the noise variance that is held, or None if it is learned.

        The keep rule k_i > sqrt(s² K_ii) is then that of the null's quantile.
        """
        noise = self.settings_["noise"]
        if noise == "learned":
            return None
        if noise != "calibrated":
            return float(noise)
        assert null is not None
        unit = np.sqrt(np.maximum(np.diagonal(kernel.features), 0.0))
        level = null.level(self.quantile, centred=task.bias != "none", two_sided=not task.informative, unit=unit)
        return level**2

    def _solve(self, kernel: FeatureKernel, target: int, held: float | None) -> Solution:
        k, kyy = kernel.cross[target], float(kernel.target[target])
        m = kernel.n_features
        if kyy <= 0:
            return Solution(np.zeros(m), np.full(m, np.inf), 0.0, [0.0], 0, True)
        start = kyy / 100 if self.initial_noise is None else self.initial_noise
        n = float(kernel.n_samples if self.n_eff is None else self.n_eff)
        learn = held is None
        problem = Problem(kernel.features, k, kyy, n, start if held is None else max(held, 1e-10 * kyy), learn)
        if self.settings_["algorithm"] == "sequential":
            found = sequential(problem, self.max_iter, self.tol)
        else:
            beta: NDArray[np.float64] = np.full(m, float(self.initial_beta))
            found = fixed_point(problem, beta, self.max_iter, self.tol)
        if found.fall > FALL * max(1.0, abs(found.trace[-1])):
            warnings.warn(
                f"the evidence fell by {found.fall:.3g} in one of {found.n_iter} iterations; it need not rise, but "
                "compare algorithm='sequential'",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found
