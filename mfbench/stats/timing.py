"""How time grows with rows and with features, from a run of the protocol ``timing``."""

from __future__ import annotations

import numpy as np
import pandas as pd

FLOOR = 1e-3
ROWS, FEATURES = "rows", "features"


def timing_profile(trials: pd.DataFrame, sizes: pd.DataFrame) -> pd.DataFrame:
    """Return the time to fit and to predict for each size."""
    merged = trials[trials["status"] == "ok"].merge(sizes, on=["dataset", "repeat", "fold"])
    merged["fit_seconds"] = merged["select_wall"].fillna(0.0) + merged["fit_wall"].fillna(0.0)
    merged["predict_seconds"] = merged["predict_wall"]
    keys = ["dataset", "method", "n_train", "n_features"]
    return merged.groupby(keys, sort=False)[["fit_seconds", "predict_seconds"]].min().reset_index()


def timing_exponents(profile: pd.DataFrame) -> pd.DataFrame:
    """Return the exponents of the power laws that the times to fit follow."""
    # The slope of a least-squares line through (log size, log seconds): b in t = a n^b. Times below a
    # millisecond are left out, because constant overhead dominates there; a slope needs at least two sizes.
    rows = []
    for (dataset, method), cells in profile.groupby(["dataset", "method"], sort=False):
        n, p = cells["n_train"].max(), cells["n_features"].max()
        whole = cells[(cells["n_train"] == n) & (cells["n_features"] == p)]
        growing_rows, growing_features = cells[cells["n_features"] == p], cells[cells["n_train"] == n]
        rows.append(
            {
                "dataset": dataset,
                "method": method,
                "n_train": int(n),
                "n_features": int(p),
                "seconds": float(whole["fit_seconds"].iloc[0]) if len(whole) else np.nan,
                "rows_exponent": _slope(growing_rows["n_train"], growing_rows["fit_seconds"]),
                "features_exponent": _slope(growing_features["n_features"], growing_features["fit_seconds"]),
            }
        )
    columns = ["dataset", "method", "n_train", "n_features", "seconds", "rows_exponent", "features_exponent"]
    return pd.DataFrame(rows, columns=columns)


def _slope(sizes: pd.Series[int], seconds: pd.Series[float]) -> float:
    counted = seconds.to_numpy(dtype=float) >= FLOOR
    x, y = np.log(sizes.to_numpy(dtype=float)[counted]), np.log(seconds.to_numpy(dtype=float)[counted])
    if len(x) < 2 or np.ptp(x) == 0:
        return float("nan")
    return float(np.polyfit(x, y, 1)[0])
