import pytest
from opening import failure, opened, remark

from mfbench_check.display import NotApplicableError

SYMMETRIES = ["columns", "rows", "labels"]


def test_classifiers_of_scikit_learn_have_these_symmetries():
    for name in ["knn", "decision-tree", "naive-bayes", "dummy", "rbf-network"]:
        assert [check for check in SYMMETRIES if failure(check, opened("baselines", name, "classifier"))] == []


def test_a_method_that_ignores_the_data_depends_on_its_seed_alone():
    # Its weights change completely when columns are permuted, and as much from seed to seed.
    assert [check for check in SYMMETRIES if failure(check, opened("baselines", "random", "selector"))] == []


def test_a_preference_is_seen_through_the_noise_of_seeds():
    error = failure("columns", opened("broken_symmetry", "noisy-preference", "selector"))
    assert "on average over seeds; seeds alone change them by at most" in error.seen


def test_a_method_without_noise_is_judged_by_one_pair_of_fits():
    error = failure("columns", opened("broken_symmetry", "prefers-the-first-column", "selector"))
    assert error.seen.endswith("% of the largest weight")


def test_a_regression_may_depend_on_the_codes_of_its_classes():
    assert failure("labels", opened("baselines", "lasso-cv", "selector")) is None


def test_weights_of_another_scale_are_the_same_for_repeated_rows():
    # Twice the rows double the F statistics, up to degrees of freedom.
    assert failure("duplicates", opened("baselines", "anova-f", "selector")) is None


def test_neighbours_may_be_twins_as_long_as_the_ranking_stays():
    assert failure("duplicates", opened("margin", "relief", "selector")) is None


def test_invariance_is_checked_only_if_it_is_declared():
    with pytest.raises(NotApplicableError, match="declares no invariance"):
        remark("invariance", opened("broken_contract", "summary-empty", "selector"))
