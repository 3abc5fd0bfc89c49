"""Histograms of margins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_similarity import (
    margin_histogram,
)


@pytest.mark.parametrize("shift", [-10, -1, 0, 1, 10])
def test_equals_counting(shift):
    values = np.random.default_rng(0).normal(size=500) + shift
    found = margin_histogram(values, 20)
    expected = [np.sum((values > a) & (values <= b)) for a, b in zip(found.edges[:-1], found.edges[1:], strict=True)]
    assert_array_equal(found.counts, expected)
    assert found.counts.sum() == 500
    assert_allclose(np.diff(found.edges), found.edges[1] - found.edges[0])
    assert_allclose(found.mean, values.mean())
    assert found.mistakes == np.mean(values <= 0)


def test_no_bar_holds_both_signs():
    found = margin_histogram([-3.0, -0.1, 0.0, 0.1, 7.7], 5)
    left = found.edges[1:] <= 0
    assert found.counts[left].sum() == 3
    assert (found.edges == 0).any()


def test_missing_margins_are_left_out():
    found = margin_histogram([[np.nan, 1.0], [-1.0, np.nan]])
    assert (found.counts.sum(), found.mistakes) == (2, 0.5)


@pytest.mark.parametrize("values", [[0.0, 0.0], [2.0], [-1.0]])
def test_equal_margins(values):
    assert margin_histogram(values).counts.sum() == len(values)


def test_bad_input_raises():
    with pytest.raises(ValueError, match="no finite number"):
        margin_histogram([np.nan])
    with pytest.raises(ValueError, match="at least 1"):
        margin_histogram([1.0], 0)
