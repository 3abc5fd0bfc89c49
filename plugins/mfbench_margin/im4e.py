"""IM4E: margins of soft neighbours, regularised by entropy; and its variant for unequal classes."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from mfbench_margin._learner import WeightedMarginClassifier
from mfbench_margin._soft.fixed_point import SoftMarginClassifier
from mfbench_margin._soft.manhattan import SoftManhattan


class IM4E(WeightedMarginClassifier, SoftMarginClassifier):
    r"""Weight each feature by how much farther it keeps soft misses than soft hits.

    With the distance :math:`d_{ij} = \sum_l w_l |x_{il} - x_{jl}|`, shares :math:`\alpha_{ih}` of the hits and
    :math:`\beta_{im}` of the misses of each sample, and their entropies :math:`E`, the method minimises the cost [1]_

    .. math::

       C = \sum_i \Bigl[ \sum_h \alpha_{ih} d_{ih} - \sum_m \beta_{im} d_{im}
           + \sigma \bigl( E^\text{miss}_i - E^\text{hit}_i \bigr) \Bigr] + \lambda \lVert w \rVert^2, \quad
           w \ge 0, \ \lVert w \rVert_1 = 1.

    Two steps alternate: the shares become the softmax of :math:`-d_{ij} / \sigma`, where C is stationary in them, and

    .. math::

       v_l = \sum_i s_i \Bigl[ \sum_m \beta_{im} |x_{il} - x_{ml}| - \sum_h \alpha_{ih} |x_{il} - x_{hl}| \Bigr], \qquad
       w \leftarrow (v)_+ / \lVert (v)_+ \rVert_1,

    where :math:`s_i` is the sample weight. The predicted class is the one with the smallest expected distance
    ([2]_, equation 18, with this distance).

    Parameters
    ----------
    sigma : float, default=1.0
        Softness in units of the distance: the smaller, the fewer neighbours count. Standardise the
        features. Published values are 4, 2, 1, 0.5, 0.25, 0.125.
    max_iter : int, default=10
        Maximum number of steps.
    tol : float, default=1e-4
        Stop when the objective changes by at most ``tol`` max(1, \|objective\|).
    init : array-like of shape (n_features,) or None, default=None
        Initial weights, scaled to sum 1; None for equal weights.
    degenerate : {"uniform", "ray", "raise"}, default="uniform"
        What to do if no feature has a positive margin: use equal weights for all features that vary; give all weight to
        the feature with the largest, least negative margin; or raise an error.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights w >= 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    objective_trace_ : ndarray of shape (`n_iter_` + 1,)
        The cost without :math:`\lambda`, with the shares stationary, at the start and after each step:
        :math:`\sum_i s_i [\text{softmin}_h d_{ih} - \text{softmin}_m d_{im}]`,
        :math:`\text{softmin}\, d = -\sigma \log \sum e^{-d / \sigma}`.
    converged_ : bool
        Whether the last step met the tolerance.
    n_iter_ : int
        Number of steps taken.
    degenerate_ : bool
        True if no feature has a positive margin; a warning is issued.
    sigma_ : float
        Softness used in prediction: ``sigma``.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
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
        If X holds NaN or infinity, y has fewer than two classes, every sample is alone in its class, no sample with a
        hit has a positive weight, ``init`` does not hold one weight per feature, or no feature has a positive margin
        and ``degenerate="raise"``.

    See Also
    --------
    mfbench_margin.IRelief : With inlier weights, weights of Euclidean norm 1.
    ImbalancedIM4E : Margins count differently in each class.

    Notes
    -----
    Time O(n² p) per step; memory O(n p) plus at most 32 MiB, no matrix of distances beyond that.

    Two published claims do not hold. First, with the shares fixed, the C above is a quadratic in w, and its minimiser
    subject to :math:`w \ge 0, \lVert w \rVert_1 = 1` is the point of the simplex nearest to :math:`v / 2\lambda`. The
    published step minimises C without the constraint on the norm, :math:`(v)_+ / 2\lambda`, and rescales afterwards. So
    :math:`\lambda` cancels in the algorithm, though not in the problem, and is not a parameter here. Second, the
    softmax minimises C in :math:`\alpha` but maximises it in :math:`\beta`: the steps are not a descent on C, and
    ``objective_trace_`` may rise.

    With the shares stationary, C has the gradient :math:`-v`. It contains the constant
    :math:`\sigma \sum_i s_i \log(n^\text{miss}_i / n^\text{hit}_i)`, so that with unequal classes and a large ``sigma``
    the relative tolerance is loose. If X and ``sigma`` are multiplied by the same number, the steps are the same but
    may stop earlier or later, as the 1 in the stopping rule is not multiplied.

    Misses of several classes are pooled. A duplicate of a sample is its neighbour at distance 0; only the sample itself
    is excluded. A constant feature has weight exactly 0, and so has one whose margin is no larger than rounding errors.

    References
    ----------
    .. [1] Y. Bei, P. Hong: Maximizing margin quality and quantity. IEEE International Workshop on Machine Learning for
       Signal Processing (MLSP), 2015.
    .. [2] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Entropy 22(3), 2020, article 291.

    Examples
    --------
    The first feature separates the classes, the second does not, the third is constant.

    >>> from mfbench_margin import IM4E
    >>> X = [[0, 0, 7], [1, 4, 7], [8, 1, 7], [9, 3, 7], [10, 0, 7], [2, 2, 7]]
    >>> im4e = IM4E(sigma=1.0).fit(X, ["a", "a", "b", "b", "b", "a"])
    >>> im4e.weights_.tolist()
    [1.0, 0.0, 0.0]
    >>> im4e.predict([[3, 3, 7], [7, 1, 7]]).tolist()
    ['a', 'b']
    """

    _norm = 1

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        factors = sample_weights * self._class_factors()[codes]
        neighbours = SoftManhattan(X, codes)

        sigma = float(self.sigma)
        w = self._first_weights(X.shape[1])
        trace = [neighbours.soften(w, sigma).objective(factors)]
        self.converged_ = False
        for _ in range(self.max_iter):
            w = self._next_weights(neighbours.margins(factors), neighbours.ranges)
            trace.append(neighbours.soften(w, sigma).objective(factors))
            if self.degenerate_:
                break
            self.converged_ = abs(trace[-1] - trace[-2]) <= self.tol * max(1.0, abs(trace[-1]))
            if self.converged_:
                break
        self._finish(neighbours, w, trace)

    def _shortfall(self) -> str | None:
        if self.converged_ or self.degenerate_:
            return None
        before, last = self.objective_trace_[-2:]
        return (
            f"in the last of max_iter={self.max_iter} steps the objective changed by {abs(last - before):.2g}, and "
            f"tol={self.tol:.2g} allows {self.tol * max(1.0, abs(last)):.2g}; increase max_iter or tol"
        )

    def _class_factors(self) -> NDArray[np.float64]:
        """Return the factor of each class's margins."""
        return np.ones(len(self.classes_))


