"""What all learners have in common: matrices, weights and the selection of features."""

import numpy as np
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_similarity import RBS, SRBS, ReliefSimilarity, SiLA


@in_turn("learner", [RBS(2), SRBS(2, max_iter=5), SiLA(2), ReliefSimilarity(2)])
@in_turn("mode", ["multiclass", "one-vs-rest"])
def test_weights_are_mean_diagonals_of_unit_norm(make_numbers, learner, mode):
    X, y = make_numbers(0, n_classes=3)
    fitted = learner.set_params(mode=mode).fit(X, y)
    assert fitted.matrices_.shape == (3 if mode == "one-vs-rest" else 1, 4, 4)
    expected = np.mean([np.diag(A) / np.linalg.norm(A) for A in fitted.matrices_], axis=0)
    assert_allclose(fitted.weights_, expected, atol=1e-14)
    assert_array_equal(fitted.feature_importances_, fitted.weights_)
    assert_array_equal(fitted.get_support(), fitted.weights_ > 0)
    assert_array_equal(fitted.transform(X), X[:, fitted.weights_ > 0])
