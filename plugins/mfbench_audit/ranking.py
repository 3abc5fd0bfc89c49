"""What a table of scores allows to say: verdicts, ranks where cells are missing, and the level of its usual reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special, stats

from mfbench.base.text import listing
from mfbench.errors import UsageError
from mfbench.model.evaluation import Score
from mfbench.stats.across_datasets import Overall
from mfbench.stats.cells import ComparisonSettings
from mfbench.stats.comparisons import Comparisons
from mfbench_audit.reading import ScoreTable

Floats = NDArray[np.float64]
_DRAWS = 400
_LEAST_DATASETS = 6


@dataclass(frozen=True)
class SkillingsMack:
    """Skillings and Mack's test that methods do not differ, from ranks with missing cells."""

    statistic: float
    df: int
    p_value: float  # from random orders of the ranks within each dataset


def skillings_mack(scores: pd.DataFrame, draws: int = 2000, seed: int = 0) -> SkillingsMack | None:
    """Test datasets by methods, of which cells may be missing; None if fewer than two methods share a dataset.

    Without missing cells and ties it is Friedman's statistic.

    References
    ----------
    J. H. Skillings, G. A. Mack, On the use of a Friedman-type statistic in balanced and unbalanced block designs,
    Technometrics 23(2):171-177, 1981.
    """
    values = scores.to_numpy(dtype=float)
    values = values[np.isfinite(values).sum(axis=1) > 1]
    if not len(values):
        return None
    present = np.isfinite(values)
    sizes = present.sum(axis=1, keepdims=True)
    ranks = stats.rankdata(np.where(present, values, np.inf), axis=1)
    centred = np.where(present, np.sqrt(12.0 / (sizes + 1.0)) * (ranks - (sizes + 1.0) / 2.0), 0.0)
    together = present.T.astype(float) @ present
    covariance = np.diag(together.sum(axis=1) - np.diag(together)) - together + np.diag(np.diag(together))
    inverse, df = np.linalg.pinv(covariance, hermitian=True), int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not df:
        return None

    def statistic(own: Floats) -> float:
        sums = own.sum(axis=0)
        return float(sums @ inverse @ sums)

    observed, rng, at_least = statistic(centred), np.random.default_rng(seed), 0
    places = [np.flatnonzero(row) for row in present]
    for _ in range(draws):
        shuffled = centred.copy()
        for row, own in zip(shuffled, places, strict=True):
            row[own] = rng.permutation(row[own])
        at_least += statistic(shuffled) >= observed - 1e-9
    return SkillingsMack(observed, df, (1 + at_least) / (1 + draws))


@dataclass(frozen=True)
class Ranking:
    """A table of scores, compared."""

    table: ScoreTable
    score: Score
    means: pd.DataFrame  # datasets by methods, with NaN where a cell is missing
    overall: Overall
    folds: int  # folds of one repeat; 0 if only means are compared
    missing: SkillingsMack | None  # None unless cells are missing
    visible: float  # smallest true mean difference that the tests would find in four of five tables; NaN if unknown
    remarks: list[str]
    frame: pd.DataFrame  # what is compared: the folds, or means

    @cached_property
    def readings(self) -> dict[str, float]:
        """The probability that each usual reading finds a difference among equal methods."""
        return usual_readings(self.frame, self.means, self.folds)


