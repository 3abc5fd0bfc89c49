"""Regressors with a mistake, a plugin. `BANK` names the one check that must find each."""

# ruff: noqa: NPY002 - the global random state is a subject of these methods
import itertools

import numpy as np
from banks import specs_of
from broken_leakage import fold_of_the_callers
from correct_methods import OneDirection

from mfbench import hookimpl

COUNTER = itertools.count()


class PredictsAColumn(OneDirection):
    def predict(self, X):
        return super().predict(X)[:, None]


class DrawsFromTheGlobalGenerator(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        self.mean_ += 1e-12 * np.random.random()
        return self


class ContinuesAnEarlierFit(OneDirection):
    def fit(self, X, y):
        start = getattr(self, "mean_", 0.0)
        super().fit(X, y)
        self.mean_ += 1e-6 * start
        return self


class CountsItsFits(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        self.mean_ += 1e-12 * next(COUNTER)
        return self


class CentresTheTarget(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        if isinstance(y, np.ndarray) and y.flags.writeable and y.dtype.kind == "f":
            y -= y.mean()
        return self


class ScalesTestRowsByThemselves(OneDirection):
    def predict(self, X):
        X = np.asarray(X)
        return super().predict(X - X.mean(axis=0))


class CentresWithTheRowsOfItsCallers(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        fold = fold_of_the_callers()
        if fold is not None:
            self.mean_ += 1e-3 * np.nan_to_num(fold.X[fold.test]).mean()
        return self


class PrefersTheFirstColumn(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        self.slopes_ = self.slopes_ * np.linspace(2.0, 0.0, len(self.slopes_) + 1)[:-1]
        return self


class LearnsTheLastRow(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        self.mean_ = 0.5 * self.mean_ + 0.5 * float(np.asarray(y)[-1])
        return self


class DividesByProducts(OneDirection):
    def fit(self, X, y):
        super().fit(X, y)
        spread = min(np.prod(np.asarray(X, dtype=np.float64).std(axis=0)[:3]), 1e300)
        self.mean_ = self.mean_ * spread / spread
        return self


# (name, kind, class, check, fields of the spec)
BANK = [
    ("predicts-a-column", "regressor", PredictsAColumn, "numbers", {}),
    ("draws-numbers-from-the-global-generator", "regressor", DrawsFromTheGlobalGenerator, "global-random-state", {}),
    ("continues-an-earlier-fit", "regressor", ContinuesAnEarlierFit, "refit", {}),
    ("counts-its-fits", "regressor", CountsItsFits, "same-seed", {}),
    ("centres-the-target", "regressor", CentresTheTarget, "inputs-unchanged", {}),
    ("scales-rows-by-themselves", "regressor", ScalesTestRowsByThemselves, "rows-alone", {}),
    ("centres-with-the-rows-of-its-callers", "regressor", CentresWithTheRowsOfItsCallers, "poison", {}),
    ("prefers-the-first-column", "regressor", PrefersTheFirstColumn, "columns", {}),
    ("learns-the-last-row", "regressor", LearnsTheLastRow, "rows", {}),
    ("divides-by-products", "regressor", DividesByProducts, "tiny-scale", {}),
]


@hookimpl
def mfbench_regressors():
    return specs_of(__name__, BANK, "regressor")
