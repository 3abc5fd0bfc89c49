"""The feature kernel: correction of its bias, and repair."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_relevance import FeatureKernel, feature_kernel
from mfbench_relevance.kernels import repaired

BITS = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]])


@pytest.fixture
def data(make_regression):
    return make_regression(0)


def test_miller_madow(data):
    X, y = data
    X = np.column_stack([X, X[:, 0] > 0, np.ones(200)])
    plain, corrected = (
        feature_kernel(X, y, bins=8, target_bins=4, bias=bias).matrix for bias in ("none", "miller-madow")
    )
    freedom = np.array([7.0] * 12 + [1.0, 0.0, 3.0])
    unit = 1 / (2 * 200 * np.log(2))
    expected = plain - unit * np.outer(freedom, freedom)
    np.fill_diagonal(expected, np.diagonal(plain) + unit * freedom)
    assert_allclose(corrected, expected, atol=1e-14)
    with pytest.raises(ValueError, match="mutual-information kernel"):
        feature_kernel(X, y, kernel="linear", bias="miller-madow")


def test_null_correction_brings_independent_features_to_zero():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.uniform(size=(500, 40)), rng.integers(0, 2, size=(500, 40))])
    y = rng.normal(size=500)
    plain = feature_kernel(X, y)
    centred = feature_kernel(X, y, bias="null", random_state=0)
    for part in (slice(0, 40), slice(40, 80)):  # sixteen bins, and two
        assert plain.cross[0, part].mean() > 0.003
        assert abs(centred.cross[0, part].mean()) < 0.001
        off = centred.features[part, part][~np.eye(40, dtype=bool)]
        assert abs(off.mean()) < 0.15 * plain.features[part, part][~np.eye(40, dtype=bool)].mean()
    assert_array_equal(np.diagonal(centred.matrix), np.diagonal(plain.matrix))


def test_null_correction_is_the_mean_and_the_median(data):
    X, y = data
    plain, centred = feature_kernel(X, y), feature_kernel(X, y, bias="null", random_state=3)
    off = ~np.eye(12, dtype=bool)
    assert_allclose(plain.features[off] - centred.features[off], np.median(plain.features[off]), atol=1e-12)
    shift = plain.cross - centred.cross
    assert_allclose(shift, shift[0, 0], atol=1e-12)
    assert shift[0, 0] == pytest.approx(15 * 3 / (2 * 200 * np.log(2)), rel=0.15)


def test_permutations_come_from_the_seed_alone(data):
    X, y = data
    np.random.seed(0)  # noqa: NPY002
    first = feature_kernel(X, y, bias="null", random_state=1).matrix
    np.random.seed(1)  # noqa: NPY002
    assert_array_equal(feature_kernel(X, y, bias="null", random_state=1).matrix, first)
    assert (feature_kernel(X, y, bias="null", random_state=2).matrix != first).any()


@pytest.mark.parametrize("bins", [4, 5, 16])
def test_mutual_information_is_not_a_mercer_kernel(bins):
    found = feature_kernel(BITS, np.arange(4), bins=bins, target_bins=bins, binning="width")
    assert_array_equal(found.matrix, [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 2]])
    with pytest.warns(RuntimeWarning, match=r"indefinite: 1 of 4 .* -0.303"):
        mended = repaired(found, "clip")
    assert mended.smallest_eigenvalue == pytest.approx((3 - np.sqrt(13)) / 2)
    values, vectors = np.linalg.eigh(found.matrix)
    assert_allclose(mended.matrix, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    assert_array_equal(mended.matrix, mended.matrix.T)
    with pytest.raises(ValueError, match="set repair='clip'"):
        repaired(found, "raise")
    assert repaired(found, "ignore") is found


def test_a_semidefinite_kernel_is_left_alone(data):
    X, y = data
    found = feature_kernel(np.column_stack([X, X, np.ones(200)]), y, kernel="linear")  # singular
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repaired(found, "clip") is found


def test_barely_indefinite_within_rounding_is_left_alone():
    found = FeatureKernel(np.array([[1.0, 1.0 + 1e-12], [1.0 + 1e-12, 1.0]]), 1, 10)
    assert repaired(found, "raise") is found