def compare(
    table: ScoreTable, *, greater_is_better: bool | None = None, folds: int | None = None, alpha: float = 0.05,
    reference: str | None = None,
) -> Ranking:  # fmt: skip
    """Compare the methods of a table.

    Parameters
    ----------
    table : ScoreTable
    greater_is_better : bool or None, default=None
        The direction of the score; None takes the table's, or else that larger is better.
    folds : int or None, default=None
        Number of folds of one repeat of the cross-validation; None takes all folds of a dataset for one.
    alpha : float, default=0.05
        Level of tests and intervals.
    reference : str or None, default=None
        Method named before the scores were seen; comparisons with it are adjusted among themselves.

    Raises
    ------
    UsageError
        If scores cannot be averaged over datasets, the number of folds does not fit, or the reference is unknown.
    """
    frame, remarks = table.frame.copy(), list(table.remarks)
    methods = list(dict.fromkeys(frame["method"]))
    if reference is not None and reference not in methods:
        raise UsageError(f"--reference {reference!r} is not in the table; it has {', '.join(methods[:20])}")
    greater = greater_is_better if greater_is_better is not None else table.greater_is_better
    if greater is None:
        remarks.append("Larger scores are taken for better ones; with --lower, smaller ones are.")
        greater = True
    score = _scaled(frame, greater, remarks)
    frame, per_repeat = _common_folds(frame, table, folds, remarks)
    counts = frame.groupby("dataset")["fold"].nunique().clip(upper=per_repeat)
    ratios = tuple((str(dataset), 1.0 / (count - 1) if count > 1 else np.nan) for dataset, count in counts.items())
    frame["repeat"], frame["status"] = frame["fold"] // max(per_repeat, 1), "ok"
    frame["fold"] %= max(per_repeat, 1)
    settings = ComparisonSettings(
        "score", {"score": score}, reference, "corrected-t", alpha, ratio=np.nan, own_ratios=ratios
    )
    overall = Comparisons(frame).overall(settings, _no_decisions, {}, 0)
    means = frame.groupby(["dataset", "method"], sort=False)["score"].mean().unstack(sort=False)[methods]
    has_holes = bool(means.isna().to_numpy().any())
    ranked = means if not greater else -means
    return Ranking(
        table,
        score,
        means,
        overall,
        per_repeat,
        skillings_mack(ranked) if has_holes else None,
        _visible(overall, alpha),
        remarks,
        frame,
    )


def _no_decisions(dataset: str, method: str) -> list[NDArray[np.bool_]]:
    return []


def _scaled(frame: pd.DataFrame, greater: bool, remarks: list[str]) -> Score:
    """Bring scores into one unit, in place: shares, or multiples of the median method of each dataset."""
    scores = frame["score"]
    if scores.min() >= -1.0 and scores.max() <= 1.0:
        return Score(greater_is_better=greater)
    if scores.min() >= 0.0 and 1.0 < scores.max() <= 100.0 and (scores > 1.0).mean() > 0.5 and greater:
        frame["score"] = scores / 100.0
        remarks.append("Scores are taken for percent.")
        return Score(greater_is_better=greater)
    if frame["dataset"].nunique() > 1:
        if scores.min() <= 0.0:
            raise UsageError(
                "the scores are neither shares nor all positive, so those of different datasets have no common unit; "
                "divide them by one, or rank one dataset at a time"
            )
        cells = frame.groupby(["dataset", "method"])["score"].mean()
        frame["score"] = scores / frame["dataset"].map(cells.groupby(level=0).median())
        remarks.append("Scores are divided by that of the median method on each dataset.")
    else:
        frame["score"] = scores / max(float(np.abs(scores).median()), np.finfo(float).tiny)
        remarks.append("Scores are divided by their median.")
    return Score(percent=False, greater_is_better=greater)


def _common_folds(
    frame: pd.DataFrame, table: ScoreTable, folds: int | None, remarks: list[str]
) -> tuple[pd.DataFrame, int]:
    """Return the folds that all methods of a dataset have, or the means; and the folds of a repeat, 0 for means."""
    count = frame.groupby("dataset")["fold"].nunique()
    if not table.has_folds or (count < 2).any():
        if (count > 1).any():
            remarks.append("The scores of a cell are not those of common folds, so only their means are compared.")
        return _to_means(frame), 0
    kept, cut = [], []
    for dataset, own in frame.groupby("dataset", sort=False):
        shared = set.intersection(*(set(part["fold"]) for _, part in own.groupby("method")))
        if len(shared) < 2:
            remarks.append(f"On {dataset}, the methods do not share two folds, so only means are compared.")
            return _to_means(frame), 0
        if len(shared) < own["fold"].nunique():
            cut.append(str(dataset))
        kept.append(own[own["fold"].isin(shared)])
    if cut:
        remarks.append(f"Only folds that all methods have are compared on {listing(cut[:20])}.")
    frame = pd.concat(kept, ignore_index=True)
    frame["fold"] = frame.groupby("dataset")["fold"].transform(lambda own: pd.factorize(own, sort=True)[0])
    most = int(frame["fold"].max()) + 1
    if folds is None:
        number = f"{most}" if frame.groupby("dataset")["fold"].nunique().nunique() == 1 else f"up to {most}"
        remarks.append(
            f"The {number} folds of a dataset are taken for one cross-validation; --folds states another number."
        )
        return frame, most
    if not 2 <= folds <= most:
        raise UsageError(f"--folds {folds} does not fit: a dataset has up to {most} folds, and a repeat at least 2")
    return frame, folds


