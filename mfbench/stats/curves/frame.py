"""The stored curves of a run as one tidy frame: a row for each trial, number of features and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

COLUMNS = ("dataset", "method", "replicate", "fold", "size", "metric", "score", "seconds")


def curve_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return one row per trial, number of features and metric.

    Parameters
    ----------
    rows : iterable of mapping
        Trials, as `mfbench.run.store.store.Store.rows` yields them, with their curve. Those
        without one are passed over.

    Returns
    -------
    DataFrame
        Columns dataset, method, replicate (the repeat of the cross-validation), fold, size (number of features),
        metric, score and seconds (wall time of the classifier's fit at this size, the same for each metric). In the
        order of the rows, then by metric and size.

    Examples
    --------
    >>> from mfbench.model.trials import Curve
    >>> curve = Curve(np.array([1, 4]), ("accuracy",), np.array([[0.5, 0.75]]), np.array([0.01, 0.02]))
    >>> row = {"dataset": "d", "method": "m", "repeat": 0, "fold": 2, "curve": curve}
    >>> curve_frame([row])[["fold", "size", "metric", "score"]].values.tolist()
    [[2, 1, 'accuracy', 0.5], [2, 4, 'accuracy', 0.75]]
    """
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
