import numpy as np
from numpy.testing import assert_allclose

from mfbench_margin import Relief, ReliefF
from mfbench_margin._nearest.mean_margin import pooled_factors, prior_factors

EXACT = {"rtol": 0, "atol": 1e-10}


def weights(X, y, k=3, nominal=None, **parameters):
    return ReliefF(k, categorical_features=nominal, **parameters).fit(X, y).feature_importances_


def test_priors_weight_the_misses():
    X, y = np.array([[0.0], [0], [1], [1], [1], [3], [3]]), np.array([0, 0, 1, 1, 1, 2, 2])
    miss = np.array([(3 * 1 + 2 * 3) / 5, (2 * 1 + 2 * 2) / 4, (2 * 3 + 3 * 2) / 5]) / 3
    assert_allclose(weights(X, y, 1), [miss @ [2, 3, 2] / 7], **EXACT)


def test_single_member_of_a_class_is_skipped_but_is_a_miss(oracles):
    X = np.array([[0, 5], [1, 4], [2, 9], [9, 1], [8, 2], [4, 4]], dtype=float)
    y = np.array([0, 0, 0, 1, 1, 2])
    fitted = ReliefF(2).fit(X, y)
    assert fitted.n_skipped_ == 1
    assert 5 not in fitted.sample_indices_
    assert_allclose(fitted.feature_importances_, oracles.relieff(X, y, 2), **EXACT)


def test_tie_between_classes_goes_to_lowest_training_index():
    # For sample 3, the samples 1 (class 2) and 2 (class 1) are equally near misses.
    X = np.array([[1, 1], [1, 0], [0, 1], [0, 0], [0, 0]], dtype=float)
    y = np.array([2, 2, 1, 0, 0])
    relief = Relief(metric="manhattan").fit(X, y)
    # Samples 0, 1: hit differs in feature 1. Nearest miss of 0: 2, in feature 0; of 1: 3, in feature 0.
    # Samples 3, 4: hits at 0; nearest miss 1, in feature 0. Sample 2 has no hit.
    assert_allclose(relief.feature_importances_, [(1 + 1 + 1 + 1) / 4, (-1 - 1) / 4])
    assert relief.n_skipped_ == 1


def test_factors_of_hits_and_misses():
    codes = np.array([0, 0, 0, 1, 1, 2])
    factors = prior_factors(codes)
    assert_allclose(factors, [[-1, 2 / 3, 1 / 3], [3 / 4, -1, 1 / 4], [3 / 5, 2 / 5, -1]])
    assert pooled_factors(2).tolist() == [[-1, 1], [1, -1]]
