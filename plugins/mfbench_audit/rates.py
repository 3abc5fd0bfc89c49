"""Bounds for the mean of rounds: exact for shares of events, by betting for bounded numbers; and verdicts on promises.

Nothing is assumed of the rounds but that they are independent and their values lie between 0 and a known number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Floats = NDArray[np.float64]
Verdict = Literal["breaks", "holds", "undecided"]
LEVEL = 0.01
"""Probability that a selector that keeps its promise on all designs is reported to break it on any."""
HOLDS = 0.05
"""Probability that a promise that is exceeded by more than a fifth is reported to hold."""
TOLERANCE = 1.2
"""A promise holds if the rate is shown to be at most this multiple of it."""
_STEPS = 30
_TIMES = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Rate:
    """The error rate of a selector on a design."""

    mean: float
    low: float  # low, high: its 95 % interval
    high: float
    verdict: Verdict
    rounds: int
    needed: int | None  # rounds that would decide if they repeated these; None if it is decided, or too many would


def lower_bound(values: Floats, level: float, most: float, *, are_events: bool, guess: float = 0.5) -> float:
    """Return a number below the mean with probability 1 - level.

    For events (0 or 1) it is Clopper and Pearson's; for numbers from 0 to `most` it inverts a bet against each smaller
    mean (I. Waudby-Smith, A. Ramdas, Journal of the Royal Statistical Society B 86(1):1-27, 2024). It is the tighter,
    the nearer `guess`, a share of `most` chosen before the values were seen, is to the mean.
    """
    n = len(values)
    if are_events:
        events = int(np.count_nonzero(values))
        return float(beta.ppf(level, events, n - events + 1)) if events else 0.0
    x = np.asarray(values, dtype=float) / most
    stakes = _stakes(x, level, guess)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        mean = (low + high) / 2
        low, high = (mean, high) if _wins(x, mean, stakes, level) else (low, mean)
    return most * low


def upper_bound(values: Floats, level: float, most: float, *, are_events: bool, guess: float = 0.5) -> float:
    """Return a number above the mean with probability 1 - level."""
    left = most - np.asarray(values, dtype=float)
    return most - lower_bound(left, level, most, are_events=are_events, guess=1.0 - guess)


def _stakes(x: Floats, level: float, guess: float) -> Floats:
    """Return how much is bet in each round: as predicted to be best from the mean and variance of those before it."""
    n = len(x)
    counts = np.arange(1, n + 1)
    first = max(guess * (1.0 - guess), 1.0 / n)
    means = (guess + np.cumsum(x)) / (counts + 1)
    variances = (first + np.cumsum((x - means) ** 2)) / (counts + 1)
    before = np.concatenate([[first], variances[:-1]])
    return np.asarray(np.sqrt(2.0 * np.log(1.0 / level) / (n * before)))


def _wins(x: Floats, mean: float, stakes: Floats, level: float) -> bool:
    """Return whether a bet that the mean is larger multiplies its capital by 1 / level at any time."""
    bets = np.minimum(stakes, 0.9 / mean)
    return bool(np.cumsum(np.log1p(bets * (x - mean))).max() >= np.log(1.0 / level))


def judge(values: Floats, promise: float, most: float, designs: int, *, are_events: bool) -> Rate:
    """Return the rate of one design, and the verdict on it.

    Parameters
    ----------
    values : ndarray of shape (n_rounds,)
        The error of each round.
    promise : float
        The rate that the selector promises.
    most : float
        The largest error of a round.
    designs : int
        Number of designs on which the selector is audited: each is tested at `LEVEL` divided by it.
    are_events : bool
        Whether an error can only be 0 or 1, whatever the data.

    Returns
    -------
    Rate
    """
    lower, upper = (
        partial(bound, most=most, are_events=are_events, guess=promise / most) for bound in (lower_bound, upper_bound)
    )

    def verdict_on(rounds: Floats) -> Verdict:
        if lower(rounds, LEVEL / designs) > promise:
            return "breaks"
        return "holds" if upper(rounds, HOLDS) <= min(TOLERANCE * promise, most) else "undecided"

    verdict, needed = verdict_on(values), None
    if verdict == "undecided":
        more = (times * len(values) for times in _TIMES if verdict_on(np.tile(values, times)) != "undecided")
        needed = next(more, None)
    return Rate(float(np.mean(values)), lower(values, 0.025), upper(values, 0.025), verdict, len(values), needed)


def overall(verdicts: list[Verdict]) -> Verdict:
    """Return the verdict over designs: a promise breaks on any of them, and holds on all or not at all."""
    if "breaks" in verdicts:
        return "breaks"
    return "holds" if verdicts and set(verdicts) == {"holds"} else "undecided"
