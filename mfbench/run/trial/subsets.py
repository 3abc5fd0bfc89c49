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
    """Refuse weights that are NaN or infinite; otherwise the next step would fail and be blamed."""
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
    """Return the features by falling weight; ties go to the lower index."""
    return np.argsort(-weights, kind="stable")


def choose(weights: NDArray[np.float64], top: str | int | float) -> NDArray[np.int64]:
    """Return the features that a rule keeps, in ascending order."""
    order = ranking(weights)
    count = int((weights > 0).sum()) if top == "positive" else count_of(top, len(weights))
    return np.sort(order[: max(1, count)]).astype(np.int64)


def within_set(weights: NDArray[np.float64], selected: NDArray[np.int64], owner: str) -> NDArray[np.int64]:
    """Return which of the features that a rule keeps belong to the set that a selector gives."""
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
    """Return the factors that turn a distance into the weighted one; all ones if no weight is positive."""
    positive = np.maximum(weights, 0.0)
    if not positive.any():
        return np.ones_like(positive)
    # Over the largest first: the scale of a metric is free, and an importance may be as large as a double can be.
    relative: NDArray[np.float64] = positive / positive.max()
    return np.sqrt(relative) if distance == "euclidean" else relative
