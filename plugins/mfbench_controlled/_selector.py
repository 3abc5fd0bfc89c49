"""What the selectors of this package share: responses as columns, and importances that are positive if selected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbench_learners.selectors import are_numbers

Floats = NDArray[np.float64]


def responses_of(y: NDArray[Any]) -> Floats:
    """Return a target from `NumberSelector` as centred columns: the numbers, or an indicator of each class.

    Of two classes, one indicator says it all.
    """
    if are_numbers(y):
        columns = y[:, None].astype(np.float64)
    else:
        columns = (y[:, None] == np.arange(y.max() + 1)).astype(np.float64)
        columns = columns[:, 1:] if columns.shape[1] == 2 else columns
    centred: Floats = columns - columns.mean(axis=0)
    return centred


def standardised(X: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the columns that vary with mean 0 and variance 1, and which these are."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    half = high[varies] / 2 - low[varies] / 2  # a difference could overflow
    Z = (X[:, varies] / 2 - low[varies] / 2) / half
    Z -= Z.mean(axis=0)
    spread = Z.std(axis=0)
    return Z / spread, varies


def above(scores: Floats, threshold: float) -> Floats:
    """Return scores minus a number just below the threshold: positive if they reach it, in the same order."""
    if not np.isfinite(threshold):
        return np.asarray(scores - (scores.max(initial=0.0) + 1.0))
    below = scores[scores < threshold]
    return np.asarray(scores - (threshold + below.max(initial=min(0.0, threshold - 1.0))) / 2)
