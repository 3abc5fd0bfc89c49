"""Many methods on many datasets: mean differences, Friedman's test, Nemenyi's critical difference, win probabilities.

Every function takes one value per dataset and method, because folds of one dataset carry no information about others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import special, stats

from mfbench.host.registry import load_registry
from mfbench.model.evaluation import TaskSpec
from mfbench.run.trial.metrics import Metric, resolve_metrics
from mfbench.stats.bayesian import signed_rank_test
from mfbench.stats.cells import MissingPolicy
from mfbench.stats.mean_differences import CAP, Error, MeanDifferences, ordered
from mfbench.stats.multiple import holm
from mfbench.stats.paired import (
    MOST_EXACT,
    POWER,
    attained_level,
    differences_of,
    noncentrality,
    rank_biserial,
    wilcoxon_test,
)
from mfbench.suite.tasks import constant_guess, task_named

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Friedman:
    """Friedman's test and Iman and Davenport's correction of it."""

    n_datasets: int
    n_methods: int
    # chi2, p_value: Friedman's statistic, corrected for ties, and its p-value from the chi-squared distribution.
    chi2: float
    p_value: float
    f: float  # f, f_p_value: Iman and Davenport's statistic, which is less conservative
    f_p_value: float


def friedman_test(ranks: ArrayLike) -> Friedman:
    """Test whether all methods are equally good, by their ranks on each dataset."""
    # With R_j the mean rank of method j over N datasets, k methods and no ties,
    #
    #     χ² = 12 N / (k (k+1)) [Σ_j R_j² - k (k+1)² / 4],   F = (N-1) χ² / (N (k-1) - χ²),
    #
    # with k-1 and with k-1, (k-1)(N-1) degrees of freedom. With ties, the variance of the actual ranks replaces the
    # variance of 1 … k.
    # Reference: M. Friedman, "The use of ranks to avoid the assumption of normality", JASA 32:675-701, 1937. R. L.
    # Iman, J. M. Davenport, "Approximations of the critical region of the Friedman statistic", Communications in
    # Statistics A9:571-595, 1980.
    table = np.asarray(ranks, dtype=float)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(f"at least two datasets and two methods are required; got ranks of shape {table.shape}")
    n, k = table.shape
    spread = float(np.sum((table - (k + 1) / 2.0) ** 2))
    if spread == 0.0:
        return Friedman(n, k, 0.0, 1.0, 0.0, 1.0)
    between = float(np.sum((table.mean(axis=0) - (k + 1) / 2.0) ** 2))
    chi2 = n * n * (k - 1) * between / spread
    rest = n * (k - 1) - chi2
    # All datasets have the same ranks: there is no residual variance.
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n * k else np.inf
    f_p_value = float(special.fdtrc(k - 1, (k - 1) * (n - 1), f)) if np.isfinite(f) else 0.0
    return Friedman(n, k, chi2, float(special.chdtrc(k - 1, chi2)), f, f_p_value)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference of average ranks."""
    #     CD = q_α √(k (k+1) / (6N)),
    #
    # with √2 q_α the upper point of the studentized range of k means. It uses the ranks of all methods, so the verdict
    # on two methods depends on the others: use it for the diagram only, and base decisions on Wilcoxon's test with
    # Holm's adjustment.
    # Reference: P. Nemenyi, "Distribution-free multiple comparisons", PhD thesis, Princeton 1963. A. Benavoli, G.
    # Corani, F. Mangili, "Should we really use post-hoc tests based on mean-ranks?", JMLR 17(5):1-10, 2016.
    point = float(stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return float(point * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets)))


def not_separated(ranks: ArrayLike, difference: float) -> list[tuple[int, int]]:
    """Return the maximal groups of methods whose average ranks lie within a difference of each other."""
    values = np.asarray(ranks, dtype=float)
    last = np.searchsorted(values, values + difference + 1e-12, side="right") - 1
    return [
        (first, int(end)) for first, end in enumerate(last) if end > first and (first == 0 or end > last[first - 1])
    ]


def win_probabilities(means: pd.DataFrame, *, greater_is_better: bool = True) -> pd.DataFrame:
    """Return the share of datasets on which the row's method beats the column's; ties count half."""
    values = np.round(means.to_numpy(dtype=float) * (1 if greater_is_better else -1), 12)
    better = (values[:, :, None] > values[:, None, :]) + 0.5 * (values[:, :, None] == values[:, None, :])
    return pd.DataFrame(better.mean(axis=0), index=means.columns, columns=means.columns)


