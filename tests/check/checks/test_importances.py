import pytest
from opening import failure, opened


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("list-of-weights", "a list"),
        ("ranks-as-integers", "an array of shape (6,) and type int64"),
        ("row-of-weights", "an array of shape (1, 6) and type float64"),
    ],
)
def test_what_the_importances_are_instead_is_stated(name, seen):
    assert failure("importances-array", opened("broken_contract", name, "selector")).seen == seen


def test_the_first_weight_that_is_not_finite_is_named():
    error = failure("importances-finite", opened("broken_contract", "nan-weights", "selector"))
    assert error.seen == "the weight of feature 5 is nan"


def test_numbers_of_weights_and_features_are_compared():
    error = failure("importances-length", opened("broken_contract", "one-weight-short", "selector"))
    assert (error.expected, error.seen) == ("6 weights for 6 features", "5 weights")
