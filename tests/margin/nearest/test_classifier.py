import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import LFE
from mfbench_margin._nearest.classifier import leave_one_out_error

EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.mark.parametrize("k", [1, 2, 3, 6, 1000])
def test_votes_equal_definition(neighbours, messy_table, k):
    X, y = messy_table(k)
    lfe = LFE(n_neighbors=k).fit(X, y)
    queries = np.vstack([X, np.roll(X, 1, axis=1)])
    mapped = lfe._embed(X)
    expected = [neighbours.knn(mapped, y, q, k) for q in lfe._embed(queries)]
    assert_array_equal(lfe.predict(queries), [winner for winner, _ in expected])
    assert_allclose(lfe.predict_proba(queries), [votes for _, votes in expected], **EXACT)
    error = neighbours.leave_one_out_error(mapped, y, k)
    assert leave_one_out_error(mapped, y, k) == pytest.approx(error, abs=1e-12)


def test_votes_in_chunks(messy_table, monkeypatch):
    X, y = messy_table(3)
    lfe = LFE(n_neighbors=3).fit(X, y)
    whole = lfe.predict(X)
    monkeypatch.setattr("mfbench_margin._nearest.classifier.CHUNK_BYTES", 8 * 6 * 4)
    assert_array_equal(lfe.predict(X), whole)


def test_tied_votes_go_to_the_nearer_class_then_to_the_lower_index():
    X, y = np.array([[0.0], [0.5], [10.0], [10.4]]), np.array(["b", "b", "a", "a"])
    nearer = LFE(n_neighbors=4).fit(X, y).predict([[4.0], [7.0]])
    assert nearer.tolist() == ["b", "a"]
    even = LFE(n_neighbors=2).fit([[0.0], [-1], [2], [3]], ["b", "b", "a", "a"]).predict([[1.0]])
    assert even.tolist() == ["a"]
    first = LFE().fit([[0.0], [-1], [2], [3]], ["b", "b", "a", "a"]).predict([[1.0]])
    assert first.tolist() == ["b"]
