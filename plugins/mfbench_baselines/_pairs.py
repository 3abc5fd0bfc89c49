"""Matrices that tell how pairs of features act together, of one form for all methods here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The matrix of 5000 features takes 200 MB.
MOST_FEATURES = 5000


def pair_matrix(estimator: Any, weights: Mapping[tuple[int, ...], float]) -> NDArray[np.float64]:
    """Return ``interaction_importances_``: symmetric, 0 on the diagonal.

    Parameters
    ----------
    estimator : object
        Fitted, so that it has ``n_features_in_``.
    weights : mapping from (int, int) to float
        Pairs of different features, each in one order.

    Returns
    -------
    matrix : ndarray of shape (n_features, n_features)
        0 for a pair that is not mentioned.

    Raises
    ------
    AttributeError
        With more than 5000 features: whoever asks for the attribute is told that there is none.
    """
    p = estimator.n_features_in_
    if p > MOST_FEATURES:
        raise AttributeError(
            f"{type(estimator).__name__} gives no interaction_importances_ for more than {MOST_FEATURES} features"
        )
    matrix = np.zeros((p, p))
    for (first, second), weight in weights.items():
        matrix[first, second] = matrix[second, first] = weight
    return matrix
