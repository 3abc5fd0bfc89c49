"""Ratings of methods from their scores on several datasets: the Bradley–Terry model with ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtrit

if TYPE_CHECKING:
    from numpy.typing import NDArray

PENALTY = 0.05
"""Factor of the squared strengths, so that a method that always wins has a finite rating: a prior of 550 points."""
LEAST_DATASETS = 6
"""With fewer datasets no method is separated from another: equal methods win on all of them too often."""
CENTRE, SCALE = 1000.0, 400.0 / np.log(10.0)
"""Mean rating, and points per unit of strength: 400 points more mean that the odds of winning are ten to one."""
DRAWS = 2000
_STEPS, _LARGEST_STEP, _ACCURACY = 100, 2.0, 1e-10


def wins_of(scores: NDArray[np.float64], margin: float) -> NDArray[np.float64]:
    """Return for each dataset (rows of ``scores``) and pair of methods 1 for a win, 1/2 for a tie, else 0."""
    # Scores are better if greater. Differences of at most the margin are ties; a missing score is not compared.
    difference = scores[:, :, None] - scores[:, None, :]
    is_tie = np.abs(difference) <= margin + 1e-12
    wins = np.where(is_tie, 0.5, difference > 0) * np.isfinite(difference)
    return wins * ~np.eye(scores.shape[1], dtype=bool)


def strengths(wins: NDArray[np.float64], penalty: float = PENALTY) -> NDArray[np.float64]:
    """Return the strengths of the methods for numbers of wins of shape (..., methods, methods), with mean 0."""
    # Maximises sum_ij W_ij log P(i beats j) - penalty * |theta|^2 with P(i beats j) = 1 / (1 + exp(theta_j - theta_i));
    # a tie counts as half a win of each. Newton's method; the objective is strictly concave.
    # Reference: R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs I", Biometrika 39, 1952.
    games = wins + np.swapaxes(wins, -1, -2)
    theta = np.zeros(wins.shape[:-1])
    unit = np.eye(wins.shape[-1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(theta[..., None, :] - theta[..., :, None]))
        gradient = (wins - games * chance).sum(axis=-1) - 2.0 * penalty * theta
        if np.abs(gradient).max(initial=0.0) < _ACCURACY:
            break
        curvature = games * chance * (1.0 - chance)
        hessian = unit * (curvature.sum(axis=-1, keepdims=True) + 2.0 * penalty) - curvature
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        largest = np.abs(step).max(axis=-1, keepdims=True)
        theta = theta + step * np.minimum(1.0, _LARGEST_STEP / np.maximum(largest, _LARGEST_STEP * 1e-9))
    centred: NDArray[np.float64] = theta - theta.mean(axis=-1, keepdims=True)
    return centred


def ratings(table: pd.DataFrame, margin: float, *, greater_is_better: bool = True, seed: int = 0) -> pd.DataFrame:
    """Return rating, 95 % interval and rank of each method (columns), by rank, from scores on datasets (rows)."""
    # Standard errors are from resampled datasets, times sqrt(n / (n - 1)), with Student's quantile: percentiles of the
    # resamples separate 10 % of equal methods on 13 datasets. The rank is one more than the number of methods that are
    # significantly better; each pair is tested by itself. A method without a score on each dataset has a rating from
    # those that it has, but no rank (0), and comes last.
    scores = table.to_numpy(dtype=np.float64) * (1.0 if greater_is_better else -1.0)
    wins, n = wins_of(scores, margin), len(scores)
    theta = strengths(wins.sum(axis=0))
    is_complete = np.isfinite(scores).all(axis=0)
    half, rank = np.full(len(theta), np.nan), np.ones(len(theta), dtype=np.int64)
    if n >= LEAST_DATASETS:
        resamples = np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=DRAWS)
        resampled = strengths(np.tensordot(resamples.astype(np.float64), wins, axes=1))
        factor = float(stdtrit(n - 1, 0.975)) * np.sqrt(n / (n - 1))
        half = factor * resampled.std(axis=0)
        spread = factor * np.stack([(resampled - other[:, None]).std(axis=0) for other in resampled.T])
        rank = 1 + (is_complete & (theta[None, :] - theta[:, None] > spread + 1e-9)).sum(axis=1)
    rating = CENTRE + SCALE * theta
    frame = pd.DataFrame({"rating": rating, "low": rating - SCALE * half, "high": rating + SCALE * half})
    frame["rank"] = np.where(is_complete, rank, 0)
    order = np.lexsort((-rating, rank, ~is_complete))
    return frame.set_axis(table.columns).iloc[order]
