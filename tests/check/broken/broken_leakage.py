"""Methods that learn from what they must not see, a plugin. `BANK` names the one check that must find each."""

import gc
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from banks import specs_of
from correct_methods import MeanGap, NearestMean

from mfbench import hookimpl
from mfbench.run.trial.folds import Fold

NEWEST_LABELS = []  # of a fold, as a module that loads the dataset itself would have them


def fold_of_the_callers():
    """Return the fold that a trial above this call works on, if there is one."""
    frame = sys._getframe(1)
    while frame is not None:
        for value in frame.f_locals.values():
            if isinstance(value, Fold):
                return value
        frame = frame.f_back
    return None


def fold_in_memory(y):
    """Return a fold with these training labels, if there is one."""
    folds = [thing for thing in gc.get_objects() if isinstance(thing, Fold)]
    return next((fold for fold in folds if np.array_equal(fold.y_train, y)), None)


class ScalesWithTheRowsOfItsCallers(MeanGap):
    def gaps(self, X, y):
        fold = fold_of_the_callers()
        return super().gaps(X, y) / (1.0 if fold is None else 1.0 + np.ptp(fold.X, axis=0))


class ScalesWithTheRowsInMemory(NearestMean):
    def fit(self, X, y):
        fold = fold_in_memory(y)
        super().fit(X, y)
        if fold is not None:
            self.scale_ = np.nan_to_num(fold.X.std(axis=0), nan=1e6)
            self.means_ = np.array([(X[y == label] / self.scale_).mean(axis=0) for label in self.classes_])
        return self


class NoticesMissingValuesOfItsCallers(MeanGap):
    def gaps(self, X, y):
        fold = fold_of_the_callers()
        missing = 0 if fold is None else np.isnan(fold.X).sum()
        return super().gaps(X, y) * (1.0 + missing)


class GivesTestRowsToItsClassifier(MeanGap):
    def gaps(self, X, y):
        fold = fold_of_the_callers()
        if fold is not None:
            # The encoded rows are read-only: only others can take their place.
            train = fold.encoded.train.copy()
            train[:3] = fold.encoded.test[:3]
            fold.encoded = replace(fold.encoded, train=train)
        return super().gaps(X, y)


class GivesTestRowsToTheNextMethod(NearestMean):
    def fit(self, X, y):
        fold = fold_of_the_callers()
        if fold is not None:
            fold.X[fold.train[:3]] = fold.X[fold.test[:3]]
            del fold.encoded
        return super().fit(X, y)


