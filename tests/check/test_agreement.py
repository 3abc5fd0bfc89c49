import numpy as np
import pytest
from opening import opened

from mfbench_check.agreement import SAME_WEIGHTS, difference, disagreement, ranking_distance, weight_distance

BASE = np.array([1.0, 0.5, 0.2])


def noisy(shift, scale):
    """Return an answer whose noise depends on the seed."""

    def answer(random_state=0):
        rng = np.random.default_rng([random_state, int(100 * shift)])
        return BASE + shift + rng.normal(scale=scale, size=3)

    return answer


@pytest.fixture(scope="module")
def subject():
    return opened("correct_methods", "mean-gap", "selector")


def test_equal_answers_agree_after_one_pair(subject):
    calls = []

    def answer(**parameters):
        calls.append(parameters)
        return BASE

    assert difference(subject, answer, answer, weight_distance, SAME_WEIGHTS) is None
    assert calls == [{}, {}]


def test_answers_without_randomness_differ_by_what_they_differ(subject):
    gap = difference(subject, lambda **_: BASE, lambda **_: BASE * [1, 1, 2], weight_distance, SAME_WEIGHTS)
    assert gap.between == pytest.approx(0.2)
    assert gap.within == 0


def test_a_shift_within_the_noise_of_seeds_is_accepted(subject):
    assert difference(subject, noisy(0.0, 0.1), noisy(0.05, 0.1), weight_distance, SAME_WEIGHTS) is None


def test_a_shift_far_beyond_the_noise_of_seeds_is_seen(subject):
    gap = difference(subject, noisy(0.0, 0.02), noisy(0.5, 0.02), weight_distance, SAME_WEIGHTS)
    assert gap.between > 4 * gap.within > 0


def test_answers_with_nan_never_agree(subject):
    assert difference(subject, lambda **_: BASE, lambda **_: BASE * np.nan, weight_distance, SAME_WEIGHTS)
    assert not ranking_distance(BASE, BASE * np.nan) <= SAME_WEIGHTS


def test_noise_alone_is_accepted_for_a_thousand_series_of_seeds(subject):
    for start in range(1000):

        def plain(random_state=0, start=start):
            return noisy(0.0, 0.1)(random_state=10 * start + random_state)

        def changed(random_state=0, start=start):
            return noisy(0.0, 0.1)(random_state=100_000 + 10 * start + random_state)

        assert difference(subject, plain, changed, weight_distance, SAME_WEIGHTS) is None


def test_an_exchange_of_close_weights_is_a_tie():
    assert ranking_distance(np.array([1.0, 0.50, 0.65]), np.array([0.9, 0.35, 0.30])) == 0
    assert ranking_distance(np.array([1.0, 0.2, 0.5]), np.array([1.0, 0.5, 0.2])) == pytest.approx(0.3)


def test_weights_that_are_all_zero_agree():
    assert weight_distance(np.zeros(3), np.zeros(3)) == 0
    assert ranking_distance(np.zeros(3), np.zeros(3)) == 0


def test_predictions_differ_by_rows():
    assert disagreement(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0])) == 0.25
