"""Sample weights reach fits and scores that accept them; integer weights equal repeated rows."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from spies import Log, Spy, fold_of, method, numbers, run, trial
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.errors import DataError
from mfbench.host.adapter import Adapted, FunctionSelector
from mfbench.host.expressions import parse
from mfbench.host.factories import accepts_weights
from mfbench.model.evaluation import MetricSpec
from mfbench.model.trials import Predictions, Status
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold
from mfbench.run.trial.metrics import Metric, evaluate
from mfbench.suite.methods import ResolvedMethod, Step


class Weighted(Spy):
    """Accepts weights, and writes them down."""

    def fit(self, X, y, sample_weight="absent"):
        super().fit(X, y)
        self.events[-1].weights = sample_weight
        return self


def weighted_fold(weights, data=None):
    fold = fold_of(data)
    arguments = (fold.X, fold.y, fold.columns, fold.train, fold.test, "none", 3, fold.seed)
    return Fold(*arguments, weights=weights)


TUNED = method(grid=(("selector", "a", (1, 2)), ("classifier", "b", (1, 2))))


def test_every_fit_gets_the_weights_of_its_rows():
    weights = np.arange(36) / 7 + 1
    result, log = run(weighted_fold(weights), TUNED, factory=Weighted)
    assert result.status is Status.OK
    fits = [event for event in log if event.what == "fit"]
    assert {event.kind for event in fits} == {"selector", "classifier"}
    assert len({len(event.X) for event in fits}) > 1, "inner folds too"
    for event in fits:
        rows = event.X[:, 0].round().astype(int)  # their numbers
        np.testing.assert_array_equal(event.weights, weights[rows])


def test_a_fit_that_takes_no_weights_gets_none_and_neither_does_one_of_a_dataset_without():
    assert run(weighted_fold(np.ones(36)), TUNED)[0].status is Status.OK
    _, log = run(fold_of(), TUNED, factory=Weighted)
    assert {event.weights for event in log if event.what == "fit"} == {"absent"}


def test_an_adapter_passes_them_on():
    def scores(X, y, sample_weight=None):
        return np.zeros(X.shape[1]) if sample_weight is None else sample_weight @ X

    def plain(X, y):
        return np.ones(X.shape[1])

    X, y = numbers()
    adapted = Adapted(FunctionSelector(scores, {}))
    assert accepts_weights(adapted)
    np.testing.assert_allclose(adapted.fit(X, y, sample_weight=y + 1.0).feature_importances_, (y + 1.0) @ X)
    assert not accepts_weights(Adapted(FunctionSelector(plain, {})))
    spy = Weighted()
    spy.events, spy.kind = Log(), "selector"
    assert accepts_weights(Adapted(spy))
    assert not accepts_weights(Adapted(Spy()))


@pytest.mark.parametrize("how", ["multi-class", "one-vs-rest"])
@pytest.mark.parametrize("classifier", [GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_integer_weights_are_repeated_rows(how, classifier):
    rng = np.random.default_rng(3)
    n = 90
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + y[:, None] * [1.0, 0.5, 0.0]
    weights = rng.integers(0, 4, n).astype(float)
    weights[:6] = 1
    times = np.repeat(np.arange(n), weights.astype(int))
    train, test = np.arange(n)[:60], np.arange(n)[60:]
    repeated = np.flatnonzero(times < 60), np.flatnonzero(times >= 60)
    one = ResolvedMethod("m", None, Step(parse("any"), "classifier"), "all")
    names = ("accuracy", "balanced_accuracy", "log_loss", "roc_auc", "one_vs_rest_accuracy")
    scores = []
    for fold in (
        Fold(X, y, Columns(np.zeros(3, bool)), train, test, "none", 3, 1, weights=weights),
        Fold(X[times], y[times], Columns(np.zeros(3, bool)), *repeated, "none", 3, 1),
    ):
        result = run_trial(trial(), one, fold, metrics_of(*names), lambda *_: clone(classifier), decisions=how)
        assert result.status is Status.OK, result.error_message
        scores.append(result.scores)
    assert scores[0] == pytest.approx(scores[1], abs=1e-4, nan_ok=True)


def test_a_part_whose_rows_all_have_the_weight_zero():
    fold = fold_of()
    for rows in (fold.train, fold.test):
        weights = np.ones(36)
        weights[rows] = 0
        with pytest.raises(DataError, match="all rows of a training or test part have the weight 0"):
            weighted_fold(weights)


def test_a_metric_of_ones_own_gets_them_by_its_signature():
    y = np.array([0, 1, 0])
    p = Predictions(y, y.copy(), None, np.arange(2), False, sample_weight=np.array([2.0, 0.0, 1.0]))

    def count(y_true, y_pred, sample_weight=None):
        return -1.0 if sample_weight is None else float(sample_weight.sum())

    def rows(y_true, y_pred):
        return float(len(y_true))

    def seen(predictions):
        return float(predictions.sample_weight.sum())

    metrics = [
        Metric(f.__name__, MetricSpec(name=f.__name__, summary="", function=f, needs=needs, percent=False), f)
        for f, needs in ((count, "labels"), (rows, "labels"), (seen, "predictions"))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(p, metrics) == {"count": 3.0, "rows": 2.0, "seen": 3.0}, "a row of weight 0 is not scored"
