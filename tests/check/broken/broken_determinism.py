"""Methods that do not repeat themselves or change what other code relies on, a plugin.

`BANK` names the one check that must find each.
"""

# ruff: noqa: NPY002 - the global random state is a subject of these methods
import itertools
import os
import random
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from banks import specs_of
from correct_methods import MeanGap, NearestMean
from sklearn import set_config
from threadpoolctl import threadpool_info, threadpool_limits

from mfbench import hookimpl

COUNTER = itertools.count()
LEFT_OPEN = []


def noisy(gaps, seed):
    """Return weights with noise that is far too small for any check but those that compare bits."""
    return gaps * (1.0 + 1e-9 * np.random.default_rng(seed).random(len(gaps)))


class DrawsFromTheGlobalGenerator(MeanGap):
    def gaps(self, X, y):
        return super().gaps(X, y) * (1.0 + 1e-9 * np.random.random())


class DrawsFromThePythonGenerator(NearestMean):
    def predict(self, X):
        random.random()
        return super().predict(X)


class SeedsTheGlobalGenerator(MeanGap):
    def gaps(self, X, y):
        np.random.seed(0)
        return super().gaps(X, y)


class RestoresTheGlobalGeneratorItUses(MeanGap):
    """Passes for one that does not touch it, but its result is not determined by random_state."""

    def gaps(self, X, y):
        state = np.random.get_state()
        noise = np.random.random()
        np.random.set_state(state)
        return super().gaps(X, y) * (1.0 + 1e-9 * noise)


class DependsOnTheTime(MeanGap):
    def gaps(self, X, y):
        return noisy(super().gaps(X, y), time.time_ns())


class DependsOnAddresses(MeanGap):
    def gaps(self, X, y):
        return noisy(super().gaps(X, y), id(self))


class GoesOnWithItsGenerator(MeanGap):
    rng = np.random.default_rng(0)

    def gaps(self, X, y):
        return super().gaps(X, y) * (1.0 + 1e-9 * self.rng.random())


