"""FVM: sparse weights of features by an l1 penalty in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_relevance._box_selector import BoxSelector
from mfbench_relevance._docstrings import with_shared_paragraphs


@with_shared_paragraphs
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
    {kernel_parameters}
    penalty : float or None, default=None
        :math:`\lambda`; None to choose it as `tuning` says. From twice the largest :math:`|k_i|` on, nothing is
        selected.
    {path_parameters}

    Attributes
    ----------
    {kernel_attributes}
    penalty_ : float
        The :math:`\lambda` in use.
    {solution_attributes}

    Raises
    ------
    {raises}
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
        self._fit_box(X, y, epsilon=None if self.penalty is None else self.penalty / 2, bound=np.inf)
        self.penalty_ = 2 * self.epsilon_
        return self
