import numpy as np
import pytest
from opening import failure, opened, remark
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from mfbench_check.checks.fitting import is_clear
from mfbench_check.subjects import Opened


def test_a_method_that_hangs_is_stopped(verdicts_of):
    (verdict,) = verdicts_of("broken_edges", "hangs-on-many-classes", "selector", only=["many-classes"], seconds=1.0)
    assert verdict.seen == "it took longer than 1 s and was stopped"


def test_the_signal_that_ends_a_process_is_named(verdicts_of):
    only = ["more-features-than-rows"]
    (verdict,) = verdicts_of("broken_edges", "dies-of-many-features", "selector", only=only)
    assert "SIGSEGV" in verdict.seen


def test_a_clear_error_is_a_sentence_about_the_table():
    for error, clear in [
        (ValueError("class 2 has a single row: leave it out"), True),
        (ValueError("Input X contains NaN.\nNearestMean does not accept missing values"), True),
        (ValueError(""), False),
        (ValueError("operands could not be broadcast together with shapes (3,) (2,)"), False),
        (ValueError("zero-size array to reduction operation maximum which has no identity"), False),
        (np.linalg.LinAlgError("Singular matrix"), False),
        (IndexError("index 1 is out of bounds for axis 0 with size 1"), False),
        (RuntimeError("class 2 has a single row"), False),
    ]:
        assert is_clear(error) is clear


def test_the_message_of_an_unclear_error_is_shown():
    error = failure("one-row-of-a-class", opened("broken_edges", "splits-each-class", "classifier"))
    assert error.seen.startswith("it raised ValueError: zero-size array")


@pytest.mark.parametrize("method", [LogisticRegression, HistGradientBoostingClassifier])
def test_missing_values_are_refused_or_treated_according_to_the_tags(method, monkeypatch):
    monkeypatch.setattr(Opened, "make", lambda self: method())
    assert remark("missing-values", opened("correct_methods", "nearest-mean", "classifier")) is None
