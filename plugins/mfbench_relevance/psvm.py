"""P-SVM: sparse weights of features by an l1 penalty and a bound, in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_relevance._box.solver import BoxSelector


class PSVM(BoxSelector):
    r"""Select features by the potential support vector machine on a feature kernel.

    .. math:: \min_{w^+, w^-} \tfrac12 (w^+ - w^-)^T K (w^+ - w^-) - k^T (w^+ - w^-) + \epsilon \mathbf 1^T (w^+ + w^-),
        \qquad 0 \le w^+, w^- \le C,

    equation (8) of [1]_, the dual of the potential support vector machine [2]_. At the minimum one of each pair is 0,
    and :math:`w = w^+ - w^-`. A small C allows more redundancy: it limits the weights of the strongest features, which
    then cannot replace their copies. With an infinite C this is FVM at :math:`\lambda = 2 \epsilon`.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" uses bins of equal width, as many as log2 of the number of features; "calibrated" uses 16 x 4 bins of
        equal frequency and subtracts the kernel's finite-sample bias. Kernel settings that are None follow the preset.
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
    epsilon : float or None, default=None
        None to choose it as `tuning` says. From the largest :math:`|k_i|` on, nothing is selected.
    C : float or None, default=None
        Bound on the weights. None is a fifth of the largest :math:`|k_i| / K_{ii}`. It is not tuned: it changes the
        sizes of the weights but hardly which of them are 0, so held-out rows cannot distinguish values of C.
    tuning : {"refit", "kernel", "null"}, default="refit"
        How the penalty is chosen if it is None. "refit" fits an additive model to the features selected on training
        rows and measures its squared error on held-out rows. "kernel" measures the distance of the response from the
        prediction in the kernel of the held-out rows, as the paper's wording suggests; with mutual information the
        bias of this kernel rewards every feature, and nearly all are selected. "null" uses the quantile of the kernel
        between features and permuted responses, without cross-validation.
    one_standard_error : bool, default=False
        Whether to use the largest penalty whose loss is within one standard error of the smallest.
    n_folds : int, default=10
        Number of folds of the cross-validation.
    n_penalties : int, default=25
        Number of penalties to try, in equal ratios: from the smallest that selects nothing down to 0.004 bits, or to a
        thousandth for a numeric kernel.
    max_iter : int, default=10000
        Largest number of passes over all features.
    tol : float, default=1e-10
        Largest violation of the optimality conditions, relative to the largest kernel of a feature and the response.
    random_state : int, RandomState or None, default=None
        Seed of permutations and folds.

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
    dual_ : ndarray of shape (n_features,), or (n_classes, n_features)
        The minimiser. `weights_` differs from it only if the kernel is corrected mutual information: a feature below
        the mean of the null then has weight 0.
    epsilon_, bound_ : float
        The penalty and the bound in use.
    penalties_ : ndarray of shape (n_penalties,) or None
        Values of 2 epsilon that cross-validation tried.
    cv_loss_ : ndarray of shape (n_folds, n_penalties) or None
        Their held-out losses.
    optimality_gap_ : float
        Largest violation of the Karush-Kuhn-Tucker conditions.
    n_iter_ : int
        Number of passes over all features.

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
        If coordinate descent does not converge.

    See Also
    --------
    mfbench_relevance.FVM : The same problem without a bound.

    Notes
    -----
    The same time as for FVM.

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
        **BoxSelector._parameter_constraints,
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
        super().__init__(
            preset, kernel, target, bins, target_bins, binning, gamma, degree, coef0, quantile, n_permutations,
            random_state,
        )  # fmt: skip
        self.bias = bias
        self.repair = repair
        self.epsilon = epsilon
        self.C = C
        self.tuning = tuning
        self.one_standard_error = one_standard_error
        self.n_folds = n_folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.tol = tol

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
        self._fit_box(X, y, epsilon=self.epsilon, bound=self.C)
        return self
