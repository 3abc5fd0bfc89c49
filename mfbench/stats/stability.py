"""Stability of selection: the agreement of the features that a method selects in several rounds or folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

SELECTED = ["dataset", "method", "n_features", "median", "least", "most", "stability", "folds"]


@dataclass(frozen=True)
class Stability:
    """A stability and its confidence interval; all NaN if it is undefined."""

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
    # It is 1 if every round selects the same features, and 0 on average for random sets of fixed sizes. The variance is
    # the paper's (theorem 7), by the contribution of each round.
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
    """Return a table of rounds by features, True where a feature was selected."""
    table = np.zeros((len(selected), n_features), dtype=bool)
    for row, features in zip(table, selected, strict=True):
        row[np.asarray(features, dtype=np.intp)] = True
    return table


def selected_features(rows: Iterable[Mapping[str, Any]], n_features: Mapping[str, int]) -> pd.DataFrame:
    """Return how many features each method used on each dataset, and how well its folds agree."""
    cells: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] == "ok":
            cells.setdefault((row["dataset"], row["method"]), []).append(row)
    lines = []
    for (dataset, method), members in cells.items():
        counts, sets = [row["n_selected"] for row in members], [row["selected"] for row in members]
        recorded = all(features is not None for features in sets)
        value = np.nan
        if recorded:
            counts_of_features = _counts(sets, n_features[dataset])
            value = float(stability_of_counts(counts_of_features, len(sets)))
        lines.append(
            [dataset, method, n_features[dataset], np.median(counts), min(counts), max(counts), value, len(members)]
        )
    return pd.DataFrame(lines, columns=SELECTED)


def selection_counts(
    rows: Iterable[Mapping[str, Any]], n_features: Mapping[str, int]
) -> dict[tuple[str, str], tuple[NDArray[np.int64], int]]:
    """Return how often each method selected each feature of each dataset."""
    cells: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        if row["status"] == "ok" and row["selected"] is not None:
            cells.setdefault((row["dataset"], row["method"]), []).append(row["selected"])
    return {place: (_counts(sets, n_features[place[0]]), len(sets)) for place, sets in cells.items()}


def _counts(sets: Sequence[ArrayLike], n_features: int) -> NDArray[np.int64]:
    """Return how many of some selections contain each feature."""
    return np.bincount(np.concatenate(sets).astype(np.int64), minlength=n_features)
