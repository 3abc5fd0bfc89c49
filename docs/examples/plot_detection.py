"""
Which features a selector detects
=================================

On generated data it is known which features matter, so detection and false alarms can be counted. Each round has data
of its own.
"""

import tempfile

import mfbench

run = mfbench.run_suite(
    "detection",
    only=["friedman-1*", "correlated-blocks*", "xor*", "FSC", "MRM", "RFF", "RFO"],
    out=tempfile.mkdtemp(),
)

# %%
# Each method selects as many features as are relevant. The F-test misses what matters in pairs only:

rates = run.detection[run.detection["figure"] == "detection"]
print(rates.pivot(index="dataset", columns="method", values="mean").round(2))

# %%
# How often each feature was selected on the XOR data, whose first two features matter:

chart = run.chart(next(name for name in run.charts if name.startswith("selection") and "xor" in name))
