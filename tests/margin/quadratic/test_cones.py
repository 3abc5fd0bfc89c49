import importlib

import numpy as np
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

CONES = ["psd", "psd_clip", "nonneg", "dnn", "diag"]


def project(G, cone):
    """The projection, and whether it is zero."""
    cones = importlib.import_module("mfbench_margin._quadratic.cones")
    return cones.project(np.asarray(G, dtype=float), cone), cones.best_direction(np.asarray(G, dtype=float), cone).polar


def direction(G, cone):
    """The projection scaled to norm 1."""
    V, degenerate = project(G, cone)
    assert not degenerate
    return V / np.linalg.norm(V)


def symmetric(seed, p):
    G = np.random.default_rng(seed).normal(size=(p, p))
    G[0, 0] = abs(G[0, 0])
    return (G + G.T) / 2


@in_turn("cone", CONES)
@in_turn("p", [1, 2, 5, 12])
def test_equals_definition(immigrate_oracles, cone, p):
    tolerance = 1e-8 if cone == "dnn" else 1e-12
    for seed in range(5):
        G = symmetric(seed, p)
        expected, _ = immigrate_oracles.best_direction(G, cone)
        assert_allclose(direction(G, cone), expected, rtol=0, atol=tolerance)


@in_turn("cone", CONES)
def test_does_not_change_its_argument(cone):
    G = symmetric(1, 4)
    before = G.copy()
    direction(G, cone)
    assert_array_equal(G, before)


@in_turn("cone", CONES)
@in_turn("scale", [1e-6, 1e6])
def test_scale_does_not_matter(cone, scale):
    G = symmetric(2, 4)
    assert_allclose(direction(scale * G, cone), direction(G, cone), rtol=0, atol=1e-8)


@in_turn("cone", CONES)
def test_is_symmetric_and_in_the_cone(cone):
    for seed in range(5):
        V = direction(symmetric(seed, 5), cone)
        assert_allclose(V, V.T, rtol=0, atol=1e-15)
        if cone in ("psd", "dnn"):
            assert np.linalg.eigvalsh(V).min() >= -1e-8
        if cone != "psd":
            assert V.min() >= 0
        if cone == "diag":
            assert_array_equal(V, np.diag(np.diag(V)))


@in_turn("cone", ["psd", "nonneg", "dnn", "diag"])
def test_no_member_of_the_cone_does_better(cone):
    rng = np.random.default_rng(3)
    G = symmetric(3, 4)
    best = (G * direction(G, cone)).sum()
    for _ in range(500):
        B = rng.normal(size=(4, rng.integers(1, 5)))
        W = {
            "psd": B @ B.T,
            "dnn": np.abs(B) @ np.abs(B).T,
            "nonneg": np.abs(B[:, :1] + B[:, :1].T),
            "diag": np.diag(np.abs(B[:, 0])),
        }[cone]
        assert (G * W).sum() / np.linalg.norm(W) <= best + 1e-9


@in_turn("cone", CONES)
def test_members_stay_what_they_are(cone):
    W = np.diag([1.0, 2.0, 0.5])
    if cone != "diag":
        W += 0.1
    assert_allclose(direction(W, cone), W / np.linalg.norm(W), rtol=0, atol=1e-12)


@in_turn("cone", CONES)
@in_turn("G", [-np.eye(3) - 0.1, np.zeros((3, 3))])
def test_polar_case(cone, G):
    _, degenerate = project(G, cone)
    assert degenerate
