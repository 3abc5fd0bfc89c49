"""Views: independent given the class, with the same distribution and the requested class means."""

import numpy as np
import pytest

from mfbench.errors import UsageError
from mfbench_datasets.calibration import equal_views, two_views


def test_shape_balance_and_names():
    data = two_views(n_samples=31, n_features=3)
    assert data.X.shape == (31, 6)
    assert np.bincount(data.y).tolist() == [16, 15]
    assert data.feature_names == ("a1", "a2", "a3", "b1", "b2", "b3")


def test_both_views_have_the_stated_moments_and_are_independent():
    data = two_views(n_samples=40_000, n_features=2, shift=0.8, seed=3)
    for code in (0, 1):
        X = data.X[data.y == code]
        # Six standard errors of a mean over 20,000 rows, and of a variance.
        np.testing.assert_allclose(X.mean(axis=0), 0.8 * code, atol=0.043)
        np.testing.assert_allclose(np.cov(X.T), np.eye(4), atol=0.06)


def test_a_seed_is_a_dataset():
    assert np.array_equal(two_views(seed=4).X, two_views(seed=4).X)
    assert not np.array_equal(two_views(seed=4).X, two_views(seed=5).X)


def test_many_views_have_the_same_moments_and_begin_like_two():
    data = equal_views(n_samples=40_000, n_views=5, n_features=1, shift=0.8, seed=3)
    assert data.feature_names == ("v1-1", "v2-1", "v3-1", "v4-1", "v5-1")
    np.testing.assert_allclose(data.X[data.y == 1].mean(axis=0), 0.8, atol=0.043)
    np.testing.assert_allclose(np.cov(data.X[data.y == 0].T), np.eye(5), atol=0.06)
    assert np.array_equal(equal_views(n_views=2, seed=4).X, two_views(seed=4).X)
    with pytest.raises(UsageError, match="equal-views"):
        equal_views(n_views=0)


@pytest.mark.parametrize("wrong", [{"n_samples": 3}, {"n_features": 0}, {"shift": float("nan")}, {"seed": -1}])
def test_invalid_arguments(wrong):
    with pytest.raises(UsageError, match="two-views"):
        two_views(**wrong)
