"""RFVM: noise, evidence, and indefinite kernels."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_relevance import RFVM

BITS = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])


@pytest.fixture
def data(make_regression):
    return make_regression(0, 500)


def test_indefinite_kernel_is_repaired():
    with pytest.warns(RuntimeWarning, match="indefinite"):
        fitted = RFVM("paper", bins=4, target_bins=4).fit(BITS, np.arange(4))
    assert fitted.smallest_eigenvalue_ == pytest.approx((3 - np.sqrt(13)) / 2)
    assert np.isfinite(fitted.weights_).all()
    assert fitted.noise_variance_ > 0
    with pytest.raises(ValueError, match="indefinite"):
        RFVM("paper", bins=4, target_bins=4, repair="raise").fit(BITS, np.arange(4))


def test_calibrated_noise_is_the_quantile_of_the_null():
    rng = np.random.default_rng(0)
    shares = []
    for seed in range(10):
        X, y = rng.uniform(size=(400, 60)), rng.normal(size=400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares.append(RFVM(quantile=0.9, random_state=seed).fit(X, y).support_.mean())
    assert 0.06 < np.mean(shares) < 0.15


def test_attributes_of_the_evidence(data):
    fitted = RFVM("paper").fit(*data)
    assert np.diff(fitted.evidence_trace_).min() > -1e-8
    assert fitted.evidence_ == fitted.evidence_trace_[-1]
    assert_array_equal(np.isfinite(fitted.precisions_), fitted.support_)
    assert fitted.noise_variance_ > 0
    sequential = RFVM("paper", algorithm="sequential").fit(*data)
    assert sequential.evidence_ == pytest.approx(fitted.evidence_, abs=1e-4)
