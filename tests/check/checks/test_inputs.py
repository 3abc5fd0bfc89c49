import numpy as np
from correct_methods import MeanGap
from opening import failure, opened

from mfbench_check.subjects import Opened


class MakesItsInputReadOnly(MeanGap):
    def fit(self, X, y):
        super().fit(X, y)
        X.flags.writeable = False
        return self


class CopiesReadOnlyArraysBadly(MeanGap):
    def fit(self, X, y):
        return super().fit(X if X.flags.writeable else np.array(X) + 1e-3 * X**2, y)


def test_changed_values_are_counted_and_the_array_is_named():
    error = failure("inputs-unchanged", opened("broken_determinism", "scales-test-rows-in-place", "classifier"))
    assert error.seen == "1200 values of X of predict changed"


def test_an_array_that_can_no_longer_be_written_has_changed(monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: MakesItsInputReadOnly())
    assert (
        failure("inputs-unchanged", opened("correct_methods", "mean-gap", "selector")).seen == "X has other properties"
    )


def test_another_result_for_read_only_arrays_is_a_failure(monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: CopiesReadOnlyArraysBadly())
    error = failure("read-only", opened("correct_methods", "mean-gap", "selector"))
    assert error.seen.startswith("weights differ by up to ")
