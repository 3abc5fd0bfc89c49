"""The corrected resampled t-test: against SciPy, against a calculation by hand, and against a true null hypothesis."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from mfbench.stats.paired import PairedTest, corrected_t_test, moderated_p_values, paired_t_test, prior_variance
from mfbench_protocols.splits import RepeatedCV

SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=5, max_size=30).map(
    lambda pairs: tuple(np.array(pairs).T)
)
IDENTICAL_SCORES = PairedTest(0.0, 1.0, 0.0, 0.0, reason="identical scores")
RATIOS = st.sampled_from([0.0, 1 / 9, 0.25, 1.0])


@given(SCORES, st.sampled_from([0.01, 0.05, 0.2]))
def test_without_the_correction_it_is_scipys_paired_t_test(scores, alpha):
    first, second = scores
    assume(np.ptp(first - second) > 1e-6)
    oracle = stats.ttest_rel(first, second)
    interval = oracle.confidence_interval(1 - alpha)
    for found in (corrected_t_test(first, second, 0.0, alpha), paired_t_test(first, second, alpha)):
        assert found.difference == pytest.approx(first.mean() - second.mean(), abs=1e-12)
        assert found.p_value == pytest.approx(oracle.pvalue, rel=1e-7, abs=1e-300)
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-7, abs=1e-12)


def test_a_case_by_hand():
    """Differences 1 to 5, ratio 3/10: m = 3, s² = 5/2, t² = 9 / (5/4) = 36/5; with 4 degrees p has a closed form."""
    found = corrected_t_test([1.0, 2.0, 3.0, 4.0, 5.0], [0.0] * 5, ratio=0.3)
    assert found.difference == 3.0
    sine = math.sqrt(7.2 / 11.2)
    assert found.p_value == pytest.approx(1 - sine * (1 + 4 / 11.2 / 2), rel=1e-12)
    half = stats.t.ppf(0.975, 4) * math.sqrt(1.25)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-12)


def test_ten_times_ten_folds_by_the_formula():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.8, 0.05, 100), rng.normal(0.78, 0.05, 100)
    d = first - second
    t = d.mean() / math.sqrt((1 / 100 + 1 / 9) * d.var(ddof=1))
    assert corrected_t_test(first, second, 1 / 9).p_value == pytest.approx(2 * stats.t.sf(abs(t), 99), rel=1e-12)


@given(SCORES, RATIOS)
def test_exchanging_the_methods_turns_the_sign(scores, ratio):
    first, second = scores
    assume(np.ptp(first - second) > 1e-12)
    one, other = corrected_t_test(first, second, ratio), corrected_t_test(second, first, ratio)
    assert one.difference == -other.difference
    assert one.p_value == other.p_value
    assert (one.low, one.high) == (-other.high, -other.low)
    assert one.verdict() == -other.verdict()


@given(SCORES, RATIOS)
def test_a_method_against_itself_is_a_tie(scores, ratio):
    found = corrected_t_test(scores[0], scores[0], ratio)
    assert repr(found) == repr(IDENTICAL_SCORES)  # NaN equals itself in a text
    assert found.verdict() == 0


@given(SCORES)
def test_the_correction_only_makes_it_more_careful(scores):
    first, second = scores
    assume(np.ptp(first - second) > 1e-12)
    plain, corrected = corrected_t_test(first, second, 0.0), corrected_t_test(first, second, 1 / 9)
    assert corrected.p_value >= plain.p_value
    assert corrected.low <= plain.low <= plain.high <= corrected.high
    assert corrected.detectable > plain.detectable


@given(SCORES, RATIOS)
def test_the_interval_and_the_p_value_agree(scores, ratio):
    first, second = scores
    assume(np.ptp(first - second) > 1e-6)
    found = corrected_t_test(first, second, ratio, alpha=0.05)
    assume(abs(found.p_value - 0.05) > 1e-9)
    assert (found.p_value < 0.05) == (not found.low <= 0.0 <= found.high)


class TestNoVerdict:
    def test_equal_differences_that_are_not_zero_have_no_spread_to_test_them_with(self):
        for difference in [0.1, -0.1, 1e-9]:
            for ratio in [0.0, 1 / 9]:
                second = np.array([0.1, 0.5, 0.7, 0.6, 0.2])
                found = corrected_t_test(second + difference, second, ratio)
                assert found.difference == pytest.approx(difference)
                assert np.isnan([found.p_value, found.low, found.high, found.detectable]).all()
                assert found.verdict() is None
                assert found.reason == "all differences are equal"

    def test_three_splits_that_each_lead_by_one_row(self):
        found = corrected_t_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], 0.5)
        assert np.isnan(found.p_value) and found.verdict() is None

    @pytest.mark.parametrize("pairs", [2, 3, 4])
    def test_fewer_than_five_pairs(self, pairs):
        first, second = np.random.default_rng(0).random((2, pairs))
        found = corrected_t_test(first, second, 1 / 9)
        assert found.verdict() is None and found.reason == "fewer than 5 pairs"
        assert corrected_t_test(first, first, 1 / 9).verdict() is None

    def test_rounding_is_no_difference(self):
        first = np.array([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3])
        second = np.array([0.3, 0.1 + 0.2, 0.3, 0.3, 0.3])
        assert repr(corrected_t_test(first, second, 1 / 9)) == repr(IDENTICAL_SCORES)

    def test_rounding_is_no_spread(self):
        second = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
        assert corrected_t_test(second + 0.1, second, 1 / 9).reason == "all differences are equal"


class TestVerdict:
    def test_a_p_value_at_the_level_is_a_tie(self):
        for p_value, difference, expected in [
            (0.049, 0.1, 1),
            (0.049, -0.1, -1),
            (0.05, 0.1, 0),
            (0.051, -0.1, 0),
            (1.0, 0.0, 0),
            (0.0, 0.2, 1),
        ]:
            assert PairedTest(difference, p_value, 0.0, 0.0).verdict(0.05) == expected

    def test_the_level_is_the_callers(self):
        assert PairedTest(0.1, 0.03, 0.0, 0.0).verdict(0.01) == 0
        assert PairedTest(0.1, 0.03, 0.0, 0.0).verdict(0.04) == 1


class TestRefusals:
    def test_fewer_than_two_pairs(self):
        for first, second in [([1.0], [2.0]), ([], []), ([1.0, 2.0], [1.0]), ([[1.0, 2.0]], [[1.0, 2.0]]), (1.0, 2.0)]:
            with pytest.raises(ValueError, match="equal length, at least 2"):
                corrected_t_test(first, second, 0.0)

    def test_missing_scores(self):
        for bad in [np.nan, np.inf]:
            for which in [0, 1]:
                scores = [[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]]
                scores[which][1] = bad
                with pytest.raises(ValueError, match="missing or not finite"):
                    corrected_t_test(*scores, 0.0)


@pytest.mark.slow(reason="200 simulated comparisons")
def test_type_one_error_when_nothing_differs():
    """Two views of equal distribution, nearest class means, 10 times 10 folds: the plain test finds what is not."""
    rng = np.random.default_rng(5)
    rejected = {0.0: 0, 1 / 9: 0}
    sets = 200
    for number in range(sets):
        y = np.arange(100) % 2
        views = rng.normal(size=(2, 100, 5)) + 0.5 * y[:, None]
        protocol = RepeatedCV(10, 10, number)
        scores = [
            [centroid_accuracy(X, y, train, test) for X in views]
            for repeat in range(10)
            for train, test in protocol.splits("d", y, repeat)
        ]
        first, second = np.array(scores).T
        for ratio in rejected:
            rejected[ratio] += corrected_t_test(first, second, ratio).p_value < 0.05
    assert protocol.test_train_ratio == 1 / 9
    assert rejected[0.0] / sets > 0.40
    assert rejected[1 / 9] / sets < 0.10


def centroid_accuracy(X, y, train, test):
    means = [X[train[y[train] == code]].mean(axis=0) for code in (0, 1)]
    distances = [((X[test] - mean) ** 2).sum(axis=1) for mean in means]
    return float(((distances[1] < distances[0]) == y[test]).mean())


def moderated(scores, ratio=1 / 9):
    pairs = np.array([(i, j) for i in range(len(scores)) for j in range(i)])
    return pairs, *moderated_p_values(np.asarray(scores), pairs, ratio)


class TestModeratedVariances:
    """All pairs of methods on a dataset have a common prior of their variances."""

    @given(
        st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]), min_size=6, max_size=6), min_size=2, max_size=2)
    )
    def test_one_pair_has_the_corrected_test(self, scores):
        _, (difference,), (p_value,) = moderated(scores)
        test = corrected_t_test(scores[1], scores[0], 1 / 9)
        np.testing.assert_array_equal([difference, p_value], [test.difference, test.p_value])

    def test_the_prior_is_recovered(self):
        rng = np.random.default_rng(0)
        true = 0.04 * 8 / rng.chisquare(8, 20_000)
        df, size = prior_variance(true * rng.chisquare(9, 20_000) / 9, 9)
        assert (df, size) == (pytest.approx(8, rel=0.1), pytest.approx(0.04, rel=0.02))

    def test_equal_variances_are_pooled(self):
        df, size = prior_variance(np.linspace(0.9, 1.1, 20), 9)
        assert np.isinf(df) and size == pytest.approx(1.0, rel=0.15)
        assert prior_variance(np.array([0.1]), 9) == (0.0, 0.0)

    def test_each_variance_moves_towards_the_prior(self):
        scores = np.random.default_rng(2).normal(0.8, [[0.01], [0.03], [0.02], [0.1]], (4, 10))
        pairs, differences, p_values = moderated(scores)
        own = np.array([(scores[i] - scores[j]).var(ddof=1) for i, j in pairs])
        df, size = prior_variance(own, 9)
        error = np.sqrt((1 / 10 + 1 / 9) * (df * size + 9 * own) / (df + 9))
        expected = 2 * stats.t.sf(np.abs(differences) / error, min(df + 9, 3 * 9))
        np.testing.assert_allclose(p_values, expected, rtol=1e-12)

    def test_a_difference_without_a_spread_has_the_variance_of_the_prior(self):
        scores = np.random.default_rng(3).normal(0.8, 0.02, (4, 10))
        scores[3] = scores[0] - 0.05
        pairs, _, p_values = moderated(scores)
        flat = p_values[[tuple(pair) == (3, 0) for pair in pairs]][0]
        assert 0 < flat < 0.05
        scores[3] = scores[0]
        assert moderated(scores)[2][[tuple(pair) == (3, 0) for pair in pairs]][0] == 1.0
        assert np.isnan(moderated(scores[[0, 0]] - [[0], [0.05]])[2][0]), "no other pair tells its variance"
