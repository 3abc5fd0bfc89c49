"""The score curve of one method on one dataset: a score for each fold and number of features."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import special

from mfbench.model.evaluation import CURVE_METRICS
from mfbench.run.trial.folds import ranking
from mfbench.stats.cells import ComparisonSettings, results_by_cell, rows_by_cell
from mfbench.stats.paired import LEAST_PAIRS, corrected_error, corrected_t_test
from mfbench.stats.selection import stability_of_counts
from mfbench.stats.summary import complete_table, means_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLD = ["replicate", "fold"]
"""The columns that, with dataset and method, identify a row's trial."""


@dataclass(frozen=True)
class CurveCell:
    """One method on one dataset: a score for each fold and size."""

    sizes: NDArray[np.int64]  # numbers of features, ascending
    scores: NDArray[np.float64]  # in metric units; NaN where there is no score

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean score at each size, over the folds scored at every size; NaN if there is none."""
        whole = self.whole
        return whole.mean(axis=0) if len(whole) else np.full(len(self.sizes), np.nan)

    @property
    def whole(self) -> NDArray[np.float64]:
        """The scores of the folds scored at every size: only these allow sizes to be compared."""
        return self.scores[np.isfinite(self.scores).all(axis=1)]


def curve_cells(curves: pd.DataFrame, metric: str) -> dict[tuple[str, str], CurveCell]:
    """Group the rows of one metric by (dataset, method), in order of first appearance."""
    own = curves[curves["metric"] == metric]
    if not len(own):
        return {}
    folds = own.groupby(FOLD).ngroup().to_numpy()
    sizes, scores = own["size"].to_numpy(dtype=np.int64), own["score"].to_numpy(dtype=float)
    cells = {}
    for place, rows in rows_by_cell(own).items():
        own_sizes, column = np.unique(sizes[rows], return_inverse=True)
        own_folds, line = np.unique(folds[rows], return_inverse=True)
        table = np.full((len(own_folds), len(own_sizes)), np.nan)
        table[line, column] = scores[rows]
        cells[place] = CurveCell(own_sizes, table)
    return cells


CURVE_COLUMNS = ("dataset", "method", "replicate", "fold", "size", "metric", "score", "seconds")


def curve_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per trial, number of features and metric."""
    parts: dict[str, list[Any]] = {name: [] for name in CURVE_COLUMNS}
    for row in rows:
        curve = row["curve"]
        if curve is None:
            continue
        n_metrics, n_sizes = curve.scores.shape
        for name, source in (("dataset", "dataset"), ("method", "method"), ("replicate", "repeat"), ("fold", "fold")):
            parts[name] += [row[source]] * (n_metrics * n_sizes)
        parts["size"] += curve.sizes.tolist() * n_metrics
        parts["metric"] += [metric for metric in curve.metrics for _ in range(n_sizes)]
        parts["score"] += curve.scores.ravel().tolist()
        parts["seconds"] += curve.seconds.tolist() * n_metrics
    kinds = {"replicate": np.int64, "fold": np.int64, "size": np.int64, "score": np.float64, "seconds": np.float64}
    return pd.DataFrame(parts, columns=list(CURVE_COLUMNS)).astype(kinds)


KEYS = ["dataset", "method", "metric", "size"]
MEAN_COLUMNS = [*KEYS, "mean", "sd", "low", "high", "folds", "seconds"]


def mean_curves(curves: pd.DataFrame, settings: ComparisonSettings) -> pd.DataFrame:
    """Return the mean score at each size, with its confidence interval."""
    # With the scores of J folds, their mean m and their variance s² (divisor J-1), the
    # interval is
    #
    #     m ± t(1 - α/2; J - 1) √((1/J + n_test/n_train) s²).
    #
    # The term n_test/n_train accounts for the training rows that folds share, as in the corrected resampled t-test. The
    # interval is for one curve at one size: curves with overlapping intervals may still differ significantly, because
    # comparisons are paired by fold.
    if not len(curves):
        return pd.DataFrame(columns=MEAN_COLUMNS)
    groups = curves.groupby(KEYS, sort=False)
    frame = groups["score"].agg(["mean", "std", "count", "min", "max"]).join(groups["seconds"].mean()).reset_index()
    # Scores equal up to rounding must have exactly zero spread, not 1e-17.
    constant = (frame["max"] - frame["min"] <= 1e-12) & (frame["count"] > 1)
    frame["sd"] = frame["std"].mask(constant, 0.0)
    count = frame["count"].to_numpy()
    # With fewer than two folds, sd and the interval are NaN.
    several = np.maximum(count, 2)
    error = corrected_error(frame["sd"] ** 2, several, frame["dataset"].map(settings.ratio_on))
    half = special.stdtrit(several - 1, 1.0 - settings.alpha / 2.0) * error
    lowest, highest = (
        frame["metric"].map({name: score.range[end] for name, score in settings.scores.items()}) for end in (0, 1)
    )
    low, high = frame["mean"] - half, frame["mean"] + half
    frame["low"] = low.mask(low < lowest, lowest)
    frame["high"] = high.mask(high > highest, highest)
    ordered = frame.rename(columns={"count": "folds"})
    places = ordered.groupby(["dataset", "method", "metric"], sort=False).ngroup()
    return ordered.assign(place=places).sort_values(["place", "size"], kind="stable", ignore_index=True)[MEAN_COLUMNS]


