import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_margin import ReliefF

EXACT = {"rtol": 0, "atol": 1e-10}


def weights(X, y, k=3, nominal=None, **parameters):
    return ReliefF(k, categorical_features=nominal, **parameters).fit(X, y).feature_importances_


@pytest.mark.parametrize("n_numeric", [0, 1])
def test_many_rows_and_neighbours(oracles, make_table, n_numeric):
    """Several tiles of rows, more neighbours than are kept in a sorted list; without real numbers, most are tied."""
    X, y, _ = make_table(5, 700, n_numeric, 2)
    for k in (32, 33, 120):
        fitted = ReliefF(k, n_samples=10, random_state=k).fit(X, y)
        expected = oracles.relieff(X, y, k, samples=fitted.sample_indices_)
        assert_allclose(fitted.feature_importances_, expected, **EXACT)


def test_several_blocks_of_targets(make_table, monkeypatch):
    X, y, nominal = make_table(6, 90, 3, 1, 2, 0.1, 3)
    whole = weights(X, y, 5, nominal)
    monkeypatch.setattr("mfbench_margin._nearest.search.BLOCK", 7)
    assert_allclose(weights(X, y, 5, nominal), whole, **EXACT)


def test_duplicate_is_a_neighbour_and_self_is_not():
    # Every sample has a twin in its class: all hits at distance 0, all nearest misses at the same distance 1.
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    assert weights(X, y, 1).tolist() == [1.0]
    # A twin in the other class is the nearest miss.
    assert weights(X, np.array([0, 1, 0, 1]), 1).tolist() == [-1.0]


def test_tie_goes_to_lowest_training_index():
    X = np.array([[1, 0], [0, 1], [0, 0], [1, 1], [1, 1]], dtype=float)
    y = np.array([0, 0, 0, 1, 1])
    # Nearest hits: 0 -> 2, 1 -> 2, 2 -> 0 (as near as 1), 3 and 4 -> each other.
    hits = np.array([[1, 0], [0, 1], [1, 0], [0, 0], [0, 0]])
    # Nearest misses: 0, 1, 2 -> 3 (as near as 4), 3 and 4 -> 0 (as near as 1).
    misses = np.array([[0, 1], [1, 0], [1, 1], [0, 1], [0, 1]])
    assert_allclose(weights(X, y, 1), (misses - hits).mean(axis=0), **EXACT)


@pytest.mark.slow(reason="searches among 20,000 rows")
@pytest.mark.parametrize("k", [10, 30_000])
def test_memory_grows_with_n_not_its_square(k):
    """A matrix of all distances would take 3.2 GB; the data are 0.8 MB.

    Only a sample is searched for, as memory does not depend on its size beyond one block of targets.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = rng.integers(0, 3, 20_000)
    ReliefF(k).fit(X[:50], y[:50])
    tracemalloc.start()
    try:
        ReliefF(k, n_samples=2_000, random_state=0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * 2**20
