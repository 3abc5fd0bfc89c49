"""The level of a rule is the one measured in the resampling design nearest to the protocol."""

from mfbench.stats.rules import BEST, level_held


def test_levels_are_told_for_the_design_they_were_measured_in():
    assert level_held("paired-t", "folds", 10).low == 0.555
    assert level_held("paired-t", "folds", 1).high == 0.138
    assert level_held("corrected-t", "thirds", 10).high == 0.007
    assert level_held("sign", "folds", 1) is None
    pooled = [level_held(rule, "folds", 1) for rule in ("s-test", "s-test-exact")]
    assert [held.design for held in pooled] == ["5 pooled folds"] * 2
    assert pooled[0].high > pooled[1].high > 0.1, "the exact form pools folds too"
    assert level_held("s-test", "splits", 1) is None
    assert level_held("corrected-t", "folds", 10, "numbers") != level_held("corrected-t", "folds", 10)
    assert level_held("corrected-t", "thirds", 10, "numbers") is None


def test_the_level_of_the_best_is_told_for_cross_validation_with_the_corrected_test():
    assert level_held(BEST, "folds", 1).design == "10 folds"
    assert level_held(BEST, "folds", 3).high <= 0.05
    assert level_held(BEST, "thirds", 10) is None
    assert level_held(BEST, "folds", 10, "numbers") is None


def test_a_design_that_nobody_measured_has_no_level():
    for rule in (BEST, "corrected-t", "paired-t", "s-test"):
        assert level_held(rule, "", 10) is level_held(rule, "", 1) is None
