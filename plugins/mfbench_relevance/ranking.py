"""Plain ranking by the kernel with the response: what RFVM, FVM and P-SVM have to beat."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state

from mfbench_relevance._docstrings import described
from mfbench_relevance._selector import KernelSelector, single
from mfbench_relevance.kernels import compared


@described
class KernelRanking(KernelSelector):
    r"""Select every feature whose kernel with the response is above what permuted responses give.

    Each feature is weighed alone, by :math:`k_i`, the kernel of feature i and the response: by default the mutual
    information of binned columns, equation (26) of [1]_. The response is permuted, and the quantile of the values of
    all features under permutation is the threshold [2]_. What features say of each other is not looked at.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" takes log2 of the number of features as bins of equal width; "calibrated" 16 x 4 bins of equal
        frequency. Every kernel setting below that is None follows the preset.
    {shared_parameters}
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_features,), or (n_classes, n_features)
        Kernel of features and response minus its mean over permutations, features, and classes; features with other
        numbers of occupied bins have means of their own.
    threshold_ : float
        Quantile of the same under permutation; of its absolute value for a kernel that can be negative.
    weights_ : ndarray of shape (n_features,)
        How far the relevance, or its absolute value, is above the threshold; of several classes the largest.
    feature_importances_ : ndarray of shape (n_features,)
        The same; those of features that are not selected are not positive.
    support_ : ndarray of bool, shape (n_features,)
        Which features are selected: those of positive weight.
    settings_ : dict
        What was used: the preset's settings, and what was given in their place.

    Raises
    ------
    ValueError
        If X or y holds NaN or infinity, or y is of no known kind.

    Warns
    -----
    RuntimeWarning
        If the response is constant; nothing is selected then.

    See Also
    --------
    mfbench_relevance.RFVM : Weighs redundancy too.

    Notes
    -----
    Time O(p m (n + N²)) for m features, n rows, N bins and p permutations; memory O(p m).

    References
    ----------
    .. [1] H. Cheng, H. Chen, G. Jiang, K. Yoshihira: Nonlinear feature selection by relevance feature vector machine.
       MLDM 2007, LNCS 4571:144-159.
    .. [2] D. François, F. Rossi, V. Wertz, M. Verleysen: Resampling methods for parameter-free and robust feature
       selection with mutual information. Neurocomputing 70(7-9):1276-1288, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_relevance import KernelRanking
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(400, 5))
    >>> KernelRanking(random_state=0).fit(X, X[:, 1] ** 2).support_.tolist()
    [False, True, False, False, False]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: kinds
        for name, kinds in KernelSelector._parameter_constraints.items()
        if name not in ("bias", "repair", "max_iter", "tol")
    }

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
        super().__init__(
            preset, kernel, target, bins, target_bins, binning, gamma, degree, coef0, quantile, n_permutations,
            random_state,
        )  # fmt: skip

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KernelRanking:
        """Compare every feature with the response and select.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            The response: numbers or class labels.

        Returns
        -------
        KernelRanking
            The fitted selector.
        """
        task = self._prepare(X, y)
        if np.ptp(task.y) == 0:
            warnings.warn("the response is constant: no feature is selected", RuntimeWarning, stacklevel=2)
        view = task.view()
        values, null = compared(view, self.n_permutations, check_random_state(self.random_state))
        two_sided = not task.informative
        # Constant features depend on nothing, and would pull the quantile down.
        unit = (view.freedom()[: view.n_features] > 0).astype(np.float64)
        self.threshold_ = null.level(self.quantile, centred=True, two_sided=two_sided, unit=unit)
        relevance = values - null.mean
        self.relevance_ = single(relevance)
        size: NDArray[np.float64] = np.abs(relevance) if two_sided else relevance
        self.weights_ = size.max(axis=0) - self.threshold_
        self.feature_importances_ = self.weights_
        self.support_ = self.weights_ > 0
        return self

    def _resolve(self, n_features: int) -> dict[str, Any]:
        return {**super()._resolve(n_features), "bias": "null"}
