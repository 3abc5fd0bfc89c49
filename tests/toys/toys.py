"""The estimators and the dataset of the toy plugin.

A trial key covers all packages that the module of an estimator imports: few here, unlike those of a module of tests.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from mfbench import Dataset


class Weigh(BaseEstimator):
    """A selector: the distance between the first two class means, feature by feature."""

    def __init__(self, power=1.0, k=1, random_state=None):
        self.power, self.k, self.random_state = power, k, random_state

    def fit(self, X, y):
        classes = np.unique(y)
        means = [X[y == code].mean(axis=0) for code in classes[:2]]
        self.feature_importances_ = np.abs(means[0] - means[1]) ** self.power
        return self


class Nearest(ClassifierMixin, BaseEstimator):
    """A classifier: the nearest class mean."""

    def __init__(self, shift=0.0, k=1, random_state=None):
        self.shift, self.k, self.random_state = shift, k, random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == code].mean(axis=0) + self.shift for code in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None, :] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


def blobs(n_samples=24, shift=2.0):
    """Load two Gaussian classes; only the first of three features separates them."""
    y = np.arange(n_samples) % 2
    X = np.random.default_rng(0).normal(size=(n_samples, 3))
    X[:, 0] += shift * y
    return Dataset(
        name="blobs",
        X=X,
        y=y.astype(np.int64),
        class_names=("no", "yes"),
        feature_names=("a", "b", "c"),
        categorical=np.zeros(3, bool),
    )
