"""Detection of relevant features: means over rounds with confidence intervals, and paired tests.

Rounds are independent datasets, so Student's interval for a mean over rounds and ordinary paired tests are valid
without correction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from mfbench.base.text import listing, shell_command
from mfbench.model.evaluation import Score
from mfbench.run.store.metadata import RecordedShard
from mfbench.stats.paired import paired_t_test, wilcoxon_test
from mfbench.stats.selection import nogueira_stability, selection_table
from mfbench.stats.summary import WORDS
from mfbench.suite.plan import shard_folder_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

STABILITY = "stability"
COLUMNS = ["dataset", "method", "figure", "mean", "sd", "low", "high", "rounds", "planned"]
PAIRED_COLUMNS = [
    "dataset", "method", "figure", "difference", "low", "high", "p_value", "p_wilcoxon", "rounds", "verdict",
    "detectable", "reason",
]  # fmt: skip


class MeanInterval(NamedTuple):
    """A mean over rounds with its standard deviation and confidence interval; NaN where undefined."""

    mean: float
    sd: float
    low: float
    high: float
    rounds: int


def mean_interval(values: ArrayLike, alpha: float = 0.05) -> MeanInterval:
    """Return the mean of a proportion over rounds with Student's confidence interval, clipped to [0, 1]."""
    # The features of a round are not independent draws, so the interval is computed from the spread between rounds;
    # Wilson's interval would count each feature as a draw. If every round has the same value, the interval is a point:
    # no spread was observed, but there may be some.
    defined = pd.Series(np.asarray(values, dtype=np.float64)).dropna()
    mean, count = float(defined.mean()), len(defined)
    sd = 0.0 if count > 1 and np.ptp(defined.to_numpy()) == 0.0 else float(defined.std())
    half = stats.t.ppf(1.0 - alpha / 2.0, max(1, count - 1)) * sd / np.sqrt(max(1, count))
    low, high = np.clip([mean - half, mean + half], 0.0, 1.0).tolist()
    return MeanInterval(mean, sd, low, high, count)


def detection_frame(
    trials: pd.DataFrame, n_features: Mapping[str, int], scores: Iterable[str], alpha: float = 0.05
) -> pd.DataFrame:
    """Return one row per dataset, method and figure: each score, and the stability of selected features."""
    lines: list[list[object]] = []
    for (dataset, method), cell in trials.groupby(["dataset", "method"], sort=False):
        good = cell[cell["status"] == "ok"]
        for figure in scores:
            lines.append([dataset, method, figure, *mean_interval(good.get(figure, []), alpha), len(cell)])
        stable = nogueira_stability(selection_table(list(good["selected"]), n_features[str(dataset)]), alpha)
        lines.append([dataset, method, STABILITY, stable.value, np.nan, stable.low, stable.high, len(good), len(cell)])
    return pd.DataFrame(lines, columns=COLUMNS)


def compare_rounds(
    trials: pd.DataFrame, reference: str, scores: Mapping[str, Score], alpha: float = 0.05
) -> pd.DataFrame:
    """Return the reference against each other method on each dataset, paired by round."""
    # Rounds in which either value is missing are dropped; at least two must remain.
    lines: list[list[object]] = []
    for dataset, cells in trials.groupby("dataset", sort=False):
        good = cells[cells["status"] == "ok"].set_index(["repeat", "method"])
        for method in cells["method"].unique():
            for figure, score in scores.items() if method != reference else ():
                pairs = good[figure].unstack().reindex(columns=[reference, method]).astype(float).dropna()
                if len(pairs) > 1:
                    first, second = pairs.to_numpy().T
                    lines.append([dataset, method, figure, *_paired(first, second, score, alpha)])
    return pd.DataFrame(lines, columns=PAIRED_COLUMNS)


def _paired(first: NDArray[np.float64], second: NDArray[np.float64], score: Score, alpha: float) -> list[object]:
    test = paired_t_test(first, second, alpha)
    decision = test.verdict(alpha)
    verdict = WORDS[None if decision is None else int(score.sign) * decision]
    return [
        test.difference, test.low, test.high, test.p_value, wilcoxon_test(first, second, alpha).p_value, len(first),
        verdict, test.detectable, test.reason,
    ]  # fmt: skip


INTERACTION_COLUMNS = [
    "dataset", "method", "repeat", "fold", "first", "second", "value", "share", "p_value", "rank", "n_pairs", "true",
]  # fmt: skip
TRUE_COLUMNS = ["dataset", "method", "true_pairs", "n_pairs", "share", "p_value", "rank", "folds"]


def interaction_frame(rows: Iterable[Mapping[str, Any]], datasets: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per trial and recorded pair of features."""
    by_label = {dataset["label"]: dataset for dataset in datasets}
    lines: list[list[Any]] = []
    for row in rows:
        recorded = row["interactions"]
        if recorded is None:
            continue
        names = by_label[row["dataset"]]["feature_names"]
        true = {tuple(sorted(pair)) for pair in by_label[row["dataset"]]["interactions"] or ()}
        coordinates = [row[name] for name in ("dataset", "method", "repeat", "fold")]
        p_values = np.full(len(recorded.values), np.nan) if recorded.p_values is None else recorded.p_values
        for (i, j), value, rank, p_value in zip(
            recorded.pairs.tolist(), recorded.values.tolist(), recorded.ranks.tolist(), p_values.tolist(), strict=True
        ):
            share = abs(value) / recorded.norm if recorded.norm else 0.0
            lines.append(
                [*coordinates, names[i], names[j], value, share, p_value, rank, recorded.n_pairs, (i, j) in true]
            )
    return pd.DataFrame(lines, columns=INTERACTION_COLUMNS)


def true_interactions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return each method's weights and ranks of the true pairs."""
    lines = []
    for (dataset, method), group in frame[frame["true"].astype(bool)].groupby(["dataset", "method"], sort=False):
        by_fold = group.groupby(["repeat", "fold"])
        true_pairs, n_pairs = int(by_fold.size().max()), int(group["n_pairs"].iloc[0])
        share, p_value = float(group["share"].mean()), float(group["p_value"].median())
        rank = float(by_fold["rank"].min().median())
        lines.append([dataset, method, true_pairs, n_pairs, share, p_value, rank, by_fold.ngroups])
    return pd.DataFrame(lines, columns=TRUE_COLUMNS)


def remark_on_shard(shard: RecordedShard, folder: Path, n_planned: int) -> str:
    """Return the sentence that introduces a partial report: which part it is, and how to merge the others."""
    which = which_shard(shard, n_planned)
    if not shard.numbers:
        return which
    if shard.batch:
        return f"{which} The script merge.sh of the batch merges all shards."
    if folder.name not in (shard.run, shard.folder_name):  # merged elsewhere
        into = shell_command(["--into", folder.as_posix()])
        return f"{which} To add others, run: mfbench merge STORE... {into}"
    pattern = shard_folder_name(shard.run, "*", shard.of)
    start, end = (folder.parent / pattern).as_posix().rsplit("*-of-", 1)
    return f"{which} To join all shards, run: mfbench merge {shell_command([start])}*-of-{end}"


def which_shard(shard: RecordedShard, n_planned: int) -> str:
    """Return the first sentence of `remark_on_shard`."""
    trials = f"{n_planned:,} of {shard.n_trials:,} trials"
    if not shard.numbers:
        return f"A part of the run {shard.run}: {trials}."
    noun = "Shards" if len(shard.numbers) > 1 else "Shard"
    return f"{noun} {listing(shard.numbers)} of {shard.of}: {trials}."
