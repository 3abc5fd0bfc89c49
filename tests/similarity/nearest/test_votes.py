"""Predictions with a fixed matrix, against the definition of the two rules."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_similarity import (
    RBS,
)

RULES = ["knn-a", "sknn-a"]


def with_matrices(estimator, X, y, matrices):
    """Fit, then replace the learned matrices by others."""
    estimator.fit(X, y)
    estimator._voters = [[(1.0, np.asarray(A, dtype=float))] for A in matrices]
    return estimator


def random_case(seed, make_ties):
    rng = np.random.default_rng(1000 + seed)
    X, y = make_ties(seed, n=int(rng.integers(8, 20)), n_classes=int(rng.integers(2, 5)))
    queries = rng.integers(-2, 3, size=(6, X.shape[1])).astype(float)
    A = rng.integers(-2, 3, size=(len(np.unique(y)), X.shape[1], X.shape[1]))
    return X, y, queries, A, int(rng.integers(1, 6))


@pytest.mark.parametrize("rule", RULES)
def test_rules_equal_definition_with_ties(oracles, make_ties, rule):
    """One hundred cases of whole numbers, where the oracle is exact."""
    for seed in range(100):
        X, y, queries, A, k = random_case(seed, make_ties)
        fitted = with_matrices(RBS(k, normalization="none", rule=rule), X, y, A[:1])
        expected = [
            oracles.predict([oracles.exact_similarity(q, x, A[0]) for x in X], list(y), k, rule) for q in queries
        ]
        assert_array_equal(fitted.predict(queries), expected, err_msg=f"seed {seed}")


@pytest.mark.parametrize("rule", RULES)
def test_decisions_against_the_rest_equal_definition_with_ties(oracles, make_ties, rule):
    for seed in range(100):
        X, y, queries, A, k = random_case(seed, make_ties)
        if len(np.unique(y)) < 3:
            continue
        fitted = with_matrices(RBS(k, normalization="none", rule=rule, mode="one-vs-rest"), X, y, A)
        for c in range(len(A)):
            expected = [
                oracles.predict([oracles.exact_similarity(q, x, A[c]) for x in X], list(y == c), k, rule)
                for q in queries
            ]
            assert_array_equal(fitted.predict_one_vs_rest(queries)[:, c], expected, err_msg=f"seed {seed} class {c}")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("normalization", ["norms", "dice"])
def test_rules_equal_definition_with_factors(oracles, make_numbers, rule, normalization):
    N = oracles.product_of_norms if normalization == "norms" else oracles.dice
    given = "norms" if normalization == "norms" else dice
    for seed in range(10):
        X, y = make_numbers(seed, n_classes=3)
        queries = np.random.default_rng(seed).normal(size=(8, X.shape[1]))
        fitted = RBS(3, normalization=given, rule=rule).fit(X, y)
        values = [[oracles.similarity(q, x, fitted.matrix_, N) for x in X] for q in queries]
        assert_array_equal(fitted.predict(queries), [oracles.predict(v, list(y), 3, rule) for v in values])


def dice(X, Y):
    """Half the sum of squared norms, for each pair."""
    return ((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)) / 2


@pytest.mark.parametrize("mode", ["multiclass", "one-vs-rest"])
def test_with_one_neighbour_the_rules_agree(make_numbers, mode):
    X, y = make_numbers(3, n_classes=4)
    queries, _ = make_numbers(4, n=100)
    one, other = (RBS(1, rule=rule, mode=mode).fit(X, y) for rule in RULES)
    if mode == "multiclass":
        assert_array_equal(one.predict(queries), other.predict(queries))
    assert_array_equal(one.predict_one_vs_rest(queries), other.predict_one_vs_rest(queries))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("mode", ["multiclass", "one-vs-rest"])
def test_a_positive_factor_changes_nothing(make_numbers, rule, mode):
    X, y = make_numbers(5, n_classes=3)
    queries, _ = make_numbers(6, n=100)
    fitted = RBS(3, rule=rule, mode=mode).fit(X, y)
    before = fitted.decision_function(queries)
    fitted._voters = [[(1.0, 7.3 * A)] for [(_, A)] in fitted._voters]
    assert_allclose(fitted.decision_function(queries), before, rtol=1e-9)


def test_tied_votes_go_to_the_larger_sum_then_to_the_first_class():
    X, y = [[2.0], [3], [1], [3]], ["b", "b", "a", "a"]
    larger = with_matrices(RBS(4, normalization="none"), X, y, [[[1.0]]])
    assert larger.predict([[1.0], [-1]]).tolist() == ["b", "a"]
    even = with_matrices(RBS(2, normalization="none"), [[1.0], [0], [1], [0]], ["b", "b", "a", "a"], [[[1.0]]])
    assert even.predict([[1.0]]).tolist() == ["a"]


def test_classes_of_different_size_are_compared_by_means():
    """The sum of three similarities of 0.4 exceeds one of 1, their mean does not."""
    X, y = [[1.0], [0.4], [0.4], [0.4]], [0, 1, 1, 1]
    assert with_matrices(RBS(3, normalization="none", rule="sknn-a"), X, y, [[[1.0]]]).predict([[1.0]]).tolist() == [0]
