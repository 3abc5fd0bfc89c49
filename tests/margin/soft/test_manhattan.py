import tracemalloc

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin._soft import manhattan
from mfbench_margin._soft.manhattan import SoftManhattan

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(params=["kept", "recomputed", "kept in small blocks", "recomputed in small blocks"])
def path(request, monkeypatch):
    """Distances kept or computed again; with blocks of 5 rows, the last blocks and chunks have every size."""
    if "recomputed" in request.param:
        monkeypatch.setattr(manhattan, "BUDGET", 0)
    if "small" in request.param:
        monkeypatch.setattr(manhattan, "BLOCK", 5)
    return request.param


@pytest.fixture
def make_case():
    def make(seed, n=24, p=5, n_classes=3):
        """Normal and integer features, a constant one, duplicates, a class of one member, a weight of 0."""
        rng = np.random.default_rng(seed)
        X = np.hstack([rng.normal(size=(n, p - 2)), rng.integers(0, 3, (n, 1)), np.full((n, 1), 0.1)])
        y = rng.permutation(np.append(np.arange(n - 1) % n_classes, n_classes))
        X[5], X[7] = X[4], X[4]
        weights = rng.dirichlet(np.ones(p))
        weights[rng.integers(p - 2)] = 0
        return X, y.astype(np.int64), weights, rng.uniform(0, 2, n)

    return make


@in_turn("sigma", [0.01, 0.3, 1.0, 50.0])
@in_turn("n, p, n_classes", [(24, 5, 2), (23, 9, 3), (12, 3, 1), (13, 70, 4)])
def test_equals_definition(oracles_soft, make_case, path, sigma, n, p, n_classes):
    X, y, w, factors = make_case(n, n, p, n_classes)
    table = SoftManhattan(X, y)
    soft = table.soften(w, sigma)
    assert table._keeps == ("kept" in path)
    factors[soft.sums[0] == 0] = 0
    assert_allclose(table.margins(factors), oracles_soft.margins(X, y, w, sigma, factors), **CLOSE)
    assert_allclose(soft.objective(factors), oracles_soft.objective(X, y, w, sigma, factors), **CLOSE)
    assert_allclose(soft.objective(factors), oracles_soft.cost(X, y, w, sigma, factors), **CLOSE)
    assert_allclose(soft.hit_shares(), oracles_soft.hit_shares(X, y, w, sigma), **CLOSE)

    classes = range(y.max() + 1)
    queries = np.vstack([X[:4], 3 * X[:5] + 1])
    measure = table.predictor(w, sigma)
    expected = [[oracles_soft.expected_distance(X, y, w, sigma, c, x) for c in classes] for x in queries]
    assert_allclose(measure(queries), expected, **CLOSE)
    expected = [[oracles_soft.expected_distance(X, y, w, sigma, c, X[i], i) for c in classes] for i in range(n)]
    assert_allclose(measure(None), expected, **CLOSE)


def test_several_blocks_of_each_class(oracles_soft):
    rng = np.random.default_rng(0)
    X, y, factors = rng.normal(size=(300, 2)), rng.integers(0, 2, 300), rng.uniform(0, 1, 300)
    w = np.array([0.25, 0.75])
    table = SoftManhattan(X, y)
    assert_allclose(table.soften(w, 0.2).objective(factors), oracles_soft.objective(X, y, w, 0.2, factors), **CLOSE)
    assert_allclose(table.margins(factors), oracles_soft.margins(X, y, w, 0.2, factors), **CLOSE)


def test_objective_has_the_margins_as_gradient(make_case):
    """The derivative of the difference of soft minima is minus the margins: neighbours' shares may be held fixed."""
    X, y, w, factors = make_case(3)
    table = SoftManhattan(X, y)
    factors[table.soften(w, 0.5).sums[0] == 0] = 0
    direction = np.random.default_rng(1).normal(size=len(w)) * (w > 0)
    h = 1e-6
    difference = table.soften(w + h * direction, 0.5).objective(factors)
    difference -= table.soften(w - h * direction, 0.5).objective(factors)
    table.soften(w, 0.5)
    assert difference / (2 * h) == pytest.approx(-table.margins(factors) @ direction, rel=1e-7)


def test_margins_are_linear_in_the_factors(make_case):
    X, y, w, factors = make_case(4)
    table = SoftManhattan(X, y)
    other = np.random.default_rng(2).uniform(size=len(y))
    table.soften(w, 0.5)
    assert_allclose(table.margins(factors + 3 * other), table.margins(factors) + 3 * table.margins(other), **CLOSE)


@in_turn("sigma", [1e-300, 1e-6, 1e6, 1e300])
def test_extreme_softness(make_case, path, sigma):
    X, y, w, factors = make_case(5)
    table = SoftManhattan(X, y)
    with np.errstate(all="raise", under="ignore"):
        soft = table.soften(w, sigma)
        values = [table.margins(factors), soft.hit_shares(), table.predictor(w, sigma)(X)]
    assert all(np.isfinite(v).all() for v in values)


def test_balanced_margin_is_exactly_nothing(monkeypatch):
    """Only the first feature, the same within each group of four, decides who are neighbours.

    The second one's margin is a sum of multiples of 0.3: nothing or far from it, were it not for rounding.
    """
    y = np.tile([0, 1, 0, 1], 9)
    values = {0.0: [], manhattan.ROUNDING: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tenths = rng.permuted(np.tile([0.1, 0.1, 0.4, 0.4], (9, 1)), axis=1).ravel()
        table = SoftManhattan(np.column_stack([np.repeat(np.arange(9), 4) * 10.0, tenths]), y)
        table.soften(np.array([1.0, 0.0]), 0.1)
        for rounding, margins in values.items():
            monkeypatch.setattr(manhattan, "ROUNDING", rounding)
            margins.append(abs(table.margins(np.ones(36))[1]))
    without, rounded = (np.array(v) for v in values.values())
    assert ((without > 0) & (without < 1e-10)).any()
    assert_array_equal(rounded == 0, without < 1e-10)
    assert rounded[rounded > 0].min() > 0.1


def test_refuses_distances_that_overflow():
    with pytest.raises(ValueError, match="too large"):
        SoftManhattan(np.array([[-1e308], [1e308], [0], [1]]), np.array([0, 0, 1, 1]))


def test_input_is_left_alone(make_case):
    X, y, w, factors = make_case(7)
    before = [a.copy() for a in (X, y, w, factors)]
    table = SoftManhattan(X, y)
    table.soften(w, 0.5)
    table.margins(factors)
    for array, copy in zip((X, y, w, factors), before, strict=True):
        assert_array_equal(array, copy)


def test_memory_does_not_grow_with_the_square_of_n():
    """A matrix of all distances would take 200 MB; the data take 0.1 MB."""
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(5_000, 3)), rng.integers(0, 2, 5_000)
    tracemalloc.start()
    try:
        table = SoftManhattan(X, y)
        table.soften(np.ones(3) / 3, 0.5)
        table.margins(np.ones(5_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * 2**20
