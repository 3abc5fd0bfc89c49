import numpy as np
import pytest
from numpy.testing import assert_allclose

import mfbench_margin
from mfbench_margin._quadratic.layout import TrainingPairs, lay_out
from mfbench_margin._quadratic.objective import Objective


def make(**parameters):
    return mfbench_margin.IMMIGRATE(**parameters)


def test_trace_is_the_objective_of_every_iterate(immigrate_oracles, make_groups):
    o = immigrate_oracles
    X, y = make_groups(5, n_classes=3)
    D, iterates = o.differences(X), [o.identity(4)]
    for k in (1, 2, 3):
        iterates.append(make(sigma=0.6, solver="published", max_iter=k).fit(X, y).matrix_)
    trace = make(sigma=0.6, solver="published", max_iter=3).fit(X, y).objective_trace_
    assert_allclose(trace, [o.value(D, y, 0.6, W) for W in iterates], rtol=1e-10)


@pytest.mark.parametrize("cache_bytes", [None, 0])
def test_value_slope_and_line_equal_definition(immigrate_oracles, make_groups, cache_bytes):
    o = immigrate_oracles
    X, y = make_groups(6, n=30, n_classes=3)
    weights = np.random.default_rng(0).random(30)
    objective = Objective(TrainingPairs(X, y, cache_bytes), 0.7, weights)
    W, V = np.eye(4) / 2, np.ones((4, 4)) / 4
    D = o.differences(X)
    start = objective.at(W)
    assert start.value == pytest.approx(o.value(D, y, 0.7, W, weights), rel=1e-10)
    assert_allclose(objective.slope(start), o.slope(D, y, 0.7, W, weights), rtol=0, atol=1e-9)
    for step in (1.0, 0.25):
        line = objective.line(start, V, None)
        point = line.take(line.at(step), step)
        assert_allclose(point.W, W + step * (V - W), rtol=1e-15)
        assert point.value == pytest.approx(o.value(D, y, 0.7, point.W, weights), rel=1e-10)
        assert_allclose(objective.slope(point), o.slope(D, y, 0.7, point.W, weights), rtol=0, atol=1e-9)


def test_means_of_distances_in_single_precision_keep_their_bound(make_groups):
    X, y = make_groups(6, n=60)
    pairs, rng = TrainingPairs(X, y), np.random.default_rng(0)
    unit = 2.0**-23 * pairs.largest
    sigma = 100 * (pairs.single_error + 2.5 * unit)  # which leaves room for two means
    objective = Objective(pairs.single, sigma, np.ones(60))
    assert pairs.single.most_blends(sigma) == pytest.approx(2.5, rel=1e-3) and pairs.most_blends(sigma) == np.inf
    point, blends = objective.at(np.eye(4) / 2), []
    for _ in range(5):
        V = rng.random((4, 4))
        line = objective.line(point, (V + V.T) / np.linalg.norm(V + V.T), None)
        point = line.take(line.at(0.5), 0.5)
        blends.append(point.blends)
        exact = pairs.distances(lay_out(point.W, pairs.width))
        assert np.abs(point.stored - exact).max() <= pairs.single_error + point.blends * unit
    assert blends == [1, 2, 0, 1, 2]


def test_final_point_has_norm_1(make_groups):
    X, y = make_groups(7)
    X = np.column_stack([X, np.ones(len(X))])
    objective = Objective(TrainingPairs(X, y), 1.0, np.ones(len(y)))
    point = objective.at(np.full((5, 5), 0.3))
    final = objective.final(point)
    assert_allclose(final.W[:4, :4], 0.25, rtol=1e-15)
    assert not final.W[4].any()
    assert "value" not in vars(final), "nobody asks for it"
    assert final.value == pytest.approx(objective.at(final.W).value)
    assert objective.final(point, threshold=0.1).W.sum() == pytest.approx(4)
