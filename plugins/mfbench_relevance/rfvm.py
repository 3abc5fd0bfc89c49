"""RFVM, the relevance feature vector machine: sparse Bayesian weights of features in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_relevance._evidence.solver import EvidenceSolver
from mfbench_relevance._selector import SparseSelector, single


class RFVM(SparseSelector):
    r"""Select features by maximising the evidence of their weights in the space of a feature kernel.

    The response is modelled as :math:`\phi(y) = \sum_i w_i \phi(f_i) + \varepsilon` with weights :math:`w_i \sim N(0,
    1/\beta_i)` and noise of variance :math:`\sigma^2` [1]_; only kernel values :math:`K = \phi(f_i)^T \phi(f_j)`,
    :math:`k = \phi(f_i)^T \phi(y)` and :math:`k_{yy}` are needed. Equations (20) to (24) maximise the probability of
    the response over :math:`\beta` and :math:`\sigma^2`; most :math:`\beta_i` grow without bound, and their features
    are removed. If the features hardly depend on each other, feature i is kept if and only if :math:`k_i >
    \sqrt{\sigma^2 K_{ii}}`.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" is the method as published: bins of equal width, as many as log2 of the number of features, and noise
        learned by (24). "calibrated" uses 16 x 4 bins of equal frequency, subtracts the bias of the kernel, and fixes
        the noise so that a share 1 - `quantile` of independent features is selected. Settings that are None follow the
        preset.
    kernel : {"mutual-information", "linear", "rbf", "polynomial"} or callable, default="mutual-information"
        How two features, or a feature and the response, are compared; see
        `mfbench_relevance.kernels.feature_kernel`. A callable takes two arrays whose rows are standardised columns.
    target : {"auto", "numbers", "classes"}, default="auto"
        What y is; "auto" treats whole numbers, booleans and text as classes, other numbers as numbers. With a numeric
        kernel and more than two classes, one problem is solved per class, against the rest; a feature then has its
        weight of largest absolute value.
    bins, target_bins : int or None, default=None
        Number of bins of a feature and of a numeric response. None means 16 and 4 for "calibrated"; log2 of the number
        of features, rounded, at least 2, for "paper".
    binning : {"frequency", "width"} or None, default=None
        Bins of equal frequency (None for "calibrated") or of equal width (None for "paper").
    gamma : float or None, default=None
        Parameter of the kernels "rbf" and "polynomial"; None is 1 / n_samples.
    degree : int, default=3
        Degree of "polynomial".
    coef0 : float, default=1.0
        Constant term of "polynomial".
    quantile : float, default=0.99
        Quantile of the null that a feature has to exceed, where the null sets the threshold.
    n_permutations : int, default=20
        Number of permutations of y that make up the null.
    bias : {"none", "miller-madow", "null"} or None, default=None
        Correction of the kernel for the bias of finite samples; None is "none" for "paper" and for the linear kernel,
        "null" otherwise.
    repair : {"clip", "raise", "ignore"}, default="clip"
        What to do with an indefinite kernel: set negative eigenvalues to 0 and warn, raise an error, or nothing.
    noise : {"learned", "calibrated"}, float or None, default=None
        Noise variance: learned by (24) (None for "paper"), fixed at the square of the null's quantile in units of
        :math:`\sqrt{K_{ii}}` (None for "calibrated"), or fixed at a number.
    n_eff : float or None, default=None
        Number of observations in the likelihood; None is the number of rows. With learned noise it determines how
        many features are kept.
    algorithm : {"auto", "fixed-point", "sequential", "both"}, default="auto"
        "fixed-point" repeats (20) to (24) on all features; "sequential" starts without features and adds, reweights or
        removes one at a time [2]_, repeating (20) to (24) on the features in the model after each; "both" continues the
        result of "fixed-point" in this way, and takes it if its evidence is above that of "sequential". "auto" is
        "fixed-point" up to 500 features; for more it is "both" with the linear kernel of fewer rows than features,
        and otherwise "sequential". ``settings_`` has the one in use.
    initial_beta : float, default=10.0
        Initial precision of every weight; for "fixed-point".
    initial_noise : float or None, default=None
        Initial noise variance, if it is learned; None is :math:`k_{yy} / 100`.
    max_iter : int, default=2000
        Largest number of iterations, or of features that the sequential variant adds, reweights or removes.
    tol : float, default=1e-6
        Largest change of the logarithm of any precision and of the noise variance at the end.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights. A negative weight is a sign of redundancy or, with a numeric kernel, of negative dependence.
    feature_importances_ : ndarray of shape (n_features,)
        Absolute values of the weights.
    support_ : ndarray of bool, shape (n_features,)
        Whether a feature is selected: those of nonzero weight are.
    relevance_ : ndarray of shape (n_features,), or (n_classes, n_features)
        Kernel of features and response, corrected and repaired.
    settings_ : dict
        The settings in use: those of the preset, except where a parameter overrides them.
    smallest_eigenvalue_ : float or None
        Smallest eigenvalue of the kernel of features and response before its repair; None if it was not indefinite.
    precisions_ : ndarray of shape (n_features,), or (n_classes, n_features)
        :math:`\beta`; infinite for removed features.
    noise_variance_ : float, or ndarray of shape (n_classes,)
        :math:`\sigma^2`.
    noise_floored_ : bool
        Whether the learned noise variance is at its floor, :math:`10^{-10} k_{yy}`, as is usual for the linear kernel
        of more features than rows: they explain the response exactly, and the evidence has no maximum.
    evidence_ : float, or ndarray of shape (n_classes,)
        Log marginal likelihood at the end.
    evidence_trace_ : list of float, or list of such lists
        The same at every iteration of `n_iter_`, beginning with the model that these start from; it increases.
    n_iter_ : int
        Number of iterations, or of steps of the sequential variant, on the way to the solution; the largest among the
        classes.
    converged_ : bool
        Whether the solution is stationary: all precisions settled and, for the sequential variant, no other feature
        would raise the evidence. A feature near the threshold needs many iterations.

    Raises
    ------
    ValueError
        If X or y holds NaN or infinity, if y holds neither numbers nor classes, or if the kernel is indefinite and
        ``repair="raise"``.

    Warns
    -----
    RuntimeWarning
        If the kernel is indefinite, or if the response is constant, in which case no feature is selected.
    ConvergenceWarning
        If the solution is not stationary after `max_iter` iterations, or if the evidence decreased in one, which no
        theorem excludes.

    See Also
    --------
    mfbench_relevance.FVM : An l1 penalty instead of the prior.

    Notes
    -----
    Time for m features, n rows and N bins: O(m² (n + N²)) for the kernel; O(a³) per iteration with a active features,
    or O(m a²) per step of the sequential variant. Memory O(m²). With the linear kernel and fewer rows than features, no
    kernel is stored: O(n² a) per iteration, O(n² m) per step, and memory O(m n + n²).

    The paper is corrected in three places: (10), (15) and (16) lack the 1/2 in the exponent; mutual information is not
    a Mercer kernel; the initial noise, std(y) / 10, does not have the unit of the kernel. Initial values hardly
    matter.

    As published, the method is insensitive: the learned :math:`\sigma^2` is close to :math:`H(y) / n`, so a feature
    needs more than :math:`\sqrt{H(y) H(f) / n}` bits, far above the level of chance; and bins of equal width that are
    wider than half a period hide a periodic dependence. ``preset="calibrated"`` fixes both.

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
        **SparseSelector._parameter_constraints,
        "noise": [StrOptions({"learned", "calibrated"}), Interval(Real, 0, None, closed="neither"), None],
        "n_eff": [Interval(Real, 0, None, closed="neither"), None],
        "algorithm": [StrOptions({"auto", "fixed-point", "sequential", "both"})],
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
        noise = self.noise
        if noise is None:
            noise = "learned" if self.preset == "paper" else "calibrated"
        solver = EvidenceSolver(
            noise=noise,
            n_eff=self.n_eff,
            algorithm=self.algorithm,
            initial_beta=self.initial_beta,
            initial_noise=self.initial_noise,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        targets = self._fit_with(X, y, solver).targets
        self.precisions_ = single(np.array([solution.beta for solution in targets]))
        self.noise_variance_ = single(np.array([solution.noise for solution in targets]))
        self.noise_floored_ = any(solution.floored for solution in targets)
        self.evidence_ = single(np.array([solution.trace[-1] for solution in targets]))
        self.evidence_trace_ = targets[0].trace if len(targets) == 1 else [solution.trace for solution in targets]
        self.n_iter_ = max(1, *(solution.n_iter for solution in targets))
        self.converged_ = all(solution.converged for solution in targets)
        return self