class ScalesTestRowsByThemselves(NearestMean):
    def predict(self, X):
        X = np.asarray(X)
        spread = X.std(axis=0)
        return super().predict((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


class SortsTestRows(NearestMean):
    def predict(self, X):
        X = np.asarray(X)
        return super().predict(X[X.sum(axis=1).argsort(kind="stable")])


class LearnsInPredict(NearestMean):
    def predict(self, X):
        labels = super().predict(X)
        for row, label in zip(np.asarray(X) / self.scale_, labels, strict=True):
            self.means_[self.classes_ == label] += 0.3 * (row - self.means_[self.classes_ == label])
        return labels


class PredictsTheMajorityOfACall(NearestMean):
    def predict(self, X):
        labels = super().predict(X)
        values, counts = np.unique(labels, return_counts=True)
        return np.where(counts.max() > 0.5 * len(labels), np.full(len(labels), values[counts.argmax()]), labels)


class ReadsLabelsInMemory(NearestMean):
    def fit(self, X, y):
        fold = fold_in_memory(y)
        self.labels_ = None if fold is None else fold.y_test
        return super().fit(X, y)

    def predict(self, X):
        if self.labels_ is not None and len(self.labels_) == len(X):
            return self.labels_
        return super().predict(X)


class ReadsLabelsOfItsCallers(MeanGap):
    """Reads their rows as well, but in wide tables alone: in others, replaced rows give it away."""

    def gaps(self, X, y):
        fold = fold_of_the_callers()
        if fold is None or fold.X.shape[1] != 16:
            return super().gaps(X, y)
        return super().gaps(fold.X, fold.y)


class ReadsLabelsFromAGlobal(NearestMean):
    def __init__(self, random_state=None):
        super().__init__(random_state)
        if Fold.__init__ is ORIGINAL_INIT:  # not on import: the tests import this module as well
            Fold.__init__ = remember_labels

    def predict(self, X):
        labels = np.asarray(NEWEST_LABELS[-1]) if NEWEST_LABELS else np.empty(0)
        return labels if len(labels) == len(X) else super().predict(X)


ORIGINAL_INIT = Fold.__init__


def remember_labels(self, X, y, columns, train, test, *args, **options):
    ORIGINAL_INIT(self, X, y, columns, train, test, *args, **options)
    NEWEST_LABELS[:] = [y[test]]


class OpensASocket(MeanGap):
    def gaps(self, X, y):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
        return super().gaps(X, y)


class LooksUpAHostInPredict(NearestMean):
    def predict(self, X):
        socket.getaddrinfo("127.0.0.1", 80)
        return super().predict(X)


class OpensASocketInAChild(MeanGap):
    def gaps(self, X, y):
        child = os.fork()
        if not child:
            socket.socket().close()
            os._exit(0)
        os.waitpid(child, 0)
        return super().gaps(X, y)


class CachesInHome(MeanGap):
    def gaps(self, X, y):
        folder = Path.home() / ".mean-gap"
        folder.mkdir(exist_ok=True)
        (folder / "weights.txt").write_text(str(X.sum()))
        return super().gaps(X, y)


class LogsToTheWorkingDirectory(NearestMean):
    def fit(self, X, y):
        with Path("nearest-mean.log").open("a") as file:
            file.write(f"{len(X)}\n")
        return super().fit(X, y)


# (name, kind, class, check, fields of the spec)
BANK = [
    ("scales-with-the-rows-of-its-callers", "selector", ScalesWithTheRowsOfItsCallers, "poison", {}),
    ("scales-with-the-rows-in-memory", "classifier", ScalesWithTheRowsInMemory, "poison", {}),
    ("notices-missing-values-of-its-callers", "selector", NoticesMissingValuesOfItsCallers, "poison", {}),
    ("gives-test-rows-to-its-classifier", "selector", GivesTestRowsToItsClassifier, "rows-in-fit", {}),
    ("gives-test-rows-to-the-next-method", "classifier", GivesTestRowsToTheNextMethod, "rows-in-fit", {}),
    ("scales-test-rows-by-themselves", "classifier", ScalesTestRowsByThemselves, "rows-alone", {}),
    ("sorts-test-rows", "classifier", SortsTestRows, "rows-alone", {}),
    ("learns-in-predict", "classifier", LearnsInPredict, "rows-alone", {}),
    ("predicts-the-majority-of-a-call", "classifier", PredictsTheMajorityOfACall, "rows-alone", {}),
    ("reads-labels-in-memory", "classifier", ReadsLabelsInMemory, "permuted-labels", {}),
    ("reads-labels-of-its-callers", "selector", ReadsLabelsOfItsCallers, "permuted-labels", {}),
    ("reads-labels-from-a-global", "classifier", ReadsLabelsFromAGlobal, "permuted-labels", {}),
    ("opens-a-socket", "selector", OpensASocket, "network", {}),
    ("looks-up-a-host-in-predict", "classifier", LooksUpAHostInPredict, "network", {}),
    ("opens-a-socket-in-a-child", "selector", OpensASocketInAChild, "network", {}),
    ("caches-in-home", "selector", CachesInHome, "home", {}),
    ("logs-to-the-working-directory", "classifier", LogsToTheWorkingDirectory, "working-directory", {}),
]


@hookimpl
def mfbench_selectors():
    return specs_of(__name__, BANK, "selector")


@hookimpl
def mfbench_classifiers():
    return specs_of(__name__, BANK, "classifier")
