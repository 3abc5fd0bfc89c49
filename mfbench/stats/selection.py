"""Per-dataset tuning: the outer folds select the grid point, which is optimistic but probably the papers' way."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from mfbench.model.evaluation import Score
from mfbench.model.trials import Candidate, Status

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mfbench.run.store.formats import StoredSplit

Row = dict[str, Any]


def pick_candidates(rows: Iterable[Row], metric: str, score: Score) -> list[Row]:
    """Replace each trial's candidates by the results of the selected grid point."""
    # For each dataset and method, the grid point with the best mean score over the completed folds is used for all of
    # them; ties go to the first in the grid. A point must have succeeded on every completed fold. If none has, these
    # trials count as failed, because no grid point has results for all folds.
    rows = list(rows)
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["candidates"]:
            cells.setdefault((row["dataset"], row["method"]), []).append(row)
    chosen = {
        cell: _best([row["candidates"] for row in members], metric, score.sign) for cell, members in cells.items()
    }
    return [_resolved(row, chosen.get((row["dataset"], row["method"]))) for row in rows]


def _best(folds: list[list[Candidate]], metric: str, sign: float) -> str | None:
    """Return the name of the point with the best mean, or None if no point succeeded on every fold."""
    scores = [{_name(candidate): candidate.scores.get(metric, np.nan) for candidate in fold} for fold in folds]
    best, best_score = None, -np.inf
    for name in scores[0]:
        if not all(name in fold for fold in scores):
            continue
        values = np.array([fold[name] for fold in scores], dtype=float)
        # A test part that lacks a class may have no score for any point. Rounding makes ties platform-independent.
        score = -np.inf if np.isnan(values).all() else round(sign * float(np.nanmean(values)), 12)
        if best is None or score > best_score:
            best, best_score = name, score
    return best


def _name(candidate: Candidate) -> str:
    return json.dumps(candidate.chosen, sort_keys=True)


def _resolved(row: Row, chosen: str | None) -> Row:
    resolved = {name: value for name, value in row.items() if name != "candidates"}
    if not row["candidates"]:
        return resolved
    candidate = next((point for point in row["candidates"] if _name(point) == chosen), None)
    if candidate is None:
        reason = "no grid point succeeded on every fold, so none can be chosen for the dataset"
        return resolved | {"status": str(Status.ERROR), "error_type": "SelectionError", "error_message": reason}
    spent = candidate.select_wall + candidate.fit_wall + candidate.predict_wall
    fields = {field.name: getattr(candidate, field.name) for field in dataclasses.fields(candidate)}
    return resolved | fields | {"tune_wall": max(0.0, (row["tune_wall"] or 0.0) - spent)}


DATASETS = ["dataset", "n_samples", "n_features", "trivial_accuracy", "classes", "sha256", "source"]
SIZES = ["dataset", "repeat", "fold", "n_train", "n_validation", "n_test", "n_features"]


def dataset_frame(datasets: Sequence[Mapping[str, Any]], score: Score) -> pd.DataFrame:
    """Return one row per dataset: label, shape, trivial accuracy, class names and counts, content hash, source."""
    rows = []
    for dataset in datasets:
        has_classes = bool(dataset["class_names"])
        counts = np.bincount(dataset["truth"] if has_classes else [], minlength=len(dataset["class_names"]))
        classes = dict(zip(dataset["class_names"], counts.tolist(), strict=True))
        own = {"dataset": dataset["label"], "trivial_accuracy": _trivial(counts, score), "classes": classes}
        rows.append([{**dataset, **own}[name] for name in DATASETS])
    return pd.DataFrame(rows, columns=DATASETS)


def _trivial(counts: NDArray[np.int64], score: Score) -> float:
    if not len(counts):
        return float("nan")
    shares = counts / counts.sum()
    if not score.is_one_vs_rest:
        return float(shares.max())
    return float(np.maximum(shares, 1.0 - shares).mean())


