"""Mean differences of methods over datasets: what holds on these datasets, and what on datasets like these.

Both compare all pairs of methods, by values for which greater is better, one per dataset and method.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from mfbench.stats.multiple import holm, letters, step_down
from mfbench.stats.paired import LEAST_PAIRS
from mfbench.stats.rules import ratio_without_repeats, sound_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfbench.stats.cells import CellResults, ComparisonSettings

CAP = 10.0
"""The largest difference that counts in full for datasets like these, in margins of the metric."""
LEAST_FAMILIES = 6
"""With fewer families of datasets, sign flips allow no statement about others."""
MOST_EXACT = 13
FLIPS = 20_000
"""All sign flips are made for up to `MOST_EXACT` families, and this number of random ones for more."""
PRIOR_DF = 10.0
"""Degrees of freedom of the variance of all pairs, with which that of each pair is averaged."""
_BLOCK = 2**21


@dataclass(frozen=True)
class Error:
    """The squared errors of the differences of all pairs of methods on one dataset."""

    squares: NDArray[np.float64]  # methods by methods; NaN where a method has no scores of folds
    df: float

    def reordered(self, places: NDArray[np.intp]) -> Error:
        """Return the errors with methods in another order."""
        return Error(self.squares[np.ix_(places, places)], self.df)


@dataclass(frozen=True)
class MeanDifferences:
    """The mean differences of all pairs of methods over datasets, and the claims that they support."""

    # One row per dataset, sorted by name, and one column per method, best mean first and equal means by name: no result
    # depends on the order in a suite.
    scores: pd.DataFrame
    errors: Sequence[Error | None]  # of each row; None if the splits allow no test
    families: Sequence[str]  # of each row: related datasets have one family, and count as one observation
    margin: float = 0.01
    cap: float = 0.1
    alpha: float = 0.05
    reference: str | None = None  # a method named before the run: its comparisons are adjusted among themselves
    seed: int = 0
    flips: int = FLIPS

    @cached_property
    def methods(self) -> list[str]:
        """The methods, best mean first."""
        return [str(name) for name in self.scores.columns]

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        first, second = np.triu_indices(len(self.methods), 1)
        return first, second

    @cached_property
    def _differences(self) -> NDArray[np.float64]:
        """Datasets by pairs: first minus second."""
        values = self.scores.to_numpy(dtype=float)
        first, second = self._pairs
        differences: NDArray[np.float64] = np.round(values[:, first] - values[:, second], 12)
        return differences

    @cached_property
    def these(self) -> pd.DataFrame:
        """One row per pair: its mean difference on these datasets, compared with the error that the folds leave.

        Columns: first, second; mean; low, high (interval); low_all, high_all (simultaneous over all pairs); least, most
        (range of the mean without any one dataset); p_value, holm (adjusted over all pairs); beyond, equal (p-values,
        adjusted alike, of a difference larger than the margin, and of one smaller); tau (standard deviation of the true
        differences over datasets); better, within, worse (numbers of datasets, by the margin).
        """
        # With D datasets, and on each the squared error v_d = (1/J + n_test/n_train) s_d² of the mean difference over
        # the J folds of one repeat, the squared error of the mean is Σ v_d / D². Satterthwaite's degrees of freedom are
        # (Σ v_d)² / Σ (v_d² / df_d).
        # Reference: F. E. Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics
        # Bulletin 2:110-114, 1946.
        if not self._differences.size:
            return self._table(**dict.fromkeys(THESE)).iloc[:0]
        values, (squares, df) = self._differences, self._squares
        n, mean = len(values), values.mean(axis=0)
        total = squares.sum(axis=0) if np.nansum(df + 1.0) >= LEAST_PAIRS else np.full(len(mean), np.nan)
        is_flat = total == 0.0
        error = np.sqrt(total) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            own_df = np.where(is_flat, 1.0, total**2 / (squares**2 / df[:, None]).sum(axis=0))
            p_value, beyond, equal = (
                np.where(is_flat, 1.0, np.minimum(1.0, tails * special.stdtr(own_df, distance / error)))
                for tails, distance in (
                    (2.0, -np.abs(mean)),
                    (2.0, self.margin - np.abs(mean)),
                    (1.0, np.abs(mean) - self.margin),
                )
            )
        half, half_all = (
            special.stdtrit(own_df, 1.0 - level / 2.0) * error for level in (self.alpha, self.alpha / values.shape[1])
        )
        without = (values.sum(axis=0) - values) / (n - 1) if n > 1 else values
        variance = values.var(axis=0, ddof=1) if n > 1 else np.full(len(mean), np.nan)
        return self._table(
            mean=mean, low=mean - half, high=mean + half, low_all=mean - half_all, high_all=mean + half_all,
            least=without.min(axis=0), most=without.max(axis=0), p_value=p_value, holm=holm(p_value),
            beyond=holm(beyond), equal=holm(equal), tau=np.sqrt(np.maximum(variance - squares.mean(axis=0), 0.0)),
            better=np.sum(values > self.margin, axis=0), within=np.sum(np.abs(values) <= self.margin, axis=0),
            worse=np.sum(values < -self.margin, axis=0),
        )  # fmt: skip

    @cached_property
    def _squares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Datasets by pairs: squared errors; and the degrees of freedom of each dataset."""
        unknown = np.full((len(self.methods), len(self.methods)), np.nan)
        squares = [unknown if own is None else own.squares for own in self.errors]
        df = np.array([np.nan if own is None else own.df for own in self.errors])
        first, second = self._pairs
        return np.array([own[first, second] for own in squares]), df

    @cached_property
    def like_these(self) -> pd.DataFrame:
        """One row per pair: its mean capped difference, compared with the variation over datasets.

        Without enough families there is no row. Columns: first, second; mean; low, high (interval); low_all, high_all
        (simultaneous over all pairs); adjusted, named (p-values, adjusted over all pairs, and over those of the
        reference); equal (p-value, adjusted, of a difference smaller than the margin); better, worse (shares of
        datasets on which the first is measured better, and worse, by more than the margin), each with the limits of its
        interval, such as better_low and better_high.
        """
        n, sums, k = len(self._differences), self._sums, self.n_families
        if not (self.is_enough and self._differences.size):
            return self._table(**dict.fromkeys(LIKE_THESE)).iloc[:0]
        mean = sums.sum(axis=0) / n
        adjusted, critical = self._flipped(np.arange(sums.shape[1]))
        named, own = np.full(sums.shape[1], np.nan), self._of_reference
        named[own] = self._flipped(own)[0]
        sizes = np.array([self.families.count(name) for name in self._names], dtype=float)
        error = np.sqrt(np.sum((sums - np.outer(sizes, mean)) ** 2, axis=0) * k / (k - 1.0)) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            equal = np.where(error > 0.0, special.stdtr(k - 1, (np.abs(mean) - self.margin) / error), 1.0)
        half, half_all = special.stdtrit(k - 1, 1.0 - self.alpha / 2.0) * error, critical * self._scale
        better, worse = (np.sum(sign * self._differences > self.margin, axis=0) for sign in (1, -1))
        return self._table(
            mean=mean, low=mean - half, high=mean + half, low_all=mean - half_all, high_all=mean + half_all,
            adjusted=adjusted, named=named, equal=holm(equal), **jeffreys("better", better, n, self.alpha),
            **jeffreys("worse", worse, n, self.alpha),
        )  # fmt: skip

    @cached_property
    def _names(self) -> list[str]:
        return sorted(set(self.families))

    @property
    def n_families(self) -> int:
        """Number of families of datasets."""
        return len(self._names)

    @property
    def is_enough(self) -> bool:
        """Whether there are enough families for a statement about datasets like these."""
        return self.n_families >= LEAST_FAMILIES and 2.0 ** (1 - self.n_families) < self.alpha

    @cached_property
    def _of_reference(self) -> NDArray[np.intp]:
        """The pairs of the reference."""
        place = self.methods.index(self.reference) if self.reference in self.methods else -1
        return np.flatnonzero((self._pairs[0] == place) | (self._pairs[1] == place))

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """Families by pairs: sums of capped differences."""
        capped, own = np.clip(self._differences, -self.cap, self.cap), np.array(self.families)
        return np.array([capped[own == name].sum(axis=0) for name in self._names])

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        """The standard error of each pair's mean capped difference, which no sign flip changes."""
        squares = np.sum(self._sums**2, axis=0)
        moderated = (self.n_families * squares + PRIOR_DF * squares.mean()) / (self.n_families + PRIOR_DF)
        scale: NDArray[np.float64] = np.sqrt(moderated) / len(self._differences)
        return scale

    def _flipped(self, pairs: NDArray[np.intp]) -> tuple[NDArray[np.float64], float]:
        """Return the step-down adjusted p-values of some pairs, and the critical value of a single step."""
        # Of methods that do not differ on average, the differences of all pairs on a family of datasets are taken to be
        # distributed as their negatives.
        # Reference: P. H. Westfall, S. S. Young, "Resampling-based multiple testing", 1993, algorithm 2.8.
        if not len(pairs) or not self._scale.any():
            return np.ones(len(pairs)), 0.0
        return step_down(self._sums[:, pairs] / (len(self._differences) * self._scale[pairs]), self._signs, self.alpha)

    def _signs(self) -> Iterator[NDArray[np.float64]]:
        """Yield blocks of sign flips, one of which changes no sign."""
        families, at_once = self.n_families, max(1, _BLOCK // self._sums.shape[1])
        if families <= MOST_EXACT:  # all of them, but for a flip of all families, which changes no size
            codes = np.arange(2 ** (families - 1))[:, None] >> np.arange(families)
            for begin in range(0, len(codes), at_once):
                yield np.where(codes[begin : begin + at_once] & 1, -1.0, 1.0)
            return
        yield np.ones((1, families))
        random = np.random.default_rng(self.seed)
        for begin in range(0, self.flips, at_once):
            yield np.where(random.integers(2, size=(min(at_once, self.flips - begin), families)), -1.0, 1.0)

    def groups(self, frame: pd.DataFrame, column: str) -> dict[str, str]:
        """Return letters for the methods, of which two share one unless a table of pairs separates them."""
        places = {name: place for place, name in enumerate(self.methods)}
        apart = frame[frame[column] < self.alpha]
        pairs = [(places[a], places[b]) for a, b in zip(apart["first"], apart["second"], strict=True)]
        return dict(zip(self.methods, letters(len(places), pairs), strict=True))

    @property
    def not_worse(self) -> list[str]:
        """The method with the best mean, then those that these datasets (without folds: others) do not separate."""
        # Empty without a comparison.
        frame, column = (self.like_these, "adjusted") if self.these["holm"].isna().all() else (self.these, "holm")
        if not len(frame):
            return []
        own = frame[frame["first"] == self.methods[0]]
        return [self.methods[0], *map(str, own["second"][~(own[column] < self.alpha)])]

    def against(self, method: str, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table that compare a method with others, as its differences from the other, `second`."""
        own = frame[(frame["first"] == method) | (frame["second"] == method)].copy()
        turned = (own["second"] == method).to_numpy()
        for one, other, sign in _MIRRORED:
            if one in own:
                values = own[[other, one]].to_numpy()[turned]
                own.loc[turned, one], own.loc[turned, other] = sign * values[:, 0], sign * values[:, 1]
        own.loc[turned, "second"], own.loc[turned, "first"] = own["first"][turned], method
        return own.reset_index(drop=True)

    def _table(self, **columns: NDArray[np.generic] | None) -> pd.DataFrame:
        first, second = (np.array(self.methods, dtype=object)[own] for own in self._pairs)
        return pd.DataFrame({"first": first, "second": second, **columns})


_MIRRORED = (
    ("mean", "mean", -1), ("low", "high", -1), ("low_all", "high_all", -1), ("least", "most", -1),
    ("better", "worse", 1), ("better_low", "worse_low", 1), ("better_high", "worse_high", 1),
)  # fmt: skip
THESE = (
    "mean", "low", "high", "low_all", "high_all", "least", "most", "p_value", "holm", "beyond", "equal", "tau",
    "better", "within", "worse",
)  # fmt: skip
LIKE_THESE = (
    "mean", "low", "high", "low_all", "high_all", "adjusted", "named", "equal", "better", "better_low",
    "better_high", "worse", "worse_low", "worse_high",
)  # fmt: skip


def ordered(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with datasets sorted by name, and methods by their mean, best first, and by name."""
    rows, columns = (np.argsort(np.array(axis, dtype=str), kind="stable") for axis in (scores.index, scores.columns))
    means = np.round(scores.to_numpy(dtype=float)[rows].sum(axis=0), 12)
    return scores.iloc[rows, columns[np.argsort(-means[columns], kind="stable")]]


def error_on(cells: Sequence[CellResults | None], dataset: str, settings: ComparisonSettings) -> Error | None:
    """Return the errors of all pairs of methods on a dataset; None if its folds allow no test."""
    whole = [place for place, cell in enumerate(cells) if cell is not None and cell.complete]
    own = [cell for cell in cells if cell is not None and cell.complete]
    settings = settings.on(dataset)
    ratio = settings.ratio
    if not own or np.isnan(ratio) or len({len(cell.scores) for cell in own}) > 1:
        return None
    count = len(own[0].scores)
    squares = np.full((len(cells), len(cells)), np.nan)
    if count > 1:
        scores = np.array([cell.scores for cell in own]) / settings.unit_on(dataset)
        n_rows = dict(settings.rows).get(dataset, count) if settings.score.percent else None
        factor = 1.0 / count + ratio_without_repeats(own[0], ratio)
        squares[np.ix_(whole, whole)] = squared_errors(scores, factor, n_rows)
        return Error(squares, count - 1.0)
    if sound_test(own[0], settings) != "mcnemar":
        return None
    # On a single test set, the methods differ on some rows: at least as many as the difference of their scores.
    right = np.array([cell.first_test_set() for cell in own], dtype=float)
    apart = right.sum(axis=1)[:, None] + right.sum(axis=1) - 2.0 * right @ right.T
    squares[np.ix_(whole, whole)] = np.where(apart > 0, apart + 1.0, 0.0) / right.shape[1] ** 2
    return Error(squares, right.shape[1] - 1.0)


def squared_errors(scores: NDArray[np.float64], factor: float, n_rows: int | None = None) -> NDArray[np.float64]:
    """Return the squared errors of all pairs' mean differences over folds: factor times their variance."""
    # Folds whose differences are equal but not zero have no spread. Of n test rows at least n |d| were predicted
    # differently, so the squared error is then taken to be (n |d| + 1) / n², if the score is a share of rows.
    count = len(scores)
    squares = np.zeros((count, count))
    for place in range(count - 1):
        apart = scores[place] - scores[place + 1 :]
        is_flat = np.ptp(apart, axis=1) <= 1e-12
        size = np.abs(apart.mean(axis=1))
        least = np.nan if n_rows is None else (n_rows * size + 1.0) / n_rows**2
        flat = np.where(size <= 1e-12, 0.0, least)
        squares[place, place + 1 :] = np.where(is_flat, flat, factor * apart.var(axis=1, ddof=1))
    return squares + squares.T


def jeffreys(name: str, counts: NDArray[np.int64], n: int, alpha: float) -> dict[str, NDArray[np.float64]]:
    """Return proportions and the limits of Jeffreys's intervals, as columns."""
    # Reference: L. D. Brown, T. T. Cai, A. DasGupta, "Interval estimation for a binomial proportion", Statistical
    # Science 16:101-133, 2001.
    low = special.betaincinv(counts + 0.5, n - counts + 0.5, alpha / 2.0)
    high = special.betaincinv(counts + 0.5, n - counts + 0.5, 1.0 - alpha / 2.0)
    return {
        name: counts / n,
        f"{name}_low": np.where(counts == 0, 0.0, low),
        f"{name}_high": np.where(counts == n, 1.0, high),
    }
