"""The baselines, by cosine and Euclidean distance."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from mfbench_similarity import (
    RBS,
    SimilarityKNN,
)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_cosine_equals_scikit_learn(make_numbers, k):
    X, y = make_numbers(k, n=60)
    queries, _ = make_numbers(k + 1, n=200)
    theirs = KNeighborsClassifier(k, metric="cosine", algorithm="brute").fit(X, y).predict(queries)
    assert_array_equal(SimilarityKNN("cosine", k).fit(X, y).predict(queries), theirs)
    identity = RBS(k).fit(X, y)
    identity._voters = [[(1.0, np.eye(X.shape[1]))]]
    assert_array_equal(identity.predict(queries), theirs)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_euclidean_equals_scikit_learn(make_numbers, k):
    X, y = make_numbers(k, n=60)
    queries, _ = make_numbers(k + 1, n=200)
    theirs = KNeighborsClassifier(k).fit(X, y).predict(queries)
    assert_array_equal(SimilarityKNN("euclidean", k).fit(X, y).predict(queries), theirs)


def test_a_row_of_zeros_has_similarity_zero():
    X, y = [[1.0, 0], [2, 1], [-1, 0], [-2, 0]], [0, 0, 1, 1]
    scores = SimilarityKNN(n_neighbors=2, rule="sknn-a").fit(X, y).decision_function([[0.0, 0], [1, 0]])
    assert scores[0] == 0
    assert scores[1] < 0


def test_tiny_and_huge_numbers_have_a_cosine():
    X = np.array([[1.0, 0.1], [0.1, 1.0], [1.0, 0.2], [0.2, 1.0]])
    y = [0, 1, 0, 1]
    for scale in (1e-200, 1e200):
        assert_array_equal(SimilarityKNN().fit(scale * X, y).predict(scale * X), y)


def test_survives_pickling(make_numbers):
    X, y = make_numbers(10, n_classes=3)
    fitted = SimilarityKNN(mode="one-vs-rest").fit(X, y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("measure", ["cosine", "euclidean"])
@pytest.mark.parametrize("mode", ["multiclass", "one-vs-rest"])
def test_margins_of_the_baselines(oracles, make_numbers, measure, mode):
    X, y = make_numbers(11, n_classes=3)
    fitted = SimilarityKNN(measure, 2, mode=mode).fit(X, y)
    problems = [y] if mode == "multiclass" else [y == c for c in range(3)]
    expected = []
    for labels in problems:
        if measure == "cosine":
            expected.append(oracles.margins(X, labels, 2, np.eye(4), oracles.product_of_norms))
            continue
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        pairs = [oracles.hits_and_misses(list(-distances[i]), labels, i, 2) for i in range(len(X))]
        expected.append(
            [distances[i, misses].sum() - distances[i, hits].sum() for i, (hits, misses) in enumerate(pairs)]
        )
    assert_allclose(fitted.margins_, expected[0] if mode == "multiclass" else np.transpose(expected), atol=1e-12)
    assert fitted.fit(X[:20], y[:20]).margins_.shape[0] == 20
