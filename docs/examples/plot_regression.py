"""
Numbers instead of classes
==========================

In a suite of the task regression the target is a number, learners are regressors, and selectors are fitted to the
number itself.
"""

import tempfile

import mfbench

run = mfbench.run_suite(
    "regression",
    only=["friedman*", "RIDGE", "KNN", "SVR", "F-SVR", "RRF-SVR", "RF"],
    reference="SVR",
    out=tempfile.mkdtemp(),
)

# %%
# The share of variance that is predicted. Errors in units of the target are divided by its standard deviation wherever
# datasets are averaged.

print(run.scores.pivot(index="method", columns="dataset", values="mean").round(3))

# %%
# Support vector regression against each method on each dataset:

chart = run.chart("wins-ties-losses")
