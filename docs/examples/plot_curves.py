"""
How many features are enough
============================

A method with a curve is tested at every number of features: in each fold one fit of the selector, and the learner at
each size.
"""

import tempfile

import mfbench

# %%
# The outcome depends on two features together (XOR), among eighteen others. A selector that judges each feature alone
# cannot find them; the reference is ReliefF in front of one nearest neighbour.

run = mfbench.run_suite(
    "selection-curves",
    only=["xor*", "ANO 1NN", "MRM 1NN", "RFF 1NN", "FOR 1NN", "RND 1NN"],
    reference="RFF 1NN",
    out=tempfile.mkdtemp(),
)
print(run.curve_overview[["method", "area", "rank"]].round(3).to_string(index=False))

# %%
# Accuracy at each number of features, on a logarithmic axis:

chart = run.chart("curves-01-knn-n-neighbors-1")
