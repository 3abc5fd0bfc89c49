"""ReliefF: k nearest hits and misses per class, numeric and nominal features, missing values."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._family import MarginSelector, NumbersToo
from mfbench_margin._nearest.differences import as_mask, build_table
from mfbench_margin._nearest.mean_margin import RankedMargins, prior_factors, ranked_margins
from mfbench_margin._nearest.numbers import nearest_margin_of_numbers


class ReliefF(NumbersToo, MarginSelector):
    r"""Weight each feature by how much farther it keeps misses than hits, over k neighbours in every class.

    With :math:`H_{ij}` the j-th nearest hit of sample :math:`x_i` and :math:`M^c_{ij}` its j-th nearest neighbour in
    another class c ([1]_, section 3.2; [2]_, figure 2),

    .. math:: w_l = \frac1m \sum_i \left[ -\frac{1}{k} \sum_{j=1}^{k} d_l(x_i, H_{ij})
              + \sum_{c \ne y_i} \frac{P(c)}{1 - P(y_i)} \frac{1}{k} \sum_{j=1}^{k} d_l(x_i, M^c_{ij}) \right],

    where :math:`d_l(a, b)` is :math:`|a_l - b_l| / (\max_l - \min_l)` for a numeric feature; for a nominal one it is
    0 if the categories are equal and 1 otherwise. The distance between samples is the sum of :math:`d_l` over all
    features. P(c) is the relative frequency of c in the training data. A class with fewer than k neighbours contributes
    the mean over all of them.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number k of neighbours in each class.
    n_samples : int or None, default=None
        Number m of samples to average over, drawn with replacement; None for every sample once.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are none.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; unused if ``n_samples`` is None.
    target : {"classes", "numbers"}, default="classes"
        What y holds. For numbers, a hit is a row whose number differs by less than the standard deviation of y, and a
        miss is any other row, as in scikit-rebate.

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
        The training samples averaged over.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if y holds classes.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit and hence no margin, so means are
        taken over the other samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or
        ``categorical_features`` does not fit X.

    See Also
    --------
    mfbench_margin.relief.Relief : One neighbour, numeric features.

    Notes
    -----
    Time O(m n p) for the distances, O(m n log k) at most for the nearest, and O(m k K p) for the weights, with K
    classes. Memory O(n p): distances are computed for a block of samples at a time. A feature with missing values takes
    O(n K) more.

    Missing values (NaN) of a nominal feature follow [2]_, section 2.1, both in the weights and in the distance:
    :math:`d_l` is the probability that the categories differ, :math:`1 - P(v | c)` if one is known to be v and the
    other, in a sample of class c, is unknown, and :math:`1 - \sum_v P(v | c) P(v | c')` if both are unknown. Missing
    values of a numeric feature are treated likewise, instead of the discretisation in [2]_: :math:`d_l` is the mean
    :math:`|v - V| / (\max_l - \min_l)` over the known values V in class c, or the mean over pairs of known values in c
    and c'. If a feature is unknown throughout a class, its values in all classes are used; a feature without any known
    value has weight 0.

    The implementation of ReliefF in scikit-rebate (skrebate) gives the same weights if all features are numeric with
    more than 10 values each, none is missing, there are two classes (or more of equal size), all with more than k
    members, all samples are averaged over, and no two distances are equal. Otherwise its definition differs: it treats
    features with at most 10 values as categories, replaces the difference of numbers by a ramp if there are features of
    both kinds, omits unknown values, weights the misses of several classes by their share among the neighbours, makes a
    sample of a class with k or fewer members its own hit, and breaks ties in no particular order.

    The sample itself is excluded by its index: a duplicate of it is a valid neighbour at distance 0. Of equally near
    neighbours those with the lowest training indices count; distances that agree to about 13 digits of the largest
    possible one are equal. A constant feature has weight 0. `get_support` selects positive weights.

    References
    ----------
    .. [1] I. Kononenko: Estimating attributes: analysis and extensions of RELIEF. European Conference on Machine
       Learning (ECML), LNCS 784, 1994, pages 171-182.
    .. [2] M. Robnik-Sikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. Machine Learning
       53, 2003, pages 23-69.

    Examples
    --------
    The class is the exclusive or of the two categories; the number is uninformative. One category is missing.

    >>> import numpy as np
    >>> from mfbench_margin import ReliefF
    >>> X = np.array([[0, 0, .1], [0, 1, .2], [1, 0, .1], [1, 1, .2],
    ...               [0, 0, .3], [0, 1, .4], [1, 0, .3], [1, np.nan, .4]])
    >>> y = np.array([0, 1, 1, 0, 0, 1, 1, 0])
    >>> relieff = ReliefF(n_neighbors=1, categorical_features=[0, 1]).fit(X, y)
    >>> relieff.get_support().tolist()
    [True, True, False]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MarginSelector._parameter_constraints,
        **NumbersToo._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "categorical_features": ["array-like", None],
    }

    _allow_nan = True

    def __init__(
        self,
        n_neighbors: int = 10,
        n_samples: int | None = None,
        categorical_features: Any = None,
        random_state: Any = None,
        target: str = "classes",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.target = target

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        samples = self._draw_samples(sample_weights)
        table = build_table(X, codes, self.categorical_)
        self._n_searched = n_neighbors = int(self.n_neighbors)
        self._margins: RankedMargins = ranked_margins(table, samples, prior_factors(codes), n_neighbors)
        self._set_weights(self._margins.at(n_neighbors))

    def _of_numbers(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        self._n_searched = int(self.n_neighbors)
        targets = self._draw_samples(np.ones(len(X)))
        self._of_n_neighbors = partial(nearest_margin_of_numbers, X, y, self.categorical_, targets)
        return self._of_n_neighbors(self._n_searched)

    def importances_at(self, n_neighbors: int) -> NDArray[np.float64]:
        """Return the weights for fewer neighbours; from the same search if y holds classes.

        Parameters
        ----------
        n_neighbors : int
            At least 1, at most the parameter `n_neighbors` of the fit.

        Returns
        -------
        ndarray of shape (n_features,)
            The `feature_importances_` of a fit with so many neighbours.

        Raises
        ------
        TypeError, ValueError
            If `n_neighbors` is not a whole number in that range.

        Examples
        --------
        >>> import numpy as np
        >>> from mfbench_margin import ReliefF
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> y = X[:, 0] > 0
        >>> bool(np.allclose(ReliefF(10).fit(X, y).importances_at(3), ReliefF(3).fit(X, y).feature_importances_))
        True
        """
        check_is_fitted(self)
        largest = self._n_searched
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1, max_val=largest)
        return self._margins.at(n_neighbors) if self.target == "classes" else self._of_n_neighbors(n_neighbors)
