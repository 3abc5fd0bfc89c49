"""RFVM: noise, evidence, and indefinite kernels."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import scale

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


def assert_evidence_is_that_of_the_model(oracles, X, y):
    """Check that the evidence is that of the reported model, and at least that of the fixed-point iteration."""
    fitted = RFVM("paper", kernel="linear").fit(X, y)
    assert fitted.settings_["algorithm"] == "both"
    assert fitted.converged_
    assert len(fitted.evidence_trace_) == fitted.n_iter_ + 1
    t = scale(np.asarray(y, dtype=np.float64))
    expected = oracles.log_evidence(scale(X), t, fitted.precisions_, fitted.noise_variance_)
    assert fitted.evidence_ == pytest.approx(expected, rel=1e-6, abs=1e-4)
    fixed_point = RFVM("paper", kernel="linear", algorithm="fixed-point").fit(X, y)
    assert fitted.evidence_ > fixed_point.evidence_ - 1e-4
    # No feature raises the evidence by entering, and none by leaving.
    for i in [*np.flatnonzero(fitted.support_)[:5], *np.flatnonzero(~fitted.support_)[:5]]:
        for value in (np.inf, 1e3, 1e6):
            beta = fitted.precisions_.copy()
            beta[i] = value
            assert oracles.log_evidence(scale(X), t, beta, fitted.noise_variance_) < expected + 1e-3


@pytest.mark.parametrize(
    ("seed", "n", "spread", "design"),
    [(0, 40, 1.0, "independent"), (1, 50, 3.0, "independent"), (2, 40, 1.0, "factors"), (3, 60, 0.3, "factors")],
)
def test_evidence_of_the_linear_kernel(oracles, make_wide, seed, n, spread, design):
    assert_evidence_is_that_of_the_model(oracles, *make_wide(seed, n, 510, spread, design))


@pytest.mark.slow(reason="searches among hundreds of features with a hundred rows")
@pytest.mark.sampled(1, reason="searches among hundreds of features with a hundred rows")
@pytest.mark.parametrize(("seed", "spread"), [(0, 1.0), (1, 3.0), (2, 10.0)])
def test_evidence_of_the_linear_kernel_on_larger_tables(oracles, make_wide, seed, spread):
    for design in ("independent", "factors"):
        assert_evidence_is_that_of_the_model(oracles, *make_wide(seed, 100, 600, spread, design))


def test_linear_kernel_of_many_features_is_not_stored(make_wide):
    X, y = make_wide(0, 20, 20_000, 1.0, "independent")
    fitted = RFVM("paper", kernel="linear", algorithm="sequential").fit(X, y)  # the kernel would take 3.2 GB
    assert fitted.converged_
    assert 0 < fitted.support_.sum() < 20