RANKING_COLUMNS = ["dataset", "method", "size", "stability", "precision", "recall", "folds"]


def ranking_figures(
    rows: Iterable[Mapping[str, Any]],
    sizes: Mapping[tuple[str, str], NDArray[np.int64]],
    relevant: Mapping[str, Sequence[int]],
    weighted: Collection[str] = (),
) -> pd.DataFrame:
    """Return the agreement of each method's top-ranked features across folds and with the ground truth."""
    # Methods that share a selector fit have the same weights, which are ranked only once: O(p log p) per distinct fit.
    cells: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    for row in rows:
        place = (row["dataset"], row["method"])
        if row["status"] == "ok" and row["weights"] is not None and place in sizes:
            cells.setdefault(place, []).append(row["weights"])
    figures: dict[tuple[str, bytes, bytes, bool], NDArray[np.float64]] = {}
    lines = []
    for place, weights in cells.items():
        dataset, own = place[0], np.asarray(sizes[place], dtype=np.int64)
        limits = [_number_weighing(one) for one in weights] if place[1] in weighted else None
        key = (dataset, own.tobytes(), b"".join(one.tobytes() for one in weights), limits is None)
        if key not in figures:
            figures[key] = figures_at(own, [ranking(one) for one in weights], relevant.get(dataset) or (), limits)
        for size, values in zip(own.tolist(), figures[key].tolist(), strict=True):
            lines.append([*place, size, *values, len(weights)])
    return pd.DataFrame(lines, columns=RANKING_COLUMNS)


def _number_weighing(weights: NDArray[np.float64]) -> int:
    return int((weights > 0.0).sum()) or len(weights)


