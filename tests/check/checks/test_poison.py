import numpy as np
import pytest
from correct_methods import NearestMean
from opening import opened, remark

from mfbench.data.prepare import Encoder
from mfbench.run.trial.folds import Encoded, Fold
from mfbench.run.trial.steps import LearnerInput
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened


class RefusesHugeRows(NearestMean):
    def predict(self, X):
        if np.abs(X).max() > 1e50:
            raise ValueError("too large")
        return super().predict(X)


def test_a_classifier_may_refuse_poisoned_rows(monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: RefusesHugeRows())
    assert remark("poison", opened("correct_methods", "nearest-mean", "classifier")) is None


def test_a_view_of_all_rows_is_reported(monkeypatch):
    """The host hands out copies; this one does not."""

    def with_views(train, test, groups):
        rows = np.vstack([train, test])
        return LearnerInput(rows[: len(train)], rows[len(train) :], groups)

    monkeypatch.setattr("mfbench.run.trial.steps.LearnerInput", with_views)
    with pytest.raises(CheckFailedError, match="a view of an array with more rows"):
        remark("rows-in-fit", opened("correct_methods", "nearest-mean", "classifier"))


def test_a_host_that_scales_with_all_rows_is_reported(monkeypatch):
    def encoded(fold):
        encoder = Encoder(fold.columns, fold.scale).fit(fold.X)
        train = encoder.transform(fold.raw_train)
        return Encoded(train, train[:0], encoder).tested_on(fold.X[fold.test])

    monkeypatch.setattr(Fold, "encoded", property(encoded))
    with pytest.raises(CheckFailedError, match="they differ after all test rows became 1e100"):
        remark("poison", opened("correct_methods", "nearest-mean", "classifier"))