class CountsItsFits(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        self.means_ = self.means_ * (1.0 + 0.05 * next(COUNTER))
        return self


class HashesStrings(MeanGap):
    def gaps(self, X, y):
        return noisy(super().gaps(X, y), hash("mean-gap") % 2**32)


class TakesTheFirstOfASet(NearestMean):
    """Measures distances by two numbers that depend on the order of a set of names."""

    def predict(self, X):
        super().predict(X)
        names = list({f"number {number}" for number in range(1000)})
        exponent, share = 0.25 * 32.0 ** (names.index("number 0") / 1000), names.index("number 1") / 100
        gaps = np.abs((np.asarray(X) / self.scale_)[:, None] - self.means_)
        return self.classes_[np.argmin((gaps**exponent).sum(axis=2) + share * gaps.max(axis=2), axis=1)]


class SeedsItsWorkers(MeanGap):
    def __init__(self, power=1.0, n_jobs=1, random_state=None):
        super().__init__(power, random_state)
        self.n_jobs = n_jobs

    def gaps(self, X, y):
        parts = np.array_split(super().gaps(X, y), self.n_jobs)
        return np.concatenate([noisy(part, worker) + 1e-4 * worker for worker, part in enumerate(parts)])


class AddsOnePartPerThread(MeanGap):
    def gaps(self, X, y):
        n_threads = max((library["num_threads"] for library in threadpool_info()), default=1)
        return super().gaps(X, y) * (1.0 + 1e-4 * n_threads)


class SetsTheEnvironment(MeanGap):
    def gaps(self, X, y):
        os.environ["MEAN_GAP_THREADS"] = "1"
        return super().gaps(X, y)


class SetsTheEnvironmentInPredict(NearestMean):
    def predict(self, X):
        os.environ.setdefault("NEAREST_MEAN", "1")
        return super().predict(X)


class IgnoresAllWarnings(MeanGap):
    def gaps(self, X, y):
        warnings.filterwarnings("ignore")
        return super().gaps(X, y)


class LimitsThreads(MeanGap):
    def gaps(self, X, y):
        threadpool_limits(1)
        return super().gaps(X, y)


class LeavesAThread(MeanGap):
    def gaps(self, X, y):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        return super().gaps(X, y)


class LeavesAFileOpen(MeanGap):
    def gaps(self, X, y):
        LEFT_OPEN.append(Path(os.devnull).open())  # noqa: SIM115 - that is the mistake
        return super().gaps(X, y)


class ChangesTheWorkingDirectory(NearestMean):
    def fit(self, X, y):
        os.chdir("/")
        return super().fit(X, y)


class ExtendsThePath(MeanGap):
    def gaps(self, X, y):
        if "/mean-gap" not in sys.path:
            sys.path.append("/mean-gap")
        return super().gaps(X, y)


class SilencesNumPy(MeanGap):
    def gaps(self, X, y):
        np.seterr(all="ignore")
        return super().gaps(X, y)


class ConfiguresScikitLearn(MeanGap):
    def gaps(self, X, y):
        set_config(working_memory=512)
        return super().gaps(X, y)


class LeavesAChild(MeanGap):
    def gaps(self, X, y):
        LEFT_OPEN.append(subprocess.Popen(["sleep", "5"]))
        return super().gaps(X, y)


class ScalesInPlace(MeanGap):
    def fit(self, X, y):
        if isinstance(X, np.ndarray):
            X -= X.mean(axis=0)
        return super().fit(X, y)


class NumbersClassesInPlace(NearestMean):
    def fit(self, X, y):
        y = np.asarray(y)
        super().fit(X, y)
        y[:] = y[::-1].copy()
        return self


class ScalesTestRowsInPlace(NearestMean):
    def predict(self, X):
        labels = super().predict(X)
        X /= self.scale_
        return labels


class ScalesForAWhile(MeanGap):
    """Doubles the values in place and halves them again, which is exact."""

    def fit(self, X, y):
        if not isinstance(X, np.ndarray) or X.dtype != np.float64:
            return super().fit(X, y)
        X *= 2.0
        super().fit(X, y)
        X /= 2.0
        return self


# (name, kind, class, check, fields of the spec)
BANK = [
    ("draws-from-the-global-generator", "selector", DrawsFromTheGlobalGenerator, "global-random-state", {}),
    ("draws-from-the-python-generator", "classifier", DrawsFromThePythonGenerator, "global-random-state", {}),
    ("seeds-the-global-generator", "selector", SeedsTheGlobalGenerator, "global-random-state", {}),
    ("restores-the-global-generator", "selector", RestoresTheGlobalGeneratorItUses, "global-random-state", {}),
    ("depends-on-the-time", "selector", DependsOnTheTime, "same-seed", {}),
    ("depends-on-addresses", "selector", DependsOnAddresses, "same-seed", {}),
    ("goes-on-with-its-generator", "selector", GoesOnWithItsGenerator, "same-seed", {}),
    ("counts-its-fits", "classifier", CountsItsFits, "same-seed", {}),
    ("hashes-strings", "selector", HashesStrings, "hash-seed", {}),
    ("takes-the-first-of-a-set", "classifier", TakesTheFirstOfASet, "hash-seed", {}),
    ("seeds-its-workers", "selector", SeedsItsWorkers, "n-jobs", {}),
    ("adds-one-part-per-thread", "selector", AddsOnePartPerThread, "blas-threads", {}),
    ("sets-the-environment", "selector", SetsTheEnvironment, "environment", {}),
    ("sets-the-environment-in-predict", "classifier", SetsTheEnvironmentInPredict, "environment", {}),
    ("ignores-all-warnings", "selector", IgnoresAllWarnings, "warning-filters", {}),
    ("limits-threads", "selector", LimitsThreads, "threads", {}),
    ("leaves-a-thread", "selector", LeavesAThread, "threads", {}),
    ("leaves-a-file-open", "selector", LeavesAFileOpen, "surroundings", {}),
    ("changes-the-working-directory", "classifier", ChangesTheWorkingDirectory, "surroundings", {}),
    ("extends-the-path", "selector", ExtendsThePath, "surroundings", {}),
    ("silences-numpy", "selector", SilencesNumPy, "surroundings", {}),
    ("configures-scikit-learn", "selector", ConfiguresScikitLearn, "surroundings", {}),
    ("leaves-a-child", "selector", LeavesAChild, "surroundings", {}),
    ("scales-in-place", "selector", ScalesInPlace, "inputs-unchanged", {}),
    ("numbers-classes-in-place", "classifier", NumbersClassesInPlace, "inputs-unchanged", {}),
    ("scales-test-rows-in-place", "classifier", ScalesTestRowsInPlace, "inputs-unchanged", {}),
    ("scales-for-a-while", "selector", ScalesForAWhile, "read-only", {}),
]


@hookimpl
def mfbench_selectors():
    return specs_of(__name__, BANK, "selector")


@hookimpl
def mfbench_classifiers():
    return specs_of(__name__, BANK, "classifier")
