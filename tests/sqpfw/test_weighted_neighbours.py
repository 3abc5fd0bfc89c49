"""What all estimators share: scikit-learn's checks, prediction, constant features, extreme scales."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from mfbench_sqpfw import SQPFeatureWeighting, SQPFeatureWeightingCV, SQPFeatureWeightingPath


def test_prediction_is_that_of_scaled_neighbours(noisy):
    X, y = noisy
    fitted = SQPFeatureWeighting(theta=0.1, n_neighbors=5).fit(X[:60], y[:60])
    scaled = KNeighborsClassifier(5).fit(X[:60] * np.sqrt(fitted.weights_), y[:60])
    assert_array_equal(fitted.predict(X[60:]), scaled.predict(X[60:] * np.sqrt(fitted.weights_)))
    assert_allclose(fitted.predict_proba(X[60:]), scaled.predict_proba(X[60:] * np.sqrt(fitted.weights_)))
    assert_array_equal(fitted.get_support(), fitted.weights_ > 0)


def test_constant_features(noisy):
    X, y = noisy
    with pytest.warns(RuntimeWarning, match="no feature varies"):
        fitted = SQPFeatureWeighting().fit(np.ones((10, 3)), np.arange(10) % 2)
    assert_array_equal(fitted.weights_, 0)
    assert fitted.predict([[1, 1, 1]]).shape == (1,)
    single = SQPFeatureWeighting().fit(X[:, :1], y)
    assert_allclose(single.weights_, [1.0])
    assert single.certificate_.optimal


@in_turn("method", [SQPFeatureWeighting, SQPFeatureWeightingPath, SQPFeatureWeightingCV])
@in_turn(
    "scale, message", [(1e20, "lower theta or standardise"), (1e80, "standardise the features"), (1e160, "ranges")]
)
def test_scales_beyond_rounding(noisy, method, scale, message):
    X, y = noisy
    with pytest.raises(ValueError, match=message):
        method().fit(scale * X, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-20])
def test_small_scales_stay_at_the_prior(noisy, scale):
    X, y = noisy
    for method in (SQPFeatureWeighting, SQPFeatureWeightingPath):
        assert_allclose(method().fit(scale * X, y).weights_, 1 / 8)
