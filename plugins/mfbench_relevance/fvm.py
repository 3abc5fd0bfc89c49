"""FVM: sparse weights of features by an l1 penalty in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_relevance._box.solver import BoxSelector


class FVM(BoxSelector):
    r"""Select features by the feature vector machine: the lasso in the space of a feature kernel.

    .. math:: \min_w \tfrac12 w^T K w \quad \text{subject to} \quad |K w - k|_j \le \lambda / 2 \ \text{for all } j,

    equation (7) of [1]_, solved in its dual form :math:`\min_w \frac12 w^T K w - k^T w + \frac{\lambda}{2} \|w\|_1`,
    which has sparse solutions even if K is singular [2]_. With the linear kernel it is the lasso on standardised data.

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
    penalty : float or None, default=None
        :math:`\lambda`; None to choose it as `tuning` says. From twice the largest :math:`|k_i|` on, nothing is
        selected.
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
    penalty_ : float
        The :math:`\lambda` in use.
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
    mfbench_relevance.PSVM : The same problem with a bound on the weights.
    mfbench_relevance.RFVM : A sparse prior instead of the penalty.

    Notes
    -----
    Time O(m² (n + N²)) for each kernel of m features, n rows and N bins (one kernel per fold and one for all rows), and
    O(a m) per pass over a features. The linear kernel grows with the number of rows, so in the folds its penalties are
    scaled accordingly.

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
        **BoxSelector._parameter_constraints,
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
        super().__init__(
            preset, kernel, target, bins, target_bins, binning, gamma, degree, coef0, quantile, n_permutations,
            random_state,
        )  # fmt: skip
        self.bias = bias
        self.repair = repair
        self.penalty = penalty
        self.tuning = tuning
        self.one_standard_error = one_standard_error
        self.n_folds = n_folds
        self.n_penalties = n_penalties
        self.max_iter = max_iter
        self.tol = tol

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
        self._fit_box(X, y, epsilon=None if self.penalty is None else self.penalty / 2, bound=np.inf)
        self.penalty_ = 2 * self.epsilon_
        return self
