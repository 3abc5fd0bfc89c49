"""NCA-D: neighbourhood components analysis with a diagonal metric: a weight per feature."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._learner import TOO_LARGE, varying, warn_degenerate
from mfbench_margin._nearest.classifier import NeighbourClassifier, leave_one_out_error
from mfbench_margin._nearest.search import weighted
from mfbench_margin._soft.nca import climb_simplex, correct_probability, soft_margin


class NCADiagonal(NeighbourClassifier):
    r"""Weight features to make neighbours that are drawn at random, near ones more often, be of the right class.

    With :math:`d_{ij} = \sum_l w_l (x_{il} - x_{jl})^2`, hits :math:`\mathcal H_i` and misses :math:`\mathcal M_i` of
    sample i, the objective is the mean margin [1]_

    .. math:: J(w) = \frac1n \sum_i \Bigl[ \sum_{j \in \mathcal M_i} \beta_{ij} d_{ij} -
       \sum_{j \in \mathcal H_i} \alpha_{ij} d_{ij} \Bigr], \qquad w \ge 0, \ \sum_l w_l = 1,

    with :math:`\alpha_i` and :math:`\beta_i` the softmax of :math:`-d_{ij} / \sigma` over hits and over misses; or the
    mean probability of drawing a hit [2]_,

    .. math:: F(v) = \frac1n \sum_i \sum_{j \in \mathcal H_i} p_{ij}, \qquad w = v^2,

    with :math:`p_i` the softmax of :math:`-d_{ij}` over all other samples. Samples are classified by a vote of their
    nearest neighbours in the learned metric.

    Parameters
    ----------
    objective : {"margin", "nca"}, default="margin"
        Maximise J or F.
    sigma : float, default=1.0
        Softness of J in units of squared distances with weights that sum to 1: with a small one only the
        nearest neighbours count. The weights of F have a length of their own; there sigma only sets the length of the
        start, :math:`\sum_l v_l^2 = 1 / \sigma`.
    max_iter : int, default=100
        Maximum number of steps from each start.
    tol : float, default=1e-5
        Stop when a step raises J by less than this times its absolute value, or F by less than this.
    n_random_starts : int, default=5
        Number of starts with weights drawn from [0.5, 1.5] and divided by their sum, in addition to the start with
        equal weights.
    n_neighbors : int, default=1
        Number of neighbours that vote on a prediction.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts; unused if ``n_random_starts=0``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of squared differences; at least 0, with sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    objective_trace_ : list of float
        J or F at the selected start and after each step from it; ascending.
    training_error_ : float
        Leave-one-out error on the training samples; the smallest of all starts.
    n_iter_ : int
        Number of steps from the selected start.
    converged_ : bool
        Whether the ascent ended before ``max_iter`` steps.
    degenerate_ : bool
        True if no feature varies. All weights are then 0.
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
        Also if X is so large that distances overflow.

    Warns
    -----
    RuntimeWarning
        If ``degenerate_``.

    Notes
    -----
    Time O(n² p) per step, in matrix products; memory O(n p) plus 64 MB.

    J is maximised by projected gradients on the simplex, F by L-BFGS in v. Neither is concave: of the results of all
    starts, the one with the smallest training error is kept [1]_; ties go to the largest objective, then to the first
    start. Distances and sigma have the units of squared X; standardise the features. A constant feature has weight
    exactly 0.

    The constraint on the sum makes the weights that maximise J sparse. As sigma grows, J becomes linear in w, and its
    maximum puts all weight on the one feature with the largest mean difference between classes.

    References
    ----------
    .. [1] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584.
    .. [2] J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov: Neighbourhood components analysis. Advances in Neural
       Information Processing Systems 17 (NIPS), 2004, pages 513-520.

    Examples
    --------
    >>> from mfbench_margin import NCADiagonal
    >>> X = [[0, 0, 7], [1, 4, 7], [8, 1, 7], [9, 3, 7], [10, 0, 7], [2, 2, 7]]
    >>> nca = NCADiagonal(n_random_starts=0).fit(X, ["a", "a", "b", "b", "b", "a"])
    >>> nca.weights_.round(3).tolist()
    [1.0, 0.0, 0.0]
    >>> nca.predict([[3, 0, 7]]).tolist()
    ['a']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighbourClassifier._parameter_constraints,
        "objective": [StrOptions({"margin", "nca"})],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_random_starts": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        objective: str = "margin",
        sigma: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        n_random_starts: int = 5,
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.sigma = sigma
        self.max_iter = max_iter
        self.tol = tol
        self.n_random_starts = n_random_starts
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        kept = varying(X)
        with np.errstate(over="ignore"):
            # Squared distances are computed from squared lengths, and summed with coefficients of any sign.
            if not np.isfinite(8.0 * len(X) * (np.ptp(X, axis=0) ** 2).sum()):
                raise ValueError(TOO_LARGE)
        self.degenerate_ = not bool(kept.any())
        if self.degenerate_:
            warn_degenerate(self, "all weights are 0")
            best = _End(np.zeros(0), 1.0, [], False)
        else:
            best = self._best_end(X[:, kept] - X[:, kept].mean(axis=0), codes)
        self.training_error_, self.objective_trace_ = best.error, best.trace
        self.n_iter_, self.converged_ = max(0, len(best.trace) - 1), best.converged
        weights = np.zeros(X.shape[1])
        weights[kept] = best.weights
        self._set_weights(weights)
        self._remember(X, codes)

    def _shortfall(self) -> str | None:
        if self.converged_ or self.degenerate_:
            return None
        return (
            f"after {self.n_iter_} of max_iter={self.max_iter} steps the objective still increases by more than "
            f"tol={self.tol:.2g}; increase max_iter or tol"
        )

    def _best_end(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> _End:
        random_state = check_random_state(self.random_state)
        starts = [np.ones(X.shape[1])]
        starts += [random_state.uniform(0.5, 1.5, X.shape[1]) for _ in range(self.n_random_starts)]
        climb = self._climb_margin if self.objective == "margin" else self._climb_nca
        ends = []
        for start in starts:
            weights, trace, converged = climb(X, codes, start / start.sum())
            error = leave_one_out_error(weighted(X, weights), codes, int(self.n_neighbors))
            ends.append(_End(weights, error, trace, converged))
        # max returns the first of equals.
        return max(ends, key=lambda end: (-end.error, end.trace[-1]))

    def _climb_margin(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], start: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], list[float], bool]:
        sigma = float(self.sigma)
        return climb_simplex(
            lambda weights: soft_margin(X, codes, weights, sigma), start, int(self.max_iter), float(self.tol)
        )

    def _climb_nca(
        self, X: NDArray[np.float64], codes: NDArray[np.int64], start: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], list[float], bool]:
        def negative(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, gradient = correct_probability(X, codes, v)
            return -value, -gradient

        def note(intermediate_result: OptimizeResult) -> None:
            trace.append(-float(intermediate_result.fun))

        v = np.sqrt(start / self.sigma)
        trace = [correct_probability(X, codes, v)[0]]
        options: Any = {"maxiter": int(self.max_iter), "ftol": float(self.tol), "gtol": 0.0}
        result = minimize(negative, v, jac=True, method="L-BFGS-B", callback=note, options=options)
        largest = np.abs(result.x).max()
        if largest == 0.0:
            # All neighbours are equally probable: no feature counts more than another.
            return np.full(len(v), 1.0 / len(v)), trace, bool(result.success)
        # Dividing by the largest first keeps the squares of tiny roots from vanishing.
        squares = (result.x / largest) ** 2
        return squares / squares.sum(), trace, bool(result.success)


@dataclass(frozen=True)
class _End:
    """Where the climb from one start ended."""

    weights: NDArray[np.float64]
    error: float
    trace: list[float]
    converged: bool
