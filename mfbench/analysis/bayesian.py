"""Bayesian comparisons with a region of practical equivalence (ROPE): on one dataset, and across datasets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from mfbench.analysis.signed import differences_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PRIOR_STRENGTH = 0.5
SAMPLES = 50_000
_BLOCK = 2_000


@dataclass(frozen=True)
class Posterior:
    """What is believed of the difference between two methods.

    Attributes
    ----------
    difference : float
        Its posterior mean (one dataset) or the mean of the observed differences (across datasets).
    first, rope, second : float
        Probabilities that the first is larger by more than the region, that they are practically equal, and that the
        second is larger.
    low, high : float
        Credible interval of the difference at level 1 - alpha; NaN where there is none.
    """

    difference: float
    first: float
    rope: float
    second: float
    low: float = np.nan
    high: float = np.nan

    @property
    def p_value(self) -> float:
        """NaN: a posterior has none."""
        return np.nan

    def verdict(self, alpha: float = 0.05) -> int:
        """Return 1 if the first is better with probability above 1 - `alpha`, -1 if the second is, else 0."""
        return int(self.first > 1.0 - alpha) - int(self.second > 1.0 - alpha)


def correlated_t_test(
    first: ArrayLike, second: ArrayLike, ratio: float, rope: float = 0.01, alpha: float = 0.05
) -> Posterior:
    r"""Bayesian correlated t-test (Corani and Benavoli).

    With :math:`J` paired differences of mean :math:`m` and variance :math:`s^2` (divisor :math:`J-1`), and the
    correlation :math:`\rho = n_{test} / (n_{test} + n_{train})` between folds, the posterior of the mean difference is
    a Student distribution with :math:`J-1` degrees of freedom, location :math:`m` and squared scale

    .. math:: \Big(\frac 1J + \frac{\rho}{1-\rho}\Big) s^2, \qquad \frac{\rho}{1-\rho} = \frac{n_{test}}{n_{train}}.

    Without a region its probabilities are the one-sided p-values of `corrected_t_test`.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Scores of the two methods on the same folds.
    ratio : float
        Test rows over training rows, 1/9 for 10-fold cross-validation.
    rope : float, default=0.01
        Differences of at most this size count as none; in the unit of the scores, 0 for no region.
    alpha : float, default=0.05
        The credible interval has level 1 - alpha.

    Returns
    -------
    Posterior

    Raises
    ------
    ValueError
        If the shapes differ, a score is missing, or there are fewer than two pairs.

    References
    ----------
    .. [1] G. Corani, A. Benavoli, "A Bayesian approach for comparing cross-validated algorithms on multiple data sets",
       Machine Learning 100:285-304, 2015.

    Examples
    --------
    >>> posterior = correlated_t_test([0.9, 0.8, 0.85, 0.95], [0.8, 0.75, 0.85, 0.9], ratio=1 / 3)
    >>> round(posterior.first, 2), round(posterior.rope, 2), round(posterior.second, 2)
    (0.86, 0.07, 0.08)
    """
    differences = differences_of(first, second)
    count = len(differences)
    if count < 2:
        raise ValueError(f"at least two pairs of scores are needed, found {count}")
    mean = float(differences.mean())
    if np.ptp(differences) <= 1e-12:
        beyond = abs(mean) > rope
        above, below = float(mean > 0 and beyond), float(mean < 0 and beyond)
        # Without a region no difference at all is evidence for neither side.
        halves = 0.5 if rope == 0 and mean == 0 else 0.0
        return Posterior(mean, above + halves, 1.0 - above - below - 2 * halves, below + halves, mean, mean)
    scale = float(np.sqrt((1.0 / count + ratio) * differences.var(ddof=1)))
    above = float(special.stdtr(count - 1, (mean - rope) / scale))
    below = float(special.stdtr(count - 1, (-rope - mean) / scale))
    half = float(special.stdtrit(count - 1, 1.0 - alpha / 2.0)) * scale
    return Posterior(mean, above, max(0.0, 1.0 - above - below), below, mean - half, mean + half)


def signed_rank_test(
    first: ArrayLike, second: ArrayLike, rope: float = 0.01, *, seed: int = 0, samples: int = SAMPLES
) -> Posterior:
    r"""Bayesian signed-rank test across datasets (Benavoli, Mangili, Corani, Zaffalon, Ruggeri).

    The differences :math:`z_1 \dots z_q` and a pseudo-observation :math:`z_0 = 0` of strength 1/2 have weights
    :math:`w \sim \mathrm{Dirichlet}(1/2, 1, \dots, 1)`. A draw of the weights gives

    .. math:: \theta_{first} = \sum_{i,j} w_i w_j\, [z_i + z_j > 2r], \qquad
              \theta_{second} = \sum_{i,j} w_i w_j\, [z_i + z_j < -2r], \qquad
              \theta_{rope} = 1 - \theta_{first} - \theta_{second},

    where a sum that equals a limit counts half. The probabilities are the shares of draws in which each is the largest.

    Parameters
    ----------
    first, second : array-like of shape (q,)
        One score for each dataset.
    rope : float, default=0.01
        Differences of at most this size count as none; in the unit of the scores, 0 for no region.
    seed : int, default=0
        Seed of the draws.
    samples : int, default=50000
        Draws; the Monte-Carlo error of a probability is at most 0.5 / sqrt(samples).

    Returns
    -------
    Posterior
        Without interval.

    Notes
    -----
    O(samples q^2) time, O(samples q) memory, which comparisons of equally many datasets share.

    References
    ----------
    .. [1] A. Benavoli et al., "A Bayesian Wilcoxon signed-rank test based on the Dirichlet process", ICML 2014.
    .. [2] A. Benavoli et al., "Time for a change: a tutorial for comparing multiple classifiers through Bayesian
       analysis", JMLR 18(77):1-36, 2017.

    Examples
    --------
    >>> posterior = signed_rank_test([0.9, 0.8, 0.85, 0.95, 0.7], [0.8, 0.75, 0.8, 0.9, 0.6])
    >>> posterior.first > 0.95, posterior.second
    (True, 0.0)
    """
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
        # Without a region the third share is nothing but rounding.
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
