"""Methods without a mistake, a plugin: every check passes on them. Broken ones are derived from them."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mfbench import ClassifierSpec, RegressorSpec, SelectorSpec, hookimpl


class MeanGap(SelectorMixin, BaseEstimator):
    """The largest distance between class means, in standard deviations of the column."""

    def __init__(self, power=1.0, random_state=None):
        self.power = power
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.feature_importances_ = self.gaps(X, y) ** self.power
        return self

    def gaps(self, X, y):
        largest = np.abs(X).max(axis=0)
        X = X / np.where(largest > 0, largest, 1.0)  # squares of huge and of tiny values stay finite
        means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
        spread = X.std(axis=0)
        return np.ptp(means, axis=0) / np.where(spread > 0, spread, 1.0)

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.feature_importances_ > 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearest, in standard deviations of the training columns."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        spread = np.abs(X - X.mean(axis=0)).max(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self.means_ = np.array([(X[codes == k] / self.scale_).mean(axis=0) for k in range(len(self.classes_))])
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False) / self.scale_
        return self.classes_[np.argmin(((X[:, None] - self.means_) ** 2).sum(axis=2), axis=1)]


class OneDirection(RegressorMixin, BaseEstimator):
    """A line along the covariances of the standardised columns with the target."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.mean_, self.centre_ = y.mean(), X.mean(axis=0)
        largest = np.abs(X - self.centre_).max(axis=0)
        self.scale_ = np.where(largest > 0, largest, 1.0)
        rows = (X - self.centre_) / self.scale_
        self.slopes_ = rows.T @ (y - self.mean_)
        scores = rows @ self.slopes_
        self.slopes_ = self.slopes_ * (scores @ (y - self.mean_)) / max(scores @ scores, 1e-300)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return (
            self.mean_
            + (validate_data(self, X, dtype=np.float64, reset=False) - self.centre_) / self.scale_ @ self.slopes_
        )


@hookimpl
def mfbench_selectors():
    return [
        SelectorSpec(
            name="mean-gap",
            summary="Largest distance between class means",
            factory="correct_methods:MeanGap",
            grid={"power": [1.0, 2.0]},
            complexity="n * p",
            invariance="affine",
        )
    ]


@hookimpl
def mfbench_classifiers():
    return [
        ClassifierSpec(
            name="nearest-mean",
            summary="Nearest class mean",
            factory="correct_methods:NearestMean",
            complexity="n * p",
        )
    ]


@hookimpl
def mfbench_regressors():
    return [
        RegressorSpec(
            name="one-direction",
            summary="A line along one direction",
            factory="correct_methods:OneDirection",
            complexity="n * p",
        )
    ]
