import itertools

import numpy as np
import pytest

from mfbench_gate.scores import CLIP, MOST_PAIRS, interval, minimum_pairs, p_greater, p_two_sided


def by_enumeration(differences, shift=0.0):
    """Count the patterns of signs one by one, straight from the definition."""
    residuals = [d - shift for d in differences]
    bound = CLIP * float(np.median(np.abs(residuals)))
    if bound > 0:
        residuals = [max(-bound, min(bound, r)) for r in residuals]
    largest = max(abs(r) for r in residuals)
    residuals = [round(1000 * r / largest) for r in residuals]
    patterns = list(itertools.product((-1, 1), repeat=len(residuals)))
    sums = [sum(sign * abs(r) for sign, r in zip(pattern, residuals, strict=True)) for pattern in patterns]
    return sum(value >= sum(residuals) for value in sums) / len(patterns)


def test_counts_patterns_of_signs():
    for n in [1, 2, 3, 7, 10]:
        for shift in [0.0, 0.3]:
            rng = np.random.default_rng(n)
            for _ in range(5):
                differences = rng.normal(0.2, 1.0, n)
                assert p_greater(differences, shift) == pytest.approx(by_enumeration(differences, shift), abs=1e-12)


def test_ties_and_zeros_count_against_a_difference():
    assert p_greater([0.0, 0.0, 0.0]) == 1.0
    assert p_greater([0.1, 0.1, -0.1, 0.1]) == by_enumeration([0.1, 0.1, -0.1, 0.1]) == 5 / 16
    assert p_greater([0.0, 0.0, 0.0, 0.5]) == 0.5


def test_many_pairs_are_counted_exactly():
    assert p_greater(np.linspace(0.9, 1.1, MOST_PAIRS)) == 2.0**-MOST_PAIRS
    assert p_two_sided(np.linspace(0.9, 1.1, MOST_PAIRS)) == 2.0 ** (1 - MOST_PAIRS)


def test_no_pairs_say_nothing():
    assert p_greater([]) == p_two_sided([]) == 1.0
    assert interval([], 0.05) == (-np.inf, np.inf)


@pytest.mark.parametrize("noise", ["normal", "heavy"])
def test_level_holds_for_any_symmetric_noise(noise):
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(1500, 9)) if noise == "normal" else rng.standard_cauchy(size=(1500, 9))
    rejected = np.mean([p_two_sided(draw) <= 0.05 for draw in draws])
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


def test_a_disturbed_pair_does_not_hide_a_slowdown():
    differences = [0.10, 0.11, 0.09, 0.12, 0.10, 0.11, 0.09, 0.10, 0.12, -3.0]
    assert p_two_sided(differences) == 2 * 11 / 2**10  # without clipping it would be 0.6


def test_interval_covers_the_centre():
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(100):
        low, high = interval(rng.normal(0.1, 0.05, 8), 0.1)
        covered.append(low <= 0.1 <= high)
    assert np.mean(covered) >= 0.9 - 3 * np.sqrt(0.1 * 0.9 / 100)


def test_interval_of_equal_differences_is_a_point():
    low, high = interval([0.25] * 8, 0.05)
    assert low == pytest.approx(0.25)
    assert high == pytest.approx(0.25)


def test_minimum_is_the_first_number_that_can_reject():
    for n_tests, level in [(1, 0.05), (20, 0.05), (40, 0.05 / 3), (1000, 0.01)]:
        n = minimum_pairs(n_tests, level)
        assert 2 / 2**n <= level / n_tests < 2 / 2 ** (n - 1)
