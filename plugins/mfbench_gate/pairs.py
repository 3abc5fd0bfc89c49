"""Pairs of scores: the same method on the same fold of the same dataset, once on each side of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mfbench.model.trials import Status

PLACE = ["method", "dataset", "size"]
FOLD = [*PLACE, "repeat", "fold"]
COLUMNS = [*FOLD, "measure", "base", "head", "n_rows", "n_changed"]


def score_pairs(base: pd.DataFrame, head: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Pair the trials of two sides that succeeded on both."""
    columns = [*FOLD, "predictions", *metrics]
    # A metric that no trial of a side has is a column of its run, but not of a job that measured a part of it.
    sides = [side.loc[side["status"] == Status.OK].reindex(columns=columns) for side in (base, head)]
    sides = [side if "size" in run else side.assign(size="") for side, run in zip(sides, (base, head), strict=True)]
    both = sides[0].merge(sides[1], on=FOLD, suffixes=("_base", "_head"))
    counts = [
        _changed_rows(before, after)
        for before, after in zip(both["predictions_base"], both["predictions_head"], strict=True)
    ]
    both[["n_rows", "n_changed"]] = np.array(counts, dtype=float).reshape(len(both), 2)
    shared = both[[*FOLD, "n_rows", "n_changed"]]
    parts = [
        shared.assign(measure=name, base=both[f"{name}_base"].astype(float), head=both[f"{name}_head"].astype(float))
        for name in metrics
    ]
    return pd.concat(parts, ignore_index=True)[COLUMNS] if parts else pd.DataFrame(columns=COLUMNS)


def _changed_rows(base: Any, head: Any) -> tuple[float, float]:
    """Return the number of rows predicted on both sides, and how many predictions differ."""
    if base is None or head is None or len(base) != len(head):
        return np.nan, np.nan
    return float(len(base)), float(np.count_nonzero(np.asarray(base) != np.asarray(head)))
