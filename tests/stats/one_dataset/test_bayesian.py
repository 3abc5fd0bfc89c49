"""The Bayesian correlated t-test: against baycomp, and against the t-test it must agree with."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mfbench.stats.bayesian import Posterior, correlated_t_test
from mfbench.stats.paired import corrected_t_test

SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=5, max_size=20).map(
    lambda pairs: tuple(np.array(pairs).T)
)


def probabilities(found):
    return found.first, found.rope, found.second


class TestCorrelatedT:
    @given(SCORES, st.sampled_from([0.0, 1 / 9, 0.5]))
    def test_without_a_region_it_is_the_one_sided_corrected_test(self, scores, ratio):
        first, second = scores
        assume(np.ptp(first - second) > 1e-6)
        test, found = corrected_t_test(first, second, ratio), correlated_t_test(first, second, ratio, rope=0.0)
        one_sided = test.p_value / 2 if test.difference > 0 else 1 - test.p_value / 2
        assert found.first == pytest.approx(1 - one_sided, abs=1e-7)
        assert probabilities(found)[1] == pytest.approx(0.0, abs=1e-12)
        assert (found.low, found.high) == pytest.approx((test.low, test.high), abs=1e-7)

    @given(SCORES, st.sampled_from([0.0, 0.01, 0.3]))
    def test_probabilities_add_up_and_turn(self, scores, rope):
        first, second = scores
        assume(np.ptp(first - second) > 1e-12)
        one, other = correlated_t_test(first, second, 1 / 9, rope), correlated_t_test(second, first, 1 / 9, rope)
        assert sum(probabilities(one)) == pytest.approx(1.0)
        assert probabilities(one) == pytest.approx(probabilities(other)[::-1], abs=1e-9)
        assert one.verdict() == -other.verdict()

    @pytest.mark.parametrize("rope", [0.0, 0.01, 0.05])
    def test_it_is_baycomps(self, rope):
        baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
        first, second = np.random.default_rng(3).normal(0.8, 0.05, (2, 100)) + np.array([[0.01], [0.0]])
        # It tells of the second minus the first.
        expected = baycomp.two_on_single(second, first, rope=rope, runs=10)
        found = correlated_t_test(first, second, 1 / 9, rope)
        if rope:
            assert probabilities(found)[::-1] == pytest.approx(expected, abs=1e-9)
        else:
            assert (found.second, found.first) == pytest.approx(expected, abs=1e-9)

    def test_without_spread_there_are_no_probabilities(self):
        for rope in [0.0, 0.01]:
            for difference, verdict, reason in [
                (0.1, None, "all differences are equal"),
                (0.005, None, "all differences are equal"),
                (0, 0, "identical scores"),
            ]:
                second = np.array([0.1, 0.5, 0.7, 0.2, 0.3])
                found = correlated_t_test(second + difference, second, 1 / 9, rope)
                assert np.isnan(probabilities(found)).all()
                assert (found.verdict(), found.reason) == (verdict, reason)

    def test_below_five_pairs_there_are_none_either(self):
        found = correlated_t_test([0.1, 0.5, 0.7, 0.9], [0.2, 0.5, 0.6, 0.7], 1 / 9)
        assert np.isnan(found.first) and found.verdict() is None and found.reason == "fewer than 5 pairs"

    def test_one_pair_is_not_enough(self):
        with pytest.raises(ValueError, match="at least two pairs"):
            correlated_t_test([0.5], [0.4], 1 / 9)


def test_verdicts_need_more_than_the_level_allows():
    assert Posterior(0.1, 0.96, 0.04, 0.0).verdict(0.05) == 1
    assert Posterior(0.1, 0.95, 0.05, 0.0).verdict(0.05) == 0
    assert Posterior(-0.1, 0.0, 0.0, 1.0).verdict(0.05) == -1
    assert np.isnan(Posterior(0.1, 0.9, 0.1, 0.0).p_value)
