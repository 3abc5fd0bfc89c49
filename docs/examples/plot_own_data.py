"""
One table: which features, and what to expect
=============================================

``mfbench select data.csv --target outcome`` answers this on the command line; ``mfbench.select`` does from Python.
"""

import tempfile

import numpy as np
import pandas as pd

import mfbench

# %%
# A table as people have them: a category, missing values, a constant, and an outcome that depends on two columns
# together. Neither of the two says anything alone.

rng = np.random.default_rng(0)
table = pd.DataFrame(rng.normal(size=(300, 8)), columns=[f"marker {number}" for number in range(8)])
table["outcome"] = np.where(table["marker 2"] * table["marker 5"] > 0, "ill", "well")
table["site"] = rng.choice(["A", "B", "C"], size=300)
table["batch"] = 1
table.loc[rng.choice(300, 20, replace=False), "marker 0"] = np.nan

# %%
# Pairs of selector and learner are tried on it, and the expected score is corrected for choosing the best of them.

answer = mfbench.select(table, target="outcome", max_trials=120, out=tempfile.mkdtemp())
print(answer)

# %%
# The mean score of each selector by its number of features; the grey line is random features.

chart = answer.run.chart("selection-size")
