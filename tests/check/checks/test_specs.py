import pytest
from opening import failure, opened, remark

from mfbench_check.checks.building import FITS, _ends
from mfbench_check.display import NotApplicableError


def test_a_misspelt_check_gets_a_suggestion():
    error = failure("spec", opened("broken_contract", "expected-failure-misspelt", "selector"))
    assert "'colums': did you mean 'columns'" in error.seen


def test_a_declared_check_must_apply_to_the_kind_of_the_method():
    error = failure("spec", opened("broken_contract", "expected-failure-of-another-kind", "selector"))
    assert error.seen.startswith("unknown check of a selector 'predictions'")


def test_a_changed_parameter_is_shown_with_both_values():
    error = failure("parameters", opened("broken_contract", "constructor-clips", "selector"))
    assert (error.expected, error.seen) == ("power stays 2.0", "get_params() returns 1.5")


def test_a_value_that_cannot_be_fitted_is_named():
    error = failure("grid", opened("broken_contract", "grid-not-fittable", "selector"))
    assert error.expected == "a fit with power=2.0"
    assert "power must be at most 1" in error.seen


def test_without_a_grid_nothing_is_tuned():
    with pytest.raises(NotApplicableError, match="its spec has no grid"):
        remark("grid", opened("correct_methods", "nearest-mean", "classifier"))


def test_values_are_combined_with_the_first_values_of_other_parameters():
    # lda accepts shrinkage only with the solver of its grid, which is not that of the class.
    assert remark("grid", opened("baselines", "lda", "classifier")) == "5 fits"


def test_long_grids_are_tried_at_their_ends():
    assert _ends(range(FITS)) == range(FITS)
    assert _ends(list(range(100))) == [0, 1, 2, 3, 96, 97, 98, 99]
