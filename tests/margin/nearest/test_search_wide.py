"""The search among many features, by distances in single precision first, finds what the plain search finds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_margin._nearest import search as module
from mfbench_margin._nearest.differences import build_table
from mfbench_margin._nearest.search import heap_offsets, search

KINDS = {
    "numbers": lambda rng, shape: rng.normal(size=shape),
    "many ties": lambda rng, shape: rng.integers(0, 3, size=shape).astype(float),
    "duplicates": lambda rng, shape: rng.normal(size=shape)[rng.integers(0, shape[0] // 2, shape[0])],
    "far from 0": lambda rng, shape: rng.normal(size=shape) + 1e6,
    "one large value": lambda rng, shape: rng.normal(size=shape) * (1.0 + 1e5 * (rng.random(shape) < 1e-3)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "p", "k"), [(90, 64, 1), (300, 131, 10), (320, 70, 40), (40, 1000, 30)])
def test_neighbours_and_distances_are_equal_to_the_bit(monkeypatch, kind, n, p, k):
    rng = np.random.default_rng(n + k)
    X, codes = KINDS[kind](rng, (n, p)), rng.integers(0, 3, n)
    table = build_table(X, codes, np.zeros(p, dtype=bool))
    offsets, targets = heap_offsets(table, k), np.arange(n)[::2].copy()
    wide = search(table, targets, offsets, squared=False)
    monkeypatch.setattr(module, "WIDE", p + 1)
    for ours, plain in zip(wide, search(table, targets, offsets, squared=False), strict=True):
        assert_array_equal(ours, plain)


def test_the_bound_holds():
    rng = np.random.default_rng(0)
    table = build_table(rng.random((300, 500)) ** 4, np.zeros(300, dtype=np.int64), np.zeros(500, dtype=bool))
    targets = np.arange(300)
    near = module._approximate(targets, table.rows, table.single)
    exact = np.abs(table.rows[:, None] - table.rows[None]).sum(axis=2)
    bound = module.HALF_UNIT * (1.5 * 500 + module.ROUNDED * near)
    assert np.abs(near - exact).max() > 0 and (np.abs(near - exact) <= bound).all()


def test_a_class_smaller_than_the_number_of_neighbours():
    rng = np.random.default_rng(0)
    table = build_table(rng.normal(size=(30, 80)), np.repeat([0, 1], [4, 26]), np.zeros(80, dtype=bool))
    neighbours, distances = search(table, np.arange(30), heap_offsets(table, 10), squared=False)
    assert (neighbours[:4, :4] == 30).sum() == 4 and np.isinf(distances[:4, :4]).sum() == 4
    assert np.isfinite(distances[4:]).all()
