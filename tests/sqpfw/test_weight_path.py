"""Paths as data: stored rows, weights between breakpoints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from mfbench_sqpfw import sqpfw_path, toy_data
from mfbench_sqpfw.weight_path import WeightPath


def test_weights_are_stored_once():
    """There is one row for each breakpoint, and another if w jumps."""
    rng = np.random.default_rng(3)
    path = sqpfw_path(rng.normal(size=(30, 4)), np.arange(30) % 2, 1.0)
    assert 0 < len(path.jumps) < len(path.events)
    assert len(path.rows) == len(path.thetas) + len(path.jumps)
    assert_array_equal(path.after[-1], path.rows[-1])
    assert_array_equal(path.after_last(), path.rows[-1])
    assert_array_equal(np.flatnonzero(path.reached != path.left), path.jumps)


def test_zeros_take_no_memory():
    rng = np.random.default_rng(3)
    path = sqpfw_path(rng.normal(size=(20, 40)), np.arange(20) % 2, 2.0)
    assert path.stored.n_entries == np.count_nonzero(path.rows) < path.rows.size


def test_prefix():
    """A shorter path is the start of a longer one."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    short, long = sqpfw_path(X, y, 0.3), sqpfw_path(X, y, 1.0)
    for theta in np.linspace(0, 0.3, 9):
        assert_allclose(short.weights_at(theta), long.weights_at(theta), atol=1e-10)


def test_weights_at():
    path = sqpfw_path(*toy_data(), 2.0, kappa=2)
    k = int(np.argmax(np.diff(path.thetas)))
    left, right = path.thetas[k], path.thetas[k + 1]
    middle = path.weights_at((left + right) / 2)
    assert_allclose(middle, (path.after[k] + path.before[k + 1]) / 2)
    assert_allclose(path.weights_at([left, 2.0]), [path.after[k], path.after[-1]])
    for k in path.jumps:
        theta = path.thetas[k]
        last = np.flatnonzero(path.thetas == theta)[-1]
        assert_allclose(path.weights_at(theta), path.after[last])
    for bad in ("a", 1j, [[0.5]]):
        with pytest.raises(ValueError, match="theta must be a number or a sequence"):
            path.weights_at(bad)
    for bad in (-0.1, 2.1, np.nan, [0.5, 3.0]):
        with pytest.raises(ValueError, match="theta must lie between 0 and 2"):
            path.weights_at(bad)


@pytest.mark.parametrize(("name", "kind"), [("rows", np.array), ("stored", csr_array)])
def test_a_path_that_an_earlier_version_pickled_can_be_read(name, kind):
    path = WeightPath.__new__(WeightPath)
    state = {"thetas": np.array([0.0]), name: kind([[1.0, 0.0]]), "events": []}
    path.__setstate__({**state, "reached": np.array([0]), "left": np.array([0])})
    assert path.rows.tolist() == path.after.tolist() == [[1.0, 0.0]]
