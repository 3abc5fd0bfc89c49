"""SQP-FW: feature weights whose target neighbours are always those of the weighted distance (Algorithm 1)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from mfbench_sqpfw._base import WeightedNeighbours
from mfbench_sqpfw._restart import improve
from mfbench_sqpfw._run import Prepared, begin, default_limit, descend, weights_of
from mfbench_sqpfw._state import POSITIVE, RECHECKS, TIES, Floats, Ints, State
from mfbench_sqpfw._steps import OPTIMAL, STEP_LIMIT, objective
from mfbench_sqpfw.certificate import Certificate, certify


class SQPFeatureWeighting(WeightedNeighbours):
    r"""Feature weights by sequential quadratic programming, consistent with their target neighbours.

    Minimises, over w >= 0 with sum 1,

        theta / n sum_i (d(i, h_i | w) - d(i, m_i | w)) + 1/2 \|w - w_bar\|²

    where d(i, j | w) = sum_f w_f (x_if - x_jf)² and h_i, m_i are the kappa-th nearest hit and the lambda-th nearest
    miss of i under w itself (equation 2 of [1]_). The objective is neither smooth nor convex; the algorithm falls
    monotonically to a local minimum, the target neighbours being those of the current w after every step.

    Parameters
    ----------
    kappa : int, default=1
        Which nearest sample of the same class is the target hit.
    lam : int, default=None
        Which nearest sample of all other classes is the target miss; None means ``kappa``.
    theta : float, default=0.1
        Weight of the loss against the distance to ``w_bar``. It scales with the inverse square of the features' units:
        standardise them.
    w_bar : array-like of shape (n_features,), default=None
        Prior weights, at least 0, sum 1; None means equal ones. The algorithm starts there.
    working_set : int, "auto" or None, default="auto"
        How many members of each target's hits and of its misses are watched singly; the result does not depend on it.
        None watches all and needs memory O(n²); "auto" is 20 where there are more than 64 samples.
    max_iter : int, default=None
        Steps at most; None means max(20000, 100 n kappa). Weights after fewer steps than needed are feasible and
        consistent too.
    tol : float, default=1e-10
        A step to the solution of the current quadratic program whose entries are all smaller counts as none.
    n_restarts : int, default=20
        Where ties outside the active set are left at the end, so many random restarts in a row must fail to improve;
        0 leaves it at the first stationary point.
    small_classes : {"skip", "error"}, default="skip"
        What is done with samples that have fewer than kappa hits or lambda misses: they are no targets but still
        misses of others (n is then the number of targets), or a ValueError.
    n_neighbors : int, default=1
        Neighbours that vote in prediction.
    random_state : int, RandomState instance or None, default=None
        Draws the directions of restarts.

    Attributes
    ----------
    weights_, feature_importances_ : ndarray of shape (n_features,)
        w; a constant feature has weight 0, the others' prior weights being rescaled to sum 1.
    target_hits_, target_misses_ : ndarray of int64, shape (n_samples,)
        Training indices of each sample's target hit and miss; -1 if it is no target. Where several are tied, one.
    active_set_ : dict of str to ndarray
        "weights": indices of features held at 0 (others may be 0 too); "hits" and "misses": pairs (sample, member), of
        shape (n_ties, 2), tied with the target neighbour besides it.
    objective_ : float
        The objective at ``weights_``.
    objective_history_ : ndarray of shape (n_steps_ + 1,)
        The objective at the start and after each step; it never rises.
    n_steps_, n_iter_ : int
        Steps that moved w or met a tie at once.
    n_rechecks_ : int
        How often a target's members outside the working set had to be looked at.
    n_restarts_ : int
        Restarts that lowered the objective.
    converged_ : bool
        No step was left to make.
    certificate_ : Certificate
        The optimality conditions checked from scratch.
    n_skipped_ : int
        Samples that are no targets.
    classes_ : ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        In `fit`, if there are fewer than two classes, no sample has enough hits and misses, ``w_bar`` does not fit, or
        ``theta`` times the features' squared range is above 1e12.

    Notes
    -----
    Time O(n² l) to start, and for one step O(l t + n l) with t tied pairs, most of it rarely needed; memory
    O(n (l + working_set)). The number of steps grows with theta, n and kappa and dominates.

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
        self.kappa = kappa
        self.lam = lam
        self.theta = theta
        self.w_bar = w_bar
        self.working_set = working_set
        self.max_iter = max_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.small_classes = small_classes
        self.n_neighbors = n_neighbors
        self.random_state = random_state

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
        data = self._prepare(X, codes, self.kappa, self.lam)
        self.n_skipped_ = len(X) - len(data.targets)
        weights = np.zeros(X.shape[1])
        if len(data.features):
            weights[data.features] = self._minimise(data)
        else:
            _set_trivial(self, len(X))
        self._set_weights(weights)
        self._remember(X, codes, int(self.n_neighbors))
        return self

    def _minimise(self, data: Prepared) -> Floats:
        theta, tolerance = float(self.theta), float(self.tol)
        limit = default_limit(len(data.X), data.kappa) if self.max_iter is None else int(self.max_iter)
        state = begin(data)
        history = [objective(state, theta)]
        state, status, trace = descend(state, theta, tolerance, limit)
        history += trace
        self.n_restarts_ = 0
        if status != STEP_LIMIT and theta > 0 and self.n_restarts:
            generator = check_random_state(self.random_state)
            state, status, trace, self.n_restarts_ = improve(
                state, status, theta, tolerance, limit - len(trace), int(self.n_restarts), generator
            )
            history += trace
        self.converged_ = status == OPTIMAL
        self.objective_history_ = np.array(history)
        self.objective_ = objective(state, theta)
        self.n_steps_ = self.n_iter_ = len(history) - 1
        self.n_rechecks_ = int(state.counts[RECHECKS])
        describe(self, data, state)
        self.certificate_ = certificate(data, state, theta)
        return weights_of(state)


