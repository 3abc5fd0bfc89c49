"""Paired tests of two methods on the folds or test rows of one dataset, with and without corrections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special
from scipy.optimize import brentq
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

POWER = 0.8
"""Power: the probability of detecting a detectable difference."""
_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(200) + np.array([[1.0], [0.0]])) / 2.0


@lru_cache(maxsize=1024)
def noncentrality(df: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return how many standard errors a difference must span for the two-sided t-test to detect it."""
    # Solves P(T > t_{1-\alpha/2,\,df}) = power for the noncentrality of the noncentral T with df degrees of freedom; a
    # significant difference in the wrong direction does not count. For large df it approaches z_{1-\alpha/2} +
    # z_{power}.
    # Reference: J. Cohen, "Statistical power analysis for the behavioral sciences", 2nd edition, 1988, chapter 2.
    if not alpha < power < 1.0:
        raise ValueError(f"power is {power:g}; it lies between the level, {alpha:g}, and 1")
    # P(T > c) is the mean of Phi(shift - c S) over the distribution of the scale S, here by Gaussian quadrature over
    # its quantiles: SciPy's noncentral distribution is undefined for some of these arguments.
    limits = float(special.stdtrit(df, 1.0 - alpha / 2.0)) * np.sqrt(special.chdtri(df, _NODES) / df)

    def missing(shift: float) -> float:
        return power - float(_WEIGHTS @ special.ndtr(shift - limits))

    return float(brentq(missing, 0.0, limits.max() + 10.0, xtol=1e-10))


