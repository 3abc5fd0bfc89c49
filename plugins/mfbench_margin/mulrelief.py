"""MulRelief: Relief repeated, each time with the neighbours in the metric that the previous loop has learned."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from mfbench_margin._learner import varying, warn_degenerate
from mfbench_margin._nearest.classifier import NeighbourClassifier
from mfbench_margin._nearest.search import hits_and_misses, unit, weighted


class MulRelief(NeighbourClassifier):
    r"""Weight features by Relief, search for neighbours again under these weights, and repeat.

    From :math:`w^{(0)} = 1/p` on, with :math:`H_i` and :math:`M_i` the nearest hit and miss of :math:`x_i` in the
    metric :math:`\sum_l w^{(t)}_l (x_l - x'_l)^2`, each loop [1]_ is a pass of Relief,

    .. math:: w^{(t+1)} \propto \Bigl( \frac1n \sum_i \left[ (x_i - M_i)^2 - (x_i - H_i)^2 \right] \Bigr)_+, \quad
       \sum_l w^{(t+1)}_l = 1,

    with squares taken feature by feature. Samples are classified by a vote of their nearest neighbours in the
    learned metric.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of loops.
    n_samples : int or None, default=None
        Number of samples to average over, drawn with replacement in each loop; None for every sample once.
    n_neighbors : int, default=1
        Number of neighbours that vote on a prediction.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws; unused if ``n_samples`` is None.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of squared differences; at least 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    objective_trace_ : list of float
        The mean margin :math:`\frac1n \sum_i \sum_l w_l [(x_i - M_i)_l^2 - (x_i - H_i)_l^2]` after each loop, with
        neighbours in the metric of the weights themselves; estimated on the next loop's draw if ``n_samples`` is set.
    n_iter_ : int
        Number of loops.
    converged_ : bool
        True if the loops ended at a fixed point: weights under which the neighbours do not change.
    cycled_ : bool
        True if the neighbours of an earlier loop, other than the last, recurred: the loops would cycle for ever.
    degenerate_ : bool
        True if no feature keeps misses farther away in the first loop. Weights are then uniform on features that
        vary.
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

    Warns
    -----
    RuntimeWarning
        If no feature keeps misses farther away than hits.

    See Also
    --------
    mfbench_margin.relief.Relief : With ``diff="sq", scale="none"``, the first loop.

    Notes
    -----
    Time O(n² p) per loop, at most O(n m p) with m drawn samples; memory O(n p).

    The weights depend only on the neighbours. Without draws the loops therefore reach a fixed point, enter a cycle, or
    end with no feature that keeps misses farther away. The margin need not grow from loop to loop, and cycles are the
    rule rather than the exception: the weights with the largest mean margin are kept, which need not be the last. With
    draws no such end can be detected: all loops are run and the last weights are kept, as published.

    Differences are not scaled; standardise the features. A constant feature has weight exactly 0. Of equally near
    neighbours the one with the lowest training index counts, and a duplicate is a valid neighbour.

    References
    ----------
    .. [1] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584.

    Examples
    --------
    >>> from mfbench_margin import MulRelief
    >>> X = [[0, 0, 7], [1, 4, 7], [8, 1, 7], [9, 3, 7], [10, 0, 7], [2, 2, 7]]
    >>> mulrelief = MulRelief().fit(X, ["a", "a", "b", "b", "b", "a"])
    >>> mulrelief.weights_.round(3).tolist(), mulrelief.n_iter_, mulrelief.converged_
    ([1.0, 0.0, 0.0], 2, True)
    >>> mulrelief.predict([[3, 0, 7]]).tolist()
    ['a']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighbourClassifier._parameter_constraints,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        max_iter: int = 100,
        n_samples: int | None = None,
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.n_samples = n_samples
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        self._random = check_random_state(self.random_state)
        targets = np.flatnonzero(sample_weights)
        self._set_weights(self._iterate(X, codes, targets))
        if self.degenerate_:
            warn_degenerate(self, "all weights are equal")
        del self._random
        self._remember(X, codes)

    def _iterate(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], targets: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the weights; set the attributes that describe the loops."""
        one = unit(X)
        X = X / one
        kept = varying(X)
        uniform = kept / max(1, int(np.count_nonzero(kept)))
        margins: list[float] = []
        self.converged_ = self.cycled_ = False
        iterates: list[NDArray[np.float64]] = []
        raw, neighbours = self._pass(X, codes, targets, uniform)
        seen = {neighbours}
        for _ in range(self.max_iter):
            positive = np.maximum(raw, 0.0)
            if not positive.any():
                break
            weights = positive / positive.sum()
            raw, following = self._pass(X, codes, targets, weights)
            iterates.append(weights)
            margins.append(float(weights @ raw))
            if self.n_samples is None:
                self.converged_ = following == neighbours
                self.cycled_ = not self.converged_ and following in seen
                if following in seen:
                    break
            seen.add(following)
            neighbours = following
        self.objective_trace_ = [margin * one * one for margin in margins]
        self.n_iter_ = len(iterates)
        self.degenerate_ = not iterates
        if not iterates:
            return uniform
        # Margins estimated on different draws are not comparable.
        return iterates[-1 if self.n_samples is not None else int(np.argmax(margins))]

    def _shortfall(self) -> str | None:
        # Each loop draws other samples if `n_samples` is set, so there is no fixed point.
        if self.converged_ or self.degenerate_ or self.n_samples is not None:
            return None
        if self.cycled_:
            return (
                f"after {self.n_iter_} loops the neighbours recur in a cycle; the weights of the loop with the largest "
                "mean margin are used, and further loops would not help: change n_neighbors"
            )
        return f"the neighbours still change after max_iter={self.max_iter} loops; increase max_iter"

    def _pass(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], bytes]:
        """Return the mean margin of each feature with the neighbours under the weights, and these neighbours."""
        counts = np.ones(len(targets))
        if self.n_samples is not None:
            draws = self._random.randint(len(targets), size=self.n_samples)
            # A sample drawn twice has the same neighbours both times: search once, count twice.
            counts = np.bincount(draws, minlength=len(targets)).astype(np.float64)
            targets, counts = targets[counts > 0], counts[counts > 0]
        hits, misses = hits_and_misses(weighted(X, weights), codes, targets)
        margins = (X[targets] - X[misses]) ** 2 - (X[targets] - X[hits]) ** 2
        mean: NDArray[np.float64] = counts @ margins / counts.sum()
        return mean, hits.tobytes() + misses.tobytes()
