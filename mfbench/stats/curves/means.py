"""Mean curves: the mean score at each number of features, with an interval that is corrected for shared rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from mfbench.stats.one_dataset.paired import corrected_error
from mfbench.suite.scores import SCORES

KEYS = ["dataset", "method", "metric", "size"]
COLUMNS = [*KEYS, "mean", "sd", "low", "high", "folds", "seconds"]


def mean_curves(curves: pd.DataFrame, ratio: float, alpha: float = 0.05) -> pd.DataFrame:
    """Return the mean score at each size, with its confidence interval."""
    # With the scores of J folds, their mean m and their variance s² (divisor J-1), the
    # interval is
    #
    #     m ± t(1 - α/2; J - 1) √((1/J + n_test/n_train) s²).
    #
    # The term n_test/n_train accounts for the training rows that folds share, as in the corrected resampled
    # t-test. The interval is for one curve at one size: two curves whose intervals overlap may differ significantly,
    # because a comparison is paired by fold.
    if not len(curves):
        return pd.DataFrame(columns=COLUMNS)
    groups = curves.groupby(KEYS, sort=False)
    frame = groups["score"].agg(["mean", "std", "count", "min", "max"]).join(groups["seconds"].mean()).reset_index()
    # Scores that are equal up to rounding have no spread; it must not come out as 1e-17.
    constant = (frame["max"] - frame["min"] <= 1e-12) & (frame["count"] > 1)
    frame["sd"] = frame["std"].mask(constant, 0.0)
    count = frame["count"].to_numpy()
    # With fewer than two folds sd is NaN, and so is the interval.
    several = np.maximum(count, 2)
    half = special.stdtrit(several - 1, 1.0 - alpha / 2.0) * corrected_error(frame["sd"] ** 2, several, ratio)
    lowest, highest = (
        frame["metric"].map({name: score.range[end] for name, score in SCORES.items()}) for end in (0, 1)
    )
    low, high = frame["mean"] - half, frame["mean"] + half
    frame["low"] = low.mask(low < lowest, lowest)
    frame["high"] = high.mask(high > highest, highest)
    ordered = frame.rename(columns={"count": "folds"})
    places = ordered.groupby(["dataset", "method", "metric"], sort=False).ngroup()
    return ordered.assign(place=places).sort_values(["place", "size"], kind="stable", ignore_index=True)[COLUMNS]
