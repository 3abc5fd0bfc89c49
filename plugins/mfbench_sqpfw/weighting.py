"""SQP-FW: feature weights whose target neighbours are always those of the weighted distance (Algorithm 1)."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from mfbench_sqpfw._weighted_neighbours import WeightedNeighbours


class SQPFeatureWeighting(WeightedNeighbours):
    r"""Feature weights by sequential quadratic programming, consistent with their target neighbours.

    Minimises, over w >= 0 with sum 1,

        theta / n sum_i (d(i, h_i | w) - d(i, m_i | w)) + 1/2 \|w - w_bar\|²

    where d(i, j | w) = sum_f w_f (x_if - x_jf)² and h_i, m_i are the kappa-th nearest hit and the lambda-th nearest
    miss of i under w itself (equation 2 of [1]_). The objective is neither smooth nor convex; the algorithm descends
    monotonically to a local minimum, and after every step the target neighbours are those of the current w.

    Parameters
    ----------
    kappa : int, default=1
        Which nearest sample of the same class is the target hit.
    lam : int, default=None
        Which nearest sample of all other classes is the target miss; None means ``kappa``.
    theta : float, default=0.1
        Weight of the loss, a mean over the n targets, relative to the distance to ``w_bar``; in the supplement of [1]_,
        whose loss is a sum, it is theta / n. It scales with the inverse square of the features'
        units: standardise them.
    w_bar : array-like of shape (n_features,), default=None
        Prior weights, at least 0 with sum 1, where the algorithm starts; None means equal weights.
    working_set : int, "auto" or None, default="auto"
        Number of hits and of misses of each target that are watched one by one; the result does not depend on it. None
        watches all, with memory O(n²); "auto" means 20 if there are more than 64 samples, else all.
    max_iter : int, default=None
        Largest number of steps; None means max(20000, 100 n kappa, min(20 l, 50000)) for l features. If it is
        reached, the weights are still feasible and consistent with their target neighbours.
    tol : float, default=1e-10
        A step to the solution of the current quadratic program counts as none if all its entries are smaller.
    n_restarts : int, default=20
        If ties outside the active set remain at the end, the algorithm restarts in random directions until this many
        restarts in a row fail to improve; with 0 it ends at the first stationary point.
    small_classes : {"skip", "error"}, default="skip"
        Treatment of samples with fewer than kappa hits or lambda misses: they are not targets but remain misses of
        others (n is then the number of targets), or a ValueError is raised.
    n_neighbors : int, default=1
        Neighbours that vote in prediction.
    random_state : int, RandomState instance or None, default=None
        Source of the random directions of restarts.

    Attributes
    ----------
    weights_, feature_importances_ : ndarray of shape (n_features,)
        w; a constant feature has weight 0, and the prior weights of the others are rescaled to sum 1.
    target_hits_, target_misses_ : ndarray of int64, shape (n_samples,)
        Training indices of each sample's target hit and miss, one of them if several are tied; -1 if the sample is not
        a target.
    active_set_ : dict of str to ndarray
        "weights": indices of features held at 0 (others may be 0 too); "hits" and "misses": the other members tied with
        a target neighbour, as pairs (sample, member) of shape (n_ties, 2).
    objective_ : float
        The objective at ``weights_``.
    objective_history_ : ndarray of shape (`n_steps_` + 1,)
        The objective at the start and after each step; it never rises.
    n_steps_, n_iter_ : int
        Number of steps, including those of length 0 that a tie blocked at once.
    n_rechecks_ : int
        How often the members outside the working set of a target had to be tested.
    n_restarts_ : int
        Number of restarts that lowered the objective.
    converged_ : bool
        Whether the weights are stationary.
    certificate_ : Certificate
        The optimality conditions, checked from scratch.
    n_skipped_ : int
        Number of samples that are not targets.
    classes_ : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        In `fit`, if there are fewer than two classes, no sample has enough hits and misses, ``w_bar`` does not fit the
        data, or ``theta`` times the squared range of the features is above 1e12.

    Notes
    -----
    The start takes time O(n² l), a step O(l t + n l) with t tied pairs, and usually much less; memory is
    O(n (l + working_set)). The number of steps, which grows with theta, n and kappa, dominates.

    Equations (10a), (11), (12), (13b) and (13c) are used with theta / n, and (13c) with the sign that makes the
    multipliers of a target's misses sum to -theta / n.

    References
    ----------
    .. [1] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584.

    Examples
    --------
    >>> from mfbench_sqpfw import SQPFeatureWeighting
    >>> X = [[0, 0], [1, 4], [2, 2], [8, 1], [9, 3.5], [10, 0.5]]
    >>> sqpfw = SQPFeatureWeighting(theta=0.01).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> sqpfw.weights_.round(3).tolist()
    [0.755, 0.245]
    >>> sqpfw.certificate_.optimal
    True
    >>> sqpfw.predict([[3, 0]]).tolist()
    ['a']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedNeighbours._parameter_constraints,
        "kappa": [Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Integral, 1, None, closed="left"), None],
        "theta": [Interval(Real, 0, None, closed="left")],
        "n_restarts": [Interval(Integral, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kappa: int = 1,
        lam: int | None = None,
        theta: float = 0.1,
        w_bar: Any = None,
        working_set: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-10,
        n_restarts: int = 20,
        small_classes: str = "skip",
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(w_bar, working_set, max_iter, tol, small_classes, random_state)
        self.kappa = kappa
        self.lam = lam
        self.theta = theta
        self.n_restarts = n_restarts
        self.n_neighbors = n_neighbors

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SQPFeatureWeighting:
        """Weigh the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        SQPFeatureWeighting
            The fitted classifier and selector.
        """
        X, codes = self._check_data(X, y)
        problem = self._problem(X, codes, kappa=self.kappa, lam=self.lam)
        theta = float(self.theta)
        minimum = self._solver(n_restarts=int(self.n_restarts)).minimise(problem, theta=theta)
        self.objective_ = minimum.objective
        self.objective_history_ = np.array(minimum.history)
        self.n_steps_ = self.n_iter_ = len(minimum.history) - 1
        self.n_rechecks_ = minimum.n_rechecks
        self.n_restarts_ = minimum.n_restarts
        self.converged_ = minimum.converged
        self.certificate_ = minimum.certificate(theta)
        if not self.converged_:
            warnings.warn(
                f"{type(self).__name__} did not converge: after {self.n_steps_} steps (max_iter={self.max_iter}) the "
                f"weights are not stationary: a step would still move one by {self.certificate_.stationarity:.2g} "
                f"(tol={self.tol:.2g}); increase max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self._set_solution(minimum, X, codes, n_neighbors=self.n_neighbors)