def rank_table(
    means: pd.DataFrame, *, greater_is_better: bool = True, missing: Literal["keep", "bottom"] = "keep"
) -> pd.DataFrame:
    """Return each method's rank on each dataset; 1 is best, ties share the mean rank."""
    # Rounding ties scores that differ only in the order of summation.
    ranks: pd.DataFrame = means.round(12).rank(axis=1, ascending=not greater_is_better, na_option=missing)
    return ranks


FACTORS = (1.0, 2.0, 5.0, 10.0, 100.0)


def performance_ratios(costs: pd.DataFrame) -> pd.DataFrame:
    """Return each cost divided by the dataset's smallest, the basis of a performance profile."""
    # The profile of method m is \rho_m(\tau), the share of datasets on which its cost is at most \tau times the
    # smallest of any method: \rho_m(1) is the share on which it is cheapest, and the limit the share on which it
    # succeeds at all.
    # Reference: E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles", Mathematical
    # Programming 91:201-213, 2002.
    finished = costs.dropna(how="all")
    if (finished <= 0).to_numpy().any():
        raise ValueError("costs must be positive: a ratio to a cost of zero has no meaning")
    ratios: pd.DataFrame = finished.div(finished.min(axis=1), axis=0)
    return ratios.fillna(np.inf)


def performance_profile(ratios: pd.DataFrame, factors: tuple[float, ...] = FACTORS) -> pd.DataFrame:
    """Return the share of datasets on which each method's cost is within each factor of the smallest."""
    # Rounding tolerance: the smallest cost must be within a factor of one of itself.
    return pd.DataFrame({factor: (ratios <= factor * (1.0 + 1e-12)).mean() for factor in factors})


EFFICIENCY = 3.0 / np.pi
"""Asymptotic efficiency of Wilcoxon's test relative to the t-test for normal differences."""
MOST_DATASETS = 10**9


