"""A plugin with two selectors that break a promised false discovery rate, and one that keeps it."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mfbench import SelectorSpec, hookimpl


class Fixed(BaseEstimator):
    """Selects the best feature in a share of the fits, whatever the rate that it promises."""

    def __init__(self, q=0.1, share=1.0, random_state=None):
        self.q = q
        self.share = share
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        strength = np.abs((X - X.mean(axis=0)).T @ (y - y.mean()))
        selects = check_random_state(self.random_state).random_sample() < self.share
        self.feature_importances_ = strength - (np.sort(strength)[-2] if selects else strength.max())
        return self


@hookimpl
def mfbench_selectors():
    """Return one that always selects, one that does in 55 % of the rounds, and one that never does."""
    factory = "broken_selectors:Fixed"
    return [
        SelectorSpec(name=name, summary=name, factory=factory, defaults={"share": share}, controls=("fdr", "q"))
        for name, share in (("always", 1.0), ("flat", 0.55), ("never", 0.0))
    ]
