"""Ranks of methods across datasets."""

from __future__ import annotations

import pandas as pd


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
    complete = means.dropna()
    # Rounding makes scores that differ by the order of a sum equal, as they are.
    ranks: pd.DataFrame = complete.round(12).rank(axis=1, ascending=not greater_is_better)
    return ranks.mean(axis=0)
