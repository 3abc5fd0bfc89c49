"""Bayesian comparison of two methods on one dataset, with a region of practical equivalence (ROPE)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mfbench.stats.paired import IDENTICAL, LEAST_PAIRS, NO_SPREAD, TOO_FEW, UNMET, differences_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Posterior:
    """Summary of the posterior distribution of the difference between two methods."""

    difference: float  # posterior mean (one dataset) or mean of the observed differences (across datasets)
    # first, rope, second: probabilities that the first is larger by more than the region, that they are practically
    # equal, and that the second is larger; NaN if they are undefined.
    first: float
    rope: float
    second: float
    low: float = np.nan  # low, high: credible interval of the difference at level 1 - alpha; NaN if there is none
    high: float = np.nan
    reason: str = ""  # reason why the probabilities are undefined, as in `mfbench.stats.paired.PairedTest`

    @property
    def p_value(self) -> float:
        """NaN: a posterior has none."""
        return np.nan

    def verdict(self, alpha: float = 0.05) -> int | None:
        """Return 1 if the first is better with probability above 1 - `alpha`, -1 if the second is, else 0."""
        # None if the probabilities are undefined and the scores are not identical.
        if np.isnan(self.first):
            return 0 if self.reason == IDENTICAL else None
        return int(self.first > 1.0 - alpha) - int(self.second > 1.0 - alpha)


def correlated_t_test(
    first: ArrayLike, second: ArrayLike, ratio: float, rope: float = 0.01, alpha: float = 0.05
) -> Posterior:
    """Correlated Bayesian t-test (Corani and Benavoli)."""
    # With J paired differences of mean m and variance s² (divisor J-1), and the
    # correlation ρ = n_test / (n_test + n_train) between folds, the posterior of the mean difference
    # is a Student distribution with J-1 degrees of freedom, location m and squared scale
    #
    #     (1/J + ρ/(1 - ρ)) s², where ρ/(1 - ρ) = n_test/n_train.
    #
    # With `rope=0` its probabilities are the one-sided p-values of `corrected_t_test`.
    # Reference: G. Corani, A. Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data
    # sets", Machine Learning 100:285-304, 2015.
    differences = differences_of(first, second)
    count = len(differences)
    if count < 2:
        raise ValueError(f"at least two pairs of scores are required; got {count}")
    mean = float(differences.mean())
    spread = float(np.ptp(differences)) > 1e-12
    if np.isnan(ratio):
        return Posterior(mean, np.nan, np.nan, np.nan, reason=UNMET)
    if count < LEAST_PAIRS or not spread:
        reason = TOO_FEW if count < LEAST_PAIRS else NO_SPREAD if abs(mean) > 1e-12 else IDENTICAL
        return Posterior(mean, np.nan, np.nan, np.nan, reason=reason)
    scale = float(np.sqrt((1.0 / count + ratio) * differences.var(ddof=1)))
    above = float(special.stdtr(count - 1, (mean - rope) / scale))
    below = float(special.stdtr(count - 1, (-rope - mean) / scale))
    half = float(special.stdtrit(count - 1, 1.0 - alpha / 2.0)) * scale
    return Posterior(mean, above, max(0.0, 1.0 - above - below), below, mean - half, mean + half)


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
    # where a sum exactly at a limit counts half. The probabilities are the shares of draws in which each is largest.
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
        # With rope = 0, the third share is only rounding error.
        middle = (equal > better) & (equal > worse) if rope > 0 else np.zeros(len(block), dtype=bool)
        apart = ~middle
        tied = 0.5 * np.sum(apart & (better == worse))
        counts += [np.sum(apart & (better > worse)) + tied, np.sum(middle), np.sum(apart & (worse > better)) + tied]
    return Posterior(float(differences.mean()), *(counts / samples).tolist())


@lru_cache(maxsize=4)
def _dirichlet(n_points: int, seed: int, samples: int) -> NDArray[np.float64]:
    """Return Dirichlet draws of the weights; the first column belongs to the pseudo-observation."""
    strengths = np.ones(n_points)
    strengths[0] = PRIOR_STRENGTH
    return np.random.default_rng(seed).dirichlet(strengths, samples)
