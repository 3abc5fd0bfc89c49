"""The definitions agree with each other, with a numerical optimiser and with the R package."""

import math

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

CONES = ["psd", "psd_clip", "nonneg", "dnn", "diag"]


def symmetric(rng, p):
    G = rng.normal(size=(p, p))
    return (G + G.T) / 2


def random_member(rng, cone, p):
    """A random point of norm 1 of a cone."""
    B = rng.normal(size=(p, p))
    if cone == "psd":
        W = B @ B.T
    elif cone == "dnn":
        W = np.abs(B) @ np.abs(B).T
    elif cone == "diag":
        W = np.diag(np.abs(B[0]))
    else:
        W = np.abs(B + B.T)
    return W / np.linalg.norm(W)


@in_turn("sigma", [0.05, 1.0, 20.0])
@in_turn("alone", [False, True])
def test_cost_at_its_stationary_point_is_a_difference_of_soft_minima(immigrate_oracles, make_groups, sigma, alone):
    o = immigrate_oracles
    X, y = make_groups(1, n_classes=3, alone=alone)
    weights = np.random.default_rng(0).random(len(y))
    q = o.quadratic(o.differences(X), random_member(np.random.default_rng(1), "psd", 4))
    full = o.cost(q, y, sigma, *o.assignments(q, y, sigma), weights)
    assert full == pytest.approx(o.cost_star(q, y, sigma, weights), rel=1e-12)


def test_slope_of_the_cost_is_sigma(immigrate_oracles, make_groups):
    o, rng = immigrate_oracles, np.random.default_rng(2)
    X, y = make_groups(2, n_classes=3, alone=True)
    D, weights = o.differences(X), rng.random(len(y))
    for sigma in (0.3, 2.0):
        W, direction, step = random_member(rng, "psd", 4), symmetric(rng, 4), 1e-5
        ahead = o.value(D, y, sigma, W + step * direction, weights)
        behind = o.value(D, y, sigma, W - step * direction, weights)
        expected = (o.slope(D, y, sigma, W, weights) * direction).sum()
        assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-7)


def test_hits_minimise_and_misses_maximise(immigrate_oracles, make_groups):
    o, rng = immigrate_oracles, np.random.default_rng(3)
    X, y = make_groups(3)
    sigma = 0.7
    q = o.quadratic(o.differences(X), random_member(rng, "nonneg", 4))
    alpha, beta = o.assignments(q, y, sigma)
    saddle = o.cost(q, y, sigma, alpha, beta)
    for _ in range(50):
        other_alpha, other_beta = np.zeros_like(alpha), np.zeros_like(beta)
        for n in range(len(y)):
            others = o.hits(y, n), o.misses(y, n)
            other_alpha[n, others[0]] = rng.dirichlet(np.ones(len(others[0])))
            other_beta[n, others[1]] = rng.dirichlet(np.ones(len(others[1])))
        mixed_alpha, mixed_beta = 0.9 * alpha + 0.1 * other_alpha, 0.9 * beta + 0.1 * other_beta
        assert o.cost(q, y, sigma, mixed_alpha, beta) > saddle > o.cost(q, y, sigma, alpha, mixed_beta)


def test_scatter_is_the_sum_over_pairs_and_linear_in_the_weights(immigrate_oracles, make_groups):
    o, rng = immigrate_oracles, np.random.default_rng(4)
    X, y = make_groups(4, n=12, p=3, n_classes=3)
    alpha, beta = o.assignments(o.quadratic(o.differences(X), o.identity(3)), y, 0.5)
    weights = rng.random((2, 12))
    totals = []
    for w in weights:
        expected = np.zeros((3, 3))
        for n in range(12):
            for j in range(12):
                d = abs(X[n] - X[j])
                expected += w[n] * (alpha[n, j] - beta[n, j]) * np.outer(d, d)
        totals.append(o.scatter(o.differences(X), y, alpha, beta, w))
        assert_allclose(totals[-1], expected, atol=1e-12)
    both = o.scatter(o.differences(X), y, alpha, beta, weights[0] + weights[1])
    assert_allclose(both, totals[0] + totals[1], atol=1e-12)


