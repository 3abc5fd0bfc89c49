"""Times compared: the share of datasets on which a method is within a factor of the fastest."""

import numpy as np
import pandas as pd

from mfbench.base.text import counted
from mfbench.model.sections import Section
from mfbench.report.cells import table_of
from mfbench.report.charts.time import time_profile_chart
from mfbench.stats.across_datasets import FACTORS, performance_profile


def time_ratios(ratios: pd.DataFrame) -> Section:
    """Return the section on the performance profile of time; empty unless every trial of some dataset has run."""
    data = {"time_ratios": lambda: ratios.to_dict("index")}
    title = f"Time: share of {counted(len(ratios), 'dataset')} within a factor of the fastest method"
    if not len(ratios):
        return Section(title, data=data)
    shares = {str(name): list(own.values()) for name, own in performance_profile(ratios).to_dict("index").items()}
    rows = []
    # The method that is fastest most often comes first.
    for method in sorted(shares, key=lambda name: [-share for share in shares[name]]):
        median = float(np.median(ratios[method]))
        texts = [f"{share:.2f}" for share in shares[method]]
        rows.append([method, *texts, f"{median:.1f}" if np.isfinite(median) else "did not end"])
    table = table_of(["method", *(f"{factor:g} ×" for factor in FACTORS), "median factor"], rows)
    return Section(title, [table], [time_profile_chart(ratios)], data=data)
