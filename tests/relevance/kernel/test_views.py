"""Views of the data for numeric kernels."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import scale

from mfbench_relevance import feature_kernel


@pytest.fixture
def data(make_regression):
    return make_regression(0)


def rows_of(X, y):
    return np.column_stack([scale(X), scale(y)]).T


@in_turn(
    "name, options, function",
    [
        ("linear", {}, lambda a: a @ a.T),
        ("rbf", {"gamma": 0.01}, lambda a: rbf_kernel(a, gamma=0.01)),
        ("rbf", {}, lambda a: rbf_kernel(a, gamma=1 / 200)),
        ("polynomial", {"degree": 2, "coef0": 0.5}, lambda a: polynomial_kernel(a, degree=2, gamma=1 / 200, coef0=0.5)),
        (lambda u, v: np.abs(u @ v.T), {}, lambda a: np.abs(a @ a.T)),
    ],
)
def test_numeric_kernels_in_blocks(data, monkeypatch, name, options, function):
    X, y = data
    monkeypatch.setattr("mfbench_relevance._kernel.views.BLOCK", 5)
    found = feature_kernel(X, y, kernel=name, **options)
    assert_allclose(found.matrix, function(rows_of(X, y)), rtol=1e-10, atol=1e-10)
    assert_array_equal(found.matrix, found.matrix.T)
    assert found.features.shape == (12, 12)
    assert found.cross.shape == (1, 12)


def test_more_than_two_classes_are_targets_of_their_own(data):
    X, _ = data
    codes = np.arange(200) % 3
    found = feature_kernel(X, codes, classes=True, kernel="linear")
    expected = scale(X).T @ scale((codes[:, None] == np.arange(3)).astype(float))
    assert_allclose(found.cross, expected.T, atol=1e-10)
    assert feature_kernel(X, codes, classes=True).cross.shape == (1, 12)
    assert feature_kernel(X, codes % 2, classes=True, kernel="linear").cross.shape == (1, 12)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda u, v: u @ v.T * np.arange(len(u))[:, None], "not symmetric"),
        (lambda u, v: u[:, 0], "one number for every pair"),
        (lambda u, v: np.full((len(u), len(v)), np.nan), "NaN or infinity"),
    ],
)
def test_bad_callables_raise(data, kernel, message):
    with pytest.raises(ValueError, match=message):
        feature_kernel(*data, kernel=kernel)
