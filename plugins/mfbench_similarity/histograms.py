"""Histograms of margins, in which no bar holds margins of both signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class MarginHistogram:
    """A histogram of margins.

    Attributes
    ----------
    edges : ndarray of shape (n_bars + 1,)
        Multiples of the width of a bar, including 0. A bar holds margins above its lower edge, up to and including its
        upper edge: a margin of 0, a mistake, is counted left of 0.
    counts : ndarray of int64, shape (n_bars,)
        Number of margins in each bar.
    mean : float
        Mean margin.
    mistakes : float
        Share of margins of at most 0, between 0 and 1.
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    mean: float
    mistakes: float


def margin_histogram(margins: Any, n_bars: int = 30) -> MarginHistogram:
    """Count margins in bars of equal width.

    Parameters
    ----------
    margins : array-like of float
        Margins, such as ``margins_``, of any shape. NaN, the margin of a sample without a hit, is ignored.
    n_bars : int, default=30
        Approximate number of bars.

    Returns
    -------
    MarginHistogram

    Raises
    ------
    ValueError
        If no margin is finite, or `n_bars` is not positive.

    Notes
    -----
    Time O(n log n_bars).

    Examples
    --------
    >>> from mfbench_similarity import margin_histogram
    >>> histogram = margin_histogram([-0.5, 0.0, 0.25, 1.0, 1.5], n_bars=4)
    >>> histogram.edges.tolist(), histogram.counts.tolist(), histogram.mistakes
    ([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5], [1, 1, 1, 1, 1], 0.4)
    """
    values: NDArray[np.float64] = np.asarray(margins, dtype=np.float64).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        raise ValueError("there are no margins to count: margins holds no finite number")
    if n_bars < 1:
        raise ValueError(f"n_bars must be at least 1, got {n_bars}")
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    width = (high - low) / n_bars or 1.0
    bar = np.ceil(values / width).astype(np.int64)
    first, last = int(bar.min()), int(bar.max())
    edges: NDArray[np.float64] = width * np.arange(first - 1, last + 1, dtype=np.float64)
    return MarginHistogram(edges, np.bincount(bar - first), float(values.mean()), float(np.mean(values <= 0)))
