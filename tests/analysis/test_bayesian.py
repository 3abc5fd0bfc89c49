"""Bayesian comparisons: against baycomp, against the t-test they must agree with, and against a plain simulation."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mfbench.analysis.bayesian import Posterior, correlated_t_test, signed_rank_test
from mfbench.analysis.paired import corrected_t_test

SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20).map(
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

    @pytest.mark.parametrize(
        ("difference", "rope", "expected"),
        [(0.1, 0.01, (1, 0, 0)), (-0.1, 0.01, (0, 0, 1)), (0.005, 0.01, (0, 1, 0)), (0.0, 0.0, (0.5, 0, 0.5))],
    )
    def test_without_spread_the_difference_is_certain(self, difference, rope, expected):
        second = np.array([0.1, 0.5, 0.7])
        assert probabilities(correlated_t_test(second + difference, second, 1 / 9, rope)) == expected

    def test_one_pair_is_not_enough(self):
        with pytest.raises(ValueError, match="at least two pairs"):
            correlated_t_test([0.5], [0.4], 1 / 9)


class TestSignedRank:
    @staticmethod
    def plain(differences, rope, draws, seed):
        """Draw the weights one by one and sum over all pairs, as the formula is written."""
        rng = np.random.default_rng(seed)
        z = np.concatenate([[0.0], differences])
        counts = np.zeros(3)
        for _ in range(draws):
            w = rng.dirichlet([0.5, *np.ones(len(differences))])
            shares = np.zeros(3)
            for i in range(len(z)):
                for j in range(len(z)):
                    shares[0 if z[i] + z[j] > 2 * rope else 2 if z[i] + z[j] < -2 * rope else 1] += w[i] * w[j]
            counts[np.argmax(shares)] += 1
        return counts / draws

    def test_it_is_the_formula(self):
        differences = np.array([0.031, -0.012, 0.007, 0.023, -0.004])
        found = signed_rank_test(differences, np.zeros(5), 0.01, seed=1)
        # Two standard errors of the plain simulation are 0.022 at most.
        assert probabilities(found) == pytest.approx(self.plain(differences, 0.01, 2000, 2), abs=0.03)

    @pytest.mark.parametrize("rope", [0.0, 0.01, 0.03])
    def test_it_is_baycomps(self, rope):
        baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
        first, second = np.random.default_rng(4).normal(0.8, 0.03, (2, 20)) + np.array([[0.01], [0.0]])
        expected = baycomp.SignedRankTest.probs(second, first, rope=rope, random_state=0, nsamples=20_000)
        found = signed_rank_test(first, second, rope)
        ours = probabilities(found)[::-1] if rope else (found.second, found.first)
        assert ours == pytest.approx(expected, abs=0.012)

    @settings(max_examples=20, deadline=None)
    @given(
        st.lists(st.sampled_from([-0.03, -0.01, 0.0, 0.01, 0.02]), min_size=1, max_size=8), st.sampled_from([0.0, 0.01])
    )
    def test_exchanging_turns_the_probabilities_exactly(self, differences, rope):
        zero = np.zeros(len(differences))
        one = signed_rank_test(differences, zero, rope, samples=2000)
        other = signed_rank_test(zero, differences, rope, samples=2000)
        assert probabilities(one) == pytest.approx(probabilities(other)[::-1], abs=1e-12)
        assert sum(probabilities(one)) == pytest.approx(1.0)

    def test_a_seed_is_a_result(self):
        a, b = np.random.default_rng(0).normal(size=(2, 12))
        assert signed_rank_test(a, b, seed=5) == signed_rank_test(a, b, seed=5)

    def test_no_difference_is_practical_equality(self):
        assert probabilities(signed_rank_test([0.5] * 6, [0.5] * 6, 0.01, samples=500)) == (0.0, 1.0, 0.0)


def test_verdicts_need_more_than_the_level_allows():
    assert Posterior(0.1, 0.96, 0.04, 0.0).verdict(0.05) == 1
    assert Posterior(0.1, 0.95, 0.05, 0.0).verdict(0.05) == 0
    assert Posterior(-0.1, 0.0, 0.0, 1.0).verdict(0.05) == -1
    assert np.isnan(Posterior(0.1, 0.9, 0.1, 0.0).p_value)