class ImbalancedIM4E(IM4E):
    r"""IM4E with a factor for the margins of each class.

    With :math:`m_i` the bracket in the formula of `IM4E`, for two classes [1]_

    .. math:: v = \sum_{i \in +} m_i + \rho \sum_{i \in -} m_i.

    Parameters
    ----------
    sigma : float, default=1.0
        As in `IM4E`.
    rho : float or dict, default=1.0
        Positive factor of the margins of every class but the last in sorted order, whose factor is 1; or a dict from
        labels to positive factors, 1 for labels not named. The factors are not used in prediction. Published values are
        1.10, 1.08, ..., 0.90.
    max_iter : int, default=10
        As in `IM4E`.
    tol : float, default=1e-4
        As in `IM4E`.
    init : array-like of shape (n_features,) or None, default=None
        As in `IM4E`.
    degenerate : {"uniform", "ray", "raise"}, default="uniform"
        As in `IM4E`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights w >= 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    objective_trace_ : ndarray of shape (`n_iter_` + 1,)
        As in `IM4E`, the factors multiplied by the sample weights.
    converged_ : bool
        As in `IM4E`.
    n_iter_ : int
        Number of steps taken.
    degenerate_ : bool
        True if no feature has a positive margin; a warning is issued.
    sigma_ : float
        Softness used in prediction: ``sigma``.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
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
        As in `IM4E`; or if ``rho`` names a label that is not in y, or a factor is not a positive number.

    See Also
    --------
    IM4E : All classes count alike; with notes on cost and on errors in the papers.

    Notes
    -----
    The manuscript does not state which class is the positive one; here it is the one whose label sorts last.

    References
    ----------
    .. [1] R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms.
       Manuscript, 2019, section 3.3.

    Examples
    --------
    Margins of the rare class count four times.

    >>> from mfbench_margin import ImbalancedIM4E
    >>> X = [[0, 0], [1, 4], [2, 2], [3, 1], [9, 3], [8, 2]]
    >>> y = ["common", "common", "common", "common", "rare", "rare"]
    >>> imim4e = ImbalancedIM4E(rho={"rare": 4.0}).fit(X, y)
    >>> imim4e.weights_.round(2).tolist()
    [1.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IM4E._parameter_constraints,
        "rho": [Interval(Real, 0, None, closed="neither"), dict],
    }

    def __init__(
        self,
        sigma: float = 1.0,
        rho: Any = 1.0,
        max_iter: int = 10,
        tol: float = 1e-4,
        init: Any = None,
        degenerate: str = "uniform",
    ) -> None:
        super().__init__(sigma, max_iter, tol, init, degenerate)
        self.rho = rho

    def _class_factors(self) -> NDArray[np.float64]:
        if not isinstance(self.rho, dict):
            factors = np.full(len(self.classes_), float(self.rho))
            factors[-1] = 1.0
            return factors
        labels = self.classes_.tolist()
        unknown = [label for label in self.rho if label not in labels]
        if unknown:
            raise ValueError(f"rho names labels that are not in y: {unknown}; y has {labels}")
        for label, factor in self.rho.items():
            if not (isinstance(factor, Real) and 0 < float(factor) < math.inf):
                raise ValueError(f"rho[{label!r}] must be a positive number, got {factor!r}")
        return np.array([float(self.rho.get(label, 1.0)) for label in labels])
