"""Relief's weights as a similarity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from mfbench_similarity import ReliefPSD, ReliefSimilarity


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_equals_definition(oracles, make_numbers, k, seed):
    X, y = make_numbers(seed, n_classes=3, shift=2.0)
    w = oracles.relief(X, y, k, range(len(X)))
    fitted = ReliefSimilarity(k).fit(X, y)
    assert_allclose(fitted.weights_raw_, [w], atol=1e-12)
    assert_allclose(fitted.matrix_, np.diag(w), atol=1e-12)
    assert_allclose(ReliefPSD(k).fit(X, y).matrix_, np.diag(np.maximum(w, 0)), atol=1e-12)


def test_hits_and_misses_by_euclidean_distance_of_unscaled_features(make_numbers):
    X, y = make_numbers(0, shift=2.0)
    X[:, 1] *= 30.0
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    same = y[:, None] == y
    hits, misses = (np.where(own, distances, np.inf).argmin(axis=1) for own in (same, ~same))
    weights = (np.abs(X - X[misses]) - np.abs(X - X[hits])).mean(axis=0) / np.ptp(X, axis=0)
    fitted = ReliefSimilarity(5, n_learning=1, metric="euclidean").fit(X, y)
    assert_allclose(fitted.weights_raw_, [weights], atol=1e-12)
    assert not np.allclose(ReliefSimilarity(5, n_learning=1).fit(X, y).weights_raw_, [weights])


@pytest.mark.parametrize("seed", range(3))
def test_projection_after_each_draw_equals_definition(oracles, make_numbers, seed):
    X, y = make_numbers(seed, shift=0.2)
    w = oracles.relief(X, y, 1, range(len(X)), cut=True)
    fitted = ReliefPSD(project="step").fit(X, y)
    assert_allclose(fitted.weights_raw_, [w], atol=1e-12)
    assert (w >= oracles.relief(X, y, 1, range(len(X))) - 1e-12).all()


def test_equals_definition_with_ties(oracles, make_ties):
    X, y = make_ties(1)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    draws = [i for i in range(len(y)) if (y == y[i]).sum() > 1]
    fitted = ReliefSimilarity().fit(X, y)
    assert_allclose(fitted.weights_raw_, [oracles.relief(X, y, 1, draws)], atol=1e-12)
    assert fitted.weights_raw_[0, 3] == 0


def test_draws_come_from_the_seed(make_numbers):
    X, y = make_numbers(4)
    one, same, other = (ReliefSimilarity(n_samples=10, random_state=seed).fit(X, y).weights_raw_ for seed in (0, 0, 1))
    assert_array_equal(one, same)
    assert (one != other).any()
    many = ReliefSimilarity(n_samples=200_000, random_state=0).fit(X, y).weights_raw_
    assert_allclose(many, ReliefSimilarity().fit(X, y).weights_raw_, atol=2e-3)


def test_without_a_positive_weight_nothing_is_learned():
    X, y = [[0.0], [10], [1], [9]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"ReliefPSD: .*no positive eigenvalue"):
        ReliefPSD().fit(X, y)
    assert ReliefSimilarity().fit(X, y).matrix_[0, 0] < 0


def test_constant_data_leave_equal_weights():
    X, y = np.ones((6, 2)), [0, 0, 0, 1, 1, 1]
    with pytest.warns(RuntimeWarning, match="do not differ"):
        fitted = ReliefSimilarity().fit(X, y)
    assert fitted.degenerate_
    assert_allclose(fitted.matrix_, np.eye(2) / np.sqrt(2))
