"""The weights that methods give to pairs of features, and how they rank the true interactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = [
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
    return pd.DataFrame(lines, columns=COLUMNS)


def true_interactions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how each method weighs and ranks the true pairs."""
    lines = []
    for (dataset, method), group in frame[frame["true"].astype(bool)].groupby(["dataset", "method"], sort=False):
        by_fold = group.groupby(["repeat", "fold"])
        lines.append(
            {
                "dataset": dataset,
                "method": method,
                "true_pairs": int(by_fold.size().max()),
                "n_pairs": int(group["n_pairs"].iloc[0]),
                "share": float(group["share"].mean()),
                "p_value": float(group["p_value"].median()),
                "rank": float(by_fold["rank"].min().median()),
                "folds": by_fold.ngroups,
            }
        )
    return pd.DataFrame(lines, columns=TRUE_COLUMNS)
