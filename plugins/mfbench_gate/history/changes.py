r"""Change points: where the level of a series changes, and where noise merely looks like it.

The changes minimise the squared residuals from the means of the segments plus a penalty for each change, exactly
(optimal partitioning [1]_), with two precautions for measured times. Values further than `CLIP` standard deviations
from the running median of `WINDOW` values are moved to that distance, so a single disturbed run cannot pull a segment.
And the penalty is

.. math:: c\,\hat\sigma^2\,\frac{1 + \hat\rho}{(1 - \hat\rho)^2} \log\max(n, 50), \qquad c = 2.5.

The standard deviation :math:`\hat\sigma` comes from the upper quartile of the absolute differences of neighbours: a
change of level spoils one difference only. The quartile is less uncertain than the median of so few differences, and
larger if the noise has heavy tails; where most differences are zero, their mean square takes its place, with the
largest 15 % limited. Neighbouring runs on one machine resemble each other; if their correlation is :math:`\rho`, the
differences show only :math:`1 - \rho` of the variance, and means vary by :math:`(1 + \rho) / (1 - \rho)` of it, which
explains the fraction. The correlation comes from the differences of next neighbours, whose mean square is
:math:`1 + \rho` times that of neighbours. In short series both estimates are uncertain, so the penalty of 50 values is
used for them too. ``tests/benchmarks/history_study.py`` measures how often this rule raises a false alarm, and which
changes it detects.

References
----------
.. [1] Jackson, B., et al. (2005). An algorithm for optimal partitioning of data on an interval. IEEE Signal Processing
   Letters 12(2), 105-108.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import median_filter

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST = 3
"""Least number of values between two changes."""
FACTOR = 2.5
LEAST_COUNT = 50
CLIP = 2.0
WINDOW = 7
LARGEST_CORRELATION = 0.5
LEAST_FOR_CORRELATION = 10
# The upper quartile of the absolute difference of two standard normal values.
_QUARTILE = 1.1503493803760079 * np.sqrt(2.0)


def noise(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of a series around its changing level."""
    differences = np.diff(values)
    quartile = float(np.quantile(np.abs(differences), 0.75) / _QUARTILE)
    # Memory often alternates between few values: then most differences are zero, and so may be their quartile.
    return max(quartile, float(np.sqrt(_mean_square(differences, 0.15) / 2.0)))


def correlation(values: NDArray[np.float64]) -> float:
    """Return the correlation of neighbours, from 0 to `LARGEST_CORRELATION`; 0 for fewer than 10 values."""
    if len(values) < LEAST_FOR_CORRELATION:
        return 0.0
    neighbours, next_ones = (_mean_square(values[lag:] - values[:-lag]) for lag in (1, 2))
    ratio = next_ones / neighbours if neighbours > 0.0 else 1.0
    return float(np.clip(ratio - 1.0, 0.0, LARGEST_CORRELATION))


def _mean_square(differences: NDArray[np.float64], largest: float = 0.1) -> float:
    """Return the mean square; the largest part, which may contain changes of level, counts as its least value."""
    squares = differences**2
    return float(np.minimum(squares, np.quantile(squares, 1.0 - largest)).mean())


def penalty(n_values: int, deviation: float, related: float = 0.0, factor: float = FACTOR) -> float:
    """Return by how much a change must reduce the squared residuals."""
    inflation = (1.0 + related) / (1.0 - related) ** 2
    return float(factor * deviation**2 * inflation * np.log(max(n_values, LEAST_COUNT)))


def change_points(values: NDArray[np.float64], resolution: float, factor: float = FACTOR) -> list[int]:
    """Return the positions at which new levels begin."""
    if len(values) < 2 * SHORTEST:
        return []
    deviation = max(noise(values), resolution)
    # Mirrored at the ends, so that the last run of a series is disturbed as easily as any other.
    level = median_filter(values, WINDOW, mode="reflect")
    clipped = np.clip(values, level - CLIP * deviation, level + CLIP * deviation)
    # In units of the noise: sums of squares of large values would lose small changes to rounding.
    scaled = (clipped - np.median(clipped)) / deviation
    return _segment_starts(scaled, penalty(len(values), 1.0, correlation(scaled), factor))


def _segment_starts(values: NDArray[np.float64], cost: float) -> list[int]:
    """Return where all segments but the first start if squared residuals plus a cost for each change are least."""
    n = len(values)
    least = np.full(n + 1, np.inf)  # of the first k values
    least[0] = -cost
    last_start = np.zeros(n + 1, dtype=int)
    means, residuals = np.zeros(n), np.zeros(n)  # of the segments from each start to the present value
    for end in range(1, n + 1):
        difference = values[end - 1] - means[:end]
        means[:end] += difference / np.arange(end, 0, -1)
        residuals[:end] += difference * (values[end - 1] - means[:end])
        if end >= SHORTEST:
            totals = least[: end - SHORTEST + 1] + residuals[: end - SHORTEST + 1] + cost
            last_start[end] = totals.argmin()
            least[end] = totals[last_start[end]]
    starts, start = [], int(last_start[n])
    while start > 0:
        starts.append(start)
        start = int(last_start[start])
    return starts[::-1]
