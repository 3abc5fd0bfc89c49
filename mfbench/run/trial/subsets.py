"""From weights to a subset: which features a rule keeps, and the factors of weighted distances."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from mfbench.data.prepare import Columns
from mfbench.suite.curves import count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_finite(weights: NDArray[np.float64], owner: str, groups: NDArray[np.intp], columns: Columns) -> None:
    """Refuse weights that are NaN or infinite; otherwise the next step would fail and be blamed.

    Parameters
    ----------
    weights : ndarray of shape (n_columns,)
    owner : str
        What gave the weights, for the message: "selector 'own'".
    groups : ndarray of shape (n_columns,)
        The feature behind each column.
    columns : Columns
        The names of the features.

    Raises
    ------
    ValueError
        For the first weight that is not a finite number.
    """
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        first = columns.describe(int(groups[wrong[0]]))
        others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ValueError(
            f"{owner} gave the importance {weights[wrong[0]]} to {first}{others}: importances must be finite numbers"
        )


def by_original_feature(weights: NDArray[np.float64], groups: NDArray[np.intp], n_features: int) -> NDArray[np.float64]:
    """Return the largest weight among the columns of each original feature."""
    largest = np.full(n_features, -np.inf)
    np.maximum.at(largest, groups, weights)
    return largest


def ranking(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the features by falling weight; ties go to the lower index.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)

    Returns
    -------
    ndarray of int of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> ranking(np.array([0.1, -0.2, 0.7, 0.1]))
    array([2, 0, 3, 1])
    """
    return np.argsort(-weights, kind="stable")


def choose(weights: NDArray[np.float64], top: str | int | float) -> NDArray[np.int64]:
    """Return the features that a rule keeps, in ascending order.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Importance of each feature.
    top : "positive", "all", int or float
        Positive weights only, all features, a count, or a fraction (rounded up). At least one feature is always kept:
        the one with the largest weight. Ties go to the lower index.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> import numpy as np
    >>> choose(np.array([0.1, -0.2, 0.7, 0.1]), "positive")
    array([0, 2, 3])
    >>> choose(np.array([0.1, -0.2, 0.7, 0.1]), 2)
    array([0, 2])
    >>> choose(np.array([-1.0, -0.5]), "positive")
    array([1])
    """
    order = ranking(weights)
    count = int((weights > 0).sum()) if top == "positive" else count_of(top, len(weights))
    return np.sort(order[: max(1, count)]).astype(np.int64)


def within_set(weights: NDArray[np.float64], selected: NDArray[np.int64], owner: str) -> NDArray[np.int64]:
    """Return which of the features that a rule keeps belong to the set that a selector gives.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
        Positive for the features of the set.
    selected : ndarray of int
        As `choose` returned it. If a rule asks for another number of features than the set has, there is a warning.
    owner : str
        What gave the weights, for the warning: "selector 'own'".

    Examples
    --------
    >>> import numpy as np
    >>> within_set(np.array([0.0, 1.0, 1.0]), np.array([1, 2]), "selector 'own'")
    array([1, 2])
    """
    size = int((weights > 0).sum())
    if len(selected) > size:
        warn_of_end(weights, owner)
    elif len(selected) < size and len(np.unique(weights[weights > 0])) == 1:
        warnings.warn(f"{owner} selects {size} features in no order: 'top' takes the first ones of these", stacklevel=2)
    return selected[weights[selected] > 0]


def warn_of_end(weights: NDArray[np.float64], owner: str) -> None:
    """Warn that a selector has no more features than those of its set."""
    size = int((weights > 0).sum())
    text = f"{owner} selects {size} of {len(weights)} features and ranks no others: 'top' and curves end there"
    warnings.warn(text, stacklevel=2)


def metric_weights(weights: NDArray[np.float64], distance: str = "euclidean") -> NDArray[np.float64]:
    """Return the factors that turn a distance into the weighted one; all ones if no weight is positive.

    Parameters
    ----------
    weights : ndarray of shape (n_columns,)
        Negative ones count as 0.
    distance : {"euclidean", "manhattan"}, default="euclidean"
        The factors of the first are square roots, because it squares differences.

    Examples
    --------
    >>> import numpy as np
    >>> metric_weights(np.array([1.0, -3.0, 4.0]))
    array([0.5, 0. , 1. ])
    >>> metric_weights(np.array([1.0, -3.0, 4.0]), "manhattan")
    array([0.25, 0.  , 1.  ])
    """
    positive = np.maximum(weights, 0.0)
    if not positive.any():
        return np.ones_like(positive)
    # Over the largest first: the scale of a metric is free, and an importance may be as large as a double can be.
    relative: NDArray[np.float64] = positive / positive.max()
    return np.sqrt(relative) if distance == "euclidean" else relative
