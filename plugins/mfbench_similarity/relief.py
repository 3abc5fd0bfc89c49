"""Relief's weights as the diagonal of a similarity, as they are or with the negative ones left out."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_similarity._cones import project_psd
from mfbench_similarity._learner import SimilarityLearner
from mfbench_similarity._nearest.pairs import Pairs
from mfbench_similarity._nearest.table import Compare, Matrix, Normalization, nearness


class ReliefSimilarity(SimilarityLearner):
    r"""Use the weights of Relief as the diagonal of a similarity.

    Relief draws J samples and adds up, feature by feature, how much farther the misses are than the hits [1]_,

    .. math:: w_l = \frac{1}{J} \sum_i \frac1k \sum_{q=1}^k
       \left[ d_l(x_i, M_{iq}) - d_l(x_i, H_{iq}) \right], \qquad
       d_l(a, b) = \frac{|a_l - b_l|}{\max_l - \min_l},

    with the k nearest hits and misses by the distance :math:`\sum_l d_l`. The similarity is that of a diagonal matrix
    with these weights, some of which may be negative, on the features as given.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number k of hits and of misses of a sample, and of neighbours that decide on a prediction.
    n_samples : int or None, default=None
        Number J of samples, drawn with replacement; None for every sample once, in order.
    normalization : {"norms", "none"} or callable, default="norms"
        As of `RBS`.
    rule : {"knn-a", "sknn-a"}, default="knn-a"
        As of `RBS`.
    mode : {"multiclass", "one-vs-rest"}, default="multiclass"
        As of `RBS`.
    random_state : int, RandomState instance or None, default=None
        Determines the draws.

    Attributes
    ----------
    weights_raw_ : ndarray of shape (n_problems, n_features)
        w of each problem; of the version without negative weights, before they are left out at the end.
    matrices_, matrix_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As of `RBS`.
    margins_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        As of `RBS`, with the hits and misses of Relief: margins of the similarity, not of the distance.
    degenerate_ : bool
        True if all weights are 0. They are then equal.

    Raises
    ------
    ValueError
        As of `RBS`.

    Warns
    -----
    RuntimeWarning
        If all weights are 0.

    Notes
    -----
    Time O(n² p) for the neighbours and O(J k p); memory O(n k) and one block. A constant feature has weight 0. Weights
    learned from distances need not suit a similarity, which is part of why the paper finds this method weak.

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
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    matrix = "diagonal"
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
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_samples = n_samples
        self.normalization = normalization
        self.rule = rule
        self.mode = mode
        self.random_state = random_state

    def _neighbourhood(self, X: Matrix) -> tuple[Matrix, Compare]:
        spread = np.ptp(X, axis=0)
        rows = (X / np.where(spread > 0, spread, 1.0))[self._table.order]
        return rows, nearness(rows, "cityblock")

    def _begin(self) -> None:
        self._random = check_random_state(self.random_state)
        self.weights_raw_ = np.empty((self._n_problems, self.n_features_in_))

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        return self._or_identity(self._weigh(rows, pairs, problem, cut=False), problem)

    def _weigh(self, rows: Matrix, pairs: Pairs, problem: int, *, cut: bool) -> Matrix:
        """Return the weights; if `cut`, with negative ones set to 0 after each draw."""
        drawn = self._draw(pairs.counts[problem])
        weights = np.zeros(rows.shape[1])
        _add_draws(weights, rows, pairs.hits[problem], pairs.misses[problem], pairs.counts[problem], drawn, cut)
        self.weights_raw_[problem] = weights
        return weights

    def _draw(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sorted rows to visit, among those with hits and misses; all in training order, or at random."""
        in_order = self._table.position
        eligible = in_order[counts[in_order] > 0]
        if self.n_samples is None:
            return eligible
        drawn: NDArray[np.int64] = eligible[self._random.randint(len(eligible), size=self.n_samples)]
        return drawn


class ReliefPSD(ReliefSimilarity):
    r"""Use the positive weights of Relief as the diagonal of a similarity.

    A diagonal matrix is projected on the positive semi-definite ones by leaving out its negative entries [1]_.

    Parameters
    ----------
    n_neighbors, n_samples, normalization, rule, mode, random_state
        As of `ReliefSimilarity`.
    project : {"end", "step"}, default="end"
        When negative weights are left out: once at the end, or after each draw as printed.

    Attributes
    ----------
    weights_raw_, matrices_, matrix_, margins_, weights_, feature_importances_, classes_, n_skipped_, n_features_in_
        As of `ReliefSimilarity`.
    degenerate_ : bool
        False.

    Raises
    ------
    ValueError
        As of `RBS`, and if no weight is positive: the paper leaves the method undefined then.

    Notes
    -----
    Time and memory as of `ReliefSimilarity`. With ``project="step"`` the paper would stop with an error as soon as no
    weight is positive, which the first draw can bring about; here the weights are then 0 and the draws go on. Weights
    that are cut at 0 after each draw wander upwards: a feature that says nothing has a positive weight of the order
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
    ) -> None:
        super().__init__(n_neighbors, n_samples, normalization, rule, mode, random_state)
        self.project = project

    def _learn(self, rows: Matrix, pairs: Pairs, problem: int) -> Matrix:
        weights = self._weigh(rows, pairs, problem, cut=self.project == "step")
        return project_psd(weights, f"{type(self).__name__}{self._problem_name(problem)}")


@njit(cache=True)
def _add_draws(weights, rows, hits, misses, counts, drawn, cut):  # pragma: no cover
    for i in drawn:
        share = 1.0 / (len(drawn) * counts[i])
        for q in range(counts[i]):
            hit, miss = hits[i, q], misses[i, q]
            for f in range(rows.shape[1]):
                weights[f] += share * (abs(rows[i, f] - rows[miss, f]) - abs(rows[i, f] - rows[hit, f]))
        if cut:
            for f in range(rows.shape[1]):
                weights[f] = max(weights[f], 0.0)
