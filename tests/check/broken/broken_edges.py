"""Methods that fail on unusual tables, a plugin. `BANK` names the one check that must find each."""

import os
import signal

import numpy as np
from banks import specs_of
from correct_methods import MeanGap, NearestMean

from mfbench import hookimpl


class ComparesTwoFeatures(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        order = gaps.argsort()
        self.margin_ = gaps[order[-1]] - gaps[order[-2]]
        return gaps


class RefusesOneFeatureSilently(NearestMean):
    def fit(self, X, y):
        if np.shape(X)[1] == 1:
            raise ValueError
        return super().fit(X, y)


class DiesOfManyFeatures(MeanGap):
    def gaps(self, X, y):
        if X.shape[1] > X.shape[0]:
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().gaps(X, y)


class InvertsSingularMatrices(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        if self.n_features_in_ > len(y):
            np.linalg.inv(np.zeros((2, 2)))
        return self


class DividesByRowsLessOne(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        return np.full_like(gaps, np.nan) if np.unique(y, return_counts=True)[1].min() == 1 else gaps


class SplitsEachClass(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        for label in self.classes_:
            np.max(np.asarray(X)[y == label][1:], axis=0)
        return self


class IgnoresMissingValues(MeanGap):
    """Gives NaN to features with missing values."""

    def fit(self, X, y):
        X = np.asarray(X)
        if X.dtype.kind != "f" or not np.isnan(X).any():
            return super().fit(X, y)
        incomplete = np.isnan(X).any(axis=0)
        super().fit(np.nan_to_num(X), y)
        self.feature_importances_ = np.where(incomplete, np.nan, self.feature_importances_)
        return self


class PromisesToAcceptMissingValues(MeanGap):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DividesByVariance(MeanGap):
    def gaps(self, X, y):
        spread = X.std(axis=0)
        is_small = (spread > 0) & (spread < 1e-9)
        with np.errstate(all="ignore"):
            return super().gaps(X, y) * np.where(is_small, spread**3 / spread**3, 1.0)


class DividesByCubes(MeanGap):
    def gaps(self, X, y):
        with np.errstate(all="ignore"):
            factor = np.abs(X).max(axis=0) ** 3
            return super().gaps(X, y) * np.where(factor < 1e9, 1.0, factor / factor)


class HangsOnManyClasses(MeanGap):
    def gaps(self, X, y):
        while len(np.unique(y)) > 10:
            pass
        return super().gaps(X, y)


class ExitsOnManyClasses(NearestMean):
    def fit(self, X, y):
        if len(np.unique(y)) > 10:
            os._exit(0)
        return super().fit(X, y)


class RemembersItsFirstTable(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        self.first_ = getattr(self, "first_", gaps.sum())
        return gaps + 1e-9 * (self.first_ - gaps.sum())


class RefusesAnotherTable(NearestMean):
    def fit(self, X, y):
        if hasattr(self, "means_") and self.means_.shape[1] != np.shape(X)[1]:
            raise ValueError("it was fitted on another number of features")
        return super().fit(X, y)


# (name, kind, class, check, fields of the spec)
BANK = [
    ("compares-two-features", "selector", ComparesTwoFeatures, "one-feature", {}),
    ("refuses-one-feature-silently", "classifier", RefusesOneFeatureSilently, "one-feature", {}),
    ("dies-of-many-features", "selector", DiesOfManyFeatures, "more-features-than-rows", {}),
    ("inverts-singular-matrices", "classifier", InvertsSingularMatrices, "more-features-than-rows", {}),
    ("divides-by-rows-less-one", "selector", DividesByRowsLessOne, "one-row-of-a-class", {}),
    ("splits-each-class", "classifier", SplitsEachClass, "one-row-of-a-class", {}),
    ("ignores-missing-values", "selector", IgnoresMissingValues, "missing-values", {}),
    ("promises-to-accept-missing-values", "selector", PromisesToAcceptMissingValues, "missing-values", {}),
    ("declares-raw-input", "selector", MeanGap, "missing-values", {"raw_input": True}),
    ("divides-by-variance", "selector", DividesByVariance, "tiny-scale", {}),
    ("divides-by-cubes", "selector", DividesByCubes, "huge-scale", {}),
    ("exits-on-many-classes", "classifier", ExitsOnManyClasses, "many-classes", {}),
    ("remembers-its-first-table", "selector", RemembersItsFirstTable, "refit", {}),
    ("refuses-another-table", "classifier", RefusesAnotherTable, "refit", {}),
]
# Stopped by a time limit that is too short for other checks on a busy machine.
HANGING = [("hangs-on-many-classes", "selector", HangsOnManyClasses, "many-classes", {})]


@hookimpl
def mfbench_selectors():
    return specs_of(__name__, [*BANK, *HANGING], "selector")


@hookimpl
def mfbench_classifiers():
    return specs_of(__name__, BANK, "classifier")
