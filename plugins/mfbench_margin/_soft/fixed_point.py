"""Base class of I-Relief and IM4E, whose weights are a fixed point of the step from weights to margins and back."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from mfbench_margin._learner import warn_degenerate
from mfbench_margin._soft.expected_distance import ExpectedDistanceClassifier
from mfbench_margin._soft.manhattan import SoftManhattan


class SoftMarginClassifier(ExpectedDistanceClassifier):
    """Base class of learners that replace weights w >= 0 by the positive part of the margins measured with them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "init": ["array-like", None],
        "degenerate": [StrOptions({"uniform", "ray", "raise"})],
    }
    # Order of the norm that is 1 for learned weights.
    _norm: ClassVar[int]

    def __init__(
        self,
        sigma: float = 1.0,
        max_iter: int = 10,
        tol: float = 1e-4,
        init: Any = None,
        degenerate: str = "uniform",
    ) -> None:
        self.sigma = sigma
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.degenerate = degenerate

    def _first_weights(self, n_features: int) -> NDArray[np.float64]:
        """Return the weights to start from: 1 / p each, as published, or ``init`` with the norm of learned weights."""
        if self.init is None:
            return np.full(n_features, 1.0 / n_features)
        weights: NDArray[np.float64] = check_array(self.init, dtype=np.float64, ensure_2d=False, input_name="init")
        if weights.shape != (n_features,):
            raise ValueError(f"init must have shape ({n_features},), one weight per feature, got {weights.shape}")
        if weights.min() < 0 or weights.max() == 0:
            raise ValueError("init must hold weights of at least 0, one of them positive")
        return self._to_unit(weights)

    def _next_weights(self, margins: NDArray[np.float64], ranges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the positive part of the margins, scaled to norm 1; set ``degenerate_``.

        If no margin is positive, the parameter ``degenerate`` decides.
        """
        self.degenerate_ = not bool((margins > 0).any())
        if not self.degenerate_:
            return self._to_unit(np.maximum(margins, 0.0))
        varies = ranges > 0
        if self.degenerate == "raise":
            raise ValueError(f"{type(self).__name__}: on average no feature keeps misses farther away than hits")
        weights = np.zeros(len(margins))
        if not varies.any():
            warn_degenerate(self, "all features are constant, so their weights are 0")
        elif self.degenerate == "uniform":
            warn_degenerate(self, "the features that vary get equal weights")
            weights = self._to_unit(varies.astype(np.float64))
        else:
            warn_degenerate(self, "the feature that keeps hits least far beyond misses gets all the weight")
            weights[np.where(varies, margins, -np.inf).argmax()] = 1.0
        return weights

    def _to_unit(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        # Dividing by the largest first keeps squares of tiny or huge weights from vanishing or overflowing.
        weights = weights / weights.max()
        unit: NDArray[np.float64] = weights / np.linalg.norm(weights, self._norm)
        return unit

    def _finish(self, neighbours: SoftManhattan, weights: NDArray[np.float64], trace: list[float]) -> None:
        """Set the fitted attributes."""
        self._set_weights(weights)
        self.sigma_ = float(self.sigma)
        self.objective_trace_ = np.array(trace)
        self.n_iter_ = len(trace) - 1
        self._predictor = neighbours.predictor(weights, self.sigma_)

    def _expected_distances(self, X: NDArray[np.float64] | None) -> NDArray[np.float64]:
        return self._predictor(X)
