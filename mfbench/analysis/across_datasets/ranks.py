"""Ranks of methods on datasets."""

from __future__ import annotations

from typing import Literal

import pandas as pd


def rank_table(
    means: pd.DataFrame, *, greater_is_better: bool = True, missing: Literal["keep", "bottom"] = "keep"
) -> pd.DataFrame:
    """Return each method's rank on each dataset; 1 is best, equal scores share the mean of their ranks.

    Parameters
    ----------
    means : DataFrame of shape (n_datasets, n_methods)
        Mean scores.
    greater_is_better : bool, default=True
        Direction of the score.
    missing : {"keep", "bottom"}, default="keep"
        What becomes of a missing score: it has no rank, or shares the last ones.

    Returns
    -------
    DataFrame of shape (n_datasets, n_methods)

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rank_table(pd.DataFrame({"A": [0.9], "B": [np.nan], "C": [np.nan]}), missing="bottom").to_numpy().tolist()
    [[1.0, 2.5, 2.5]]
    """
    # Rounding makes scores that differ by the order of a sum equal, as they are.
    ranks: pd.DataFrame = means.round(12).rank(axis=1, ascending=not greater_is_better, na_option=missing)
    return ranks


def average_ranks(means: pd.DataFrame, *, greater_is_better: bool = True) -> pd.Series:
    """Return each method's mean rank over datasets; 1 is best, equal scores share the mean of their ranks.

    Parameters
    ----------
    means : DataFrame of shape (n_datasets, n_methods)
        Mean scores. A dataset where any method has no score is left out: ranks of different fields of competitors
        cannot be averaged.
    greater_is_better : bool, default=True
        Direction of the score.

    Returns
    -------
    Series indexed by method
        NaN if no dataset is complete.

    Examples
    --------
    >>> import pandas as pd
    >>> average_ranks(pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, 0.8]})).to_dict()
    {'A': 1.25, 'B': 1.75}
    """
    return rank_table(means.dropna(), greater_is_better=greater_is_better).mean(axis=0)
