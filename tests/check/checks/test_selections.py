import pytest
from opening import failure, opened, remark

from mfbench_check.display import NotApplicableError


@pytest.mark.parametrize("name", ["anova-f", "mrmr"])
def test_a_selector_with_a_number_of_features_is_checked_for_every_number(name):
    assert remark("top-k", opened("baselines", name, "selector")) == "6 values of n_features_to_select"


def test_the_number_of_features_of_a_split_is_not_that_of_a_selection():
    # HierNet keeps at most max_features; a few features fewer are not a mistake.
    with pytest.raises(NotApplicableError, match="no parameter for the number of selected features"):
        remark("top-k", opened("baselines", "hiernet", "selector"))


def test_a_selector_without_a_path_is_not_asked_for_one():
    with pytest.raises(NotApplicableError, match="no path"):
        remark("path", opened("correct_methods", "mean-gap", "selector"))


def test_a_path_that_ignores_its_value_is_caught_at_the_first_value_where_it_shows():
    error = failure("path", opened("broken_contract", "path-without-power", "selector"))
    assert error.expected == "weights_at(1.0) returns the importances of a fit with power=1.0"


def test_a_support_of_indices_is_described():
    error = failure("support", opened("broken_contract", "support-as-indices", "selector"))
    assert error.seen == "an array of shape (6,) and type int64"
