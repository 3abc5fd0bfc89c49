"""The stored curves of a run as one tidy frame: a row for each trial, number of features and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ("dataset", "method", "replicate", "fold", "size", "metric", "score", "seconds")


def curve_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per trial, number of features and metric."""
    parts: dict[str, list[Any]] = {name: [] for name in COLUMNS}
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
    return pd.DataFrame(parts, columns=list(COLUMNS)).astype(kinds)
