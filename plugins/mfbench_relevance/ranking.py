"""Plain ranking by the kernel with the response: the baseline of RFVM, FVM and P-SVM."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mfbench_relevance._selector import CONSTANT_RESPONSE, KernelSelector, single
from mfbench_relevance.kernels import compared


class KernelRanking(KernelSelector):
    r"""Select every feature whose kernel with the response exceeds that of permuted responses.

    Each feature is weighted on its own, by :math:`k_i`, the kernel of feature i and the response: by default the mutual
    information of binned columns, equation (26) of [1]_. The threshold is a quantile of the values of all features
    under permutations of the response [2]_. Dependence between features is ignored.

    Parameters
    ----------
    preset : {"calibrated", "paper"}, default="calibrated"
        "paper" uses bins of equal width, as many as log2 of the number of features; "calibrated" uses 16 x 4 bins of
        equal frequency. Kernel settings that are None follow the preset.
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
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_features,), or (n_classes, n_features)
        Kernel of features and response minus its mean over permutations, classes, and all features with the same
        number of occupied bins.
    threshold_ : float
        Quantile of the relevance under permutation; of its absolute value for a kernel that can be negative.
    weights_ : ndarray of shape (n_features,)
        Relevance, or its absolute value, minus the threshold; the largest over the classes if there are several.
    feature_importances_ : ndarray of shape (n_features,)
        The same as `weights_`; not positive for features that are not selected.
    support_ : ndarray of bool, shape (n_features,)
        Whether a feature is selected: those of positive weight are.
    settings_ : dict
        The settings in use: those of the preset, except where a parameter overrides them.

    Raises
    ------
    ValueError
        If X or y holds NaN or infinity, or if y holds neither numbers nor classes.

    Warns
    -----
    RuntimeWarning
        If the response is constant, in which case no feature is selected.

    See Also
    --------
    mfbench_relevance.RFVM : Takes redundancy into account.

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
        # The null is subtracted from the relevances below; no kernel of all pairs is computed that could need a repair.
        task = self._check_data(X, y, bias="null", repair="ignore")
        if np.ptp(task.y) == 0:
            warnings.warn(CONSTANT_RESPONSE, RuntimeWarning, stacklevel=2)
        view = task.view()
        values, null = compared(view, self.n_permutations, check_random_state(self.random_state))
        # Constant features depend on nothing, and would lower the quantile.
        varies = (view.freedom()[: view.n_features] > 0).astype(np.float64)
        self._level = partial(null.level, centred=task.bias != "none", two_sided=not task.informative, unit=varies)
        self.threshold_ = self._level(self.quantile)
        relevance = values - null.mean
        self.relevance_ = single(relevance)
        size: NDArray[np.float64] = relevance if task.informative else np.abs(relevance)
        self._size = size.max(axis=0)
        self.weights_ = self._size - self.threshold_
        self.feature_importances_ = self.weights_
        self.support_ = self.weights_ > 0
        return self

    def weights_at(self, quantile: float) -> NDArray[np.float64]:
        """Return the importances that a fit with another `quantile` would have, from the same permutations.

        Parameters
        ----------
        quantile : float
            From 0 to 1.

        Returns
        -------
        ndarray of shape (n_features,)
            Importances.

        Raises
        ------
        ValueError
            If the quantile is out of range.
        """
        check_is_fitted(self)
        if not 0 <= quantile <= 1:
            raise ValueError(f"quantile must be from 0 to 1; got {quantile!r}")
        weights: NDArray[np.float64] = self._size - self._level(quantile)
        return weights
