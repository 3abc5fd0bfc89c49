"""Relief: the difference to the nearest miss minus the difference to the nearest hit."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from mfbench_margin._family import MarginSelector
from mfbench_margin._nearest.differences import build_table
from mfbench_margin._nearest.mean_margin import pooled_factors, prior_factors, ranked_margins


class Relief(MarginSelector):
    r"""Weight each feature by how much farther it keeps the nearest miss than the nearest hit.

    For samples :math:`x_i`, with :math:`H_i` the nearest other sample of the same class and :math:`M_i` the nearest of
    another class [1]_,

    .. math:: w_l = \frac1m \sum_{i} \left[ d_l(x_i, M_i) - d_l(x_i, H_i) \right],

    where :math:`d_l(a, b) = |a_l - b_l| / (\max_l - \min_l)`, squared if ``diff="sq"``, and not divided by the range
    if ``scale="none"``. Neighbours are searched for once, in the unweighted metric, on features scaled likewise.

    Parameters
    ----------
    n_samples : int or None, default=None
        Number m of samples to average over, drawn with replacement; None for every sample once.
    diff : {"abs", "sq"}, default="abs"
        Whether differences are squared in the weights.
    scale : {"range", "none"}, default="range"
        Divide differences by the feature's range in the training data, or leave them in the units of X.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance that determines the nearest neighbours.
    miss : {"pooled", "prior"}, default="pooled"
        With more than two classes, use the nearest of all misses; or the nearest miss of every other class c, weighted
        by P(c) / (1 - P(class of the sample)) as in ReliefF [2]_.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; unused if ``n_samples`` is None.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Signed weights; within [-1, 1] if ``scale="range"``.
    weights_raw_ : ndarray of shape (n_features,)
        Same as ``feature_importances_``.
    weights_ : ndarray of shape (n_features,)
        The weights, negative ones replaced by 0.
    degenerate_ : bool
        True if no weight is positive: no feature is selected.
    sample_indices_ : ndarray of int, shape (m,)
        The training samples averaged over.
    weights_unit_ : ndarray of shape (n_features,)
        ``weights_`` divided by its Euclidean norm: the w >= 0 of norm 1 with the largest mean margin
        :math:`w^T` ``weights_raw_`` [3]_. Uniform, :math:`1 / \sqrt p`, if no weight is positive.
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
        If X holds NaN or infinity, y has fewer than two classes, or every sample is alone in its class.

    See Also
    --------
    mfbench_margin.relieff.ReliefF : Several neighbours, categories, missing values.

    Notes
    -----
    Time O(m n p) for the neighbours and O(m p) for the weights; memory O(n p), no matrix of distances.

    Published variants: the original [1]_ is ``diff="sq", scale="range", metric="euclidean"``; many later papers use
    ``diff="sq", scale="none", metric="euclidean"`` on standardised features; the margin in closed form [3]_ is
    ``diff="abs", scale="none", metric="manhattan"``.

    The sample itself is excluded by its index: a duplicate of it is a valid neighbour at distance 0. Of equally near
    neighbours the one with the lowest training index counts; distances that agree to about 13 digits of the largest
    possible one are equal. A constant feature has weight 0. `get_support` selects positive weights.

    References
    ----------
    .. [1] K. Kira, L. A. Rendell: The feature selection problem: traditional methods and a new algorithm. Proceedings
       of the 10th National Conference on Artificial Intelligence (AAAI), 1992, pages 129-134.
    .. [2] I. Kononenko: Estimating attributes: analysis and extensions of RELIEF. European Conference on Machine
       Learning (ECML), LNCS 784, 1994, pages 171-182.
    .. [3] Y. Sun: Iterative RELIEF for feature weighting: algorithms, theories, and applications. IEEE Transactions on
       Pattern Analysis and Machine Intelligence 29(6), 2007, pages 1035-1051.

    Examples
    --------
    The first feature separates the classes, the second does not, the third is constant.

    >>> from mfbench_margin import Relief
    >>> X = [[0, 0, 7], [1, 4, 7], [8, 1, 7], [9, 3, 7], [10, 0, 7], [2, 2, 7]]
    >>> relief = Relief().fit(X, ["a", "a", "b", "b", "b", "a"])
    >>> relief.feature_importances_.round(3).tolist()
    [0.567, -0.125, 0.0]
    >>> relief.get_support().tolist()
    [True, False, False]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MarginSelector._parameter_constraints,
        "diff": [StrOptions({"abs", "sq"})],
        "scale": [StrOptions({"range", "none"})],
        "metric": [StrOptions({"euclidean", "manhattan"})],
        "miss": [StrOptions({"pooled", "prior"})],
    }

    def __init__(
        self,
        n_samples: int | None = None,
        diff: str = "abs",
        scale: str = "range",
        metric: str = "euclidean",
        miss: str = "pooled",
        random_state: Any = None,
    ) -> None:
        self.n_samples = n_samples
        self.diff = diff
        self.scale = scale
        self.metric = metric
        self.miss = miss
        self.random_state = random_state

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        samples = self._draw_samples(sample_weights)
        squared_distance = self.metric == "euclidean"
        table = build_table(
            X, codes, np.zeros(X.shape[1], dtype=bool), scale=self.scale == "range", squared=squared_distance
        )
        pooled = self.miss == "pooled"
        margins = ranked_margins(
            table,
            samples,
            pooled_factors(len(self.classes_)) if pooled else prior_factors(codes),
            n_neighbors=1,
            squared_distance=squared_distance,
            squared_diff=self.diff == "sq",
            pooled=pooled,
        )
        self._set_weights(margins.at(1))
        self.weights_unit_ = _unit(self.weights_)


def _unit(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide by the Euclidean norm; uniform if all weights are 0."""
    largest = weights.max()
    if largest == 0.0:
        return np.full(len(weights), 1.0 / np.sqrt(len(weights)))
    # Dividing by the largest first keeps the squares of tiny weights from vanishing.
    scaled = weights / largest
    unit: NDArray[np.float64] = scaled / np.linalg.norm(scaled)
    return unit