def describe(estimator: Any, data: Prepared, state: State) -> None:
    """Set target neighbours and the active set, in the caller's numbers."""
    n, n_targets = len(data.X), len(data.targets)
    samples = data.order[data.targets]
    hits, misses = np.full((2, n), -1, dtype=np.int64)
    hits[samples] = data.order[state.rep[:n_targets]]
    misses[samples] = data.order[state.rep[n_targets:]]
    estimator.target_hits_, estimator.target_misses_ = hits, misses
    count = int(state.counts[TIES])
    rows, members = state.tie_row[:count], data.order[state.tie_member[:count]]
    pairs = np.column_stack([samples[rows % n_targets], members]).astype(np.int64)
    held = data.features[np.sort(state.perm[state.counts[POSITIVE] :])]
    estimator.active_set_ = {"weights": held, "hits": pairs[rows < n_targets], "misses": pairs[rows >= n_targets]}


def certificate(data: Prepared, state: State, theta: float) -> Certificate:
    """Check a state from scratch."""
    count = int(state.counts[TIES])
    ties: list[NDArray[np.int64]] = [np.array([rep]) for rep in state.rep]
    for row, member in zip(state.tie_row[:count], state.tie_member[:count], strict=True):
        ties[row] = np.append(ties[row], member)
    need: Ints = state.need
    return certify(
        data.X,
        data.codes,
        data.targets,
        weights_of(state),
        data.bar,
        theta,
        ties,
        state.n_less,
        (int(need[0]), int(need[1])),
        state.perm[state.counts[POSITIVE] :],
    )


def _set_trivial(estimator: Any, n: int) -> None:
    """Describe the solution where no feature varies: all distances are 0."""
    nobody = np.full(n, -1, dtype=np.int64)
    estimator.target_hits_, estimator.target_misses_ = nobody, nobody.copy()
    no_pairs = np.zeros((0, 2), dtype=np.int64)
    estimator.active_set_ = {"weights": np.zeros(0, dtype=np.int64), "hits": no_pairs, "misses": no_pairs.copy()}
    estimator.objective_, estimator.objective_history_ = 0.0, np.zeros(1)
    estimator.n_steps_ = estimator.n_iter_ = estimator.n_rechecks_ = estimator.n_restarts_ = 0
    estimator.converged_ = True
    estimator.certificate_ = Certificate(True, 0.0, 0.0, 0.0, 0, 0, 0)
