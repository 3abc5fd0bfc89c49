"""Matrices of pairwise interactions, in one form for all methods of this plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The matrix of 5000 features takes 200 MB.
MAX_FEATURES = 5000


def pair_matrix(estimator: Any, weights: Mapping[tuple[int, int], float]) -> NDArray[np.float64]:
    """Return ``interaction_importances_``: symmetric, 0 on the diagonal.

    Parameters
    ----------
    estimator : object
        A fitted estimator, with ``n_features_in_``.
    weights : mapping from (int, int) to float
        Weights of pairs of different features, each pair listed once.

    Returns
    -------
    matrix : ndarray of shape (n_features, n_features)
        0 for every other pair.

    Raises
    ------
    AttributeError
        With more than 5000 features, so that ``hasattr`` reports that the attribute does not exist.
    """
    p = estimator.n_features_in_
    if p > MAX_FEATURES:
        raise AttributeError(
            f"{type(estimator).__name__} has no interaction_importances_ for more than {MAX_FEATURES} features"
        )
    matrix = np.zeros((p, p))
    for (first, second), weight in weights.items():
        matrix[first, second] = matrix[second, first] = weight
    return matrix
