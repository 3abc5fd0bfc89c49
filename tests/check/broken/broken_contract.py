"""Methods that break the contract, a plugin. `BANK` names the one check that must find each."""

import numpy as np
from banks import specs_of
from correct_methods import MeanGap, NearestMean

from mfbench import hookimpl


class NanWeights(MeanGap):
    def gaps(self, X, y):
        gaps = super().gaps(X, y)
        gaps[-1] = np.nan
        return gaps


class InfiniteWeights(MeanGap):
    def gaps(self, X, y):
        return np.where(super().gaps(X, y) > 1, np.inf, 0.0)


class ListOfWeights(MeanGap):
    def fit(self, X, y):
        super().fit(X, y)
        self.feature_importances_ = self.feature_importances_.tolist()
        return self


class RanksAsIntegers(MeanGap):
    def gaps(self, X, y):
        return super().gaps(X, y).argsort().argsort()

    def fit(self, X, y):
        super().fit(X, y)
        self.feature_importances_ = self.feature_importances_.astype(np.int64)
        return self


class RowOfWeights(MeanGap):
    def gaps(self, X, y):
        return super().gaps(X, y)[None, :]


class OneWeightShort(MeanGap):
    def gaps(self, X, y):
        return super().gaps(X, y)[:-1]


class FitReturnsNone(MeanGap):
    def fit(self, X, y):
        super().fit(X, y)


class ClassifierFitReturnsNone(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)


class WeightsUnderAnotherName(MeanGap):
    def fit(self, X, y):
        super().fit(X, y)
        self.scores_ = self.feature_importances_
        del self.feature_importances_
        return self


class FitRaises(MeanGap):
    def fit(self, X, y):
        raise IndexError("list index out of range")


class ConstructorRaises(MeanGap):
    def __init__(self, power=1.0, random_state=None):
        raise OSError("no licence")


class ConstructorClips(MeanGap):
    def __init__(self, power=1.0, random_state=None):
        super().__init__(min(power, 1.5), random_state)


class SetParamsReturnsNone(NearestMean):
    def set_params(self, **params):
        super().set_params(**params)


class HiddenParameter(NearestMean):
    def get_params(self, deep=True):
        return {}


class NeedsSmallPower(MeanGap):
    def fit(self, X, y):
        if self.power > 1:
            raise ValueError("power must be at most 1")
        return super().fit(X, y)


class SupportOfTheLast(MeanGap):
    def _get_support_mask(self):
        return self.feature_importances_ <= np.median(self.feature_importances_)


class SupportAsIndices(MeanGap):
    def get_support(self, indices=True):
        return super().get_support(indices=indices)


class TransformReorders(MeanGap):
    def transform(self, X):
        return X[:, np.argsort(-self.feature_importances_)]


class NamesInOrderOfRank(MeanGap):
    def get_feature_names_out(self, input_features=None):
        return np.asarray(input_features)[np.argsort(-self.feature_importances_)]


class SelectsTheBest(MeanGap):
    """Not broken: the basis of those that select a number of features."""

    def __init__(self, power=1.0, random_state=None, n_features_to_select=None):
        super().__init__(power, random_state)
        self.n_features_to_select = n_features_to_select

    def _get_support_mask(self):
        count = self.n_features_to_select or len(self.feature_importances_)
        return self.ranks() < count

    def ranks(self):
        return np.argsort(np.argsort(-self.feature_importances_, kind="stable"), kind="stable")


class SupportsNotNested(SelectsTheBest):
    def _get_support_mask(self):
        if self.n_features_to_select == 3:
            return self.ranks() >= len(self.feature_importances_) - 3
        return super()._get_support_mask()


class SelectsOneMore(SelectsTheBest):
    def _get_support_mask(self):
        count = self.n_features_to_select
        return super()._get_support_mask() | (self.ranks() == (len(self.ranks()) if count is None else count))


class PathWithoutPower(MeanGap):
    def weights_at(self, power):
        return self.feature_importances_.copy()


class PredictsCodes(NearestMean):
    def predict(self, X):
        return np.searchsorted(self.classes_, super().predict(X))


class ClassesInOrderOfSize(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        self.classes_, self.means_ = self.classes_[::-1], self.means_[::-1]
        return self


class PredictsColumn(NearestMean):
    def predict(self, X):
        return super().predict(X)[:, None]


class NeedsNumbersAsLabels(NearestMean):
    def fit(self, X, y):
        return super().fit(X, np.asarray(y).astype(np.float64))


class Probabilities(NearestMean):
    """Not broken: the basis of those with probabilities."""

    def predict_proba(self, X):
        return (self.predict(X)[:, None] == self.classes_).astype(np.float64)


class SumsToTwo(Probabilities):
    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


class NanProbabilities(Probabilities):
    def predict_proba(self, X):
        return super().predict_proba(X) * np.nan


class ColumnsReversed(Probabilities):
    def predict_proba(self, X):
        return np.roll(super().predict_proba(X), 1, axis=1)


class NoColumnForTheLast(Probabilities):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, :-1]


class Flipping(NearestMean):
    def __init__(self, flip=False, random_state=None):
        super().__init__(random_state)
        self.flip = flip

    def predict(self, X):
        labels = super().predict(X)
        return self.classes_[::-1][np.searchsorted(self.classes_, labels)] if self.flip else labels


