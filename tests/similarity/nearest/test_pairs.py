"""Hits and misses of the training rows, against the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mfbench_similarity._nearest.lists import differences, find_pairs, margins
from mfbench_similarity._nearest.table import bilinear, build_table


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_equal_definition(oracles, make_ties, k, seed):
    X, y = make_ties(seed)
    table = build_table(X, y, "none")
    pairs = find_pairs(table, table.rows, bilinear(table, None), k, 1)
    for row, sample in enumerate(table.order):
        hits, misses = oracles.all_pairs(X, y, k, oracles.one)[sample]
        count = pairs.counts[0, row]
        assert table.order[pairs.hits[0, row, :count]].tolist() == hits
        assert table.order[pairs.misses[0, row, :count]].tolist() == misses


def test_margins_are_products_with_the_differences(oracles, make_numbers):
    X, y = make_numbers(0)
    table = build_table(X, y, "none")
    pairs = find_pairs(table, table.rows, bilinear(table, None), 2, 1)
    A = np.random.default_rng(0).normal(size=(4, 4))
    values = margins(table, pairs, 0, A)
    assert_allclose(values, np.einsum("ij,jk,ik->i", table.rows, A, differences(table, pairs, 0)))
    assert_allclose(values[table.position], oracles.margins(X, y, 2, A))
