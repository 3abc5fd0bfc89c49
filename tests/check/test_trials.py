"""A method run as in a benchmark: what its fits receive, and what the trial returns."""

import numpy as np
import pytest
from correct_methods import MeanGap, NearestMean
from sklearn.base import clone

from mfbench.model.trials import Status
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Spy, make_fold, run_on, sample, succeeded

X, Y = sample()


class Refuses(NearestMean):
    def fit(self, X, y):
        raise ValueError("no")


def test_the_fits_of_a_selector_and_its_classifier_are_recorded():
    seen = run_on(make_fold(X, Y, 40, "none"), MeanGap(), top=2)
    assert [(fit.step, fit.X.shape) for fit in seen.inputs] == [("selector", (40, 6)), ("classifier", (40, 2))]
    assert np.array_equal(seen.inputs[0].X, X[:40])
    assert np.array_equal(seen.inputs[1].X, X[:40][:, seen.result.selected])


def test_selectors_of_another_name_are_fitted_again():
    fold = make_fold(X, Y, 40)
    n_fits = [len(run_on(fold, MeanGap(), name=name).inputs) for name in ("first", "first", "second")]
    assert n_fits == [2, 1, 2]


def test_clean_rows_are_predicted_by_the_checked_classifier_alone():
    fold = make_fold(X, Y, 40)
    assert [labels.shape for labels in run_on(fold, NearestMean(), "classifier", clean=X[:7]).clean] == [(7,)]
    assert run_on(fold, MeanGap(), clean=X[:7]).clean == []


def test_a_trial_that_fails_is_a_failure_of_the_check():
    seen = run_on(make_fold(X, Y, 40), Refuses(), "classifier")
    assert seen.result.status is Status.ERROR
    with pytest.raises(CheckFailedError, match="it failed with ValueError: no"):
        succeeded(seen)


def test_a_spy_leaves_the_inner_estimator_as_it_is():
    inner = MeanGap(power=2.0)
    spy = Spy(inner, lambda X, y: None)
    assert spy.get_params() == clone(inner).get_params()
    assert np.array_equal(spy.fit(X, Y).feature_importances_, inner.feature_importances_)
    assert "fit" not in vars(inner)