class FlipsNothing(Flipping):
    def with_flip(self, flip):
        return self


class FlipsItself(Flipping):
    def with_flip(self, flip):
        return self.set_params(flip=flip)


FLIPS = {"grid": {"flip": [False, True]}, "path": ("flip", "with_flip")}
# (name, kind, class, check, fields of the spec)
BANK = [
    ("nan-weights", "selector", NanWeights, "importances-finite", {}),
    ("infinite-weights", "selector", InfiniteWeights, "importances-finite", {}),
    ("list-of-weights", "selector", ListOfWeights, "importances-array", {}),
    ("ranks-as-integers", "selector", RanksAsIntegers, "importances-array", {}),
    ("row-of-weights", "selector", RowOfWeights, "importances-array", {}),
    ("one-weight-short", "selector", OneWeightShort, "importances-length", {}),
    ("fit-returns-none", "selector", FitReturnsNone, "fit", {}),
    ("classifier-fit-returns-none", "classifier", ClassifierFitReturnsNone, "fit", {}),
    ("weights-under-another-name", "selector", WeightsUnderAnotherName, "fit", {}),
    ("fit-raises", "selector", FitRaises, "fit", {}),
    ("constructor-raises", "selector", ConstructorRaises, "factory", {}),
    ("factory-missing", "selector", MeanGap, "factory", {"factory": "correct_methods:MeanGaps"}),
    ("default-unknown", "selector", MeanGap, "factory", {"defaults": {"exponent": 2.0}}),
    ("check-parameter-unknown", "classifier", NearestMean, "factory", {"check_parameters": {"n_means": 1}}),
    ("summary-empty", "selector", MeanGap, "spec", {"summary": " "}),
    ("summary-of-two-lines", "selector", MeanGap, "spec", {"summary": "Means\nand gaps"}),
    ("complexity-as-prose", "selector", MeanGap, "spec", {"complexity": "linear"}),
    ("expected-failure-misspelt", "selector", MeanGap, "spec", {"expected_failures": {"colums": "it cannot"}}),
    ("expected-failure-of-another-kind", "selector", MeanGap, "spec", {"expected_failures": {"predictions": "none"}}),
    (
        "expected-failure-without-reason",
        "classifier",
        NearestMean,
        "spec",
        {"expected_failures": {"scikit-learn:check_dict_unchanged": ""}},
    ),
    ("constructor-clips", "selector", ConstructorClips, "parameters", {"grid": {"power": [1.0, 2.0]}}),
    ("set-params-returns-none", "classifier", SetParamsReturnsNone, "parameters", {}),
    ("hidden-parameter", "classifier", HiddenParameter, "parameters", {}),
    ("grid-unknown", "selector", MeanGap, "grid", {"grid": {"powr": [1.0, 2.0]}}),
    ("grid-not-fittable", "selector", NeedsSmallPower, "grid", {"grid": {"power": [0.5, 1.0, 2.0]}}),
    ("support-of-the-last", "selector", SupportOfTheLast, "support", {}),
    ("support-as-indices", "selector", SupportAsIndices, "support", {}),
    ("transform-reorders", "selector", TransformReorders, "support", {}),
    ("names-in-order-of-rank", "selector", NamesInOrderOfRank, "support", {}),
    ("supports-not-nested", "selector", SupportsNotNested, "top-k", {}),
    ("selects-one-more", "selector", SelectsOneMore, "top-k", {}),
    (
        "path-without-power",
        "selector",
        PathWithoutPower,
        "path",
        {"grid": {"power": [1.0, 2.0]}, "path": ("power", "weights_at")},
    ),
    ("path-without-grid", "selector", PathWithoutPower, "path", {"path": ("power", "weights_at")}),
    ("predicts-codes", "classifier", PredictsCodes, "predictions", {}),
    ("classes-in-order-of-size", "classifier", ClassesInOrderOfSize, "predictions", {}),
    ("predicts-column", "classifier", PredictsColumn, "predictions", {}),
    ("needs-numbers-as-labels", "classifier", NeedsNumbersAsLabels, "predictions", {}),
    ("sums-to-two", "classifier", SumsToTwo, "probabilities", {}),
    ("nan-probabilities", "classifier", NanProbabilities, "probabilities", {}),
    ("columns-reversed", "classifier", ColumnsReversed, "probabilities", {}),
    ("no-column-for-the-last", "classifier", NoColumnForTheLast, "probabilities", {}),
    ("flips-nothing", "classifier", FlipsNothing, "path-predictions", FLIPS),
    ("flips-itself", "classifier", FlipsItself, "path-predictions", FLIPS),
    ("flips-nowhere", "classifier", FlipsItself, "path-predictions", {**FLIPS, "path": ("flip", "with_flips")}),
    ("flips-without-grid", "classifier", FlipsItself, "path-predictions", {"path": ("flip", "with_flip")}),
]


@hookimpl
def mfbench_selectors():
    return specs_of(__name__, BANK, "selector")


@hookimpl
def mfbench_classifiers():
    return specs_of(__name__, BANK, "classifier")