@lru_cache(maxsize=4096)
def detectable_by_mcnemar(n_discordant: int, n_rows: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the accuracy difference that the exact McNemar test detects, given how often the methods differ."""
    # Of n rows on which exactly one method is right, the better one is right on a share \pi; the difference of the
    # accuracies is (2\pi - 1)\,n/N. Like the test, this treats n as fixed. The smallest significant count k on one side
    # satisfies p = 2 P(X >= k) <= alpha.
    tails = 2.0 * special.bdtrc(np.arange(n_discordant + 1) - 1.0, n_discordant, 0.5)
    significant = np.flatnonzero(tails <= alpha)
    if not len(significant):
        return np.nan
    least = int(significant[0])

    def missing(share: float) -> float:
        above, below = least - 1, n_discordant - least
        return power - float(special.bdtrc(above, n_discordant, share) + special.bdtr(below, n_discordant, share))

    return float(2.0 * brentq(missing, 0.5, 1.0, xtol=1e-12) - 1.0) * n_discordant / n_rows


LEAST_PAIRS = 5
"""Minimum number of pairs for which a test of fold scores gives a verdict."""
ROUNDING = 1e-12
"""Tolerance within which two score differences are equal."""
TOO_FEW = f"fewer than {LEAST_PAIRS} pairs"
NO_SPREAD = "all differences are equal"
IDENTICAL = "identical scores"
UNMET = "the folds are not a random resampling"


@dataclass(frozen=True)
class PairedTest:
    """The difference between two methods, its p-value and its confidence interval."""

    difference: float  # mean of first minus second
    p_value: float  # two-sided; NaN if the test is undefined
    low: float  # low, high: confidence interval of the difference at level 1 - alpha; NaN if the test is undefined
    high: float
    # Smallest true difference detected with 80 % power, given the observed spread of the differences.
    detectable: float = np.nan
    reason: str = ""  # why there is no verdict, or none based on a spread: `TOO_FEW`, `UNMET` or the next two

    def verdict(self, alpha: float = 0.05) -> int | None:
        """Return 1 if the first is significantly larger, -1 if smaller, 0 for a tie, None without a p-value."""
        # A p-value of exactly `alpha` is a tie.
        if np.isnan(self.p_value):
            return None
        return int(np.sign(self.difference)) if self.p_value < alpha else 0


def corrected_error(variance: Any, count: Any, ratio: Any) -> Any:
    """Return the standard error of a mean over folds that share training rows."""
    return np.sqrt((1.0 / count + ratio) * variance)


def _as_pairs(first: ArrayLike, second: ArrayLike, least: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two score arrays of equal length without missing values."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape or a.ndim != 1 or len(a) < least:
        shapes = f"got shapes {a.shape} and {b.shape}"
        raise ValueError(f"two score arrays of equal length, at least {least}, are required; {shapes}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a score is missing or not finite; compare only results that both methods completed")
    return a, b


def corrected_t_test(first: ArrayLike, second: ArrayLike, ratio: float, alpha: float = 0.05) -> PairedTest:
    """Corrected resampled t-test (Nadeau and Bengio)."""
    # With J paired differences of mean m and variance s² (divisor J-1),
    #
    #     t = m / √((1/J + n_test/n_train) s²) with J - 1 degrees of freedom.
    #
    # The term n_test/n_train accounts for the correlation between folds that share training rows. Without
    # it (`ratio=0`, the plain paired t-test) two equally good methods differ significantly in more than half of all
    # 10x10-fold cross-validations.
    # Reference: C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52:239-281, 2003. R.
    # Bouckaert, E. Frank, "Evaluating the replicability of significance tests for comparing learning algorithms", PAKDD
    # 2004, 3-12.
    a, b = _as_pairs(first, second, least=2)
    differences = a - b
    count = len(differences)
    mean = float(differences.mean())
    if count < LEAST_PAIRS:
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=TOO_FEW)
    if np.isnan(ratio):
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=UNMET)
    # Differences equal up to rounding must have exactly zero variance, not 1e-34.
    if np.ptp(differences) <= ROUNDING:
        if abs(mean) <= ROUNDING:
            return PairedTest(0.0, 1.0, 0.0, 0.0, reason=IDENTICAL)
        return PairedTest(mean, np.nan, np.nan, np.nan, reason=NO_SPREAD)
    error = float(corrected_error(differences.var(ddof=1), count, ratio))
    # The functions behind scipy.stats.t, without its overhead of 100 µs per call: a report makes thousands.
    p_value = float(2.0 * special.stdtr(count - 1, -abs(mean) / error))
    half = float(special.stdtrit(count - 1, 1.0 - alpha / 2.0)) * error
    return PairedTest(mean, p_value, mean - half, mean + half, noncentrality(count - 1, alpha) * error)


def moderated_p_values(
    scores: NDArray[np.float64], pairs: NDArray[np.intp], ratio: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the differences of pairs of methods, and p-values of `corrected_t_test` with moderated variances."""
    apart = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    count = apart.shape[1]
    means = apart.mean(axis=1)
    is_flat = np.ptp(apart, axis=1) <= ROUNDING
    is_equal = is_flat & (np.abs(means) <= ROUNDING)
    own = np.where(is_flat, 0.0, apart.var(axis=1, ddof=1))
    prior_df, prior = prior_variance(own[~is_flat], count - 1)
    # All pairs together have no more information than the folds of all methods but one.
    df = np.minimum(count - 1 + prior_df, (len(scores) - 1) * (count - 1))
    variances = (
        own
        if prior_df == 0
        else prior
        if np.isinf(prior_df)
        else ((prior_df * prior + (count - 1) * own) / (prior_df + count - 1))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2.0 * special.stdtr(df, -np.abs(means) / corrected_error(variances, count, ratio))
    if prior_df == 0:
        p_values[is_flat] = np.nan
    p_values[is_equal] = 1.0
    return np.where(is_equal, 0.0, means), p_values


def prior_variance(variances: NDArray[np.float64], df: int) -> tuple[float, float]:
    """Return the degrees of freedom and the size of the prior that fits some variances; 0 and 0 without a prior."""
    # If s² of each pair is σ² χ²_d / d, and d0 s0² / σ² has a χ² distribution with d0 degrees of freedom, log s² has
    # the mean log s0² + ψ(d/2) - ψ(d0/2) + log(d0/d), and the variance ψ'(d/2) + ψ'(d0/2).
    # Reference: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
    # microarray experiments", Statistical Applications in Genetics and Molecular Biology 3:3, 2004, section 6.2.
    if len(variances) < 2:
        return 0.0, 0.0
    logs = np.log(variances) - special.digamma(df / 2.0) + np.log(df / 2.0)
    spread = float(logs.var(ddof=1) - special.polygamma(1, df / 2.0))
    if spread <= 1e-12:
        return np.inf, float(np.exp(logs.mean()))
    half = float(np.exp(brentq(lambda log_half: special.polygamma(1, np.exp(log_half)) - spread, -20.0, 40.0)))
    return 2.0 * half, float(np.exp(logs.mean() + special.digamma(half) - np.log(half)))


def paired_t_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Plain paired t-test: `corrected_t_test` without the correction."""
    # It treats overlapping folds as independent, and is offered because published tables use it.
    return corrected_t_test(first, second, 0.0, alpha)


MOST_EXACT = 50
MOST_EXACT_TIED = 13
"""Maximum number of differences for the exact signed-rank distribution, without and with ties or zeros."""


def differences_of(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """Return first minus second, rounded so that equal differences of decimal scores compare equal."""
    a, b = _as_pairs(first, second)
    # Twelve digits of the larger scores: a score in units may be of any size.
    top = max(float(np.abs(a).max()), float(np.abs(b).max()))
    differences: NDArray[np.float64] = np.round(a - b, 12 - int(np.ceil(np.log10(top))) if top else 12)
    return differences


def wilcoxon_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Wilcoxon's signed-rank test, with the p-value of `scipy.stats.wilcoxon` and the matching estimate."""
    # Zero differences are dropped. The others are ranked by absolute value, ties sharing the mean rank; T is the sum of
    # the positive ranks. Under the null hypothesis each rank has either sign with probability 1/2. The distribution of
    # T is exact for few differences; for more than `MOST_EXACT` (or `MOST_EXACT_TIED` with ties or zeros) it is
    # approximated by a normal distribution with the same mean and variance.
    #
    # Folds that share training rows are not independent, so the p-value over folds is far too small. Time O(n^3),
    # memory O(n^2).
    # Reference: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1:80-83, 1945. J. Demšar,
    # "Statistical comparisons of classifiers over multiple data sets", JMLR 7:1-30, 2006.
    differences = differences_of(first, second)
    nonzero = differences[differences != 0]
    p_value = 1.0
    if len(nonzero):
        # Doubled ranks are integers even with ties.
        ranks = np.round(2.0 * rankdata(np.abs(nonzero))).astype(np.int64)
        simple = len(nonzero) == len(differences) and len(np.unique(ranks)) == len(ranks)
        exact = len(differences) <= (MOST_EXACT if simple else MOST_EXACT_TIED)
        p_value = _two_sided(int(ranks[nonzero > 0].sum()), ranks, exact)
    means = _pair_means(differences)
    middle = float(np.median(means))
    if 0.5 ** len(differences) > alpha / 2.0:  # the level is unattainable even with the extremes
        return PairedTest(middle, p_value, -np.inf, np.inf)
    cut = _critical_rank(len(differences), alpha)
    return PairedTest(middle, p_value, float(means[cut - 1]), float(means[len(means) - cut]))


def rank_biserial(first: ArrayLike, second: ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation: (rank sum won - rank sum lost) / sum of all ranks."""
    # The effect size of Wilcoxon's test: 1 if the first is larger wherever they differ, -1 if it is smaller, 0 if they
    # never differ.
    differences = differences_of(first, second)
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 0.0
    ranks = rankdata(np.abs(nonzero))
    return float(np.sum(np.sign(nonzero) * ranks) / ranks.sum())


def sign_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> PairedTest:
    """Sign test: two-sided binomial test of how often the first is larger where they differ."""
    differences = np.sort(differences_of(first, second))
    n, k = int(np.sum(differences != 0)), int(np.sum(differences > 0))
    extreme = max(k, n - k)
    p_value = 1.0 if 2 * extreme == n else min(1.0, 2.0 * float(special.bdtrc(extreme - 1, n, 0.5)))
    count = len(differences)
    # The most order statistics that can be dropped on each side: P(at most cut - 1 below the median) <= alpha / 2.
    below = special.bdtr(np.arange(count), count, 0.5)
    cut = int(np.searchsorted(below, alpha / 2.0, side="right"))
    low, high = (differences[cut - 1], differences[count - cut]) if cut else (-np.inf, np.inf)
    return PairedTest(float(np.median(differences)), p_value, float(low), float(high))


def _two_sided(total: int, ranks: NDArray[np.int64], exact: bool) -> float:
    """Return the two-sided p-value of a sum of (doubled) ranks with random signs, whose distribution is symmetric."""
    whole = int(ranks.sum())
    extreme = max(total, whole - total)
    if 2 * extreme == whole:
        return 1.0
    if not exact:
        z = (extreme - whole / 2.0) / np.sqrt(np.sum(ranks.astype(float) ** 2) / 4.0)
        return float(2.0 * special.ndtr(-z))
    return float(min(1.0, 2.0 * _distribution(tuple(np.sort(ranks).tolist()))[extreme:].sum()))


@lru_cache(maxsize=512)
def _distribution(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the probability of each sum of positive ranks, with all signs equally likely."""
    density = np.zeros(sum(ranks) + 1)
    density[0] = 1.0
    top = 0
    for rank in ranks:
        top += rank
        density[rank : top + 1] = 0.5 * (density[rank : top + 1] + density[: top - rank + 1])
        density[:rank] *= 0.5
    return density


def _pair_means(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sorted Walsh averages: the means of all pairs of differences, each with itself included."""
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2.0)


@lru_cache(maxsize=4096)
def attained_level(n: int, alpha: float) -> float:
    """Return the largest p-value below a level that Wilcoxon's test of n distinct differences can attain."""
    if n > MOST_EXACT:
        return alpha
    p_values = 2.0 * np.cumsum(_distribution(tuple(range(1, n + 1))))
    below = p_values[p_values < alpha]
    return float(below[-1]) if len(below) else np.nan


@lru_cache(maxsize=64)
def _critical_rank(n: int, alpha: float) -> int:
    """Return the rank of the interval's limits among the pair means: the least q with P(T <= q) >= alpha / 2."""
    if n > MOST_EXACT:
        deviation = np.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
        return max(1, int(np.ceil(n * (n + 1) / 4.0 + deviation * special.ndtri(alpha / 2.0))))
    cumulative = np.cumsum(_distribution(tuple(range(1, n + 1))))
    return max(1, int(np.searchsorted(cumulative, alpha / 2.0)))


S_TEST_LEVELS = (0.01, 0.05)
"""One-sided levels of the marks >> and >."""


@dataclass(frozen=True)
class DecisionTest:
    """Two methods on the same rows: how often only one of them was right, and the p-value of that imbalance."""

    first_only: int  # first_only, second_only: rows on which only the first, or only the second, method was right
    second_only: int
    n_rows: int  # total number of rows
    # One-sided in favour of the method that was right more often (`s_test`), or two-sided (`mcnemar_test`).
    p_value: float
    # low, high: interval of the difference in accuracy at level 1 - alpha: the exact (Clopper-Pearson) interval of the
    # share of `first_only` among the rows on which they differ, conditional on the number of these rows.
    low: float
    high: float
    # Smallest true difference that McNemar's test detects with 80 % power, given how often the methods differ; NaN for
    # the s-test, and if they differ too rarely for any difference to be significant.
    detectable: float = np.nan
    reason: str = ""

    @property
    def difference(self) -> float:
        """Accuracy of the first minus accuracy of the second."""
        return (self.first_only - self.second_only) / self.n_rows if self.n_rows else 0.0

    @property
    def mark(self) -> str:
        """The s-test's mark: ">>" (p at most 0.01), ">" (at most 0.05), "=", or the reverse "<" and "<<"."""
        if self.first_only == self.second_only:
            return "="
        better, level = (">", "<")[self.difference < 0], np.searchsorted(S_TEST_LEVELS, self.p_value)
        return (2 * better, better, "=")[level]

    def verdict(self, alpha: float = 0.05) -> int:
        """Return 1 if the first was right significantly more often, -1 if less, 0 for a tie (p above `alpha`)."""
        return int(np.sign(self.difference)) if self.p_value <= alpha else 0


def s_test(first: ArrayLike, second: ArrayLike, *, exact: bool = True, alpha: float = 0.05) -> DecisionTest:
    """Micro sign test of Yang and Liu, one-sided in favour of the method that is right more often."""
    # Of n rows on which the methods differ, the better one is right on k ≥ n/2. One-sided,
    #
    #     p = Σ_{j=k}^n C(n, j) / 2^n,   or   p = 1 - Φ((k - n/2) / (√n / 2)) for n > 12 in the normal form.
    #
    # The data choose the direction, so the true level is twice the nominal one. The normal form has no continuity
    # correction, and a true one-sided level of up to 0.072 at 0.05; it is offered because published marks use it.
    # Neither form accounts for the training rows that folds share.
    # Reference: Y. Yang, X. Liu, "A re-examination of text categorization methods", SIGIR 1999, 42-49, section 4.1.
    first_only, second_only, n_rows = _discordant(first, second)
    n, k = first_only + second_only, max(first_only, second_only)
    if 2 * k == n:
        p_value = 1.0
    elif exact or n <= 12:
        p_value = float(special.bdtrc(k - 1, n, 0.5))
    else:
        p_value = float(special.ndtr(-(k - n / 2.0) / (np.sqrt(n) / 2.0)))
    return DecisionTest(first_only, second_only, n_rows, p_value, *_interval(first_only, n, n_rows, alpha))


def mcnemar_test(first: ArrayLike, second: ArrayLike, alpha: float = 0.05) -> DecisionTest:
    """McNemar's test on one test set, exact: two-sided binomial test of the rows on which the methods differ."""
    # Reference: T. G. Dietterich, "Approximate statistical tests for comparing supervised classification learning
    # algorithms", Neural Computation 10:1895-1923, 1998.
    first_only, second_only, n_rows = _discordant(first, second)
    n, k = first_only + second_only, max(first_only, second_only)
    p_value = 1.0 if 2 * k == n else min(1.0, 2.0 * float(special.bdtrc(k - 1, n, 0.5)))
    interval = _interval(first_only, n, n_rows, alpha)
    detectable = detectable_by_mcnemar(n, n_rows, alpha)
    return DecisionTest(first_only, second_only, n_rows, p_value, *interval, detectable)


def _discordant(first: ArrayLike, second: ArrayLike) -> tuple[int, int, int]:
    a: NDArray[np.bool_] = np.asarray(first, dtype=bool)
    b: NDArray[np.bool_] = np.asarray(second, dtype=bool)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two arrays of decisions of equal length are required; got shapes {a.shape} and {b.shape}")
    return int(np.sum(a & ~b)), int(np.sum(b & ~a)), len(a)


def _interval(first_only: int, n: int, n_rows: int, alpha: float) -> tuple[float, float]:
    """Return the exact interval of a share, converted to a difference in accuracy."""
    if n == 0:
        return 0.0, 0.0
    low = float(special.betaincinv(first_only, n - first_only + 1, alpha / 2.0)) if first_only else 0.0
    high = float(special.betaincinv(first_only + 1, n - first_only, 1.0 - alpha / 2.0)) if first_only < n else 1.0
    return (2.0 * low - 1.0) * n / n_rows, (2.0 * high - 1.0) * n / n_rows
