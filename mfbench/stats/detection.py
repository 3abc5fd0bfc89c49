"""Detection of relevant features: means over rounds with confidence intervals, and paired tests.

Rounds are independent datasets, so Student's interval for a mean over rounds and ordinary paired tests are valid
without correction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from mfbench.base.text import listing, shell_command
from mfbench.model.evaluation import Score
from mfbench.run.store.metadata import RecordedShard
from mfbench.stats.paired import paired_t_test, wilcoxon_test
from mfbench.stats.selection import nogueira_stability, selection_table
from mfbench.suite.plan import shard_folder_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

STABILITY = "stability"
COLUMNS = ["dataset", "method", "figure", "mean", "sd", "low", "high", "rounds", "planned"]
PAIRED_COLUMNS = [
    "dataset", "method", "figure", "difference", "low", "high", "p_value", "p_wilcoxon", "rounds", "verdict",
    "detectable", "reason",
]  # fmt: skip


@dataclass(frozen=True)
class MeanInterval:
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
    defined = np.asarray(values, dtype=np.float64)
    defined = defined[np.isfinite(defined)]
    count = len(defined)
    if not count:
        return MeanInterval(np.nan, np.nan, np.nan, np.nan, 0)
    mean = float(defined.mean())
    if count == 1:
        return MeanInterval(mean, np.nan, np.nan, np.nan, 1)
    sd = float(defined.std(ddof=1)) if np.ptp(defined) > 0 else 0.0
    half = float(stats.t.ppf(1.0 - alpha / 2.0, count - 1)) * sd / float(np.sqrt(count))
    return MeanInterval(mean, sd, max(0.0, mean - half), min(1.0, mean + half), count)


def detection_frame(
    trials: pd.DataFrame, n_features: Mapping[str, int], scores: Iterable[str], alpha: float = 0.05
) -> pd.DataFrame:
    """Return one row per dataset, method and figure: each score, and the stability of selected features."""
    lines: list[list[object]] = []
    for (dataset, method), cell in trials.groupby(["dataset", "method"], sort=False):
        good = cell[cell["status"] == "ok"]
        for figure in scores:
            mean = mean_interval(good.get(figure, []), alpha)
            lines.append([dataset, method, figure, mean.mean, mean.sd, mean.low, mean.high, mean.rounds, len(cell)])
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
        by_round = {
            str(method): cell.set_index("repeat").where(cell.set_index("repeat")["status"] == "ok")
            for method, cell in cells.groupby("method", sort=False)
        }
        if reference not in by_round:
            continue
        for method, cell in by_round.items():
            if method != reference:
                lines += [
                    [dataset, method, figure, *values]
                    for figure, score in scores.items()
                    if (values := _paired(by_round[reference], cell, figure, score, alpha)) is not None
                ]
    return pd.DataFrame(lines, columns=PAIRED_COLUMNS)


def _paired(one: pd.DataFrame, other: pd.DataFrame, figure: str, score: Score, alpha: float) -> list[object] | None:
    if figure not in one or figure not in other:
        return None
    pairs = pd.concat([one[figure], other[figure]], axis=1, keys=["one", "other"]).astype(float).dropna()
    if len(pairs) < 2:
        return None
    first, second = pairs["one"].to_numpy(), pairs["other"].to_numpy()
    test = paired_t_test(first, second, alpha)
    decision = test.verdict(alpha)
    sign = 1 if score.greater_is_better else -1
    verdict = "no verdict" if decision is None else {1: "win", 0: "tie", -1: "loss"}[sign * decision]
    return [
        test.difference, test.low, test.high, test.p_value, wilcoxon_test(first, second, alpha).p_value, len(pairs),
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
