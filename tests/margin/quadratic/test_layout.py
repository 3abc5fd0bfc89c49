import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_margin import IMMIGRATE
from mfbench_margin._quadratic import layout
from mfbench_margin._quadratic.layout import SINGLE_SAMPLES, TrainingPairs, is_single_enough, lay_out


def test_rows_are_sorted_by_class_and_padded(make_groups):
    X, y = make_groups(1, n=20, p=5, n_classes=3)
    X[:, 3] = 7.0
    pairs = TrainingPairs(X, y)
    assert pairs.width == 8
    assert_array_equal(y[pairs.order], np.sort(y))
    assert_array_equal(pairs.ends, np.cumsum(np.bincount(y)))
    assert_array_equal(pairs.rows[:, :5], X[pairs.order])
    assert not pairs.rows[:, 5:].any()
    assert_array_equal(pairs.columns, pairs.rows.T)
    assert pairs.varies.tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("rank", [None, 1, 4])
def test_distances_of_all_pairs(immigrate_oracles, make_groups, rank):
    X, y = make_groups(2, n=40)
    components = np.random.default_rng(0).normal(size=(rank or 4, 4))
    W = components.T @ components
    pairs = TrainingPairs(X, y)
    stored = pairs.distances(lay_out(W, pairs.width, None if rank is None else components))
    ordered = X[pairs.order]
    q = immigrate_oracles.quadratic(immigrate_oracles.differences(ordered), W)
    assert_allclose(stored, q[np.triu_indices(40, 1)], rtol=1e-10)


def test_stores_distances_only_if_they_fit(make_groups):
    X, y = make_groups(3, n=20)
    form = lay_out(np.eye(4), 4)
    size = 8 * 20 * 19 // 2
    assert len(TrainingPairs(X, y, cache_bytes=size).distances(form)) == 20 * 19 // 2
    assert len(TrainingPairs(X, y, cache_bytes=size - 1).distances(form)) == 0


def test_without_memory_for_distances_a_fit_goes_on(make_groups, monkeypatch):
    X, y = make_groups(3, n=40)
    stored = IMMIGRATE().fit(X, y)
    reserved = []

    def scarce(length, kind):
        reserved.append(length)
        if len(reserved) > 1:
            raise MemoryError
        return np.empty(length, kind)

    monkeypatch.setattr(layout, "reserve", scarce)
    scant = IMMIGRATE().fit(X, y)
    assert len(reserved) == 2
    assert_allclose(scant.matrix_, stored.matrix_, rtol=1e-10, atol=1e-12)
    assert_array_equal(scant.predict(X), stored.predict(X))


def test_refuses_distances_that_overflow():
    with pytest.raises(ValueError, match="too large"):
        TrainingPairs(np.array([[0.0], [1e200], [0], [1]]), np.array([0, 0, 1, 1]))


@in_turn("exponent, enough", [(-80, False), (-45, True), (0, True), (55, True), (64, False), (500, False)])
def test_single_precision_needs_distances_within_its_range(make_groups, exponent, enough):
    """Distances are squares: from 2^64 on they overflow in single precision, and at 2^-80 they vanish."""
    X, y = make_groups(3, n=SINGLE_SAMPLES)
    pairs, scaled = TrainingPairs(X, y), TrainingPairs(np.ldexp(X, exponent), y)
    assert is_single_enough(pairs, 4.0)
    assert is_single_enough(scaled, 4.0 * 4.0**exponent) == enough
    if enough:
        form = lay_out(np.full((4, 4), 0.25), pairs.width)
        assert_array_equal(scaled.single.distances(form), np.ldexp(pairs.single.distances(form), 2 * exponent))


def test_single_precision_needs_samples_and_small_errors(make_groups):
    X, y = make_groups(3, n=SINGLE_SAMPLES)
    assert not is_single_enough(TrainingPairs(X[1:], y[1:]), 4.0)
    pairs = TrainingPairs(X, y)
    assert is_single_enough(pairs, 100.0 * pairs.single_error)
    assert not is_single_enough(pairs, 99.0 * pairs.single_error)
