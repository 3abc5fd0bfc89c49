"""Performance profiles of costs such as time."""

from __future__ import annotations

import numpy as np
import pandas as pd

FACTORS = (1.0, 2.0, 5.0, 10.0, 100.0)


def performance_ratios(costs: pd.DataFrame) -> pd.DataFrame:
    """Return each cost over the smallest of its dataset, the basis of a performance profile."""
    # The profile of method m is \rho_m(\tau), the share of datasets on which its cost is at most
    # \tau times the smallest of any method: \rho_m(1) is how often it is cheapest, and the limit is how
    # often it succeeds at all.
    # Reference: E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles", Mathematical
    # Programming 91:201-213, 2002.
    finished = costs.dropna(how="all")
    if (finished <= 0).to_numpy().any():
        raise ValueError("costs must be positive: a ratio to a cost of zero has no meaning")
    ratios: pd.DataFrame = finished.div(finished.min(axis=1), axis=0)
    return ratios.fillna(np.inf)


def performance_profile(ratios: pd.DataFrame, factors: tuple[float, ...] = FACTORS) -> pd.DataFrame:
    """Return the share of datasets on which each method's cost is within each factor of the smallest."""
    values = ratios.to_numpy(dtype=float)
    if not len(values):
        return pd.DataFrame(np.nan, index=ratios.columns, columns=list(factors))
    # A tolerance for rounding: the smallest cost must be within a factor of one of itself.
    shares = [(values <= factor * (1.0 + 1e-12)).mean(axis=0) for factor in factors]
    return pd.DataFrame(np.array(shares).T, index=ratios.columns, columns=list(factors))
