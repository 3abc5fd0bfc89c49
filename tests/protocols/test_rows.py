"""Splitting rows: parts are disjoint, complete, of the requested sizes and, if stratified, fair to every class."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbench.errors import DataError
from mfbench.suite.protocols import cross_validation, parted, shares, stratified_splits

Y = np.repeat([0, 1, 2], [60, 45, 15])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_parts_are_disjoint_complete_sorted_and_of_the_sizes_asked_for(labels, first, stratified, seed):
    y = np.array(labels)
    rows = np.flatnonzero(np.arange(len(y)) % 5 != 0)
    sizes = [first, len(rows) - first]
    parts = parted(rows, y, sizes, seed, stratified)
    assert [len(part) for part in parts] == sizes
    assert sorted(np.concatenate(parts)) == rows.tolist()
    assert all((np.diff(part) > 0).all() for part in parts)
    again = parted(rows, y, sizes, seed, stratified)
    assert all(np.array_equal(a, b) for a, b in zip(parts, again, strict=True))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(0, 99))
def test_a_stratified_part_has_its_share_of_every_class(counts, seed):
    y = np.repeat(np.arange(len(counts)), counts)
    third = len(y) // 3
    if third < 1:
        return
    sizes = [len(y) - 2 * third, third, third]
    for part in parted(np.arange(len(y)), y, sizes, seed, stratified=True):
        for code, count in enumerate(counts):
            # Each end of the part cuts every class within one row, and the ends are set by all classes together.
            assert abs((y[part] == code).sum() - len(part) / len(y) * count) < 2 + len(counts)


def test_a_class_of_one_row_is_no_obstacle():
    y = np.array([0] * 20 + [1])
    assert [len(part) for part in parted(np.arange(21), y, [14, 7], 0, stratified=True)] == [14, 7]


def test_every_row_is_as_likely_to_be_in_a_part():
    counts = np.zeros(len(Y))
    for seed in range(2000):
        counts[parted(np.arange(len(Y)), Y, [80, 40], seed, stratified=True)[1]] += 1
    deviations = (counts - 2000 / 3) / np.sqrt(2000 * 2 / 9)
    assert np.abs(deviations).max() < 5.5


def test_an_empty_part_is_refused():
    with pytest.raises(DataError, match="2 rows are too few for parts of 2, 0 rows"):
        parted(np.arange(2), np.array([0, 1]), [2, 0], 0, stratified=False)
    with pytest.raises(DataError, match="5 folds need 5 rows, there are 4"):
        cross_validation(np.array([0, 0, 1, 1]), 5, 0, stratified=False)


def test_unstratified_folds_differ_in_their_classes():
    def spread(seed, stratified):
        return np.ptp([(Y[test] == 2).sum() for _, test in cross_validation(Y, 5, seed, stratified=stratified)])

    assert np.mean([spread(seed, False) for seed in range(20)]) > 1.5
    assert {spread(seed, True) for seed in range(20)} == {0}


def test_shares_round_to_the_nearest_or_up():
    assert [shares(n, 1 / 3) for n in (62, 63, 64, 65)] == [21, 21, 21, 22]
    assert shares(10, 0.3) == shares(10, 0.3, up=True) == 3
    assert shares(5, 0.5) == 3


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_folds_part_the_rows_and_keep_the_shares_of_the_classes(labels, folds, seed):
    y = np.array(labels)
    if np.bincount(y).max() < folds:
        with pytest.raises(DataError, match=f"{folds} folds"):
            stratified_splits(y, folds, seed)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits = stratified_splits(y, folds, seed)
    assert len(splits) == folds
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(y)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(y)))
    for code, count in enumerate(np.bincount(y)):
        shares = [int((y[test] == code).sum()) for _, test in splits]
        assert max(shares) - min(shares) <= 1
        assert sum(shares) == count


def test_the_error_says_how_large_the_largest_class_is():
    with pytest.raises(DataError, match=r"5 folds need a class of at least 5 rows, the largest has 4"):
        stratified_splits(np.repeat([0, 1], 4), 5, 0)


def test_a_rare_class_is_allowed():
    splits = stratified_splits(np.repeat([0, 1], [20, 2]), 5, 0)
    assert sum(bool((test >= 20).any()) for _, test in splits) == 2
