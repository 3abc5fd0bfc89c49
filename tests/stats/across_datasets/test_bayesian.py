"""The Bayesian signed-rank test: against baycomp, and against a plain simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbench.stats.bayesian import signed_rank_test


def probabilities(posterior):
    return posterior.first, posterior.rope, posterior.second


def simulated(differences, rope, draws, seed):
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


def test_it_is_the_formula():
    differences = np.array([0.031, -0.012, 0.007, 0.023, -0.004])
    found = signed_rank_test(differences, np.zeros(5), 0.01, seed=1)
    # Two standard errors of the plain simulation are 0.022 at most.
    assert probabilities(found) == pytest.approx(simulated(differences, 0.01, 2000, 2), abs=0.03)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.03])
def test_it_is_baycomps(rope):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    first, second = np.random.default_rng(4).normal(0.8, 0.03, (2, 20)) + np.array([[0.01], [0.0]])
    expected = baycomp.SignedRankTest.probs(second, first, rope=rope, random_state=0, nsamples=20_000)
    found = signed_rank_test(first, second, rope)
    ours = probabilities(found)[::-1] if rope else (found.second, found.first)
    assert ours == pytest.approx(expected, abs=0.012)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from([-0.03, -0.01, 0.0, 0.01, 0.02]), min_size=1, max_size=8), st.sampled_from([0.0, 0.01]))
def test_exchanging_turns_the_probabilities_exactly(differences, rope):
    zero = np.zeros(len(differences))
    one = signed_rank_test(differences, zero, rope, samples=2000)
    other = signed_rank_test(zero, differences, rope, samples=2000)
    assert probabilities(one) == pytest.approx(probabilities(other)[::-1], abs=1e-12)
    assert sum(probabilities(one)) == pytest.approx(1.0)


def test_a_seed_is_a_result():
    a, b = np.random.default_rng(0).normal(size=(2, 12))
    # Texts: NaN equals itself in them, which it does in records up to Python 3.12 only.
    assert repr(signed_rank_test(a, b, seed=5)) == repr(signed_rank_test(a, b, seed=5))


def test_no_difference_is_practical_equality():
    assert probabilities(signed_rank_test([0.5] * 6, [0.5] * 6, 0.01, samples=500)) == (0.0, 1.0, 0.0)
