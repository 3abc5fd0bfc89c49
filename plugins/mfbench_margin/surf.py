"""SURF, SURF*, MultiSURF and MultiSURF*: Relief with all neighbours within a distance, and with far rows."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._family import NumbersToo
from mfbench_margin._nearest.differences import as_mask
from mfbench_margin._nearest.numbers import radius_margin_of_numbers
from mfbench_margin._nearest.radius import Radius, radius_margin


class _RadiusSelector(NumbersToo):
    """Base class: `_own` and `_far` are those of `Radius`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NumbersToo._parameter_constraints,
        "n_features_to_select": [Interval(Integral, 1, None, closed="left"), None],
        "miss": [StrOptions({"observed", "prior"})],
        "categorical_features": ["array-like", None],
    }

    _allow_nan = True
    _own: ClassVar[bool]
    _far: ClassVar[str]

    def __init__(
        self,
        *,
        n_features_to_select: int | None = None,
        miss: str = "observed",
        categorical_features: Any = None,
        target: str = "classes",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.miss = miss
        self.categorical_features = categorical_features

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        self._check_n_features_to_select(X.shape[1])
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        radius = Radius(own=self._own, far=self._far, prior=self.miss == "prior")
        targets = np.flatnonzero(sample_weights).astype(np.int64)
        self._set_weights(radius_margin(X, codes, self.categorical_, targets, radius))

    def _of_numbers(self, X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        self._check_n_features_to_select(X.shape[1])
        self.categorical_ = as_mask(self.categorical_features, X.shape[1])
        return radius_margin_of_numbers(X, y, self.categorical_, Radius(own=self._own, far=self._far, prior=False))


class SURF(_RadiusSelector):
    r"""Weight each feature by how much farther it keeps misses than hits, among all rows nearer than the mean distance.

    For samples :math:`x_i`, with :math:`H_i` the hits (same class) and :math:`M_i` the misses (another class) nearer
    than the mean distance of all pairs of samples [1]_,

    .. math:: w_l = \frac1m \sum_i \left[ -\frac{1}{|H_i|} \sum_{j \in H_i} d_l(x_i, x_j)
              + \frac{1}{|M_i|} \sum_{j \in M_i} d_l(x_i, x_j) \right],

    where :math:`d_l(a, b)` is :math:`|a_l - b_l| / (\max_l - \min_l)` for a numeric feature; for a nominal one it is
    0 if the categories are equal and 1 otherwise. The distance is the sum of :math:`d_l` over all features. An empty
    set contributes 0.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the largest weights first; None keeps those of positive weight.
    miss : {"observed", "prior"}, default="observed"
        With more than two classes, how misses of several classes are combined. With "observed", the sum of
        differences to class c counts by (K - 1) m_c / m², for m_c misses of class c among the m misses of a sample
        and K classes, as in scikit-rebate; with "prior", the mean difference to class c counts by the frequency of c
        among the classes with such misses, as in ReliefF.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are
        none.
    target : {"classes", "numbers"}, default="classes"
        What y holds. For numbers, a hit is a row whose number differs by less than the standard deviation of y, and a
        miss is any other row, as in scikit-rebate.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if y holds classes.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter does not
        fit X.

    See Also
    --------
    mfbench_margin.relieff.ReliefF : The same number of neighbours for every sample.
    mfbench_margin.surf.MultiSURF : A distance for each sample.

    Notes
    -----
    The mean is over all n² pairs, each sample with itself included, as in scikit-rebate.

    Time O(n² p); memory O(n p), since distances are computed for a block of samples at a time.

    Missing values (NaN) are left out: the distance of two samples is the mean :math:`d_l` over the features known in
    both, and for a feature only the samples count in which it is known. Two samples without such a feature are neither
    near nor far.

    scikit-rebate (skrebate) gives the same weights if ``categorical_features`` names the features that it treats as
    categories, and no feature is constant. Its definition differs in some cases: it replaces the difference of numbers
    by a ramp if there are features of both kinds; it takes more than ten classes for numbers; it averages over all
    samples, also one that is alone in its class; and in SURF and SURF* its mean distance is about half the true one if
    values are missing. Here a distance equals a threshold if they agree to about 12 digits of the largest possible
    distance, and then the sample is neither near nor far; there, rounding decides.

    A constant feature has weight 0. A duplicate of a sample is at distance 0 and mostly near it; the sample itself
    never is.

    References
    ----------
    .. [1] C. S. Greene, N. M. Penrod, J. Kiralis, J. H. Moore: Spatially uniform ReliefF (SURF) for
       computationally-efficient filtering of gene-gene interactions. BioData Mining 2:5, 2009.
    .. [2] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature
       selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85, 2018, pages 168-188.

    Examples
    --------
    The class is the exclusive or of the signs of the first two features.

    >>> import numpy as np
    >>> from mfbench_margin import SURF
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> surf = SURF(n_features_to_select=2).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> surf.get_support(indices=True).tolist()
    [0, 1]
    """

    _own = False
    _far = "ignored"


class SURFStar(_RadiusSelector):
    r"""SURF that also counts the rows farther than the mean distance, with the opposite sign.

    Near rows count as in `SURF`. Of the far rows, a difference to a hit raises the weight of a feature, and one to a
    miss lowers it [1]_, each divided by the number of such rows.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the largest weights first; None keeps those of positive weight.
    miss : {"observed", "prior"}, default="observed"
        With more than two classes, how misses of several classes are combined. With "observed", the sum of
        differences to class c counts by (K - 1) m_c / m², for m_c misses of class c among the m misses of a sample
        and K classes, as in scikit-rebate; with "prior", the mean difference to class c counts by the frequency of c
        among the classes with such misses, as in ReliefF.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are
        none.
    target : {"classes", "numbers"}, default="classes"
        What y holds. For numbers, a hit is a row whose number differs by less than the standard deviation of y, and a
        miss is any other row, as in scikit-rebate.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if y holds classes.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter does not
        fit X.

    See Also
    --------
    mfbench_margin.surf.SURF : Near rows only.

    Notes
    -----
    Far rows help to detect interactions. But a feature that separates the classes on its own also differs in far rows
    of another class, and so may be ranked last. The mean is over all n² pairs, each sample with itself included, as in
    scikit-rebate.

    Time O(n² p); memory O(n p), since distances are computed for a block of samples at a time.

    Missing values (NaN) are left out: the distance of two samples is the mean :math:`d_l` over the features known in
    both, and for a feature only the samples count in which it is known. Two samples without such a feature are neither
    near nor far.

    scikit-rebate (skrebate) gives the same weights if ``categorical_features`` names the features that it treats as
    categories, and no feature is constant. Its definition differs in some cases: it replaces the difference of numbers
    by a ramp if there are features of both kinds; it takes more than ten classes for numbers; it averages over all
    samples, also one that is alone in its class; and in SURF and SURF* its mean distance is about half the true one if
    values are missing. Here a distance equals a threshold if they agree to about 12 digits of the largest possible
    distance, and then the sample is neither near nor far; there, rounding decides.

    A constant feature has weight 0. A duplicate of a sample is at distance 0 and mostly near it; the sample itself
    never is.

    References
    ----------
    .. [1] C. S. Greene, D. S. Himmelstein, J. Kiralis, J. H. Moore: The informative extremes: using both nearest and
       farthest individuals can improve Relief algorithms in the domain of human genetics. EvoBIO, LNCS 6023, 2010,
       pages 182-193.
    .. [2] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature
       selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85, 2018, pages 168-188.

    Examples
    --------
    The class is the exclusive or of the signs of the first two features.

    >>> import numpy as np
    >>> from mfbench_margin import SURFStar
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> surf = SURFStar(n_features_to_select=2).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> surf.get_support(indices=True).tolist()
    [0, 1]
    """

    _own = False
    _far = "differences"


class MultiSURF(_RadiusSelector):
    r"""SURF with a distance for each sample: its mean distance less half the standard deviation of its distances.

    For each sample, the mean and the standard deviation of its distances to all others give the threshold [1]_. Rows
    nearer than that count as in `SURF`; those about the mean count neither as near nor as far.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the largest weights first; None keeps those of positive weight.
    miss : {"observed", "prior"}, default="observed"
        With more than two classes, how misses of several classes are combined. With "observed", the sum of
        differences to class c counts by (K - 1) m_c / m², for m_c misses of class c among the m misses of a sample
        and K classes, as in scikit-rebate; with "prior", the mean difference to class c counts by the frequency of c
        among the classes with such misses, as in ReliefF.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are
        none.
    target : {"classes", "numbers"}, default="classes"
        What y holds. For numbers, a hit is a row whose number differs by less than the standard deviation of y, and a
        miss is any other row, as in scikit-rebate.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if y holds classes.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter does not
        fit X.

    See Also
    --------
    mfbench_margin.surf.SURF : One distance for all samples.
    mfbench_margin.surf.MultiSURFStar : Far rows too.

    Notes
    -----
    Time O(n² p); memory O(n p), since distances are computed for a block of samples at a time.

    Missing values (NaN) are left out: the distance of two samples is the mean :math:`d_l` over the features known in
    both, and for a feature only the samples count in which it is known. Two samples without such a feature are neither
    near nor far.

    scikit-rebate (skrebate) gives the same weights if ``categorical_features`` names the features that it treats as
    categories, and no feature is constant. Its definition differs in some cases: it replaces the difference of numbers
    by a ramp if there are features of both kinds; it takes more than ten classes for numbers; it averages over all
    samples, also one that is alone in its class; and in SURF and SURF* its mean distance is about half the true one if
    values are missing. Here a distance equals a threshold if they agree to about 12 digits of the largest possible
    distance, and then the sample is neither near nor far; there, rounding decides.

    A constant feature has weight 0. A duplicate of a sample is at distance 0 and mostly near it; the sample itself
    never is.

    References
    ----------
    .. [1] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature
       selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85, 2018, pages 168-188.

    Examples
    --------
    The class is the exclusive or of the two categories; the number is uninformative.

    >>> import numpy as np
    >>> from mfbench_margin import MultiSURF
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 2, (200, 2)), rng.normal(size=200)])
    >>> multisurf = MultiSURF(categorical_features=[0, 1]).fit(X, X[:, 0] != X[:, 1])
    >>> multisurf.get_support().tolist()
    [True, True, False]
    """

    _own = True
    _far = "ignored"


class MultiSURFStar(_RadiusSelector):
    r"""MultiSURF that also counts the similarities of far rows.

    Near rows count as in `MultiSURF`. Rows farther than a sample's mean distance plus half the standard deviation of
    its distances count by :math:`1 - d_l`: a similarity to a far hit lowers the weight of a feature, and one to a far
    miss raises it [1]_.

    Parameters
    ----------
    n_features_to_select : int or None, default=None
        Number of features that `get_support` keeps, the largest weights first; None keeps those of positive weight.
    miss : {"observed", "prior"}, default="observed"
        With more than two classes, how misses of several classes are combined. With "observed", the sum of
        differences to class c counts by (K - 1) m_c / m², for m_c misses of class c among the m misses of a sample
        and K classes, as in scikit-rebate; with "prior", the mean difference to class c counts by the frequency of c
        among the classes with such misses, as in ReliefF.
    categorical_features : array-like of bool, shape (n_features,), array-like of int, or None, default=None
        Mask or indices of the nominal features, whose values are category codes (any numbers); None if there are
        none.
    target : {"classes", "numbers"}, default="classes"
        What y holds. For numbers, a hit is a row whose number differs by less than the standard deviation of y, and a
        miss is any other row, as in scikit-rebate.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive.
    categorical_ : ndarray of bool, shape (n_features,)
        True for a nominal feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if y holds classes.
    n_skipped_ : int
        Number of training samples that are alone in their class. They have no hit, so means are taken over the other
        samples; they still count as misses of others.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features, if X has string column names.

    Raises
    ------
    ValueError
        If X holds infinity, y has fewer than two classes, every sample is alone in its class, or a parameter does not
        fit X.

    See Also
    --------
    mfbench_margin.surf.MultiSURF : Near rows only.

    Notes
    -----
    Far rows help to detect interactions. But a feature that separates the classes on its own also differs in far rows
    of another class, and so may be ranked last. Where a sample has far hits but no far misses, or the reverse, and with
    more than two classes and ``miss="observed"``, the similarities shift the weights of all features that vary by the
    same amount: use the ranks rather than the signs.

    Time O(n² p); memory O(n p), since distances are computed for a block of samples at a time.

    Missing values (NaN) are left out: the distance of two samples is the mean :math:`d_l` over the features known in
    both, and for a feature only the samples count in which it is known. Two samples without such a feature are neither
    near nor far.

    scikit-rebate (skrebate) gives the same weights if ``categorical_features`` names the features that it treats as
    categories, and no feature is constant. Its definition differs in some cases: it replaces the difference of numbers
    by a ramp if there are features of both kinds; it takes more than ten classes for numbers; it averages over all
    samples, also one that is alone in its class; and in SURF and SURF* its mean distance is about half the true one if
    values are missing. Here a distance equals a threshold if they agree to about 12 digits of the largest possible
    distance, and then the sample is neither near nor far; there, rounding decides.

    A constant feature has weight 0. A duplicate of a sample is at distance 0 and mostly near it; the sample itself
    never is.

    References
    ----------
    .. [1] D. Granizo-Mackenzie, J. H. Moore: Multiple threshold spatially uniform ReliefF for the genetic analysis of
       complex human diseases. EvoBIO, LNCS 7833, 2013, pages 1-10.
    .. [2] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature
       selection methods for bioinformatics data mining. Journal of Biomedical Informatics 85, 2018, pages 168-188.

    Examples
    --------
    The class is the exclusive or of the signs of the first two features.

    >>> import numpy as np
    >>> from mfbench_margin import MultiSURFStar
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> multisurf = MultiSURFStar(n_features_to_select=2).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> multisurf.get_support(indices=True).tolist()
    [0, 1]
    """

    _own = True
    _far = "similarities"
