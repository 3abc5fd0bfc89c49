import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import Relief

EXACT = {"rtol": 0, "atol": 1e-10}


def weights(X, y, **parameters):
    return Relief(**parameters).fit(X, y).feature_importances_


@in_turn("diff", ["abs", "sq"])
@in_turn("scale", ["range", "none"])
@in_turn("metric", ["euclidean", "manhattan"])
@in_turn("miss", ["pooled", "prior"])
@in_turn("n_classes", [2, 4])
def test_equals_definition(oracles, make_table, diff, scale, metric, miss, n_classes):
    X, y, _ = make_table(n_classes, 40, 4, 2, n_classes=n_classes)
    X = X / np.abs(X).max(axis=0)
    parameters = {"diff": diff, "scale": scale, "metric": metric, "miss": miss}
    assert_allclose(weights(X, y, **parameters), oracles.relief(X, y, **parameters), **EXACT)
    fitted = Relief(n_samples=25, random_state=3, **parameters).fit(X, y)
    expected = oracles.relief(X, y, samples=fitted.sample_indices_, **parameters)
    assert_allclose(fitted.feature_importances_, expected, **EXACT)


def test_online_with_every_sample_once_equals_the_mean_margin(make_table):
    X, y, _ = make_table(1, 60, 5, 0)
    span = np.ptp(X, axis=0)
    online = np.zeros(5)
    margins = []
    for i in range(60):
        distance = (((X - X[i]) / span) ** 2).sum(axis=1)
        distance[i] = np.inf
        hit = min(np.flatnonzero(y == y[i]), key=lambda j: distance[j])
        miss = min(np.flatnonzero(y != y[i]), key=lambda j: distance[j])
        online += (np.abs(X[i] - X[miss]) / span - np.abs(X[i] - X[hit]) / span) / 60
        margins.append((np.abs(X[i] - X[miss]) - np.abs(X[i] - X[hit])) / span)
    assert_allclose(weights(X, y), online, **EXACT)
    assert_allclose(weights(X, y), np.mean(margins, axis=0), **EXACT)


def test_unit_weights_have_the_largest_margin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    fitted = Relief(scale="none", metric="manhattan").fit(X, y)
    feasible = np.abs(rng.normal(size=(100_000, 6)))
    feasible /= np.linalg.norm(feasible, axis=1, keepdims=True)
    best = fitted.weights_unit_ @ fitted.weights_raw_
    assert np.linalg.norm(fitted.weights_unit_) == pytest.approx(1)
    assert (feasible @ fitted.weights_raw_ <= best + 1e-12).all()


def test_duplicates_are_neighbours():
    X, y = np.array([[0.0], [0.0], [2.0], [2.0]]), np.array([0, 0, 1, 1])
    assert weights(X, y).tolist() == [1.0]
    assert weights(X, [0, 1, 0, 1]).tolist() == [-1.0]


def test_constant_feature_weighs_exactly_nothing(make_table):
    X, y, _ = make_table(3, 30, 3, 0)
    for scale in ("range", "none"):
        assert weights(np.column_stack([X, np.full(30, 0.1)]), y, scale=scale)[-1] == 0


def test_one_feature_and_more_features_than_samples(oracles, make_table):
    for n_numeric in (1, 50):
        X, y, _ = make_table(4, 12, n_numeric, 0, n_classes=3)
        assert_allclose(weights(X, y), oracles.relief(X, y), **EXACT)


@pytest.mark.parametrize("y", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_refuses_labels_without_hits_or_misses(y):
    with pytest.raises(ValueError, match=r"2 (classes|samples)"):
        Relief().fit(np.eye(4), y)


def test_refuses_missing_values():
    with pytest.raises(ValueError, match="NaN"):
        Relief().fit([[0.0], [np.nan], [1.0], [2.0]], [0, 0, 1, 1])


def test_refuses_distances_that_overflow():
    with pytest.raises(ValueError, match="too large"):
        Relief(scale="none").fit([[-1e300], [1e300], [0], [1]], [0, 0, 1, 1])


@in_turn("parameters", [{"diff": "cube"}, {"scale": None}, {"metric": "cosine"}, {"miss": "all"}])
def test_refuses_wrong_parameters(parameters):
    with pytest.raises(ValueError, match="must be a str among"):
        Relief(**parameters).fit(np.eye(4), [0, 1, 0, 1])


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    diff=st.sampled_from(["abs", "sq"]),
    metric=st.sampled_from(["euclidean", "manhattan"]),
    miss=st.sampled_from(["pooled", "prior"]),
)
def test_invariances(make_table, seed, n_classes, **parameters):
    X, y, _ = make_table(seed, 30, 2, 3, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    base = weights(X, y, **parameters)
    assert (np.abs(base) <= 1 + 1e-12).all()
    order = rng.permutation(5)
    assert_allclose(weights(X[:, order], y, **parameters), base[order], **EXACT)
    assert_allclose(weights(X, np.array(["d", "b", "c", "a"])[y], **parameters), base, **EXACT)
    assert_allclose(weights(X + rng.integers(-9, 9, 5), y, **parameters), base, **EXACT)
    assert_allclose(weights(X * rng.uniform(0.1, 9, 5), y, **parameters), base, **EXACT)


def test_same_seed_same_bits(make_table):
    X, y, _ = make_table(5, 60, 4, 1)
    first, again, other = (weights(X, y, n_samples=20, random_state=s) for s in (1, 1, 2))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
