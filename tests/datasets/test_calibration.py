"""Views: independent given the class, with the same distribution and the requested class means."""

import numpy as np
import pytest

from mfbench.errors import UsageError
from mfbench_datasets.calibration import clustered_views, equal_views, two_views, two_views_regression


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


def test_rows_of_a_group_are_alike_and_views_are_exchangeable():
    data = clustered_views(n_samples=40_000, n_groups=2_000, seed=3)
    assert np.bincount(data.groups).tolist() == [20] * 2_000
    own = np.array([data.X[data.groups == group][:2] for group in range(2_000)])
    labels = np.array([data.y[data.groups == group][:2] for group in range(2_000)])
    own -= 0.4 * labels[..., None]
    for j in range(10):  # the common part is half of the variance
        np.testing.assert_allclose(np.cov(own[:, :, j].T), [[1, 0.5], [0.5, 1]], atol=0.15)
    np.testing.assert_allclose(np.cov(own[:, 0].T), np.eye(10), atol=0.15)
    shares = np.array([data.y[data.groups == group].mean() for group in range(2_000)])
    assert (shares > 0.5).mean() == pytest.approx(0.5, abs=0.02)
    assert np.maximum(shares, 1 - shares).mean() == pytest.approx(0.8, abs=0.01)


def test_time_follows_the_groups():
    grouped, timed = clustered_views(seed=1), clustered_views(by="time", seed=1)
    assert np.array_equal(np.floor(timed.time), grouped.groups)
    assert grouped.time is timed.groups is None
    assert np.array_equal(grouped.X, timed.X)
    bare = clustered_views(by="", seed=1)
    assert bare.groups is bare.time is None


@pytest.mark.parametrize("wrong", [{"n_groups": 1}, {"n_groups": 101}, {"by": "place"}])
def test_invalid_clusters(wrong):
    with pytest.raises(UsageError, match="clustered-views"):
        clustered_views(**wrong)


@pytest.mark.parametrize("tail", [None, 5.0])
def test_views_of_numbers_have_the_stated_moments_and_are_independent_given_the_core(tail):
    data = two_views_regression(n_samples=40_000, n_features=2, slope=0.8, tail=tail, seed=3)
    assert data.feature_names == ("a1", "a2", "b1", "b2")
    # X = 0.8 z + noise of variance 1, and y = z + error of variance 1/4.
    expected = np.full((5, 5), 0.64) + np.diag([1.0] * 4 + [0.0])
    expected[4, :] = expected[:, 4] = 0.8
    expected[4, 4] = 1.25
    np.testing.assert_allclose(np.cov(np.column_stack([data.X, data.y]).T), expected, atol=0.08)
    outliers = np.mean(np.abs(data.y - data.y.mean()) > 4.5 * data.y.std())
    assert outliers < 1e-4 if tail is None else outliers > 1e-4


def test_a_tail_without_a_variance_is_refused():
    with pytest.raises(UsageError, match="'tail' of dataset 'two-views-regression'"):
        two_views_regression(tail=2.0)
