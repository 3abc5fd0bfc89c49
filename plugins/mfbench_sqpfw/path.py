"""SQP-FW along its regularisation path: local minima as theta grows (Algorithm 2, corrected)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mfbench_sqpfw._weighted_neighbours import WeightedNeighbours
from mfbench_sqpfw.weight_path import WeightPath


class SQPFeatureWeightingPath(WeightedNeighbours):
    """The path of SQP-FW's weights as theta grows from 0 to ``theta_max``.

    Between breakpoints w is linear in theta. At a breakpoint a weight vanishes or returns, or the tie of a hit or miss
    with a target neighbour forms or breaks. If the new member replaces the target neighbour immediately, the old w is
    no longer a local minimum: w jumps, and the objective falls. The published algorithm continues there with affine
    functions that do not pass through w; here Algorithm 1 runs at that theta until w is optimal again.

    Parameters
    ----------
    kappa, lam, w_bar, working_set, tol, small_classes, n_neighbors
        As for `SQPFeatureWeighting`.
    theta_max : float, default=1.0
        End of the path, in the unit of `SQPFeatureWeighting`: the supplement's 1 is the number of targets.
    max_iter : int, default=None
        Largest number of breakpoints, and of steps of Algorithm 1 at one breakpoint; None means max(20000, 100 n
        kappa, min(20 l, 50000)) for l features. A path that is cut short ends with the event "step limit", and a
        ConvergenceWarning says where.
    random_state : int, RandomState instance or None, default=None
        Source of the random directions of restarts, which only tied data need.

    Attributes
    ----------
    path_ : WeightPath
    weights_, feature_importances_ : ndarray of shape (n_features,)
        At the end of the path.
    thetas_ : ndarray
        0 and the breakpoints.
    n_iter_ : int
        Number of linear segments of the path.
    target_hits_, target_misses_, active_set_, n_skipped_, classes_
        At the end of the path, as in `SQPFeatureWeighting`.

    Notes
    -----
    The path starts at theta = 0, where w is ``w_bar``. It is one path of local minima; Algorithm 1 started at ``w_bar``
    may end in others. If there are ties outside the active set, points of the path need not be local minima.

    References
    ----------
    .. [1] I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification.
       Advances in Neural Information Processing Systems 24 (NIPS), 2011, pages 576-584, supplement F.

    Examples
    --------
    Seven points with kappa = lambda = 2: as theta grows, the target neighbours change one by one, and all weight moves
    to the first feature, which separates the classes.

    >>> from mfbench_sqpfw import SQPFeatureWeightingPath, toy_data
    >>> X, y = toy_data()
    >>> fitted = SQPFeatureWeightingPath(kappa=2, theta_max=2.0).fit(X, y)
    >>> fitted.weights_.tolist()
    [1.0, 0.0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedNeighbours._parameter_constraints,
        "kappa": [Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Integral, 1, None, closed="left"), None],
        "theta_max": [Interval(Real, 0, None, closed="neither")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kappa: int = 1,
        lam: int | None = None,
        theta_max: float = 1.0,
        w_bar: Any = None,
        working_set: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-10,
        small_classes: str = "skip",
        n_neighbors: int = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(w_bar, working_set, max_iter, tol, small_classes, random_state)
        self.kappa = kappa
        self.lam = lam
        self.theta_max = theta_max
        self.n_neighbors = n_neighbors

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> SQPFeatureWeightingPath:
        """Follow the path.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        SQPFeatureWeightingPath
            The fitted classifier and selector, with the weights at the end of the path.
        """
        X, codes = self._check_data(X, y)
        problem = self._problem(X, codes, kappa=self.kappa, lam=self.lam)
        solution = self._follow(problem, self._solver(), theta_max=self.theta_max)
        self.thetas_ = self.path_.thetas
        return self._set_solution(solution, X, codes, n_neighbors=self.n_neighbors)

    def weights_at(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Return the weights at one theta or several; see `WeightPath.weights_at`."""
        check_is_fitted(self)
        return self.path_.weights_at(theta)


def sqpfw_path(X: ArrayLike, y: ArrayLike, theta_max: float = 1.0, **parameters: Any) -> WeightPath:
    """Return the path of SQP-FW's weights from theta = 0 to ``theta_max``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numeric features, no missing values; standardise them.
    y : array-like of shape (n_samples,)
        Class labels.
    theta_max : float, default=1.0
        End of the path.
    **parameters
        Further parameters of `SQPFeatureWeightingPath`.

    Returns
    -------
    WeightPath

    Examples
    --------
    >>> from mfbench_sqpfw import sqpfw_path, toy_data
    >>> path = sqpfw_path(*toy_data(), theta_max=2.0, kappa=2)
    >>> path.weights_at(0.0).tolist()
    [0.5, 0.5]
    """
    fitted: SQPFeatureWeightingPath = SQPFeatureWeightingPath(theta_max=theta_max, **parameters).fit(X, y)
    return fitted.path_


def toy_data() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return seven points in the plane whose whole path can be followed by hand.

    Four are of one class and three of another; all distances differ. The dataset resembles the paper's illustration
    (supplement G), whose coordinates are not printed. With ``kappa=2`` the target neighbours change many times
    until only the first feature has a positive weight.

    Returns
    -------
    X : ndarray of shape (7, 2)
    y : ndarray of shape (7,)

    Examples
    --------
    >>> from mfbench_sqpfw import sqpfw_path, toy_data
    >>> path = sqpfw_path(*toy_data(), theta_max=2.0, kappa=2)
    >>> of_weights = sum(event.kind.startswith("weight") for event in path.events)
    >>> sum(event.changes for event in path.events) - of_weights  # ties formed and broken
    22
    >>> path.after[:, 0].round(3).tolist()[0], path.after[:, 0].tolist()[-1]
    (0.5, 1.0)
    >>> path.events[-2].kind, path.events[-2].feature
    ('weight vanishes', 1)
    """
    X = [[-0.8, -2.0], [-0.2, 0.6], [1.1, 0.2], [-0.6, -1.2], [1.5, 2.5], [1.1, -1.8], [-0.2, 2.4]]
    return np.array(X), np.array([0, 0, 0, 0, 1, 1, 1])
