"""The search in blocks."""

import tracemalloc

import pytest
from numpy.testing import assert_allclose

from mfbench_similarity import (
    RBS,
    SiLA,
    SimilarityKNN,
)


@pytest.mark.parametrize("estimator", [RBS(3), RBS(3, mode="one-vs-rest"), SimilarityKNN("euclidean", 3), SiLA(3)])
def test_blocks_change_nothing(make_numbers, monkeypatch, estimator):
    X, y = make_numbers(7, n=60, n_classes=3)
    queries, _ = make_numbers(8, n=50)
    whole = estimator.fit(X, y).decision_function(queries)
    margins = estimator.margins_
    monkeypatch.setattr("mfbench_similarity._nearest.lists.BLOCK", 7)
    assert_allclose(estimator.fit(X, y).decision_function(queries), whole, rtol=1e-9)
    assert_allclose(estimator.margins_, margins, rtol=1e-9)


@pytest.mark.parametrize("mode", ["multiclass", "one-vs-rest"])
def test_memory_of_the_search_is_not_quadratic_in_rows(make_numbers, mode):
    X, y = make_numbers(9, n=4000, n_classes=3)
    RBS().fit(X[:50], y[:50])
    tracemalloc.start()
    RBS(3, mode=mode).fit(X, y).predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 4
