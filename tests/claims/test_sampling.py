"""Samples that cannot be foreseen but can be repeated, and what they show."""

from collections import Counter
from math import comb

from scipy.stats import hypergeom

from mfbench_claims.verification import largest_share, new_seed, sample_of

PLACES = [(dataset, method, 0, fold) for dataset in "xyz" for method in "AB" for fold in range(5)]


def test_a_sample_is_a_function_of_its_seed_and_of_nothing_else():
    assert sample_of(PLACES, 7, 3) == sample_of(set(PLACES), 7, 3) == sorted(sample_of(PLACES, 7, 3))
    assert sample_of(PLACES, 7, 3) != sample_of(PLACES, 7, 4)
    assert sample_of(PLACES, None, 3) == sample_of(PLACES, 99, 3) == sorted(PLACES)
    assert len({new_seed() for _ in range(5)}) > 1


def test_every_trial_is_as_likely():
    counter = Counter(place for seed in range(3000) for place in sample_of(PLACES, 3, seed))
    # 300 of each on average, with a standard deviation of 16.4; the largest of 30 deviations is below 5 of them.
    assert min(counter.values()) > 218 and max(counter.values()) < 382 and len(counter) == 30


def test_the_bound_is_exact(subtests):
    for population, sample, differing in [(200, 50, 0), (200, 50, 3), (11310, 50, 0), (60, 59, 1)]:
        with subtests.test(population=population, sample=sample, differing=differing):
            largest = round(largest_share(population, sample, differing) * population)
            assert hypergeom.cdf(differing, population, largest, sample) >= 0.05
            beyond = largest + 1
            assert (
                beyond > population - (sample - differing)
                or hypergeom.cdf(differing, population, beyond, sample) < 0.05
            )


def test_the_bound_is_that_of_counting():
    for population in range(1, 26):
        for sample in range(1, population + 1):
            for differing in range(sample + 1):
                # Integers: the share of samples with at most so many is at least 1 in 20.
                possible = [
                    largest
                    for largest in range(differing, population - sample + differing + 1)
                    if 20 * sum(comb(largest, k) * comb(population - largest, sample - k) for k in range(differing + 1))
                    >= comb(population, sample)
                ]
                assert largest_share(population, sample, differing) == max(possible) / population


def test_a_complete_sample_leaves_no_doubt():
    assert largest_share(40, 40, 3) == 3 / 40
