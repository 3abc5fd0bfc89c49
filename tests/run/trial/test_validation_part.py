"""Tuning on a validation part: who sees which rows, and that what was fitted while tuning is what is tested."""

import numpy as np
import pytest
from spies import TUNED, Log, N, Spy, ids, method, numbers, run, trial
from toy_metrics import metrics_of

from mfbench.data.prepare import Columns
from mfbench.model.trials import Status
from mfbench.run.trial.curve import run_trial
from mfbench.run.trial.folds import Fold


def fold_of(*, refit, data=None, scale="none"):
    X, y = data or numbers()
    rows = np.random.default_rng(3).permutation(N)
    learn, validation, test = np.sort(rows[:14]), np.sort(rows[14:24]), np.sort(rows[24:])
    train = np.sort(rows[:24]) if refit else learn
    columns = Columns(np.zeros(X.shape[1], bool))
    return Fold(X, y, columns, train, test, scale, 0, 5, (), (learn, validation))


class Best(Spy):
    """Right about the rows of one parity of ``b`` alone."""

    def predict(self, X):
        self.events.append(None)
        truth = X[:, 0].round().astype(int) % 2
        return truth if self.b == 2 else 1 - truth


@pytest.mark.parametrize("refit", [False, True])
def test_learning_rows_fit_validation_rows_choose_and_test_rows_do_neither(refit):
    fold = fold_of(refit=refit)
    learn, validation = (frozenset(rows.tolist()) for rows in fold.tuning)
    _, log = run(fold, TUNED)
    fits = {(event.kind, ids(event.X)) for event in log if event.what == "fit"}
    expected = {learn, frozenset(fold.train.tolist())}
    assert fits == {(kind, rows) for kind in ("selector", "classifier") for rows in expected}
    asked = [ids(event.X) for event in log.predictions()]
    assert asked[-1] == frozenset(fold.test.tolist())
    assert set(asked[:-1]) == {validation}


def test_without_refitting_no_fit_is_made_after_the_choice():
    """One fit for each of the six different points, one prediction of validation rows each, one of test rows."""
    fold = fold_of(refit=False)
    result, log = run(fold, TUNED)
    assert len(log.fits("selector")) == 2
    assert len(log.fits("classifier")) == len(log.predictions()) - 1 == 6
    assert result.fit_wall > 0
    assert result.tune_wall + result.select_wall + result.fit_wall + result.predict_wall <= result.duration


def test_the_classifier_tested_is_the_one_chosen():
    fold = fold_of(refit=False)
    result, _ = run(fold, method(None, grid=(("classifier", "b", (1, 2, 3)),)), factory=Best)
    assert result.chosen == {"classifier.b": 2}
    assert result.scores == {"accuracy": 1.0}


@pytest.mark.parametrize("refit", [False, True])
def test_scaling_is_learned_from_the_rows_of_the_fit(refit):
    fold = fold_of(refit=refit, scale="standard")
    _, log = run(fold, TUNED)
    for event in log.fits("selector"):
        np.testing.assert_allclose(event.X[:, [0, 2]].mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("refit", [False, True])
def test_neither_test_nor_validation_rows_reach_a_fit_on_learning_rows(refit):
    X, y = numbers()
    clean = fold_of(refit=refit)
    poisoned = X.copy()
    poisoned[clean.test] = 1e6
    if not refit:
        poisoned[clean.tuning[1]] = -1e6
    logs = [run(fold_of(refit=refit, data=(data, y), scale="standard"), TUNED)[1] for data in (X, poisoned)]
    for one, other in zip(*([e for e in log if e.what == "fit"] for log in logs), strict=False):
        assert np.array_equal(one.X, other.X)


def test_a_selector_fit_is_shared_between_trials_with_its_time():
    fold, log = fold_of(refit=False), Log()
    first, _ = run(fold, TUNED, log=log)
    other = fold_of(refit=False)
    other.adopt(fold.export("spy"))
    second, again = run(other, TUNED, at=trial(label="other"))
    assert not again.fits("selector")
    assert first.chosen == second.chosen
    assert first.select_wall == second.select_wall


def test_learning_rows_of_one_class_choose_nothing():
    X, y = numbers()
    fold = fold_of(refit=True)
    y = y.copy()
    y[fold.tuning[0]] = 0
    result, _ = run(fold_of(refit=True, data=(X, y)), method(None, grid=(("classifier", "b", (1, 2)),)))
    assert result.status is Status.OK, result.error_trace
    assert result.chosen == {"classifier.b": 1}


def test_parameters_that_are_tuned_together_are_set_together():
    seen = []

    def make(expression, kind, **overrides):
        seen.append(overrides)
        estimator = Spy(**overrides)
        estimator.events, estimator.kind = Log(), kind
        return estimator

    how = method(None, grid=(("classifier", "a,b", ((1, 1), (2, 2))),))
    result = run_trial(trial(), how, fold_of(refit=False), metrics_of("accuracy"), make)
    assert seen == [{"a": 1, "b": 1}, {"a": 2, "b": 2}]
    assert result.chosen == {"classifier.a": 1, "classifier.b": 1}