def detectable_across(sd: float, n_datasets: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the smallest mean difference that Wilcoxon's signed-rank test over datasets detects."""
    # Differences are assumed to be normal over datasets, with the observed standard deviation. Wilcoxon's test then
    # needs π/3 times as many datasets as the t-test, so with the noncentrality δ of the t-test at the level that
    # Wilcoxon's test attains with N datasets,
    #
    #     Δ = δ s √(π / (3N)).
    #
    # If only differences of the same sign are significant, the condition Φ(Δ/s)^N = power is exact.
    # Reference: E. L. Lehmann, "Nonparametrics: statistical methods based on ranks", 1975, section 4.2.
    if n_datasets < 2 or not sd > 0.0:
        return np.nan
    level = attained_level(n_datasets, alpha)
    if np.isnan(level):
        return np.nan
    if level == 2.0 ** (1 - n_datasets):
        return float(special.ndtri(power ** (1.0 / n_datasets)) * sd)
    return float(noncentrality(n_datasets - 1, level, power) * sd / np.sqrt(n_datasets * EFFICIENCY))


def datasets_needed(sd: float, difference: float, alpha: float = 0.05, power: float = POWER) -> int | None:
    """Return the number of datasets that Wilcoxon's signed-rank test needs to detect a difference."""
    if not sd > 0.0:
        return None

    def is_enough(n: int) -> bool:
        return detectable_across(sd, n, alpha, power) <= difference

    # Beyond `MOST_EXACT`, the normal approximation makes the detectable difference monotone in the number of datasets.
    few = next(filter(is_enough, range(2, MOST_EXACT + 1)), None)
    return few if few is not None else first_of(range(MOST_EXACT + 1, MOST_DATASETS + 1), is_enough)


def first_of(numbers: range, is_enough: Callable[[int], bool]) -> int | None:
    """Return the first number that is enough, if all after it are enough too; None if there is none."""
    place = bisect_left(numbers, True, key=is_enough)
    return numbers[place] if place < len(numbers) else None


@dataclass(frozen=True)
class Completed:
    """One value per dataset and method, with none missing."""

    scores: pd.DataFrame
    ranks: pd.DataFrame
    filled: int  # number of imputed cells
    dropped: list[str]  # datasets dropped
    absent: list[str]  # methods dropped because they have no score at all
    policy: MissingPolicy


def complete(
    means: pd.DataFrame,
    policy: MissingPolicy,
    *,
    greater_is_better: bool = True,
    ended: pd.DataFrame | None = None,
    dummies: Mapping[str, float] | None = None,
) -> Completed:
    """Apply a missing-value policy to cells without a score."""
    rows = list(means.index)
    absent = [str(method) for method in means.columns if means[method].isna().all()]
    if policy == "drop-dataset":
        kept = means.drop(columns=absent).dropna()
        ranks = rank_table(kept, greater_is_better=greater_is_better)
        return Completed(kept, ranks, 0, [str(row) for row in rows if row not in kept.index], absent, policy)
    judged = means if ended is None else means[~(means.isna() & ~ended).any(axis=1)]
    judged = judged.dropna(how="all")
    holes = int(judged.isna().to_numpy().sum())
    if policy == "worst-rank":
        worst = judged.min(axis=1) if greater_is_better else judged.max(axis=1)
        scores = judged.apply(lambda column: column.fillna(worst))
        ranks = rank_table(judged, greater_is_better=greater_is_better, missing="bottom")
    else:
        guess = pd.Series({row: (dummies or {}).get(str(row), np.nan) for row in judged.index}, dtype=float)
        scores = judged.apply(lambda column: column.fillna(guess)).dropna()
        ranks = rank_table(scores, greater_is_better=greater_is_better)
    return Completed(scores, ranks, holes, [str(row) for row in rows if row not in scores.index], [], policy)


def dummy_score(task: TaskSpec, truth: np.ndarray[Any, np.dtype[Any]], metric: Metric) -> float:
    """Return the score of a task's best constant prediction; NaN if the task has none."""
    guess = constant_guess(task, truth)
    return float("nan") if guess is None else metric.of(guess)


def dummy_scores(datasets: Iterable[Mapping[str, Any]], name: str, task: str) -> dict[str, float]:
    """Return the score of a constant prediction on each dataset, by label."""
    registry = load_registry()
    (metric,), spec = resolve_metrics([name], registry), task_named(task, registry)
    return {dataset["label"]: dummy_score(spec, dataset["truth"], metric) for dataset in datasets}


LEAST_DATASETS = 2
COMPARED = ["first", "second", "mean", "difference", "low", "high", "effect", "p_value", "holm", "detectable"]
PROBABILITIES = ["better", "equal", "worse"]


@dataclass(frozen=True)
class Overall:
    """Comparison of methods across datasets."""

    completed: Completed  # one value per dataset and method, none missing
    greater_is_better: bool
    reference: str | None  # method that the others are compared with
    alpha: float = 0.05  # level of tests and intervals
    rope: float = 0.01  # differences up to this size are practically zero, in score units
    seed: int = 0  # seed of the Monte-Carlo draws
    # Whether the reference was chosen as the best by these very scores. If so, its p-values are adjusted over all pairs
    # of methods, since any of them could have been the best.
    chosen: bool = False
    cap: float = CAP * 0.01  # differences count up to this size in statements about datasets like these
    # The errors of all pairs on each dataset, with methods as in `completed`; none where folds allow no test.
    errors: Mapping[str, Error | None] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)  # of related datasets, which count as one

    @property
    def n_datasets(self) -> int:
        """Number of datasets compared on."""
        return len(self.completed.scores)

    @cached_property
    def ranks(self) -> pd.Series:
        """Average rank of each method, best first; empty without a dataset."""
        return self.completed.ranks.mean(axis=0).dropna().sort_values(kind="stable")

    @property
    def testable(self) -> bool:
        """Whether there are at least two datasets and two methods, the minimum for any test."""
        return self.n_datasets >= LEAST_DATASETS and len(self.ranks) >= 2

    @cached_property
    def friedman(self) -> Friedman | None:
        """Friedman's and Iman and Davenport's tests; None with fewer than two datasets or three methods."""
        return friedman_test(self.completed.ranks) if self.testable and len(self.ranks) > 2 else None

    @cached_property
    def critical_difference(self) -> float:
        """Nemenyi's critical difference of average ranks."""
        return critical_difference(len(self.ranks), self.n_datasets, self.alpha)

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last position in `ranks` of each group that the critical difference does not separate."""
        return not_separated(self.ranks.to_numpy(), self.critical_difference)

    @cached_property
    def against_reference(self) -> pd.DataFrame:
        """The reference against each other method, best average rank first."""
        # The columns of `pairs`, and better, equal, worse: posterior probabilities of the Bayesian signed-rank test
        # that the reference is better by more than the region of practical equivalence, within it, or worse.
        others = [method for method in self.ranks.index if method != self.reference]
        comparable = self.testable and self.reference in self.ranks.index
        pairs = [(str(self.reference), str(method)) for method in others] if comparable else []
        table = self._compare(pairs, self.n_comparisons)
        if self.chosen and len(table):
            adjusted = {frozenset(row[:2]): row[2] for row in self.pairs[["first", "second", "holm"]].to_numpy()}
            table["holm"] = [adjusted[frozenset(pair)] for pair in pairs]
        posteriors = [
            signed_rank_test(self._goodness(first), self._goodness(second), self.rope, seed=self.seed)
            for first, second in zip(table["first"], table["second"], strict=True)
        ]
        for name, column in zip(("first", "rope", "second"), PROBABILITIES, strict=True):
            table[column] = [float(getattr(posterior, name)) for posterior in posteriors]
        return table

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """All pairs, the better average rank first."""
        # Columns: first, second, mean (of first minus second, in score units), difference (its Hodges-Lehmann
        # estimate), low, high (its interval), effect (matched-pairs rank-biserial correlation, positive if the first is
        # better), p_value (Wilcoxon, two-sided), holm (adjusted over the rows of the table), detectable (smallest mean
        # difference detected with 80 % power at `alpha` over the number of comparisons, the strictest step of Holm's
        # method; NaN with too few datasets or no spread).
        names = [str(method) for method in self.ranks.index]
        pairs = list(combinations(names, 2)) if self.testable else []
        return self._compare(pairs, len(pairs))

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons over which the p-values of `against_reference` are adjusted."""
        k = len(self.ranks)
        return k * (k - 1) // 2 if self.chosen else k - 1

    @cached_property
    def claims(self) -> MeanDifferences:
        """What the mean differences show: on these datasets, and on datasets like these."""
        scores = ordered(self.completed.scores * (1 if self.greater_is_better else -1))
        places = self.completed.scores.columns.get_indexer(scores.columns)
        in_order = (self.errors.get(str(dataset)) for dataset in scores.index)
        errors = [None if own is None else own.reordered(places) for own in in_order]
        families = [self.families.get(str(dataset), str(dataset)) for dataset in scores.index]
        reference = None if self.chosen else self.reference
        return MeanDifferences(scores, errors, families, self.rope, self.cap, self.alpha, reference, self.seed)

    @cached_property
    def wins(self) -> pd.DataFrame:
        """Share of datasets on which the row's method beats the column's, ties counting half; best rank first."""
        ordered = self.completed.scores[list(self.ranks.index)]
        return win_probabilities(ordered, greater_is_better=self.greater_is_better)

    def _goodness(self, method: str) -> NDArray[np.float64]:
        """Return a method's scores, negated if smaller is better."""
        scores = self.completed.scores[method].to_numpy(dtype=float)
        return scores if self.greater_is_better else -scores

    def _compare(self, pairs: Sequence[tuple[str, str]], n_comparisons: int) -> pd.DataFrame:
        rows = []
        for first, second in pairs:
            a, b = self._goodness(first), self._goodness(second)
            test = wilcoxon_test(a, b, self.alpha)
            figures = (test.difference, test.low, test.high)
            if not self.greater_is_better:
                figures = (-test.difference, -test.high, -test.low)
            scores = self.completed.scores
            mean = float((scores[first] - scores[second]).mean())
            sd = float(np.std(differences_of(a, b), ddof=1))
            detectable = detectable_across(sd, self.n_datasets, self.alpha / n_comparisons)
            rows.append([first, second, mean, *figures, rank_biserial(a, b), test.p_value, np.nan, detectable])
        table = pd.DataFrame(rows, columns=COMPARED)
        table["holm"] = holm(table["p_value"].to_numpy(dtype=float))
        return table
