"""Base classes of the Relief family: signed weights, of which positive ones are selected, and a draw of samples."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from mfbench_margin._learner import MarginLearner


class SignedSelector(MarginLearner):
    """Base class of selectors whose weight of a feature is a mean margin, which may be negative."""

    def _set_weights(self, weights: NDArray[np.float64]) -> None:
        self.weights_raw_ = weights
        self.feature_importances_ = weights
        self.weights_ = np.maximum(weights, 0.0)
        self.degenerate_ = not bool((weights > 0).any())

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.weights_raw_ > 0


class MarginSelector(SignedSelector):
    """Base class of selectors that average over all samples or a draw of them."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_samples": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def _draw_samples(self, sample_weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the training indices to average over; set ``sample_indices_``.

        A sample that is alone in its class has no hit and hence no margin: it is never drawn, but is a miss of others.
        """
        indices = np.flatnonzero(sample_weights)
        if self.n_samples is not None:
            random_state = check_random_state(self.random_state)
            indices = indices[random_state.randint(len(indices), size=self.n_samples)]
        self.sample_indices_ = indices
        return indices
