"""What a run of many pipelines on one table shows: the answer to which features, how many, and how good."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mfbench import Run
from mfbench.errors import RunError
from mfbench_select.inference import (
    Interval,
    RowScores,
    best_of,
    difference,
    gain,
    not_worse,
    p_worse,
    rows_to_decide,
    selected_score,
)
from mfbench_select.pairs import Pair
from mfbench_select.suite import ALL, RANDOM, Pipeline

ONE_ERROR = 0.1587  # one-sided p-value of a difference of one standard error
METRICS = {"accuracy": False, "balanced_accuracy": True}
"""Scores of classes that are means over rows, and whether each class counts alike; numbers are scored by R²."""


@dataclass(frozen=True)
class Answer:
    """Everything that a run shows. Scores are shares, or R² for numbers."""

    n_rows: int
    n_features: int
    metric: str
    n_repeats: int
    pipelines: list[Pipeline]  # in the order of `scores`, simplest first; random features last
    scores: RowScores
    chosen: Pipeline
    score: Interval
    constant: float
    enough: Pipeline | None  # the smallest number of features that is not worse; None without a pipeline that selects
    best_selecting: Pipeline | None
    features: list[tuple[str, float]]  # the share of folds in which `enough` selects a feature, most often first
    over_all: Interval | None  # gain of selecting over all features
    over_random: Interval | None  # gain of the same pipeline over as many random features
    equals: list[Pipeline]  # pipelines that are not significantly worse than the chosen one
    pairs: list[Pair]
    classes: dict[str, int]
    table: dict[str, Any] = field(default_factory=dict)  # the summary of the table, if `mfbench select` has made it
    failed: list[str] = field(default_factory=list)  # pipelines without all results

    @property
    def is_percent(self) -> bool:
        """Whether scores are shares."""
        return self.metric in METRICS

    @property
    def beats_constant(self) -> bool:
        """Whether there is evidence that the features say anything about the target."""
        return self.score.low > self.constant

    def position(self, pipeline: Pipeline) -> int:
        """Return the position of a pipeline in `scores`."""
        return self.pipelines.index(pipeline)

    def mean(self, pipeline: Pipeline) -> float:
        """Return a pipeline's own mean score, which is optimistic for the best one."""
        return float(self.scores.scores[self.position(pipeline)])


def answer_of(run: Run) -> Answer:
    """Return what a run shows; only complete repeats count."""
    if not len(run.datasets):
        raise RunError("; ".join(run.left_out.values()) or "the run has no dataset")
    trials, dataset = run.trials, str(run.datasets["dataset"].iloc[0])
    facts = run.datasets.iloc[0]
    n_features, metric = int(facts["n_features"]), run.metrics[0]
    labels = sorted(run.methods, key=lambda label: _simplicity(Pipeline.of(label, n_features)))
    done = trials[trials["status"] == "ok"]
    counts = done.groupby(["repeat", "method"]).size().unstack(fill_value=0)
    folds = run.protocol.folds
    complete = (counts.reindex(columns=labels, fill_value=0) >= folds).cummin()
    first = complete.iloc[0] if len(complete) else pd.Series(dtype=bool)
    kept = [label for label in labels if bool(first.get(label, False))]
    if not [label for label in kept if Pipeline.of(label, n_features).selector != RANDOM]:
        raise RunError(f"no pipeline has results for all {folds} folds of a repeat: give more time, or drop features")
    n_repeats = _common_repeats(complete[kept])
    used = [label for label in kept if bool(complete[label].iloc[:n_repeats].all())]
    summary = _summary(run)
    groups = _groups(summary, is_grouped=dataset in run.settings.grouped)
    scores, truth = _row_scores(run, done, dataset, used, n_repeats, metric, groups)
    pipelines = [Pipeline.of(label, n_features) for label in used]
    candidates = [k for k, one in enumerate(pipelines) if one.selector != RANDOM]
    pool = scores.only(candidates)
    chosen = candidates[pool.best]
    selecting = [k for k in candidates if pipelines[k].selects]
    whole = [k for k in candidates if pipelines[k].selector == ALL]
    best = _best(scores, selecting)
    enough = None if best is None else _enough(scores, pipelines, selecting, best)
    over_random = None
    if enough is not None and (rival := _random_rival(pipelines, pipelines[enough])) is not None:
        alike = [k for k in selecting if _random_rival(pipelines, pipelines[k]) == rival]
        over_random = gain(scores, alike, [rival])
    return Answer(
        n_rows=scores.values.shape[1],
        n_features=n_features,
        metric=metric,
        n_repeats=n_repeats,
        pipelines=pipelines,
        scores=scores,
        chosen=pipelines[chosen],
        score=selected_score(pool),
        constant=_constant(metric, truth),
        enough=None if enough is None else pipelines[enough],
        best_selecting=None if best is None else pipelines[best],
        features=[] if enough is None else _features(run, dataset, done, pipelines[enough]),
        over_all=gain(scores, selecting, whole) if selecting and whole else None,
        over_random=over_random,
        equals=[pipelines[candidates[k]] for k in not_worse(pool, pool.best)],
        pairs=[Pair(**pair) for pair in summary.get("pairs", [])],
        classes=dict(facts["classes"]) if metric in METRICS else {},
        table=summary,
        failed=[Pipeline.of(label, n_features).name for label in labels if label not in used],
    )


def has_answer(run: Run) -> bool:
    """Return whether some pipeline that selects has results for all folds of the first repeat."""
    trials = run.outcomes
    done = trials[(trials["status"] == "ok") & (trials["repeat"] == 0)].groupby("method").size()
    return any(n >= run.protocol.folds and Pipeline.of(str(label), 0).selects for label, n in done.items())


