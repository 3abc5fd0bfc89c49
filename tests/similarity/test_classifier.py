"""What all classifiers have in common: in mode "one-vs-rest", each problem is the binary learner on its labels."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mfbench_similarity import (
    RBS,
    RBSPSD,
    SRBS,
    SRBSPSD,
    ReliefPSD,
    ReliefSimilarity,
    SiLA,
    SimilarityKNN,
)

LEARNERS = [
    RBS(2),
    RBS(2, "diagonal", rule="sknn-a"),
    RBSPSD(2),
    SRBS(2, max_iter=20),
    SRBSPSD(2, max_iter=20),
    ReliefPSD(2),
    ReliefSimilarity(2, rule="sknn-a"),
    SiLA(2),
    SiLA(2, prediction="voted", max_iter=2),
    SiLA(3, neighbours="adaptive", matrix="diagonal"),
    SimilarityKNN("cosine", 2),
    SimilarityKNN("cosine", 3, rule="sknn-a"),
    SimilarityKNN("euclidean", 3, rule="sknn-a"),
]


@in_turn("learner", LEARNERS)
@in_turn("ties", [False, True])
def test_equals_binary_learners(make_numbers, make_ties, learner, ties):
    X, y = make_ties(2, n=30) if ties else make_numbers(2, n=40, n_classes=3, shift=1.5)
    queries = np.vstack([X, np.roll(X, 1, axis=1)])
    together = clone(learner).set_params(mode="one-vs-rest").fit(X, y)
    decisions = together.predict_one_vs_rest(queries)
    assert decisions.shape == (len(queries), 3)
    for c in range(3):
        alone = clone(learner).fit(X, y == c)
        assert_array_equal(decisions[:, c], alone.predict(queries))
        assert_allclose(together.margins_[:, c], alone.margins_, atol=1e-12)
        if not isinstance(learner, SimilarityKNN):
            assert_allclose(together.matrices_[c], alone.matrix_, atol=1e-12)
    expected = [np.mean(decisions[: len(X), c] == (y == c)) for c in range(3)]
    assert_allclose(together.one_vs_rest_accuracies(X, y), expected)


@pytest.mark.parametrize("rule", ["knn-a", "sknn-a"])
def test_two_classes_are_one_problem(make_numbers, rule):
    X, y = make_numbers(3)
    one, other = (RBS(3, rule=rule, mode=mode).fit(X, y) for mode in ("multiclass", "one-vs-rest"))
    assert_array_equal(one.matrix_, other.matrix_)
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    answers = other.predict_one_vs_rest(X)
    assert_array_equal(answers[:, 1], other.predict(X) == 1)
    assert_array_equal(answers.sum(axis=1), 1)
    assert_allclose(other.one_vs_rest_accuracies(X, y), other.score(X, y))


def test_the_label_is_the_class_of_the_largest_score(make_numbers):
    X, y = make_numbers(4, n_classes=4)
    fitted = RBS(3, mode="one-vs-rest").fit(X, y)
    assert_array_equal(fitted.predict(X), fitted.decision_function(X).argmax(axis=1))
    assert_array_equal(fitted.predict_one_vs_rest(X), fitted.decision_function(X) > 0)


def test_strengths_of_matrices_of_any_size_are_comparable(make_numbers):
    X, y = make_numbers(5, n_classes=3)
    fitted = RBS(3, rule="sknn-a", mode="one-vs-rest").fit(X, y)
    before = fitted.decision_function(X)
    fitted._voters = [[(1.0, scale * A)] for scale, [(_, A)] in zip((1, 10, 1e5), fitted._voters, strict=True)]
    assert_allclose(fitted.decision_function(X), before, rtol=1e-9)


@pytest.mark.parametrize("rule", ["knn-a", "sknn-a"])
def test_scores_of_separate_problems_are_comparable(make_numbers, rule):
    """Fitting each class against the rest separately and taking the largest score gives the same labels."""
    X, y = make_numbers(7, n=60, n_classes=4)
    queries, _ = make_numbers(8, n=100)
    together = RBS(1, rule=rule, mode="one-vs-rest").fit(X, y)
    alone = np.column_stack([RBS(1, rule=rule).fit(X, y == c).decision_function(queries) for c in range(4)])
    assert_allclose(together.decision_function(queries), alone, rtol=1e-9)
    assert_array_equal(together.predict(queries), alone.argmax(axis=1))
    assert len(np.unique(alone)) == alone.size


def test_in_multiclass_mode_every_sample_has_one_class(make_numbers):
    X, y = make_numbers(6, n_classes=3)
    fitted = RBS(3).fit(X, y)
    answers = fitted.predict_one_vs_rest(X)
    assert_array_equal(answers.argmax(axis=1), fitted.predict(X))
    assert_array_equal(answers.sum(axis=1), 1)
