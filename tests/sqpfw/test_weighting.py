"""SQP-FW for one theta: local minima, invariances, limits."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from mfbench_sqpfw import SQPFeatureWeighting, SQPFeatureWeightingPath
from mfbench_sqpfw._active_set.ranking import begin


def test_no_better_point_nearby(oracles, problem_seed):
    """No random feasible move lowers f within the radius in which no further pair can become tied."""
    X, y, kappa, lam, theta, tied = oracles.problem(problem_seed)
    data = oracles.prepared(X, y, kappa, lam)
    fitted = SQPFeatureWeighting(kappa, lam, theta, random_state=0).fit(X, y)
    assert fitted.converged_
    assert fitted.certificate_.optimal, fitted.certificate_
    # If three samples have equal distances to a target, two ties imply the third, which stays outside the active set.
    assert tied or fitted.certificate_.n_ties >= 2 or fitted.certificate_.hidden_ties == 0
    assert np.diff(fitted.objective_history_).max(initial=0) <= 1e-11
    w = fitted.weights_[data.features]
    value = oracles.loss_value(data.X, data.codes, w, data.bar, kappa, lam, theta)
    assert fitted.objective_ == pytest.approx(value, abs=1e-9)
    radius = nearest_kink(data, w)
    rng = np.random.default_rng(problem_seed)
    for _ in range(40):
        v = rng.normal(size=len(w))
        v[w == 0] = np.abs(v[w == 0]) * rng.integers(0, 2, (w == 0).sum())
        v[w > 0] -= v.sum() / (w > 0).sum()
        if not v.any():  # only one weight is positive, and the direction is 0 in all others
            continue
        other = w + radius * v / np.abs(v).max()
        assert oracles.loss_value(data.X, data.codes, other, data.bar, kappa, lam, theta) >= value - 1e-12


@in_turn("seed", [*range(6), 10, 38, 77, 250, 264])
def test_no_direction_leads_down_where_each_row_is_there_twice(oracles, seed):
    """A tie of a pair with a doubled member is a kink only where it changes the distance to the target neighbour."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(10, int(rng.integers(2, 9))))
    X[:, 0] += np.arange(10) % int(rng.integers(2, 4))
    X, y = np.repeat(X, 2, axis=0), rng.integers(0, 2, 20)
    kappa, lam, theta = int(rng.integers(1, 5)), int(rng.integers(1, 5)), float(10 ** rng.uniform(-2, 1.5))
    fitted = SQPFeatureWeighting(kappa, lam, theta, random_state=0).fit(X, y)
    assert fitted.certificate_.optimal, fitted.certificate_
    w, n_features = fitted.weights_, X.shape[1]
    V = rng.normal(size=(400, n_features)) * (rng.random((400, n_features)) < rng.choice([0.5, 1.0], (400, 1)))
    V[:, w == 0] = np.abs(V[:, w == 0])
    V[:, w > 0] -= V.sum(axis=1, keepdims=True) / (w > 0).sum()
    bar = np.full(n_features, 1 / n_features)
    assert oracles.directional_derivatives(X, y, w, bar, kappa, lam, theta, V).min() >= -1e-9


def nearest_kink(data, w):
    e = (data.X[:, None] - data.X[None]) ** 2
    d = np.sort(e @ w, axis=1)
    gaps = np.diff(d, axis=1)
    gaps = gaps[gaps > 1e-9 * d.max()]
    return min(gaps.min(initial=1.0) / (2 * len(w) * e.max()), w[w > 0].min() / 2)