def _simplicity(pipeline: Pipeline) -> tuple[bool, int]:
    return pipeline.selector == RANDOM, pipeline.size


def _common_repeats(complete: pd.DataFrame) -> int:
    """Return the largest number of repeats that at least nine of ten pipelines have completed."""
    shares = complete.mean(axis=1)
    return max(1, int((shares >= 0.9).sum()))


def _row_scores(
    run: Run,
    done: pd.DataFrame,
    dataset: str,
    used: list[str],
    n_repeats: int,
    metric: str,
    groups: NDArray[np.intp] | None,
) -> tuple[RowScores, Any]:
    """Return the score of each row that is tested in every repeat, and the true targets of these rows."""
    place, tested = {label: k for k, label in enumerate(used)}, run.test_rows(dataset)
    n = 1 + max(int(rows.max()) for rows in tested.values() if len(rows))
    truth = np.full(n, np.nan)
    own = run.predictions(dataset, used[0])
    truth[own["row"].to_numpy(dtype=int)] = own["truth"].to_numpy(dtype=float)
    values = np.full((n_repeats, n, len(used)), np.nan, dtype=np.float32)
    columns = ["method", "repeat", "fold", "predictions"]
    spread = float(np.nanvar(truth))
    for label, repeat, fold, predictions in done[columns].itertuples(index=False):
        if label in place and repeat < n_repeats:
            rows = tested[int(repeat), int(fold)]
            error = predictions != truth[rows] if metric in METRICS else (predictions - truth[rows]) ** 2 / spread
            values[repeat, rows, place[label]] = 1.0 - error
    complete = ~np.isnan(values).any(axis=(0, 2))
    strata = truth[complete].astype(np.intp) if METRICS.get(metric) else None
    units = None if groups is None else groups[complete]
    kept = truth[complete]
    deviations = None if metric in METRICS else (kept - kept.mean()) ** 2 / spread
    scores = RowScores(values[:, complete], run.protocol.folds, strata, units, metric in METRICS, deviations)
    return scores, kept


def _groups(summary: dict[str, Any], *, is_grouped: bool) -> NDArray[np.intp] | None:
    """Return the group of each row, if rows of a group depend on each other."""
    if is_grouped and "groups" not in summary:
        raise RunError("the groups of the rows are not known here: run mfbench select with --groups")
    return np.asarray(summary["groups"], dtype=np.intp) if is_grouped else None


def _best(scores: RowScores, among: list[int]) -> int | None:
    return among[scores.only(among).best] if among else None


def _enough(scores: RowScores, pipelines: list[Pipeline], selecting: list[int], best: int) -> int:
    """Return the best pipeline with the fewest features with which one is within a standard error of the best."""
    for size in sorted({pipelines[k].size for k in selecting}):
        near = [
            k for k in selecting if pipelines[k].size == size and (k == best or p_worse(scores, k, best) >= ONE_ERROR)
        ]
        if near:
            return near[best_of(scores.scores[near])]
    return best


def _random_rival(pipelines: list[Pipeline], chosen: Pipeline) -> int | None:
    rival = Pipeline(RANDOM, chosen.size, chosen.learner)
    return pipelines.index(rival) if rival in pipelines else None


def _constant(metric: str, truth: Any) -> float:
    """Return the score of a constant prediction."""
    if metric not in METRICS:
        return 0.0
    counts = np.unique(truth, return_counts=True)[1]
    return 1.0 / len(counts) if METRICS[metric] else float(counts.max() / counts.sum())


def _features(run: Run, dataset: str, done: pd.DataFrame, pipeline: Pipeline) -> list[tuple[str, float]]:
    counts, folds = run.selection_counts[dataset, pipeline.label]
    names, own = run.feature_names(dataset), done[done["method"] == pipeline.label]
    ranks = np.mean([np.argsort(np.argsort(-weights, kind="stable")) for weights in own["weights"]], axis=0)
    order = np.lexsort((ranks, -counts))
    return [(names[k], float(counts[k] / folds)) for k in order if counts[k]]


def summary_path(folder: Path, sha256: str) -> Path:
    """Return where `mfbench select` writes about a table: beside the suite, by the hash of the data."""
    return folder / f"table-{sha256[:12]}.json"


def _summary(run: Run) -> dict[str, Any]:
    """Return what `mfbench select` wrote about the table; empty for a suite of the user's own."""
    path = summary_path(Path(run.path).parent, str(run.datasets["sha256"].iloc[0]))
    summary = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return summary if isinstance(summary, dict) else {}


def undecided(answer: Answer) -> list[str]:
    """Return what the table does not decide, and how many rows would."""
    open_questions = []
    if not answer.beats_constant:
        error = (answer.score.high - answer.score.low) / (2 * 1.96)
        own = Interval(answer.score.value - answer.constant, 0.0, 0.0, error)
        open_questions.append(f"whether any feature helps ({_rows(rows_to_decide(own, answer.n_rows))})")
    for what, interval in (("whether selecting beats all features", answer.over_all),
                           ("whether it beats random features", answer.over_random)):  # fmt: skip
        if interval is not None and interval.low <= 0.0 <= interval.high:
            open_questions.append(f"{what} ({_rows(rows_to_decide(interval, answer.n_rows))})")
    return open_questions


def _rows(n: float) -> str:
    if not np.isfinite(n) or n > 1e7:
        return "no gain was measured"
    step = 10 ** max(0, int(np.floor(np.log10(max(n, 1.0)))) - 1)
    return f"about {int(np.ceil(n / step) * step):,} rows would show the measured gain"


def gap(answer: Answer, pipeline: Pipeline, other: Pipeline) -> Interval:
    """Return the difference of two pipelines' scores, on paired rows."""
    return difference(answer.scores, answer.position(pipeline), answer.position(other))
