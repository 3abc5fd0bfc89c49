"""P-SVM: sparse weights of features by an l1 penalty and a bound, in the space of a feature kernel."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_relevance._box_selector import BoxSelector, described_box
from mfbench_relevance.kernels import FeatureKernel

FIFTH = 0.2


@described_box
class PSVM(BoxSelector):
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
            preset, kernel, target, bins, target_bins, binning, bias, gamma, degree, coef0, quantile, n_permutations,
            repair, tuning, one_standard_error, n_folds, n_penalties, max_iter, tol, random_state,
        )  # fmt: skip
        self.epsilon = epsilon
        self.C = C

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
