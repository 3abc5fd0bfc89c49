"""Rows without their zeros give back what was added."""

import pickle

import numpy as np
from numpy.testing import assert_array_equal

from mfbench_sqpfw.weight_path import SparseRows


def test_rows_come_back_in_any_order():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(7, 19)) * (rng.random((7, 19)) < 0.4)
    table[3] = 0.0
    rows = SparseRows(19)
    for row in table:
        rows.append(row)
    numbers = [4, 0, 3, 4]
    assert_array_equal(rows[numbers], table[numbers])
    assert_array_equal(pickle.loads(pickle.dumps(rows))[range(7)], table)
    assert (len(rows), rows.n_entries) == (7, np.count_nonzero(table))
    assert rows.nbytes == 8 * rows.n_entries + 7 * 3


def test_rows_share_no_memory_with_what_was_added():
    row = np.array([1.0, 0.0])
    rows = SparseRows(2)
    rows.append(row)
    row[:] = 5.0
    assert rows[[0]].tolist() == [[1.0, 0.0]]
