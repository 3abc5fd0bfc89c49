"""An estimator that writes down what it is given, and a trial made of it."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.host.expressions import parse
from mfbench.model.trials import Trial
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.protocols import derive_seed
from mfbench_protocols.splits import RepeatedCV

N = 36
NAN = np.nan


class Spy(ClassifierMixin, BaseEstimator):
    """Selector and classifier in one; writes down what it is given in a log that `maker` hangs on it."""

    def __init__(self, a=0, b=0, random_state=None, weights=None, raises=None):
        self.a, self.b, self.random_state, self.weights, self.raises = a, b, random_state, weights, raises

    def fit(self, X, y):
        self.events.append(SimpleNamespace(what="fit", kind=self.kind, X=X.copy(), y=y.copy(), by=self))
        if self.raises:
            raise self.raises
        self.X_, self.y_ = X.copy(), y.copy()
        self.classes_ = np.unique(y)
        self.feature_importances_ = np.ones(X.shape[1]) if self.weights is None else np.array(self.weights, float)
        return self

    def predict(self, X):
        self.events.append(SimpleNamespace(what="predict", kind=self.kind, X=X.copy(), by=self))
        distances = ((X[:, None] - self.X_[None]) ** 2).sum(axis=2)
        return self.y_[distances.argmin(axis=1)]


class Log(list):
    def fits(self, kind):
        return [event for event in self if event.what == "fit" and event.kind == kind]

    def predictions(self):
        return [event for event in self if event.what == "predict"]


def maker(log, factory=Spy):
    def make(expression, kind, **overrides):
        estimator = factory(**{**expression.params, **overrides})
        estimator.events, estimator.kind = log, kind
        return estimator

    return make


def method(selector="spy", classifier="spy", top="all", grid=(), raw=False, label="m", weights=None):
    step = None if selector is None else Step(parse(selector), "selector", raw)
    top = "all" if step is None else top
    return ResolvedMethod(label, step, Step(parse(classifier), "classifier"), top, tuple(grid), weights=weights)


def trial(repeat=0, fold=0, label="m"):
    return Trial("key", "d", label, repeat, fold, derive_seed(0, "d", label, repeat, fold))


def numbers():
    """The identity of a row, a column of ones, noise with some information about the class."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return np.column_stack([np.arange(N), np.ones(N), rng.normal(size=N) + y]), y


def mixed():
    """A number, a category of three, a category of two, all with holes."""
    rng = np.random.default_rng(1)
    y = np.arange(N) % 2
    X = np.column_stack([rng.normal(size=N) * 5 + y, rng.integers(0, 3, N), rng.integers(0, 2, N)]).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    return X, y


def fold_of(data=None, *, repeat=0, fold=0, scale="none", categorical=None, inner_folds=3):
    X, y = data or numbers()
    mask = np.zeros(X.shape[1], bool) if categorical is None else np.array(categorical)
    # The folds of the unchanged labels, as the runner makes them.
    train, test = RepeatedCV(4, 2, 0).splits("d", np.arange(N) % 2, repeat)[fold]
    seed = derive_seed(0, "d", repeat, fold)
    return Fold(X, y, Columns(mask, missing=bool(np.isnan(X).any())), train, test, scale, inner_folds, seed)


def run(fold=None, how=None, *, log=None, metrics=("accuracy",), factory=Spy, at=None):
    log = Log() if log is None else log
    result = run_trial(at or trial(), how or method(), fold or fold_of(), metrics_of(*metrics), maker(log, factory))
    return result, log


TUNED = method(
    selector="spy",
    classifier="spy",
    grid=(("selector", "a", (1, 2)), ("classifier", "b", (1, 2)), ("top", "top", ("all", 2, "all-weighted"))),
)


def ids(X):
    return frozenset(round(value) for value in X[:, 0])


class Scripted(Spy):
    """Predicts rightly if ``b`` says so."""

    def predict(self, X):
        truth = X[:, 0].round().astype(int) % 2
        return truth if self.b in (2, 3) else 1 - truth
