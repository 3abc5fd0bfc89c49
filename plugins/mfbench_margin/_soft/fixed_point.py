"""Base classes of learners with soft neighbours.

`ExpectedDistanceClassifier` is that of all of them, whatever their distance: a learner sets ``classes_`` and ``sigma_``
in `fit` and defines `_expected_distances`; labels, scores and probabilities follow from them. `FixedPointLearner` is
that of I-Relief and IM4E, whose weights are a fixed point of the step from weights to margins and back.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import TOO_LARGE, ScoreClassifier, warn_degenerate
from mfbench_margin._soft.manhattan import SoftManhattan


class ExpectedDistanceClassifier(ScoreClassifier):
    r"""Base class of classifiers that predict the class with the smallest expected distance.

    With q the learned distance, the samples of class c are neighbours of x with probabilities that decrease with q,

    .. math:: E_c(x) = \sum_{n \in c} a_n^c\, q(x, x_n), \qquad
              a_n^c = \frac{e^{-q(x, x_n) / \sigma}}{\sum_{k \in c} e^{-q(x, x_k) / \sigma}}.

    Attributes
    ----------
    sigma_ : float
        Softness in units of the distance, set by `fit`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, set by `fit`.
    """

    sigma_: float

    @abstractmethod
    def _expected_distances(self, X: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return E, of shape (n_samples, n_classes).

        X holds checked rows; None stands for the training samples in the order passed to `fit`, none of which is its
        own neighbour. For a class that this leaves without neighbours, E is infinite.
        """

    def expected_distances(self, X: Any = None) -> NDArray[np.float64]:
        """Return the expected distance to the neighbours in each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Samples. None for the training samples, each left out of its own neighbours; otherwise its distance 0 to
            itself would dominate.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In units of the learned distance, at least 0. Infinite between a training sample that is alone in its class
            and that class.

        Raises
        ------
        ValueError
            If X is so far away that distances overflow.
        """
        check_is_fitted(self)
        return self._expected_distances(None) if X is None else self._distances_of(self._check_rows(X))

    def predict_training(self) -> NDArray[Any]:
        """Return the classes of the training samples, each predicted from all others with the learned weights.

        Returns
        -------
        ndarray of shape (n_training_samples,)
            Class labels, in the order of the samples passed to `fit`.

        Notes
        -----
        The sample that is left out took part in learning the weights: the error is optimistic.
        """
        nearest = self.expected_distances().argmin(axis=1)
        labels: NDArray[Any] = self.classes_[nearest]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        r"""Return a softmax of the negative expected distances, :math:`e^{-E_c / \sigma}` normalised.

        These numbers rank classes as `predict` does but are not calibrated: predictions with a share of 0.9 are not
        right in nine cases out of ten.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows sum to 1.
        """
        distances = self.expected_distances(X)
        # Differences are divided, not distances: the quotient may overflow to infinity, but never becomes NaN.
        with np.errstate(over="ignore"):
            scaled = (distances - distances.min(axis=1, keepdims=True)) / self.sigma_
        shares: NDArray[np.float64] = softmax(-scaled, axis=1)
        return shares

    def _scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return -self._distances_of(X)

    def _distances_of(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return E of checked rows; reject rows so far away that distances overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            distances = self._expected_distances(X)
        if not np.isfinite(distances).all():
            raise ValueError(TOO_LARGE)
        return distances


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
