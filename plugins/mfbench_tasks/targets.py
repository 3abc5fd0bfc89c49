"""What the tasks do with the targets of all rows: the best constant prediction, and strata for splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfbench import Predictions

if TYPE_CHECKING:
    from numpy.typing import NDArray


def codes(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return class codes as they are: stratified parts have the class shares of the whole."""
    return y


def most_frequent(y: NDArray[np.int64]) -> Predictions:
    """Return the most frequent class for each row, with the class frequencies as probabilities."""
    seen, counts = np.unique(y, return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(y), 1))
    return Predictions(y, np.full(len(y), seen[np.argmax(counts)]), shares, seen, True)


def mean(y: NDArray[np.float64]) -> Predictions:
    """Return the mean for each row."""
    return Predictions(y, np.full(len(y), y.mean()), None, np.empty(0, dtype=np.int64), False)
