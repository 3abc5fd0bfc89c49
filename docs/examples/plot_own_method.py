"""
A method of your own
====================

A selector is an estimator of scikit-learn whose ``fit`` leaves one number per feature in ``feature_importances_``.
Put into a suite, it is compared with the methods there, on the same folds.
"""

import tempfile

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

import mfbench


class MedianGap(BaseEstimator):
    """Largest distance between the medians of two classes, in units of the median absolute deviation."""

    def fit(self, X, y):
        """Weigh the features."""
        X, y = validate_data(self, X, y)
        medians = np.array([np.median(X[y == label], axis=0) for label in np.unique(y)])
        spread = np.median(np.abs(X - np.median(X, axis=0)), axis=0)
        self.feature_importances_ = np.ptp(medians, axis=0) / np.maximum(spread, 1e-12)
        return self


# %%
# ``add`` takes a pair of selector and classifier; the methods with the labels of ``only`` are what it is compared with.
# Here these are the F-test and ReliefF, in front of the same classifier.

run = mfbench.run_suite(
    "uci",
    only=["wine-igt", "wdbc", "optdigits", "waveform-40*", "led-24", "FSC", "RFF"],
    add={"MINE": (MedianGap(), "knn(n_neighbors=3)")},
    reference="MINE",
    out=tempfile.mkdtemp(),
)
print(run.scores.pivot(index="dataset", columns="method", values="mean").round(3))

# %%
# A win needs a significant difference by a test that allows for the rows that folds share. ``detectable`` is the
# difference that five folds would have shown with a probability of 80 %: a tie with a large one decides nothing.

columns = ["method", "dataset", "difference", "verdict", "detectable"]
print(run.wins_ties_losses()[columns].round(3).to_string(index=False))

# %%
# The score against the time that a method takes:

chart = run.chart("score-time")
