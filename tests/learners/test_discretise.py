"""Values in bins."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mfbench_learners.discretise import bin_codes

BINNINGS = ["width", "frequency"]


def test_codes_of_equal_width():
    x = np.array([[0.0], [0.24], [0.25], [0.74], [0.76], [1.0]])
    assert bin_codes(x, 4, "width").ravel().tolist() == [0, 0, 1, 2, 3, 3]


def test_codes_of_equal_frequency_are_even_without_ties_and_never_part_equal_values():
    rng = np.random.default_rng(0)
    assert np.bincount(bin_codes(rng.normal(size=(160, 1)), 16, "frequency").ravel()).tolist() == [10] * 16
    tied = rng.integers(0, 5, size=(100, 1)).astype(float)
    codes = bin_codes(tied, 16, "frequency")
    for value in range(5):
        assert len(np.unique(codes[tied == value])) == 1


@pytest.mark.parametrize("n", [1, 2, 5, 101, 1000])
def test_the_cuts_of_equal_frequency_are_quantiles(n):
    rng = np.random.default_rng(n)
    x = np.column_stack([np.round(rng.normal(size=n), decimals) for decimals in (0, 1, 2, 8)])
    for bins in (2, 3, 7, 16):
        cuts = np.quantile(x, np.arange(1, bins) / bins, axis=0)
        expected = (x[:, :, None] >= cuts.T).sum(axis=2) * (np.ptp(x, axis=0) > 0)
        assert_array_equal(bin_codes(x, bins, "frequency"), expected)


@pytest.mark.parametrize("binning", BINNINGS)
def test_constant_and_extreme_columns(binning):
    x = np.column_stack([np.full(8, 3.0), 1.7e308 * np.linspace(-1, 1, 8), np.arange(8.0)])
    codes = bin_codes(x, 4, binning)
    assert (codes[:, 0] == 0).all()
    assert_array_equal(codes[:, 2], [0, 0, 1, 1, 2, 2, 3, 3])
    if binning == "width":
        assert_array_equal(codes[:, 1], codes[:, 2])
