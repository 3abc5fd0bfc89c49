"""Simba: gradient ascent on the margin, with the neighbours under the current weights."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._learner import varying, warn_degenerate
from mfbench_margin._nearest.classifier import NeighbourClassifier, leave_one_out_error
from mfbench_margin._nearest.search import unit, weighted
from mfbench_margin._nearest.simba_ascent import MarginProblem, climb_batch, climb_online, mean_utility, to_sphere


class Simba(NeighbourClassifier):
    r"""Weight features by gradient ascent on the margins of nearest neighbours in the weighted metric.

    With :math:`\|z\|_w = (\sum_l w_l^2 z_l^2)^{1/2}`, and :math:`H_i` and :math:`M_i` the nearest hit and miss of
    :math:`x_i` in this norm, Simba maximises [1]_

    .. math:: e(w) = \frac1n \sum_i u(\theta_i(w)), \qquad
       \theta_i(w) = \tfrac12 \left( \|x_i - M_i\|_w - \|x_i - H_i\|_w \right).

    The weights are those of squared differences, :math:`w^2 / \max_l w_l^2`. Samples are classified by a vote of their
    nearest neighbours in this metric.

    Parameters
    ----------
    mode : {"online", "batch"}, default="online"
        Add the gradient of one random sample after another, as published; or follow the gradient of all samples, and
        halve the step while the objective, with the neighbours under the new weights, does not grow.
    utility : {"linear", "sigmoid"}, default="linear"
        The utility u(t): t, or 1 / (1 + exp(-beta t)), under which samples far from the border hardly count.
    beta : float, default=1.0
        Steepness of the sigmoid, in units of 1 / X; unused if ``utility="linear"``.
    n_draws : int, default=1000
        Number of draws from each start, with replacement; unused if ``mode="batch"``.
    max_iter : int, default=100
        Maximum number of steps from each start; unused if ``mode="online"``.
    tol : float, default=1e-4
        Smallest step to try, relative to the length of w; unused if ``mode="online"``.
    n_random_starts : int, default=5
        Number of starts with every w_l drawn from [0.5, 1.5], in addition to the start at w = (1, …, 1).
    n_neighbors : int, default=1
        Number of neighbours that vote on a prediction.
    random_state : int, RandomState instance or None, default=None
        Seed of starts and draws; unused if ``mode="batch", n_random_starts=0``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        Weights of squared differences, in [0, 1]; the largest is 1.
    feature_importances_ : ndarray of shape (n_features,)
        Same as ``weights_``.
    objective_trace_ : list of float
        e(w) at the start and at the end, or after each step in batch mode; w scaled to the length of (1, …, 1).
    training_error_ : float
        Leave-one-out error on the training samples; the smallest of all starts.
    n_iter_ : int
        Number of draws or steps from the selected start.
    converged_ : bool
        In batch mode, whether the ascent ended because no step leads up; False in online mode.
    degenerate_ : bool
        True if no feature varies, or all w became 0. Weights are then equal on features that vary.
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
        If ``degenerate_``.

    See Also
    --------
    mfbench_margin.relief.Relief : Neighbours in the unweighted metric, one pass.

    Notes
    -----
    Time O(T n p) for T draws from a start, O(n² p) per batch step, and O(n² p) for the training error of each start;
    memory O(n p).

    The objective is not concave: of the results of all starts, the one with the smallest training error is kept [2]_;
    ties go to the largest e(w), then to the first start. The linear e(w) grows in proportion to the length of w, so
    batch mode keeps that length: its result does not depend on the units of X. In online mode, the larger X is, the
    larger are the first steps; standardise the features. A feature whose w becomes negative counts with its square.

    A constant feature has weight exactly 0. A sample at distance 0 of its hit or miss adds no gradient for it. Of
    equally near neighbours the one with the lowest training index counts.

    References
    ----------
    .. [1] R. Gilad-Bachrach, A. Navot, N. Tishby: Margin based feature selection - theory and algorithms. Proceedings
       of the 21st International Conference on Machine Learning (ICML), 2004, page 43.
    .. [2] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584.

    Examples
    --------
    >>> from mfbench_margin import Simba
    >>> X = [[0, 0, 7], [1, 4, 7], [8, 1, 7], [9, 3, 7], [10, 0, 7], [2, 2, 7]]
    >>> simba = Simba(mode="batch", n_random_starts=0).fit(X, ["a", "a", "b", "b", "b", "a"])
    >>> simba.weights_.round(2).tolist()
    [1.0, 0.0, 0.0]
    >>> simba.predict([[3, 0, 7]]).tolist()
    ['a']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NeighbourClassifier._parameter_constraints,
        "mode": [StrOptions({"online", "batch"})],
        "utility": [StrOptions({"linear", "sigmoid"})],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "n_random_starts": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        mode: str = "online",
        utility: str = "linear",
        beta: float = 1.0,
        n_draws: int = 1000,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_random_starts: int = 5,
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        self.mode = mode
        self.utility = utility
        self.beta = beta
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.tol = tol
        self.n_random_starts = n_random_starts
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64], sample_weights: NDArray[np.float64]) -> None:
        targets = np.flatnonzero(sample_weights)
        kept = varying(X)
        one = unit(X)
        sigmoid = self.utility == "sigmoid"
        problem = MarginProblem(X[:, kept] / one, codes, targets, one, sigmoid, float(self.beta))
        best = self._best_end(problem) if kept.any() else _End(np.zeros(0), 1.0, [], 0, False)

        self.training_error_, self.objective_trace_ = best.error, best.trace
        self.n_iter_, self.converged_ = best.n_iter, best.converged
        self.degenerate_ = not bool(best.weights.any())
        if self.degenerate_:
            warn_degenerate(self, "all weights are equal")
        weights = kept.astype(np.float64)
        if not self.degenerate_:
            weights[kept] = best.weights
        self._set_weights(weights)
        self._remember(X, codes)

    def _shortfall(self) -> str | None:
        # The online ascent takes a fixed number of draws.
        if self.converged_ or self.degenerate_ or self.mode != "batch":
            return None
        return (
            f"after max_iter={self.max_iter} steps a step of at least tol={self.tol:.2g} still increases the utility; "
            "increase max_iter or tol"
        )

    def _best_end(self, problem: MarginProblem) -> _End:
        random_state = check_random_state(self.random_state)
        n_features = problem.X.shape[1]
        ends = [self._climb(problem, np.ones(n_features), random_state)]
        for _ in range(self.n_random_starts):
            ends.append(self._climb(problem, random_state.uniform(0.5, 1.5, n_features), random_state))
        # max returns the first of equals.
        return max(ends, key=lambda end: (-end.error, end.trace[-1]))

    def _climb(self, problem: MarginProblem, start: NDArray[np.float64], random_state: np.random.RandomState) -> _End:
        if self.mode == "batch":
            w, trace, converged = climb_batch(problem, start, int(self.max_iter), float(self.tol))
            n_iter = len(trace) - 1
        else:
            draws = problem.targets[random_state.randint(len(problem.targets), size=self.n_draws)]
            w = climb_online(problem, start, draws)
            trace = [mean_utility(problem, to_sphere(v))[0] for v in (start, w)]
            n_iter, converged = int(self.n_draws), False
        weights = _largest_one(w)
        error = leave_one_out_error(weighted(problem.X, weights), problem.codes, int(self.n_neighbors))
        return _End(weights, error, trace, n_iter, converged)


@dataclass(frozen=True)
class _End:
    """Where the climb from one start ended."""

    weights: NDArray[np.float64]
    error: float
    trace: list[float]
    n_iter: int
    converged: bool


def _largest_one(w: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return w² divided by its largest element; 0 if w is."""
    largest = np.abs(w).max()
    scaled: NDArray[np.float64] = w / (largest if largest > 0.0 else 1.0)
    return scaled**2