def by_numerical_optimiser(G, cone, rng, starts=8):
    """Largest <G, W> among W of a cone with norm 1. A doubly nonnegative W of at most 4 rows is B B', B >= 0."""
    p = len(G)

    def member(x):
        B = x.reshape(p, -1)
        W = {
            "psd": lambda: B @ B.T,
            "dnn": lambda: B**2 @ (B**2).T,
            "nonneg": lambda: B**2 + (B**2).T,
            "diag": lambda: np.diag(B[:, 0] ** 2),
        }[cone]()
        return W / np.linalg.norm(W)

    width = {"psd": p, "dnn": 2 * p, "nonneg": p, "diag": 1}[cone]
    results = [
        minimize(lambda x: -(G * member(x)).sum(), rng.normal(size=p * width), tol=1e-11, options={"maxiter": 2000})
        for _ in range(starts)
    ]
    best = min(results, key=lambda result: result.fun)
    return member(best.x), -best.fun


@pytest.mark.parametrize("cone", ["psd", "nonneg", "dnn", "diag"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_closed_form_equals_a_numerical_optimiser(immigrate_oracles, cone, seed):
    rng = np.random.default_rng(seed)
    G = symmetric(rng, 3)
    G[0, 0] = abs(G[0, 0])
    W, polar = immigrate_oracles.best_direction(G, cone)
    _, value = by_numerical_optimiser(G, cone, rng)
    assert not polar
    assert np.linalg.norm(W) == pytest.approx(1)
    assert (G * W).sum() == pytest.approx(value, abs=1e-6)
    assert (G * W).sum() == pytest.approx(np.linalg.norm(immigrate_oracles.cone_projection(G, cone)), abs=1e-10)


@pytest.mark.parametrize("cone", ["psd", "nonneg", "diag"])
def test_polar_case_ends_on_an_extreme_ray(immigrate_oracles, cone):
    rng = np.random.default_rng(5)
    B = rng.random((3, 3))
    G = -(B @ B.T + np.diag([0.1, 0.2, 0.3]))
    W, polar = immigrate_oracles.best_direction(G, cone)
    assert polar
    assert np.linalg.norm(W) == pytest.approx(1)
    _, value = by_numerical_optimiser(G, cone, rng)
    assert (G * W).sum() == pytest.approx(value, abs=1e-5)
    assert (G * W).sum() <= 0


@pytest.mark.parametrize("cone", ["psd", "nonneg", "dnn", "diag"])
def test_projection_satisfies_moreau(immigrate_oracles, cone):
    rng = np.random.default_rng(6)
    for _ in range(20):
        G = symmetric(rng, 4)
        V = immigrate_oracles.cone_projection(G, cone)
        assert (V * (G - V)).sum() == pytest.approx(0, abs=1e-9)
        for _ in range(20):
            assert ((G - V) * random_member(rng, cone, 4)).sum() <= 1e-9


@in_turn("cone", CONES)
def test_monotone_descends_and_both_loops_end_with_norm_1(immigrate_oracles, make_groups, cone):
    o = immigrate_oracles
    X, y = make_groups(7)
    W, trace, iterations, *_, gap = o.fit_monotone(X, y, 0.5, cone, max_iter=12)
    assert len(trace) == iterations + 1
    assert (np.diff(trace) <= 1e-12).all()
    assert np.linalg.norm(W) == pytest.approx(1)
    assert gap >= -1e-9 or cone == "psd_clip"
    assert np.linalg.norm(o.fit_published(X, y, 0.5, cone)[0]) == pytest.approx(1)


def test_converged_monotone_is_stationary(immigrate_oracles, make_groups):
    o = immigrate_oracles
    X, y = make_groups(8, n=16, p=3)
    W, trace, _, converged, _, gap = o.fit_monotone(X, y, 4.0, "psd", max_iter=200)
    assert converged
    assert gap <= 1e-6 * max(1, abs(trace[-1]))
    D, rng = o.differences(X), np.random.default_rng(0)
    slope = o.slope(D, y, 4.0, W)
    for _ in range(50):
        assert (slope * (random_member(rng, "psd", 3) - W)).sum() >= -1e-3


def test_package(immigrate_oracles, package_figures):
    o = immigrate_oracles
    for case in package_figures:
        if case["data"] not in ("iris", "xor") or (case["data"], case["rows"]) == ("xor", "all"):
            continue
        W, trace, iterations, *_ = o.fit_published(
            case["X"], case["y"], case["sigma"], "psd_clip", prune=case["removesmall"], renormalise=False,
            max_iter=case["max_iter"], stopping="package",
        )  # fmt: skip
        assert_allclose(W, case["W"], rtol=0, atol=1e-12)
        assert iterations == case["iterations"]
        assert len(trace) == iterations + 1
        if "predicted" in case:
            expected = o.expected_distances(W, case["X"], case["y"], case["sigma"], case["X_rest"])
            shares = expected / expected.sum(axis=1, keepdims=True)
            assert_allclose(shares[:5], case["distance_shares"], rtol=0, atol=1e-12)
            classes = o.predict(W, case["X"], case["y"], case["sigma"], case["X_rest"])
            assert_array_equal(classes, case["predicted"])


def test_im4e(immigrate_oracles, make_groups):
    o = immigrate_oracles
    X, y = make_groups(9, n_classes=3, p=6)
    w, _ = o.fit_im4e(X, y, 0.5)
    assert w.sum() == pytest.approx(1)
    assert (w >= 0).all()
    assert_allclose(o.fit_im4e(4 * X, y, 2.0)[0], w, atol=1e-12)
    # A wide sigma: all hits and all misses count alike.
    D = o.differences(X)
    margin = sum(D[n, o.misses(y, n)].mean(axis=0) - D[n, o.hits(y, n)].mean(axis=0) for n in range(len(y)))
    expected = np.maximum(margin, 0) / np.maximum(margin, 0).sum()
    assert_allclose(o.fit_im4e(X, y, 1e9, max_iter=1)[0], expected, atol=1e-7)


def test_im4e_is_the_diagonal_of_immigrate_on_absolute_differences(immigrate_oracles, make_groups):
    # d' diag(w) d sums w_a d_a^2: with the roots of the differences for d, it sums w_a d_a.
    o = immigrate_oracles
    X, y = make_groups(10, p=5)
    roots = np.sqrt(o.differences(X))
    w, _ = o.fit_im4e(X, y, 0.5, max_iter=1)
    W, _ = o.published_step(roots, y, 0.5, np.eye(5) / 5, "diag")
    assert_allclose(np.diag(W) / np.trace(W), w, atol=1e-12)


def test_screen(immigrate_oracles):
    w = np.array([0.5, 0.0, 0.3, 0.2])
    assert immigrate_oracles.screen(w, 1.0) == [0, 2]
    assert immigrate_oracles.screen(w, 1.0, max_features=1) == [0]
    assert immigrate_oracles.screen(w, 3.0) == [0, 2]
    assert immigrate_oracles.screen(np.full(4, 0.25), 2.0) == [0, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_learner_is_no_better_than_chance_after_adaboost(immigrate_oracles, make_groups, n_classes):
    o = immigrate_oracles
    X, y = make_groups(12, n=30, n_classes=n_classes)
    kept, after = o.fit_boosted(X, y, 1, boost_update="adaboost")
    wrong = o.predict(kept["matrices"][0], X, y, 4.0) != y
    assert after[wrong].sum() == pytest.approx(1 - 1 / n_classes)
    error = kept["errors"][0]
    assert error == pytest.approx(wrong.mean())
    _, after = o.fit_boosted(X, y, 1, boost_update="published")
    share = math.sqrt(error * (n_classes - 1))
    assert after[wrong].sum() == pytest.approx(share / (share + math.sqrt(1 - error)))


def test_schedule(immigrate_oracles):
    published = immigrate_oracles.schedule(100)
    assert published[0] == 4
    assert published[-1] * (0.2 / 4) ** (1 / 100) == pytest.approx(0.2)
    assert immigrate_oracles.schedule(100, inclusive=True)[-1] == pytest.approx(0.2)
