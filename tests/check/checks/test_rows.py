import numpy as np
import pytest
from correct_methods import NearestMean
from opening import failure, opened
from sklearn.exceptions import NotFittedError

from mfbench_check.subjects import Opened


class NeedsTwoRows(NearestMean):
    def predict(self, X):
        if len(X) < 2:
            raise ValueError("two rows at least")
        return super().predict(X)


class CountsCalls(NearestMean):
    """Right up to the call that predicts the rows a third time as a whole."""

    n_calls = 0

    def predict(self, X):
        self.n_calls += len(X) > 1
        return super().predict(X) if self.n_calls < 3 else np.full(len(X), self.classes_[0])


class ForgetsItsMeans(NearestMean):
    def predict(self, X):
        if not hasattr(self, "means_"):
            raise NotFittedError("gone")
        labels = super().predict(X)
        if len(X) == 1:
            del self.means_
        return labels


@pytest.mark.parametrize(
    ("method", "seen"),
    [
        (NeedsTwoRows, "predicted alone, they raise ValueError: two rows at least"),
        (ForgetsItsMeans, "predicted alone, they raise NotFittedError: gone"),
    ],
)
def test_a_refusal_of_single_rows_is_stated(method, seen, monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: method())
    assert failure("rows-alone", opened("correct_methods", "nearest-mean", "classifier")).seen == seen


def test_a_difference_that_comes_late_is_shown_after_the_calls_before_it(monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: CountsCalls())
    error = failure("rows-alone", opened("correct_methods", "nearest-mean", "classifier"))
    assert error.seen.startswith("predicted again, ")
    assert "method.predict(rows[::-1])[::-1]" in error.snippet.splitlines()[-2]
    assert len(error.snippet.splitlines()) <= 10