def largest_classes(datasets: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the share of the largest class in the rows of each dataset that has classes."""
    counts = {dataset["label"]: np.bincount(dataset["truth"]) for dataset in datasets if dataset["class_names"]}
    return {label: float(rows.max() / rows.sum()) for label, rows in counts.items()}


def spreads(datasets: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, float], ...]:
    """Return the label of each dataset that has numbers, and the standard deviation of its target."""
    return tuple((each["label"], float(np.std(each["truth"]))) for each in datasets if not each["class_names"])


_PAGE = re.compile(r"https?://[^\s;,()]+")


def families(datasets: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Return the label of each dataset whose source names the same page as another's, and that of their family."""
    pages = {each["label"]: set(_PAGE.findall(each["source"] or "")) for each in datasets}
    family: dict[str, str] = {}
    for label, own in pages.items():
        related = {family[other] for other in family if own & pages[other]}
        family[label] = min([label, *related])
        family |= {other: family[label] for other, name in family.items() if name in related}
    counts = Counter(family.values())
    return tuple((label, name) for label, name in family.items() if counts[name] > 1)


def collections_of(datasets: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the labels of the datasets in each collection."""
    members: dict[str, list[str]] = {}
    for dataset in datasets:
        for name in dataset["collections"] or {}:
            members.setdefault(str(name), []).append(dataset["label"])
    return members


def size_frame(splits: Iterable[tuple[str, Mapping[tuple[int, int], StoredSplit]]]) -> pd.DataFrame:
    """Return one row per dataset, repeat and fold: numbers of training, validation and test rows, and of features."""
    rows = []
    for dataset, by_fold in splits:
        for (repeat, fold), split in sorted(by_fold.items()):
            n_validation = 0 if split.validation is None else len(split.validation)
            rows.append([dataset, repeat, fold, split.n_train, n_validation, len(split.test), split.n_features])
    return pd.DataFrame(rows, columns=SIZES)


SELECTED = ["dataset", "method", "n_features", "median", "least", "most", "stability", "folds"]


@dataclass(frozen=True)
class Stability:
    """A stability and its confidence interval; all NaN if undefined."""

    value: float
    low: float
    high: float


def nogueira_stability(selections: ArrayLike, alpha: float = 0.05) -> Stability:
    """Return Nogueira's stability of feature selection, with its asymptotic confidence interval."""
    # With M rounds, d features, the share p_f of rounds that selected feature *f*,
    # s_f² = M/(M-1) p_f (1 - p_f) and the mean number k of selected features,
    #
    #     stability = 1 - (Σ_f s_f² / d) / (k/d (1 - k/d)).
    #
    # It is 1 if every round selects the same features, and 0 on average for random sets of fixed sizes. The variance
    # follows theorem 7 of the paper, from the contribution of each round.
    #
    # Takes O(n_rounds · n_features) time.
    # Reference: S. Nogueira, K. Sechidis, G. Brown: On the stability of feature selection algorithms. Journal of
    # Machine Learning Research 18(174):1-54, 2018.
    Z = np.asarray(selections, dtype=np.float64)
    if Z.ndim != 2 or not np.isin(Z, (0.0, 1.0)).all():
        raise ValueError(f"selections must be a table of 0 and 1, rounds by features; got shape {Z.shape}")
    n_rounds, n_features = Z.shape
    undefined = Stability(np.nan, np.nan, np.nan)
    if n_rounds < 2 or Z.all() or not Z.any():
        return undefined
    share = Z.mean(axis=0)
    sizes = Z.sum(axis=1)
    mean_size = float(sizes.mean()) / n_features
    spread = mean_size * (1.0 - mean_size)
    value = float(stability_of_counts(Z.sum(axis=0), n_rounds))
    own = sizes / n_features
    parts = Z @ share / n_features - own * mean_size + value / 2.0 * (2.0 * mean_size * own - own - mean_size + 1.0)
    error = float(2.0 / n_rounds * np.sqrt(np.sum((parts - parts.mean()) ** 2)) / spread)
    half = float(stats.norm.ppf(1.0 - alpha / 2.0)) * error
    return Stability(value, value - half, min(1.0, value + half))


def stability_of_counts(counts: ArrayLike, n_rounds: int) -> NDArray[np.float64]:
    """Return Nogueira's stability from how many rounds selected each feature; see `nogueira_stability`."""
    share = np.asarray(counts, dtype=np.float64) / n_rounds
    mean_size = share.mean(axis=-1)
    spread = mean_size * (1.0 - mean_size)
    selective = (n_rounds > 1) & (share > 0.0).any(axis=-1) & (share < 1.0).any(axis=-1)
    variance = n_rounds / max(1, n_rounds - 1) * np.mean(share * (1.0 - share), axis=-1)
    return np.where(selective, 1.0 - variance / np.where(selective, spread, 1.0), np.nan)


def selection_table(selected: Sequence[ArrayLike], n_features: int) -> NDArray[np.bool_]:
    """Return a boolean table of rounds by features, True where a feature was selected."""
    table = np.zeros((len(selected), n_features), dtype=bool)
    for row, features in zip(table, selected, strict=True):
        row[np.asarray(features, dtype=np.intp)] = True
    return table


Counts = dict[tuple[str, str], tuple["NDArray[np.int64]", int]]
"""By dataset and method: how often each feature was selected, and in how many successful trials."""


def selected_features(rows: Iterable[Mapping[str, Any]], n_features: Mapping[str, int]) -> tuple[pd.DataFrame, Counts]:
    """Return the number of features each method used on each dataset with their stability, and the selections."""
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == "ok":
            cells.setdefault((row["dataset"], row["method"]), []).append(row)
    lines, counts = [], {}
    for place, members in cells.items():
        n, numbers = n_features[place[0]], [row["n_selected"] for row in members]
        sets = [row["selected"] for row in members if row["selected"] is not None]
        if sets:
            counts[place] = np.bincount(np.concatenate(sets).astype(np.int64), minlength=n), len(sets)
        value = float(stability_of_counts(*counts[place])) if len(sets) == len(members) else np.nan
        lines.append([*place, n, np.median(numbers), min(numbers), max(numbers), value, len(members)])
    return pd.DataFrame(lines, columns=SELECTED), counts
