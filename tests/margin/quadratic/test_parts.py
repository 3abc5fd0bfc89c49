import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin._quadratic import layout
from mfbench_margin._quadratic.layout import TrainingPairs, lay_out
from mfbench_margin._quadratic.pairs import scatter_matrix, softmins


@pytest.mark.parametrize(("sigma", "is_stored"), [(0.05, True), (1.0, False)])
def test_equal_definition(immigrate_oracles, make_groups, sigma, is_stored):
    """More rows than a tile has, so that tiles of every kind occur."""
    o = immigrate_oracles
    X, y = make_groups(1, n=300, n_classes=3, alone=True)
    W = np.eye(4) + 0.2
    pairs = TrainingPairs(X, y)
    form = lay_out(W, pairs.width)
    stored = pairs.distances(form)
    soft = softmins(pairs, form, stored, stored, 0.0, sigma)
    ordered, labels = X[pairs.order], y[pairs.order]
    D = o.differences(ordered)
    q = o.quadratic(D, W)
    for i in range(len(labels)):
        for side, others in enumerate((o.hits(labels, i), o.misses(labels, i))):
            expected = o.softmin(q[i, others], sigma) if len(others) else np.inf
            assert soft[side, i] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    weights = np.where(np.isfinite(soft[0]), np.random.default_rng(0).random(len(labels)), 0.0)
    total = scatter_matrix(pairs, form, stored, sigma, soft, weights)
    assert_allclose(total, o.slope(D, labels, sigma, W, weights), rtol=0, atol=1e-8)


@pytest.mark.parametrize("is_stored", [True, False])
@pytest.mark.parametrize("rank", [None, 1])
def test_threads_change_no_bit_and_parts_only_rounding(make_groups, monkeypatch, is_stored, rank):
    X, y = make_groups(1, n=300, n_classes=3, alone=True)
    pairs = TrainingPairs(X, y, cache_bytes=None if is_stored else 0)
    W = np.eye(4) + 0.2 if rank is None else np.ones((4, 4))
    form = lay_out(W, pairs.width, None if rank is None else np.ones((1, 4)))
    weights = np.arange(300) / 300.0

    def results(n_threads):
        stored = pairs.distances(form, n_threads)
        soft = softmins(pairs, form, stored, stored, 0.0, 0.5, n_threads)
        finite = np.where(np.isfinite(soft[0]), weights, 0.0)
        return stored, soft, scatter_matrix(pairs, form, stored, 0.5, soft, finite, n_threads)

    whole = results(1)
    monkeypatch.setattr(layout, "MANY_SAMPLES", 100)
    one, three = results(1), results(3)
    for a, b, c in zip(whole, one, three, strict=True):
        assert_array_equal(b, c)
        assert_allclose(a, b, rtol=1e-12, atol=1e-10)


def test_single_precision_keeps_its_bound(immigrate_oracles, make_groups):
    X, y = make_groups(2, n=60)
    X += 1e4  # an offset costs no digits
    W = np.full((4, 4), 0.25)
    pairs = TrainingPairs(X, y)
    form = lay_out(W, pairs.width)
    exact, single = pairs.distances(form), pairs.single.distances(form)
    assert single.dtype == np.float32
    assert 0 < np.abs(exact - single).max() <= pairs.single_error
    soft = [softmins(p, form, d, d, 0.0, 1.0) for p, d in ((pairs, exact), (pairs.single, single))]
    assert np.abs(soft[0] - soft[1]).max() <= pairs.single_error
