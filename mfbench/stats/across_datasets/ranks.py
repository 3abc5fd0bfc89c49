"""Ranks of methods on datasets."""

from __future__ import annotations

from typing import Literal

import pandas as pd


def rank_table(
    means: pd.DataFrame, *, greater_is_better: bool = True, missing: Literal["keep", "bottom"] = "keep"
) -> pd.DataFrame:
    """Return each method's rank on each dataset; 1 is best, equal scores share the mean of their ranks."""
    # Rounding makes scores equal that differ only in the order of summation.
    ranks: pd.DataFrame = means.round(12).rank(axis=1, ascending=not greater_is_better, na_option=missing)
    return ranks
