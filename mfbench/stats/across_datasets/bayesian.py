"""Bayesian comparison of two methods across datasets, with a region of practical equivalence (ROPE)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mfbench.stats.one_dataset.bayesian import Posterior
from mfbench.stats.one_dataset.signed import differences_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PRIOR_STRENGTH = 0.5
SAMPLES = 50_000
_BLOCK = 2_000


def signed_rank_test(
    first: ArrayLike, second: ArrayLike, rope: float = 0.01, *, seed: int = 0, samples: int = SAMPLES
) -> Posterior:
    """Bayesian signed-rank test across datasets (Benavoli, Mangili, Corani, Zaffalon, Ruggeri)."""
    # The differences z_1 … z_q and a pseudo-observation z_0 = 0 of strength 1/2 have weights
    # w ~ Dirichlet(1/2, 1, …, 1). A draw of the weights gives
    #
    #     θ_first = Σ_ij w_i w_j [z_i + z_j > 2r],   θ_second = Σ_ij w_i w_j [z_i + z_j < -2r],
    #     θ_rope = 1 - θ_first - θ_second,
    #
    # where a sum that equals a limit counts half. The probabilities are the shares of draws in which each is the
    # largest.
    #
    # O(samples q^2) time; O(samples q) memory, shared by comparisons with the same number of datasets.
    # Reference: A. Benavoli et al., "A Bayesian Wilcoxon signed-rank test based on the Dirichlet process", ICML 2014.
    # A. Benavoli et al., "Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis",
    # JMLR 18(77):1-36, 2017.
    differences = differences_of(first, second)
    points = np.concatenate([[0.0], differences])
    sums = np.round(points[:, None] + points, 12)
    limit = round(2.0 * rope, 12)
    above = (sums > limit) + 0.5 * (sums == limit)
    below = (sums < -limit) + 0.5 * (sums == -limit)
    weights = _dirichlet(len(points), seed, samples)
    counts = np.zeros(3)
    for begin in range(0, samples, _BLOCK):
        block = weights[begin : begin + _BLOCK]
        better = np.einsum("ij,ij->i", block @ above, block)
        worse = np.einsum("ij,ij->i", block @ below, block)
        equal = 1.0 - better - worse
        # Without a region the third share is only rounding error.
        middle = (equal > better) & (equal > worse) if rope > 0 else np.zeros(len(block), dtype=bool)
        counts += [
            np.sum(~middle & (better > worse)) + 0.5 * np.sum(~middle & (better == worse)),
            np.sum(middle),
            np.sum(~middle & (worse > better)) + 0.5 * np.sum(~middle & (better == worse)),
        ]
    share = counts / samples
    return Posterior(float(differences.mean()), float(share[0]), float(share[1]), float(share[2]))


@lru_cache(maxsize=4)
def _dirichlet(n_points: int, seed: int, samples: int) -> NDArray[np.float64]:
    """Return draws of the weights; the first column is that of the pseudo-observation."""
    strengths = np.ones(n_points)
    strengths[0] = PRIOR_STRENGTH
    return np.random.default_rng(seed).dirichlet(strengths, samples)
