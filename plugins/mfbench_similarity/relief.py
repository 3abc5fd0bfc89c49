"""Relief's weights as the diagonal of a similarity, unchanged or with negative ones set to 0."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_learners.compiled import njit
from mfbench_similarity._learner import SimilarityLearner, project_psd
from mfbench_similarity._nearest.lists import Pairs
from mfbench_similarity._nearest.table import Compare, Matrix, Normalization, nearness


class ReliefSimilarity(SimilarityLearner):
    r"""Use the weights of Relief as the diagonal of a similarity.

    Relief draws J samples and sums, feature by feature, how much farther away the misses are than the hits [1]_,

    .. math:: w_l = \frac{1}{J} \sum_i \frac1k \sum_{q=1}^k
       \left[ d_l(x_i, M_{iq}) - d_l(x_i, H_{iq}) \right], \qquad
       d_l(a, b) = \frac{|a_l - b_l|}{\max_l - \min_l},

    with the k nearest hits and misses by the distance :math:`\sum_l d_l`, or by another `metric`. The similarity uses a
    diagonal matrix of these weights, some of which may be negative, on the unscaled features.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbours used for prediction.
    n_learning : int or None, default=None
        Number k of hits and of misses of a sample; None means `n_neighbors`.
    metric : {"range", "euclidean"}, default="range"
        Find hits and misses by the sum of the :math:`d_l`, or by the Euclidean distance of the features as they are.
    n_samples : int or None, default=None
        Number J of samples, drawn with replacement; None uses every sample once, in order.
    normalization : {"norms", "none"} or callable, default="norms"
        As for `RBS`.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As for `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        As for `RBS`.
    random_state : int, RandomState instance or None, default=None
        Determines the draws.

    Attributes
    ----------
    weights_raw_ : ndarray of shape (n_problems, n_features)
        The weights w of each problem, before `ReliefPSD` sets negative ones to 0 at the end.
    matrices_, matrix_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `RBS`.
    margins_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        As for `RBS`, but with the hits and misses of Relief; these are margins of the similarity, not of the distance.
    degenerate_ : bool
        True if all weights are 0. They are then replaced by equal ones.

    Raises
    ------
    ValueError
        As for `RBS`.

    Warns
    -----
    RuntimeWarning
        If all weights are 0.

    Notes
    -----
    Time O(n² p) for the neighbours and O(J k p); memory O(n k) and one block. A constant feature has weight 0. Weights
    learned from distances need not suit a similarity, which is one reason why the method is weak in the paper.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section III.

    Examples
    --------
    >>> from mfbench_similarity import ReliefSimilarity
    >>> X = [[0.0, 3], [1, 0], [0, 1], [4, 1], [5, 2], [4, 0]]
    >>> ReliefSimilarity().fit(X, [0, 0, 0, 1, 1, 1]).weights_raw_.round(2).tolist()
    [[0.7, -0.28]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: value for name, value in SimilarityLearner._parameter_constraints.items() if name != "matrix"},
        "n_learning": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions({"range", "euclidean"})],
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    matrix = "diagonal"
    n_learning: int | None
    metric: str
    n_samples: int | None
    random_state: Any

    def __init__(
        self,
        n_neighbors: int = 1,
        n_samples: int | None = None,
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
        random_state: Any = None,
        n_learning: int | None = None,
        metric: str = "range",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.normalization = normalization
        self.rule = rule
        self.mode = mode
        self.random_state = random_state
        self.n_learning = n_learning
        self.metric = metric

    @property
    def _n_pairs(self) -> int:
        return self.n_neighbors if self.n_learning is None else self.n_learning

    def _neighbourhood(self, X: Matrix) -> tuple[Matrix, Compare]:
        spread = np.ptp(X, axis=0)
        spread[spread == 0] = 1.0
        rows = (X / spread)[self._table.order]
        if self.metric == "range":
            return rows, nearness(rows, "cityblock")
        compare = nearness(rows * spread, "euclidean")
        return rows, lambda queries: compare(queries * spread)

    def _begin(self) -> None:
        self._random = check_random_state(self.random_state)
        self.weights_raw_ = np.empty((self._n_problems, self.n_features_in_))

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        return self._or_identity(self._weigh(rows, pairs, problem, cut=False), problem)

    def _weigh(self, rows: Matrix, pairs: Pairs, problem: int, *, cut: bool) -> Matrix:
        """Return the weights; if `cut`, negative ones are set to 0 after each draw."""
        draws = self._draw(pairs.counts[problem])
        weights = np.zeros(rows.shape[1])
        _add_draws(weights, rows, pairs.hits[problem], pairs.misses[problem], pairs.counts[problem], draws, cut)
        self.weights_raw_[problem] = weights
        return weights

    def _draw(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sorted rows to visit among those with hits and misses: all in training order, or a random draw."""
        in_order = self._table.position
        eligible = in_order[counts[in_order] > 0]
        if self.n_samples is None:
            return eligible
        draws: NDArray[np.int64] = eligible[self._random.randint(len(eligible), size=self.n_samples)]
        return draws


class ReliefPSD(ReliefSimilarity):
    r"""Use the positive weights of Relief as the diagonal of a similarity.

    The projection of a diagonal matrix on the positive semi-definite matrices sets its negative entries to 0 [1]_.

    Parameters
    ----------
    n_neighbors, n_learning, metric, n_samples, normalization, rule, mode, random_state
        As for `ReliefSimilarity`.
    project : {"end", "step"}, default="end"
        When to set negative weights to 0: once at the end, or after each draw as in the paper.

    Attributes
    ----------
    weights_raw_, matrices_, matrix_, margins_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As for `ReliefSimilarity`.
    degenerate_ : bool
        False.

    Raises
    ------
    ValueError
        As for `RBS`, and if no weight is positive; the paper does not define the method in this case.

    Notes
    -----
    Time and memory as for `ReliefSimilarity`. With ``project="step"``, the paper's algorithm would fail as soon as no
    weight is positive, possibly after the first draw; here the weights are then 0 and the draws continue. Weights that
    are cut at 0 after each draw drift upwards: an irrelevant feature has a positive weight of the order
    :math:`J^{-1/2}`.

    References
    ----------
    .. [1] A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of
       Computer Information Systems and Industrial Management Applications 4, 2012, section V-A.

    Examples
    --------
    >>> from mfbench_similarity import ReliefPSD
    >>> X = [[0.0, 3], [1, 0], [0, 1], [4, 1], [5, 2], [4, 0]]
    >>> ReliefPSD().fit(X, [0, 0, 0, 1, 1, 1]).matrix_.round(2).tolist()
    [[0.7, 0.0], [0.0, 0.0]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ReliefSimilarity._parameter_constraints,
        "project": [StrOptions({"end", "step"})],
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        n_samples: int | None = None,
        project: str = "end",
        normalization: Normalization = "norms",
        rule: str = "knn-a",
        mode: str = "multiclass",
        random_state: Any = None,
        n_learning: int | None = None,
        metric: str = "range",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.project = project
        self.normalization = normalization
        self.rule = rule
        self.mode = mode
        self.random_state = random_state
        self.n_learning = n_learning
        self.metric = metric

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        weights = self._weigh(rows, pairs, problem, cut=self.project == "step")
        return project_psd(weights, f"{type(self).__name__}{self._problem_name(problem)}")


@njit(cache=True)
def _add_draws(
    weights: Matrix,
    rows: Matrix,
    hits: NDArray[np.int32],
    misses: NDArray[np.int32],
    counts: NDArray[np.int64],
    draws: NDArray[np.int64],
    cut: bool,
) -> None:  # pragma: no cover
    for i in draws:
        share = 1.0 / (len(draws) * counts[i])
        for q in range(counts[i]):
            hit, miss = hits[i, q], misses[i, q]
            for f in range(rows.shape[1]):
                weights[f] += share * (abs(rows[i, f] - rows[miss, f]) - abs(rows[i, f] - rows[hit, f]))
        if cut:
            for f in range(rows.shape[1]):
                weights[f] = max(weights[f], 0.0)
