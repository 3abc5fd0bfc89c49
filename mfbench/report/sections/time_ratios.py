"""Time: the share of datasets on which each method is within a factor of the fastest one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mfbench.base.wording import counted
from mfbench.model.sections import Cell, Section, Table
from mfbench.report.charts.time_profile import time_profile_chart
from mfbench.stats.across_datasets.profiles import FACTORS, performance_profile


def time_ratios(ratios: pd.DataFrame) -> Section:
    """Return the section on the performance profile of time; empty unless every trial of some dataset has run."""
    data = {"time_ratios": lambda: ratios.to_dict("index")}
    title = f"Time: share of {counted(len(ratios), 'dataset')} within a factor of the fastest method"
    if not len(ratios):
        return Section(title, data=data)
    return Section(title, [_table(ratios)], [time_profile_chart(ratios)], data=data)


def _table(ratios: pd.DataFrame) -> Table:
    profile = performance_profile(ratios)
    table = Table(["method", *(f"{factor:g} ×" for factor in FACTORS), "median factor"])
    shares = profile.to_dict("index")
    # The method that is fastest most often comes first.
    for method in sorted(profile.index, key=lambda name: tuple(-share for share in shares[name].values())):
        median = float(np.median(ratios[method]))
        cells = [Cell(f"{share:.2f}") for share in shares[method].values()]
        table.rows.append([Cell(str(method)), *cells, Cell(f"{median:.1f}" if np.isfinite(median) else "did not end")])
    return table
