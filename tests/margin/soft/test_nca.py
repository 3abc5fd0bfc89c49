import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin._soft.nca import correct_probability, soft_margin, squared_difference_sum

EXACT = {"rtol": 0, "atol": 1e-9}


def random_weights(seed, p):
    weights = np.random.default_rng(seed).uniform(0, 1, p)
    weights[0] = 0
    return weights / weights.sum()


@pytest.mark.parametrize("shape", [(7, 5, 3), (1, 1, 1), (4, 9, 20)])
def test_sum_of_squared_differences(neighbours, shape):
    n, m, p = shape
    rng = np.random.default_rng(n)
    A, B, C = rng.normal(size=(n, p)), rng.normal(size=(m, p)), rng.normal(size=(n, m))
    assert_allclose(squared_difference_sum(A, B, C), neighbours.squared_difference_sum(A, B, C), **EXACT)


@pytest.mark.parametrize("sigma", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_margin_equals_definition(neighbours, messy_table, sigma, seed):
    X, y = messy_table(seed)
    weights = random_weights(seed, X.shape[1])
    centred = X - X.mean(axis=0)
    value, gradient = soft_margin(centred, y, weights, sigma)
    assert value == pytest.approx(neighbours.soft_margin(X, y, weights, sigma), abs=1e-9)
    inside = weights + 1e-3
    gradient = soft_margin(centred, y, inside, sigma)[1]
    numeric = neighbours.finite_differences(lambda w: neighbours.soft_margin(X, y, w, sigma), inside)
    assert_allclose(gradient, numeric, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("length", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_probability_equals_definition(neighbours, messy_table, length, seed):
    X, y = messy_table(seed)
    v = length * np.random.default_rng(seed).normal(size=X.shape[1])
    value, gradient = correct_probability(X - X.mean(axis=0), y, v)
    assert value == pytest.approx(neighbours.nca(X, y, v), abs=1e-9)
    assert_allclose(gradient, neighbours.finite_differences(lambda u: neighbours.nca(X, y, u), v), rtol=0, atol=1e-7)


def test_blocks_of_rows_make_no_difference(messy_table, monkeypatch):
    X, y = messy_table(3)
    whole = [soft_margin(X, y, random_weights(3, 6), 0.5), correct_probability(X, y, np.ones(6))]
    monkeypatch.setattr("mfbench_margin._soft.nca.BLOCK_BYTES", 80 * len(X) * 4)
    parts = [soft_margin(X, y, random_weights(3, 6), 0.5), correct_probability(X, y, np.ones(6))]
    for one, other in zip(whole, parts, strict=True):
        assert one[0] == pytest.approx(other[0], abs=1e-12)
        assert_allclose(one[1], other[1], rtol=0, atol=1e-12)


def test_memory_is_bounded():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(4000, 2)), rng.integers(0, 2, 4000)
    tracemalloc.start()
    soft_margin(X, y, np.array([0.5, 0.5]), 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20


def test_soft_margin_becomes_the_margin_of_nearest_neighbours(neighbours, messy_table):
    X, y = messy_table(5)
    weights = random_weights(5, 6)
    hard = np.dot(weights, neighbours.mean_margin(X, y, weights))
    assert soft_margin(X, y, weights, 1e-7)[0] == pytest.approx(hard, abs=1e-6)
