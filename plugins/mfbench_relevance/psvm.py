"""P-SVM: sparse weights of features by an l1 penalty and a bound, in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_relevance._box_selector import BoxSelector
from mfbench_relevance._docstrings import with_shared_paragraphs


@with_shared_paragraphs
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
    {kernel_parameters}
    epsilon : float or None, default=None
        None to choose it as `tuning` says. From the largest :math:`|k_i|` on, nothing is selected.
    C : float or None, default=None
        Bound on the weights. None is a fifth of the largest :math:`|k_i| / K_{ii}`. It is not tuned: it changes the
        sizes of the weights but hardly which of them are 0, so held-out rows cannot distinguish values of C.
    {path_parameters}

    Attributes
    ----------
    {kernel_attributes}
    {solution_attributes}

    Raises
    ------
    {raises}
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
        self._fit_box(X, y, epsilon=self.epsilon, bound=self.C)
        return self