def figures_at(
    sizes: NDArray[np.int64],
    rankings: Sequence[NDArray[np.int64]],
    relevant: Sequence[int],
    limits: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Return stability, precision and recall at each size."""
    table = np.stack(rankings)
    n_folds, n_features = table.shape
    selectable = np.arange(n_features) < np.full(n_folds, n_features if limits is None else limits)[:, None]
    truth = np.zeros(n_features)
    truth[np.asarray(relevant, dtype=np.intp)] = 1.0
    hits = np.cumsum(truth[table] * selectable, axis=1)[:, sizes - 1]
    numbers = np.cumsum(selectable, axis=1)[:, sizes - 1]
    if not len(relevant):
        hits = np.full(hits.shape, np.nan)
    counts, begin = np.zeros(n_features), 0
    stability = np.empty(len(sizes))
    for position, size in enumerate(sizes):
        counts += np.bincount(table[:, begin:size][selectable[:, begin:size]], minlength=n_features)
        stability[position], begin = stability_of_counts(counts, n_folds), size
    # Dividing the mean by a common size rounds less than averaging shares.
    precision = hits.mean(axis=0) / sizes if limits is None else (hits / numbers).mean(axis=0)
    return np.column_stack([stability, precision, hits.mean(axis=0) / max(1, len(relevant))])


SHARE = 0.95
"""Minimum share of a dataset's best score at which a method counts as close to it."""
SUFFICIENT_COLUMNS = ["dataset", "method", "best_size", "best_mean", "sufficient_size", "sufficient_mean", "close_size"]
_ROUNDING = 12


def sufficient_sizes(
    curves: pd.DataFrame, settings: ComparisonSettings, complete: Collection[tuple[str, str]]
) -> pd.DataFrame:
    """Return the smallest sufficient sizes of each method on each dataset; only complete cells are close to a best."""
    cells, sign = curve_cells(curves, settings.metric), settings.sign
    tops = {place: float(np.max(sign * cell.means)) for place, cell in cells.items() if place in complete}
    best = pd.Series(tops, dtype=float).groupby(level=0).max()
    rows = []
    for place, cell in cells.items():
        means = cell.means
        if np.isnan(means).any():
            rows.append([*place, *[np.nan] * 5])
            continue
        at = int(np.argmax(np.round(sign * means, _ROUNDING)))
        enough = sufficient_size(cell, sign, settings.ratio_on(place[0]), settings.alpha)
        close = np.nan
        if place in complete:
            close = close_size(cell, sign * best[place[0]], settings.greater_is_better)
        mean = float(means[cell.sizes == enough][0]) if np.isfinite(enough) else np.nan
        rows.append([*place, float(cell.sizes[at]), float(means[at]), enough, mean, close])
    return pd.DataFrame(rows, columns=SUFFICIENT_COLUMNS)


def sufficient_size(cell: CurveCell, sign: float, ratio: float, alpha: float = 0.05) -> float:
    """Return the smallest size of a curve that is not significantly worse than its best size."""
    # Each smaller size is compared with the best by the corrected resampled t-test, one-sided at level `alpha`. A size
    # without a verdict is not sufficient.
    if len(cell.sizes) == 1:
        return float(cell.sizes[0])
    scores = sign * cell.whole
    if len(scores) < LEAST_PAIRS:
        return float("nan")
    best = int(np.argmax(np.round(scores.mean(axis=0), _ROUNDING)))
    for position in range(best):
        # The best mean is ahead, so the one-sided p-value is half the two-sided one (NaN without a verdict).
        if corrected_t_test(scores[:, best], scores[:, position], ratio).p_value / 2.0 >= alpha:
            return float(cell.sizes[position])
    return float(cell.sizes[best])


def close_size(cell: CurveCell, best: float, greater_is_better: bool = True, share: float = SHARE) -> float:
    """Return the smallest size whose mean score is close to the best."""
    if not best >= 0.0:
        return float("nan")
    # For a loss the ratio is inverted: close means that `share` times the loss is at most the best.
    smaller, larger = (share * best, cell.means) if greater_is_better else (share * cell.means, best)
    close = np.round(smaller, _ROUNDING) <= np.round(larger, _ROUNDING)
    return float(cell.sizes[np.argmax(close)]) if close.any() else float("nan")


AREAS = CURVE_METRICS
"""The metrics of every trial with a curve, whichever the suite names."""
AT_SIZE = ("stability", "precision", "recall")
SUMMARY_COLUMNS = [
    "dataset", "method", "classifier", *AREAS, "best_size", "best_mean", "sufficient_size", "sufficient_mean",
    "close_size", *AT_SIZE, "folds", "planned",
]  # fmt: skip
OVERVIEW = [
    "classifier", "method", *AREAS, "rank", "compared", "datasets", "sufficient_size", "sufficient_on", "close_size",
    "close_on", *AT_SIZE,
]  # fmt: skip


def classifier_of(description: str) -> str:
    """Return the classifier in a method's description, for runs that did not record it."""
    return description.rpartition(" [tunes ")[0].rpartition(" → ")[2] or description.rpartition(" → ")[2]


def classifiers_of(methods: Mapping[str, str], recorded: Mapping[str, str], curved: Collection[str]) -> dict[str, str]:
    """Return the classifier of each method with a curve: the recorded one, or else the one in its description."""
    return {label: recorded.get(label) or classifier_of(text) for label, text in methods.items() if label in curved}


def curve_summary(
    curves: pd.DataFrame,
    trials: pd.DataFrame,
    rankings: pd.DataFrame,
    classifiers: Mapping[str, str],
    settings: ComparisonSettings,
) -> pd.DataFrame:
    """Return one row per dataset and method with a curve."""
    if not len(curves):
        return pd.DataFrame(columns=SUMMARY_COLUMNS)
    own = trials[trials["method"].isin(list(classifiers))]
    areas = {name: means_of(results_by_cell(own, name)) for name in AREAS}
    frame = areas["area"].rename(columns={"mean": "area", "completed": "folds"})
    frame["area_linear"] = areas["area_linear"]["mean"]
    frame["classifier"] = frame["method"].map(classifiers)
    whole = frame[frame["complete"].astype(bool)]
    complete = set(zip(whole["dataset"], whole["method"], strict=True))
    frame = frame.merge(sufficient_sizes(curves, settings, complete), on=["dataset", "method"], how="left")
    frame["at"] = frame["sufficient_size"].fillna(frame["best_size"])
    figures = rankings.drop(columns="folds").rename(columns={"size": "at"}).astype({"at": float})
    return frame.merge(figures, on=["dataset", "method", "at"], how="left")[SUMMARY_COLUMNS]


def curve_overview(
    summary: pd.DataFrame,
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    dummies: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return one row per method with a curve: means, ranks and medians over datasets, grouped by classifier."""
    parts = [
        _overview(str(classifier), part, trials[trials["method"].isin(part["method"])], settings, dummies)
        for classifier, part in summary.groupby("classifier", sort=False)
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=OVERVIEW)


def _overview(
    classifier: str,
    summary: pd.DataFrame,
    trials: pd.DataFrame,
    settings: ComparisonSettings,
    dummies: Mapping[str, float] | None,
) -> pd.DataFrame:
    log, linear = (complete_table(means_of(results_by_cell(trials, name)), trials, settings, dummies) for name in AREAS)
    groups = summary.groupby("method", sort=False)
    frame = groups[list(AT_SIZE)].mean()
    frame["area"], frame["area_linear"] = log.scores.mean(axis=0), linear.scores.mean(axis=0)
    frame["rank"] = log.ranks.mean(axis=0)
    frame["compared"], frame["datasets"] = len(log.scores), groups["folds"].agg(lambda folds: int((folds > 0).sum()))
    for name in ("sufficient", "close"):
        sizes = groups[f"{name}_size"]
        frame[f"{name}_size"], frame[f"{name}_on"] = sizes.median(), sizes.count()
    frame = frame.reset_index().assign(classifier=classifier)
    return frame.sort_values("rank", kind="stable", ignore_index=True)[OVERVIEW]
