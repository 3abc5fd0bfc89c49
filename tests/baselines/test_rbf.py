"""The RBF network against its definition and properties that follow from it."""

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from mfbench_baselines.rbf import RBFNetwork


def blobs(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 3 * y[:, None], y


def test_xor_needs_two_centres_per_class():
    rng = np.random.default_rng(0)
    corner = rng.integers(0, 2, size=(200, 2))
    X, y = 4.0 * corner + 0.5 * rng.normal(size=(200, 2)), corner[:, 0] ^ corner[:, 1]
    assert RBFNetwork(n_centers=2, random_state=0).fit(X, y).score(X, y) > 0.98
    assert RBFNetwork(n_centers=1, random_state=0).fit(X, y).score(X, y) < 0.8


def test_one_centre_per_class_is_nearly_the_nearest_mean():
    X, y = blobs()
    network, means = RBFNetwork(n_centers=1, random_state=0).fit(X, y), NearestCentroid().fit(X, y)
    assert (network.predict(X) == means.predict(X)).mean() > 0.97
    np.testing.assert_allclose(network.centers_, means.centroids_)
    np.testing.assert_allclose(network.widths_, np.linalg.norm(means.centroids_[1] - means.centroids_[0]))


def test_widths_and_probabilities_by_definition():
    X, y = blobs()
    network = RBFNetwork(n_centers=3, random_state=0).fit(X, y)
    centers = network.centers_
    for center, width in zip(centers, network.widths_, strict=True):
        apart = sorted(np.linalg.norm(centers - center, axis=1))[1:3]
        assert width == pytest.approx(np.mean(apart))
    units = np.exp(-((X[:, None] - centers) ** 2).sum(axis=2) / (2 * network.widths_**2))
    score = units @ network.output_.coef_[0] + network.output_.intercept_[0]
    np.testing.assert_allclose(network.predict_proba(X)[:, 1], 1 / (1 + np.exp(-score)), rtol=1e-9)


def test_shifts_and_rotations_change_nothing():
    X, y = blobs()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 2)))[0]
    one = RBFNetwork(random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(RBFNetwork(random_state=0).fit(X @ turn + 7, y).predict_proba(X @ turn + 7), one, 1e-5)


def test_duplicates_constants_and_singletons_are_harmless():
    X = np.column_stack([np.repeat([0.0, 0.0, 1.0, 5.0], [4, 3, 5, 1]), np.full(13, 2.0)])
    y = np.repeat(["a", "b", "b", "c"], [4, 3, 5, 1])
    network = RBFNetwork(random_state=0).fit(X, y)
    assert len(network.centers_) == 1 + 2 + 1
    assert network.widths_.min() >= 1e-6
    assert np.isfinite(network.predict_proba(X)).all()


@pytest.mark.parametrize("parameters", [{"n_centers": 0}, {"alpha": 0.0}])
def test_invalid_parameters_raise(parameters):
    with pytest.raises(ValueError, match="n_centers must be at least 1"):
        RBFNetwork(**parameters).fit(*blobs())
