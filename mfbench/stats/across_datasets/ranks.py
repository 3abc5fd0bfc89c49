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
        Whether a missing score has no rank or shares the last ranks.

    Returns
    -------
    DataFrame of shape (n_datasets, n_methods)

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rank_table(pd.DataFrame({"A": [0.9], "B": [np.nan], "C": [np.nan]}), missing="bottom").to_numpy().tolist()
    [[1.0, 2.5, 2.5]]
    """
    # Rounding makes scores equal that differ only in the order of summation.
    ranks: pd.DataFrame = means.round(12).rank(axis=1, ascending=not greater_is_better, na_option=missing)
    return ranks