def _to_means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of each cell as its only fold."""
    return frame.groupby(["dataset", "method"], sort=False)["score"].mean().reset_index().assign(fold=0)


def _visible(overall: Overall, alpha: float) -> float:
    """Return the smallest mean difference that would be found with probability 0.8 for the median pair of methods."""
    claims = overall.claims
    frame = claims.these if claims.these["p_value"].notna().any() else claims.like_these
    if not len(frame):
        return float("nan")
    half = (frame["high_all"] - frame["low_all"]).median() / 2.0
    # The half-width is the critical value times the error; with many pairs the critical value is near the normal one.
    critical = special.ndtri(1.0 - alpha / (2.0 * len(frame)))
    return float(half * (1.0 + special.ndtri(0.8) / critical))


def usual_readings(frame: pd.DataFrame, means: pd.DataFrame, folds: int, seed: int = 0) -> dict[str, float]:
    """Return the probability that usual readings find a difference in a table of this shape whose methods are equal.

    For Wilcoxon's test, methods change places at random on each dataset. For t-tests of folds, scores are drawn by the
    model of Nadeau and Bengio (Machine Learning 52(3):239-281, 2003), in which folds are correlated as they share rows.
    """
    rng, readings = np.random.default_rng(seed), {}
    complete = means.dropna().to_numpy(dtype=float)
    k = means.shape[1]
    first, second = np.triu_indices(k, 1)
    if len(complete) >= _LEAST_DATASETS:
        claims = 0
        for _ in range(_DRAWS):
            shuffled = rng.permuted(complete, axis=1)
            claims += bool((_signed_ranks(shuffled[:, first] - shuffled[:, second]) < 0.05).any())
        readings["Wilcoxon's test of each pair over the datasets, at 5 % each"] = claims / _DRAWS
    if folds:
        sizes = frame.groupby("dataset")[["repeat", "fold"]].apply(lambda own: len(own.drop_duplicates())).to_numpy(int)
        shared = 1.0 / folds
        claims = 0
        for _ in range(_DRAWS):
            claims += any(_naive_claim(rng, int(n), k, shared, first, second) for n in sizes)
        readings["t-tests of the folds of each dataset and pair, at 5 % each"] = claims / _DRAWS
    return readings


def _naive_claim(rng: np.random.Generator, n: int, k: int, shared: float, first: Any, second: Any) -> bool:
    scores = np.sqrt(shared) * rng.standard_normal((1, k)) + np.sqrt(1.0 - shared) * rng.standard_normal((n, k))
    differences = scores[:, first] - scores[:, second]
    t = differences.mean(axis=0) / (differences.std(axis=0, ddof=1) / np.sqrt(n))
    return bool((np.abs(t) > special.stdtrit(n - 1, 0.975)).any())


def _signed_ranks(differences: Floats) -> Floats:
    """Return the normal approximation of Wilcoxon's two-sided p-values, one per column."""
    ranks = np.where(differences == 0.0, 0.0, stats.rankdata(np.abs(differences), axis=0))
    size = np.sqrt((ranks**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.where(size > 0.0, (np.sign(differences) * ranks).sum(axis=0) / size, 0.0)
    return np.asarray(2.0 * special.ndtr(-np.abs(z)))
