"""Methods whose answer depends on what it must not, a plugin. `BANK` names the one check that must find each."""

import numpy as np
from banks import specs_of
from correct_methods import MeanGap, NearestMean
from sklearn.utils import check_random_state

from mfbench import hookimpl


class PrefersTheFirstColumn(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        gaps[0] += 0.5
        return gaps


class NoisyPreference(PrefersTheFirstColumn):
    """Hides the preference behind noise that is ten times smaller."""

    def gaps(self, X, y):
        return super().gaps(X, y) + check_random_state(self.random_state).normal(scale=0.03, size=X.shape[1])


class TrustsTheFirstColumn(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        self.scale_ = self.scale_ * np.where(np.arange(self.n_features_in_) > 0, 10.0, 1.0)
        self.means_ = np.array([(X[y == label] / self.scale_).mean(axis=0) for label in self.classes_])
        return self


class FirstRowsOnly(MeanGap):
    def gaps(self, X, y):
        return super().gaps(X[:30], y[:30])


class ForgetsTheFirstRows(MeanGap):
    """An average that moves along the rows."""

    def gaps(self, X, y):
        late = np.arange(len(X)) / len(X)
        centred = np.where(np.ptp(X, axis=0) > 0, X - X.mean(axis=0), 0.0)
        return super().gaps(centred * late[:, None], y)


class LearnsTheFirstRows(NearestMean):
    def fit(self, X, y):
        many = len(X) // 10
        return super().fit(X, y) if len(np.unique(y[:many])) < 2 else super().fit(X[:many], y[:many])


class FirstClassIsTheReference(MeanGap):
    """Measures gaps in the spread of the class that comes first in the alphabet."""

    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        spread = X[y == np.unique(y)[0]].std(axis=0)
        return gaps * X.std(axis=0) / np.where(spread > 0, spread, 1.0)


class LabelsAsNumbers(MeanGap):
    """Correlates the features with the codes, whatever these are."""

    def gaps(self, X, y):
        codes = np.unique(y, return_inverse=True)[1]
        scale = np.abs(X).max(axis=0)
        X = X / np.where(scale > 0, scale, 1.0)
        gaps = np.abs((X - X.mean(axis=0)).T @ (codes - codes.mean())) / len(X)
        spread = X.std(axis=0)
        return gaps / np.where(spread > 0, spread, 1.0)


class PrefersTheFirstClass(NearestMean):
    def predict(self, X):
        distances = ((np.asarray(X)[:, None] / self.scale_ - self.means_) ** 2).sum(axis=2)
        distances[:, 0] *= 0.5
        return self.classes_[np.argmin(distances, axis=1)]


class StumblesOverTwins(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        return gaps[::-1] if len(np.unique(X, axis=0)) <= len(X) / 2 else gaps


class LosesTheBestOfTwins(MeanGap):
    """Ignores the features that separate the classes best as soon as rows are repeated."""

    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        return np.where(gaps > gaps.mean(), 0.0, gaps) if len(np.unique(X, axis=0)) <= len(X) / 2 else gaps


class DividesByTheSpread(MeanGap):
    """Takes the smallest spread for the purest feature."""

    def gaps(self, X, y):
        return np.where(X.std(axis=0) > 1e-12 * np.abs(X).max(axis=0), super().gaps(X, y), 100.0)


class ConstantAboveNoise(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        return np.where(np.ptp(X, axis=0) > 0, gaps, gaps.mean())


class FirstOfEqualColumns(MeanGap):
    def gaps(self, X, y):
        first = np.unique(X, axis=1, return_index=True)[1]
        return np.where(np.isin(np.arange(X.shape[1]), first), super().gaps(X, y), 0.0)


class DependsOnUnits(MeanGap):
    def gaps(self, X, y):
        spread = X.std(axis=0)
        return super().gaps(X, y) * spread / (spread.max() or 1.0)


AFFINE = {"invariance": "affine"}
# (name, kind, class, check, fields of the spec)
BANK = [
    ("prefers-the-first-column", "selector", PrefersTheFirstColumn, "columns", AFFINE),
    ("noisy-preference", "selector", NoisyPreference, "columns", AFFINE),
    ("trusts-the-first-column", "classifier", TrustsTheFirstColumn, "columns", {}),
    ("first-rows-only", "selector", FirstRowsOnly, "rows", AFFINE),
    ("forgets-the-first-rows", "selector", ForgetsTheFirstRows, "rows", {}),
    ("learns-the-first-rows", "classifier", LearnsTheFirstRows, "rows", {}),
    ("first-class-is-the-reference", "selector", FirstClassIsTheReference, "labels", AFFINE),
    ("labels-as-numbers", "selector", LabelsAsNumbers, "labels", AFFINE),
    ("prefers-the-first-class", "classifier", PrefersTheFirstClass, "labels", {}),
    ("stumbles-over-twins", "selector", StumblesOverTwins, "duplicates", AFFINE),
    ("loses-the-best-of-twins", "selector", LosesTheBestOfTwins, "duplicates", AFFINE),
    ("divides-by-the-spread", "selector", DividesByTheSpread, "constant-column", AFFINE),
    ("constant-above-noise", "selector", ConstantAboveNoise, "constant-column", AFFINE),
    ("first-of-equal-columns", "selector", FirstOfEqualColumns, "equal-columns", AFFINE),
    ("depends-on-units", "selector", DependsOnUnits, "invariance", AFFINE),
    ("affine-declared-monotone", "selector", MeanGap, "invariance", {"invariance": "monotone"}),
]


@hookimpl
def mfbench_selectors():
    return specs_of(__name__, BANK, "selector")


@hookimpl
def mfbench_classifiers():
    return specs_of(__name__, BANK, "classifier")
