"""I-Relief: Relief with soft neighbours under the weights being learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_margin._soft.fixed_point import SoftMarginClassifier
from mfbench_margin._soft.manhattan import SoftManhattan


class IRelief(SoftMarginClassifier):
    r"""Weight each feature by how much farther it keeps soft misses than soft hits; outliers count less.

    With the distance :math:`d_{ij} = \sum_l w_l |x_{il} - x_{jl}|` and :math:`f_{ij} = e^{-d_{ij} / \sigma}`, a hit h
    of sample i is its neighbour with probability :math:`\alpha_{ih} = f_{ih} / \sum_{h'} f_{ih'}`, a miss m with
    :math:`\beta_{im}` likewise, and the sample is an inlier to the extent :math:`\gamma_i`, the share of the hits in
    the sum of :math:`f_{ij}` over all others. The weights are a fixed point of [1]_

    .. math::

       \nu_l(w) &= \frac1n \sum_i \gamma_i \Bigl[ \sum_m \beta_{im} |x_{il} - x_{ml}|
                   - \sum_h \alpha_{ih} |x_{il} - x_{hl}| \Bigr], \\
       w &\leftarrow (\nu)_+ / \lVert (\nu)_+ \rVert_2.

    Parameters
    ----------
    sigma : float, default=1.0
        Softness in units of the distance: the smaller, the fewer neighbours count. Standardise the features.
    max_iter : int, default=100
        Maximum number of steps.
    tol : float, default=1e-6
        Stop when a step changes the weights by at most this much, in the Euclidean norm.
    init : array-like of shape (n_features,) or None, default=None
        Initial weights, scaled to Euclidean norm 1; None for :math:`1 / p` each, as published.
    degenerate : {"uniform", "ray", "raise"}, default="uniform"
        What to do if no feature has a positive margin: use equal weights for all features that vary; give all weight to
        the feature with the largest, least negative margin; or raise an error.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights w >= 0, with Euclidean norm 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    inlier_weights_ : ndarray of shape (n_training_samples,)
        :math:`\gamma` under the final weights, within [0, 1]; near 0 for a sample among other classes, and 0 for one
        that is alone in its class.
    objective_trace_ : ndarray of shape (`n_iter_` + 1,)
        Mean margin :math:`w^T \nu(w)` at the start (whose norm may not be 1) and after each step.
    converged_ : bool
        Whether the last step was small. If not, ``weights_`` are those of the largest mean margin after any step.
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
        If X holds NaN or infinity, y has fewer than two classes, every sample is alone in its class, ``init`` does not
        hold one weight per feature, or no feature has a positive margin and ``degenerate="raise"``.

    See Also
    --------
    mfbench_margin.im4e.IM4E : Without inlier weights, weights of sum 1.

    Notes
    -----
    Time O(n² p) per step; memory O(n p) plus at most 32 MiB, no matrix of distances beyond that.

    With a large ``sigma`` a step is a contraction and leads to the same weights from any start. With a small one the
    steps may cycle; hence the best weights are kept.

    The authors compute :math:`\gamma` as 1 minus the share of the misses. Here it is the share of the hits, relative to
    the nearest sample: the same number, but it does not vanish for far samples or lose digits for outliers.

    Misses of several classes are pooled. A duplicate of a sample is its neighbour at distance 0; only the sample itself
    is excluded. A constant feature has weight exactly 0, and so has one whose margin is no larger than rounding errors.
    Prediction, by the smallest expected distance, is not part of the original method, which ranks features.

    References
    ----------
    .. [1] Y. Sun: Iterative RELIEF for feature weighting: algorithms, theories, and applications. IEEE Transactions on
       Pattern Analysis and Machine Intelligence 29(6), 2007, pages 1035-1051.

    Examples
    --------
    The first feature separates the classes, the second does not. The last sample has the wrong label.

    >>> from mfbench_margin import IRelief
    >>> X = [[0, 0], [1, 4], [2, 2], [8, 1], [9, 3], [10, 0], [1, 1]]
    >>> irelief = IRelief(sigma=0.5).fit(X, ["a", "a", "a", "b", "b", "b", "b"])
    >>> irelief.get_support().tolist()
    [True, False]
    >>> (irelief.inlier_weights_ > 0.1).tolist()
    [True, True, True, True, True, True, False]
    >>> irelief.predict([[3, 3], [7, 1]]).tolist()
    ['a', 'b']
    """

    _norm = 2

    def __init__(
        self,
        sigma: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-6,
        init: Any = None,
        degenerate: str = "uniform",
    ) -> None:
        super().__init__(sigma, max_iter, tol, init, degenerate)

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        n_targets = int(np.count_nonzero(sample_weights))
        neighbours = SoftManhattan(X, codes)

        def measure(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
            inliers = neighbours.soften(weights, float(self.sigma)).hit_shares()
            margins = neighbours.margins(inliers) / n_targets
            return float(weights @ margins), margins, inliers

        weights = self._first_weights(X.shape[1])
        margin, margins, _ = measure(weights)
        trace = [margin]
        self.converged_ = False
        # The start does not count: its norm, and hence its mean margin, may be on another scale.
        best_margin = -np.inf
        for _ in range(self.max_iter):
            previous, weights = weights, self._next_weights(margins, neighbours.ranges)
            margin, margins, inliers = measure(weights)
            trace.append(margin)
            self._change = float(np.linalg.norm(weights - previous))
            self.converged_ = not self.degenerate_ and self._change <= self.tol
            if self.degenerate_ or self.converged_ or margin > best_margin:
                best_margin, best_weights, self.inlier_weights_ = margin, weights, inliers
            if self.degenerate_ or self.converged_:
                break
        self._finish(neighbours, best_weights, trace)

    def _shortfall(self) -> str | None:
        if self.converged_ or self.degenerate_:
            return None
        return (
            f"in the last of max_iter={self.max_iter} steps the weights changed by {self._change:.2g} in norm "
            f"(tol={self.tol:.2g}); increase max_iter or tol"
        )
