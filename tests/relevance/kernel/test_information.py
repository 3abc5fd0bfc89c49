"""Mutual information of all pairs, against definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

from mfbench_learners.discretise import bin_codes, compact
from mfbench_relevance._kernel.information import entropies, information_between, information_matrix

BINNINGS = ["width", "frequency"]


@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("bins", [2, 7, 16, 300])
def test_every_pair_equals_scikit_learn_in_bits(messy_columns, binning, bins):
    codes, sizes = compact(bin_codes(messy_columns, bins, binning))
    expected = [[mutual_info_score(u, v) / np.log(2) for v in codes] for u in codes]
    found = information_matrix(codes, sizes)
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert_array_equal(found, found.T)
    assert_array_equal(np.diagonal(found), entropies(codes, sizes))
    assert_allclose(information_between(codes, sizes, codes[:3], sizes[:3]), found[:, :3], rtol=0, atol=1e-14)


@pytest.mark.parametrize("tile", [1, 4, 64])
def test_tiles_change_nothing(messy_columns, monkeypatch, tile):
    codes, sizes = compact(bin_codes(messy_columns, 7, "width"))
    whole = information_matrix(codes, sizes)
    monkeypatch.setattr("mfbench_relevance._kernel.information.TILE", tile)
    assert_array_equal(information_matrix(codes, sizes), whole)


@settings(max_examples=50, deadline=None)
@given(stn.arrays(np.int64, st.tuples(st.integers(2, 20), st.integers(2, 4)), elements=st.integers(0, 4)))
def test_equals_the_double_loop_and_stays_within_its_bounds(oracles, codes):
    rows, sizes = compact(codes)
    found = information_matrix(rows, sizes)
    assert_allclose(found, [[oracles.information(u, v) for v in rows] for u in rows], rtol=0, atol=1e-12)
    entropy = np.diagonal(found)
    assert (found >= 0).all()
    assert (found <= np.minimum(entropy[:, None], entropy)).all()


@pytest.mark.parametrize("binning", BINNINGS)
def test_invariant_to_order_of_rows_and_to_affine_maps(binning):
    rng = np.random.default_rng(2)
    x = rng.integers(1, 1000, size=(200, 3)) + 0.5  # no value on an edge
    x[:2] = [[0, 0, 0], [1024, 1024, 1024]]
    first = information_matrix(*compact(bin_codes(x, 7, binning)))
    assert_allclose(information_matrix(*compact(bin_codes(x[rng.permutation(200)], 7, binning))), first, atol=1e-14)
    assert_allclose(information_matrix(*compact(bin_codes(4 * x - 1, 7, binning))), first, atol=1e-14)
    if binning == "width":
        assert_allclose(information_matrix(*compact(bin_codes(-x, 7, binning))), first, atol=1e-14)
