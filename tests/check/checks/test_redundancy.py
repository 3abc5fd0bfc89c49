import numpy as np
from opening import failure, opened

from mfbench_check.checks.selectors import _is_least


def test_a_constant_gets_the_smallest_weight_or_zero_but_not_the_largest():
    for constant, others, is_least in [
        (0.0, [0.0, 1.0], True),
        (0.0, [-1.0, 1.0], True),  # negative weights are those of features that do harm
        (0.0, [-1.0, -2.0], False),
        (-3.0, [-1.0, -2.0], True),
        (0.5, [0.0, 1.0], False),
        (np.nan, [0.0, 1.0], False),
    ]:
        assert _is_least(constant, np.array(others)) is is_least


def test_random_weights_fail_with_one_of_four_seeds():
    assert failure("constant-column", opened("baselines", "random", "selector"))


def test_a_forest_shares_its_weight_among_equal_columns():
    assert failure("equal-columns", opened("baselines", "random-forest", "selector")) is None


def test_both_weights_of_equal_columns_are_shown():
    error = failure("equal-columns", opened("broken_symmetry", "first-of-equal-columns", "selector"))
    assert error.seen.endswith("its copy 0")