@in_turn("seed", range(12))
def test_two_features_scan(oracles, seed):
    """With two features f is a function of one number, and the solution is a local minimum of it."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    theta = float(10 ** rng.uniform(-2, 0.5))
    fitted = SQPFeatureWeighting(2, 1, theta).fit(X, y)
    bar = np.full(2, 0.5)

    def f(first):
        return oracles.loss_value(X, y, np.array([first, 1 - first]), bar, 2, 1, theta)

    first = fitted.weights_[0]
    for step in (1e-7, 1e-6):
        for other in (first - step, first + step):
            if 0 <= other <= 1:
                assert f(other) >= f(first) - 1e-13


def test_small_theta(oracles):
    """For theta = 0, w is the prior; up to the first kink it is linear in theta, with the slope of the projection."""
    X, y, *_ = oracles.problem(4)
    data = oracles.prepared(X, y, 1, 1)
    s = begin(data)
    c = np.empty(len(s.c))
    c[s.perm] = s.c
    assert_allclose(SQPFeatureWeighting(theta=0.0).fit(X, y).weights_, data.bar, atol=1e-15)
    for theta in (1e-7, 1e-6):
        slope = (SQPFeatureWeighting(theta=theta).fit(X, y).weights_ - data.bar) / theta
        assert_allclose(slope, -(c - c.mean()), atol=1e-7)


@in_turn("seed", [0, 1, 3, 4, 6, 7])
def test_invariance(oracles, seed):
    X, y, kappa, lam, theta, _ = oracles.problem(seed)
    rng = np.random.default_rng(seed)

    def fit(X, y, theta=theta, **parameters):
        return SQPFeatureWeighting(kappa, lam, theta, **parameters).fit(X, y)

    first = fit(X, y)
    rows, cols = rng.permutation(len(X)), rng.permutation(X.shape[1])
    for other, weights in (
        (fit(X[rows], y[rows]), lambda w: w),
        (fit(X[:, cols], y), lambda w: w[np.argsort(cols)]),
        (fit(X + 7.0, y), lambda w: w),
        (fit(4.0 * X, y, theta / 16.0), lambda w: w),
        (fit(np.column_stack([X, np.full(len(X), 3.0)]), y), lambda w: w[:-1]),
    ):
        assert_allclose(other.objective_history_, first.objective_history_, rtol=0, atol=1e-9)
        assert_allclose(weights(other.weights_), first.weights_, rtol=0, atol=1e-9)


def test_noise_loses_weight(noisy):
    X, y = noisy
    relevant = [SQPFeatureWeighting(theta=theta).fit(X, y).weights_[2] for theta in (0.001, 0.01, 0.1, 1.0)]
    assert (np.diff(relevant) > 0).all()
    gains = []
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(80, 8))
        X[:, 2] += 2.5 * y
        plain = cross_val_score(KNeighborsClassifier(1), X, y).mean()
        gains.append(cross_val_score(SQPFeatureWeighting(theta=1.0), X, y).mean() - plain)
    # The seven noise features are dropped one after the other: a gain of 4 points on average over 12 draws.
    assert np.mean(gains) > 0.02


def test_prior_with_zeros(noisy):
    X, y = noisy
    prior = np.r_[0.5, 0.5, np.zeros(6)]
    fitted = SQPFeatureWeighting(theta=0.3, w_bar=prior).fit(X, y)
    assert fitted.certificate_.optimal
    assert fitted.weights_[2] > 0
    assert_allclose(SQPFeatureWeighting(theta=0.0, w_bar=prior).fit(X, y).weights_, prior)
    assert SQPFeatureWeightingPath(theta_max=0.3, w_bar=prior).fit(X, y).weights_[2] > 0


def test_more_features_than_samples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 120)), np.arange(16) % 2
    X[:, 3] += 3 * y
    fitted = SQPFeatureWeighting(theta=1.0).fit(X, y)
    assert fitted.certificate_.optimal
    assert fitted.weights_.argmax() == 3
    assert 0 < (fitted.weights_ > 0).sum() < 120


def test_step_limit(noisy):
    fitted = SQPFeatureWeighting(theta=1.0, max_iter=5).fit(*noisy)
    assert (fitted.converged_, fitted.n_steps_) == (False, 5)
    assert not fitted.certificate_.optimal
    assert fitted.certificate_.inconsistent == 0


def test_same_seed_same_result():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(40, 6)).astype(float), np.arange(40) % 2
    first, second = (SQPFeatureWeighting(theta=0.3, random_state=7).fit(X, y) for _ in range(2))
    assert_array_equal(first.weights_, second.weights_)
