"""What out-of-fold predictions show about the best of many pipelines: its score, and its differences to others.

A score is a mean over rows. The rows of a table are scored once in each repeat of a cross-validation. Choosing the best
mean is optimistic; bootstrap bias-corrected cross-validation (I. Tsamardinos, E. Greasidou, G. Borboudakis, Machine
Learning 107, 2018) chooses on resampled rows and scores the choice on the others, without another fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mfbench.stats.multiple import holm

Floats = NDArray[np.float64]
LEVEL, _POWER = 0.05, 0.8
DRAWS, _LEAST_DRAWS = 500, 50
_MOST = 2e7  # drawn rows in all; tables of more than 40,000 rows, where choosing biases little, are drawn less often
_BLOCK = 2**22  # numbers of one block of resampled rows
_CLOSE = 1e-9
_NUMBERS = 1.75  # by how much more the variance of an R² is inflated: without it, intervals cover 81 to 91 %


@dataclass(frozen=True)
class Interval:
    """An estimate and its interval."""

    value: float
    low: float
    high: float
    error: float = float("nan")  # standard error, where the interval is symmetric


@dataclass(frozen=True, eq=False)
class RowScores:
    """The score of each row by each pipeline: 0 or 1, or any number; pipelines are in order of preference among equals.

    Parameters
    ----------
    values : ndarray of shape (n_repeats, n_rows, n_pipelines)
    folds : int
        Folds of a repeat.
    strata : ndarray of shape (n_rows,) or None, default=None
        Class codes, if the score is the mean over classes; None if it is the mean over rows.
    units : ndarray of shape (n_rows,) or None, default=None
        Group of each row, if rows of a group depend on each other.
    are_shares : bool, default=True
        Whether all values are 0 or 1.
    deviations : ndarray of shape (n_rows,) or None, default=None
        For R², whose row scores are 1 minus squared errors over the variance of the target: each row's squared
        deviation from the mean target, over that variance, since the variance is estimated from the same rows.
    """

    values: NDArray[np.float32]
    folds: int
    strata: NDArray[np.intp] | None = None
    units: NDArray[np.intp] | None = None
    are_shares: bool = True
    deviations: Floats | None = None

    @property
    def n_repeats(self) -> int:
        """Number of complete repeats."""
        return int(self.values.shape[0])

    @cached_property
    def means(self) -> Floats:
        """Each row's mean over repeats, of shape (n_rows, n_pipelines)."""
        return np.asarray(self.values.mean(axis=0, dtype=np.float64))

    @cached_property
    def weights(self) -> Floats:
        """The share of each row in a score."""
        n = self.values.shape[1]
        if self.strata is None:
            return np.full(n, 1.0 / n)
        counts = np.bincount(self.strata)
        return 1.0 / (np.count_nonzero(counts) * counts[self.strata])

    @cached_property
    def scores(self) -> Floats:
        """The score of each pipeline."""
        return np.asarray(self.weights @ self.means)

    @property
    def inflation(self) -> float:
        """By how much the variance of a score is larger than that of independent rows: training parts share rows.

        For R repeats of K folds, K (1/(KR) + 1/(K - 1)), after C. Nadeau and Y. Bengio, Machine Learning 52, 2003; at
        least the value for five times five folds.
        """
        k = self.folds
        return k * (1.0 / (k * min(self.n_repeats, 5)) + 1.0 / (k - 1))

    @property
    def best(self) -> int:
        """The pipeline with the highest score, the first among equals."""
        return best_of(self.scores)

    def only(self, pipelines: Sequence[int]) -> RowScores:
        """Return the scores of some pipelines."""
        return replace(self, values=self.values[:, :, list(pipelines)])

    @cached_property
    def _counts(self) -> NDArray[np.int32]:
        """How often each row is drawn, in each of the resampled tables."""
        rng, n = np.random.default_rng(0), self.values.shape[1]
        draws = int(min(DRAWS, max(_LEAST_DRAWS, _MOST / n)))
        if self.units is not None:
            names, units = np.unique(self.units, return_inverse=True)
            return rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)), draws)[:, units].astype(np.int32)
        if self.strata is None:
            return rng.multinomial(n, np.full(n, 1.0 / n), draws).astype(np.int32)
        counts = np.zeros((draws, n), dtype=np.int32)
        for code in np.unique(self.strata):
            rows = np.flatnonzero(self.strata == code)
            counts[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1.0 / len(rows)), draws)
        return counts

    @cached_property
    def resampled(self) -> tuple[Floats, Floats]:
        """Scores on the drawn rows, and on those not drawn, each of shape (draws, n_pipelines)."""
        step = max(1, _BLOCK // self.values.shape[1])
        inside, outside = [], []
        for start in range(0, len(self._counts), step):
            counts = self._counts[start : start + step]
            inside.append(self._weighted(counts.astype(np.float64)))
            outside.append(self._weighted((counts == 0).astype(np.float64)))
        inside_scores, outside_scores = np.vstack(inside), np.vstack(outside)
        complete = np.isfinite(inside_scores).all(axis=1) & np.isfinite(outside_scores).all(axis=1)
        return inside_scores[complete], outside_scores[complete]

    def _weighted(self, counts: Floats) -> Floats:
        """Return the scores of each pipeline with rows counted as given; NaN where a class has no row."""
        if self.strata is None:
            with np.errstate(invalid="ignore"):
                return np.asarray(counts @ self.means / counts.sum(axis=1, keepdims=True))
        codes = np.unique(self.strata)
        parts = np.zeros((len(counts), self.means.shape[1]))
        with np.errstate(invalid="ignore"):
            for code in codes:
                rows = self.strata == code
                own = counts[:, rows]
                parts += own @ self.means[rows] / own.sum(axis=1, keepdims=True)
        return parts / len(codes)

    @property
    def n_units(self) -> int:
        """Number of rows, or of groups of rows."""
        return self.values.shape[1] if self.units is None else len(np.unique(self.units))


def best_of(scores: Floats) -> int:
    """Return the position of the largest score, the first one among those equal but for rounding."""
    return int(np.flatnonzero(scores >= scores.max() - _CLOSE)[0])


def _choices(scores: Floats) -> NDArray[np.intp]:
    return np.asarray(np.argmax(scores >= scores.max(axis=1, keepdims=True) - _CLOSE, axis=1))


def selected_score(scores: RowScores) -> Interval:
    """Return what to expect of the pipeline that is best on this table, with an interval for its score on new rows."""
    inside, outside = scores.resampled
    choices = _choices(inside)
    centre = float(outside[np.arange(len(outside)), choices].mean()) if len(outside) else float("nan")
    return interval_around(scores, scores.best, centre)


def interval_around(scores: RowScores, pipeline: int, centre: float) -> Interval:
    """Return the interval of a pipeline's score, around an estimate of it."""
    if not scores.are_shares:
        rows = scores.values[:, :, pipeline].astype(np.float64)
        if scores.deviations is not None:  # the influence of a row on 1 minus a ratio of sums
            rows = np.sqrt(_NUMBERS) * (rows + (1.0 - centre) * scores.deviations)
        spread = rows.var(axis=1, ddof=1).mean()
        error = float(np.sqrt(spread * scores.inflation / scores.n_units))
        half = float(special.stdtrit(scores.n_units - 1, 1.0 - LEVEL / 2)) * error
        return Interval(centre, centre - half, centre + half, error)
    ratio = scores.n_units / scores.values.shape[1] / scores.inflation
    if scores.strata is None:
        low, high = wilson(centre, scores.values.shape[1] * ratio)
        return Interval(centre, low, high)
    # The limits of a mean from those of its independent parts (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008).
    shift, below, above = centre - float(scores.scores[pipeline]), 0.0, 0.0
    codes = np.unique(scores.strata)
    for code in codes:
        rows = scores.strata == code
        share = float(np.clip(scores.means[rows, pipeline].mean() + shift, 0.0, 1.0))
        low, high = wilson(share, int(rows.sum()) * ratio)
        below, above = below + (share - low) ** 2, above + (high - share) ** 2
    low, high = centre - np.sqrt(below) / len(codes), centre + np.sqrt(above) / len(codes)
    return Interval(centre, float(max(low, 0.0)), float(min(high, 1.0)))


def wilson(share: float, n: float) -> tuple[float, float]:
    """Return Wilson's interval for a share of n trials, where n may be a fraction."""
    z = float(special.ndtri(1.0 - LEVEL / 2))
    middle = (share + z * z / (2 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * np.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n))
    return float(max(middle - half, 0.0)), float(min(middle + half, 1.0))


def difference(scores: RowScores, first: int, second: int) -> Interval:
    """Return the difference of two pipelines' scores on paired rows."""
    value = float(scores.scores[first] - scores.scores[second])
    return _around(value, _error_of_difference(scores, first, second), scores.n_units)


def gain(scores: RowScores, group: Sequence[int], others: Sequence[int]) -> Interval:
    """Return the gain of the best pipeline of a group over the best of others; neither was named before."""
    group, others = list(group), list(others)
    inside, outside = scores.resampled
    first, second = _choices(inside[:, group]), _choices(inside[:, others])
    draws = np.arange(len(outside))
    value = float((outside[:, group][draws, first] - outside[:, others][draws, second]).mean())
    best = group[best_of(scores.scores[group])], others[best_of(scores.scores[others])]
    return _around(value, _error_of_difference(scores, *best), scores.n_units)


def _around(value: float, error: float, n: int) -> Interval:
    half = float(special.stdtrit(max(n - 1, 1), 1.0 - LEVEL / 2)) * error
    return Interval(value, value - half, value + half, error)


def _error_of_difference(scores: RowScores, first: int, second: int) -> float:
    """Return the standard error of a difference: rows are paired, and training parts share rows."""
    differences = scores.values[:, :, first].astype(np.float64) - scores.values[:, :, second]
    squares = scores.weights**2
    centred = differences - (differences @ scores.weights)[:, None]
    if scores.strata is not None:
        for code in np.unique(scores.strata):
            rows = scores.strata == code
            centred[:, rows] = differences[:, rows] - differences[:, rows].mean(axis=1, keepdims=True)
    variance = float((centred**2 @ squares).mean())
    return float(np.sqrt(variance * scores.inflation * scores.values.shape[1] / scores.n_units))


def p_worse(scores: RowScores, pipeline: int, best: int) -> float:
    """Return the one-sided p-value of a pipeline being as good as another one, which is better on this table."""
    interval = difference(scores, best, pipeline)
    if interval.error == 0.0:
        return 1.0
    return float(special.stdtr(max(scores.n_units - 1, 1), -interval.value / interval.error))


def not_worse(scores: RowScores, best: int) -> list[int]:
    """Return the pipelines that are not significantly worse than the best one, by Holm's procedure."""
    others = [number for number in range(len(scores.scores)) if number != best]
    adjusted = holm([p_worse(scores, number, best) for number in others])
    return [number for number, p_value in zip(others, adjusted, strict=True) if p_value > LEVEL]


def rows_to_decide(interval: Interval, n: int) -> float:
    """Return how many rows would show a gain of the measured size in four of five tables; infinite if there is none."""
    if not interval.value > 0.0 or not interval.error > 0.0:
        return float("inf")
    factor = float(special.ndtri(1.0 - LEVEL / 2) + special.ndtri(_POWER)) * interval.error / interval.value
    return n * factor**2
