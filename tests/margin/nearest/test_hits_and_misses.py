import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_margin._nearest.search import hits_and_misses, weighted


@pytest.mark.parametrize("seed", range(4))
def test_hits_and_misses_equal_definition(neighbours, messy_table, seed):
    X, y = messy_table(seed)
    targets = np.array(neighbours.targets(y))
    expected = [neighbours.hit_and_miss(X, y, i) for i in targets]
    assert_array_equal(np.transpose(hits_and_misses(X, y, targets)), expected)


def test_hits_and_misses_in_blocks(messy_table, monkeypatch):
    X, y = messy_table(9)
    whole = hits_and_misses(X, y, np.arange(30))
    monkeypatch.setattr("mfbench_margin._nearest.search.BLOCK", 7)
    assert_array_equal(hits_and_misses(X, y, np.arange(30)), whole)


def test_near_duplicates_are_distinguished():
    """The expansion ||a||² + ||b||² - 2 ab has no digit left of these distances."""
    X = np.array([[1e4, 0], [1e4 + 3e-5, 0], [1e4 + 1e-5, 0], [1e4 + 2e-5, 0]])
    hits, misses = hits_and_misses(X, np.array([0, 0, 0, 1]), np.arange(3))
    assert hits.tolist() == [2, 2, 0]
    assert misses.tolist() == [3, 3, 3]


def test_weighted_rows_have_the_weighted_distance():
    X, w = np.array([[1.0, 5, 2], [3, 1, 4]]), np.array([0.5, 0, 2])
    a, b = weighted(X, w)
    assert ((a - b) ** 2).sum() == pytest.approx(0.5 * 4 + 2 * 4)
