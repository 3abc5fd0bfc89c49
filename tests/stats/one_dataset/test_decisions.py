"""Tests of right and wrong decisions: against binomial sums, SciPy, and cases worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mfbench.stats.paired import DecisionTest, mcnemar_test, s_test

COUNTS = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 20))


def decisions(first_only, second_only, both=5):
    """Return right and wrong of two methods with these numbers of rows on which they differ."""
    first = [1] * first_only + [0] * second_only + [1] * both
    second = [0] * first_only + [1] * second_only + [1] * both
    return first, second


def upper_tail(k, n):
    return sum(math.comb(n, j) for j in range(k, n + 1)) / 2**n


class TestSTest:
    def test_twelve_differences_of_which_ten(self):
        for exact in (True, False):
            found = s_test(*decisions(10, 2), exact=exact)
            assert found.p_value == pytest.approx(79 / 4096, rel=1e-12)
            assert found.mark == ">"

    def test_thirteen_differences_of_which_ten(self):
        normal, exact = (s_test(*decisions(10, 3), exact=exact) for exact in (False, True))
        z = (10 - 6.5) / (math.sqrt(13) / 2)
        assert z == pytest.approx(1.941, abs=5e-4)
        assert normal.p_value == pytest.approx(stats.norm.sf(z), rel=1e-12)
        assert normal.p_value == pytest.approx(0.0261, abs=5e-5)
        assert exact.p_value == pytest.approx(0.0461, abs=5e-5)
        assert (normal.mark, exact.mark) == (">", ">")

    @given(COUNTS)
    def test_the_exact_form_is_the_binomial_sum(self, counts):
        a, b, both = counts
        found = s_test(*decisions(a, b, both))
        n, k = a + b, max(a, b)
        assert found.p_value == pytest.approx(1.0 if a == b else upper_tail(k, n), rel=1e-9)
        assert (found.first_only, found.second_only, found.n_rows) == (a, b, a + b + both)
        assert found.difference == pytest.approx((a - b) / max(1, a + b + both))

    @given(COUNTS, st.booleans())
    def test_exchanging_the_methods_turns_the_mark(self, counts, exact):
        first, second = decisions(*counts)
        one, other = s_test(first, second, exact=exact), s_test(second, first, exact=exact)
        assert one.mark == other.mark.translate(str.maketrans("<>", "><"))
        assert one.p_value == other.p_value
        assert one.verdict() == -other.verdict()
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)

    def test_marks_change_at_the_levels(self):
        for p_value, mark in [(0.0, ">>"), (0.01, ">>"), (0.0101, ">"), (0.05, ">"), (0.0501, "="), (0.5, "=")]:
            assert DecisionTest(5, 1, 10, p_value, 0.0, 0.0).mark == mark
            assert DecisionTest(1, 5, 10, p_value, 0.0, 0.0).mark == mark.replace(">", "<")

    @pytest.mark.parametrize("same", [([1, 0], [1, 0]), ([], []), ([1, 0], [0, 1])])
    def test_no_difference_is_a_tie(self, same):
        found = s_test(*same)
        assert (found.mark, found.p_value, found.verdict()) == ("=", 1.0, 0)

    def test_the_normal_form_exceeds_its_level(self):
        """At 17 rows that differ its one-sided size at 0.05 is 0.072, at 18 it is 0.0154 at 0.01."""
        for n, level, size in ((17, 0.05, 0.072), (18, 0.01, 0.0154)):
            rejected = [
                k for k in range(n // 2 + 1, n + 1) if s_test(*decisions(k, n - k), exact=False).p_value <= level
            ]
            assert upper_tail(min(rejected), n) == pytest.approx(size, abs=5e-4)
            exact = [k for k in range(n // 2 + 1, n + 1) if s_test(*decisions(k, n - k)).p_value <= level]
            assert upper_tail(min(exact), n) <= level


class TestMcNemar:
    @given(COUNTS)
    def test_it_is_scipys_two_sided_binomial_test(self, counts):
        a, b, both = counts
        found = mcnemar_test(*decisions(a, b, both))
        expected = stats.binomtest(a, a + b).pvalue if a + b else 1.0
        assert found.p_value == pytest.approx(expected, rel=1e-9)

    @given(COUNTS, st.sampled_from([0.01, 0.05, 0.2]))
    def test_the_interval_is_scipys_exact_one_of_the_share(self, counts, alpha):
        a, b, both = counts
        found = mcnemar_test(*decisions(a, b, both), alpha=alpha)
        n, rows = a + b, a + b + both
        if not n:
            assert (found.low, found.high) == (0.0, 0.0)
            return
        share = stats.binomtest(a, n).proportion_ci(1 - alpha, method="exact")
        expected = [(2 * end - 1) * n / rows for end in (share.low, share.high)]
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)
        assert found.low <= found.difference <= found.high

    def test_arrays_must_match(self):
        for test in (s_test, mcnemar_test):
            with pytest.raises(ValueError, match="equal length"):
                test([1, 0], [1])
            with pytest.raises(ValueError, match="equal length"):
                test(np.ones((2, 2)), np.ones((2, 2)))
