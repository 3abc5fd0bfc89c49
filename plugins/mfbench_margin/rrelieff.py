"""RReliefF: Relief for a target that is a number."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mfbench_margin._family import MarginSelector, checked_numbers
from mfbench_margin._nearest.differences import as_mask
from mfbench_margin._nearest.numbers import regression_relief


class RReliefF(MarginSelector):
    r"""Weight each feature by how much more it differs between near rows of different targets than of similar ones.

    For rows :math:`i` and their k nearest rows :math:`j`, with influences :math:`d_{ij}` that sum to 1 for each i
    ([1]_, figure 3),

    .. math:: N_C = \sum_{ij} \tau_{ij} d_{ij}, \quad N_l = \sum_{ij} \delta_l(i, j)\, d_{ij}, \quad
              N_{Cl} = \sum_{ij} \tau_{ij}\, \delta_l(i, j)\, d_{ij}, \qquad
              w_l = \frac{N_{Cl}}{N_C} - \frac{N_l - N_{Cl}}{m - N_C},

    where :math:`\tau_{ij} = |y_i - y_j| / (\max y - \min y)`, :math:`\delta_l` is :math:`|a_l - b_l| / (\max_l -
    \min_l)` for a numeric feature and 0 or 1 for equal or unequal categories, and m is the number of rows i. The
    distance is the sum of :math:`\delta_l` over all features.

    Parameters
    ----------
    n_neighbors : int, default=70
        Number k of nearest rows; all others if there are fewer.
    sigma : float or None, default=20.0
        The influence of the r-th nearest row is proportional to :math:`\exp(-(r / \sigma)^2)`; None for equal
        influence.
    n_samples : int or None, default=None
        Number m of rows to average over, drawn with replacement; None for every row once.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are none.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; unused if ``n_samples`` is None.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights in [-1, 1].
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
    sample_indices_ : ndarray of int, shape (m,)
        The rows averaged over.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds NaN or infinity, the numbers in y are equal, or ``categorical_features`` does not fit X.

    See Also
    --------
    mfbench_margin.relieff.ReliefF : With ``target="numbers"``, hits and misses by a threshold on the target.

    Notes
    -----
    Time O(m n p), and O(m n log n) for the nearest rows; memory O(n p). Of equally near rows those with the lowest
    indices count; distances that agree to about 12 digits of the largest possible one are equal. A constant feature has
    weight 0. `get_support` selects positive weights.

    References
    ----------
    .. [1] M. Robnik-Sikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning
       53, 2003, pages 23-69.

    Examples
    --------
    >>> import numpy as np
    >>> from mfbench_margin import RReliefF
    >>> X = np.random.default_rng(0).uniform(size=(200, 4))
    >>> RReliefF().fit(X, X[:, 0] + X[:, 1] ** 2).get_support(indices=True).tolist()
    [0, 1]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MarginSelector._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "categorical_features": ["array-like", None],
    }

    def __init__(
        self,
        n_neighbors: int = 70,
        sigma: float | None = 20.0,
        n_samples: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features and category codes, no missing values.
        y : array-like of shape (n_samples,)
            Numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        table, numbers = checked_numbers(self, X, y)
        self._learn(table, numbers, np.ones(len(table)))
        return self

    def _learn(self, X: NDArray[np.float64], codes: NDArray[Any], sample_weights: NDArray[np.float64]) -> None:
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        targets, count = self._draw_samples(sample_weights), int(self.n_neighbors)
        self._set_weights(regression_relief(X, codes, self.categorical_, targets, count, self.sigma))
