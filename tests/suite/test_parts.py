"""Ways to part rows, and the sizes that the protocols of the papers have."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfbench
from mfbench.errors import DataError
from mfbench.suite.protocols import Holdout, NestedCV, ThreeWay, Timing
from mfbench.suite.protocols.rows import cross_validation, parted, shares

TABLE_1 = Path(mfbench.__file__).parents[1] / "suites" / "published" / "relief_similarity_table1_datasets.csv"
ROWS = list(csv.DictReader(TABLE_1.read_text(encoding="utf-8").splitlines()))
Y = np.repeat([0, 1, 2], [60, 45, 15])


def nested(**changes):
    keys = {"folds": 5, "repeats": 1, "validation_share": 0.2, "stratified": False, "refit": False, "seed": 0}
    return NestedCV(**{**keys, "decisions": "one-vs-rest", **changes})


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


class TestNestedCV:
    @pytest.mark.parametrize("row", ROWS, ids=lambda row: row["dataset"])
    def test_sizes_are_those_the_paper_prints(self, row):
        n = int(row["n_total"])
        sizes = {(len(s.tuning[0]), len(s.tuning[1]), len(s.test)) for s in nested().splits("d", np.arange(n) % 2, 0)}
        assert (int(row["n_learn"]), int(row["n_valid"]), int(row["n_test"])) in sizes

    def test_learning_rows_train_unless_refitted(self):
        for split in nested().splits("d", Y, 0):
            assert np.array_equal(split.train, split.tuning[0])
        for split in nested(refit=True).splits("d", Y, 0):
            assert np.array_equal(split.train, np.sort(np.concatenate(split.tuning)))
            assert len(split.train) + len(split.test) == len(Y)

    def test_refitting_changes_no_test_and_no_validation_row(self):
        for one, other in zip(nested().splits("d", Y, 0), nested(refit=True).splits("d", Y, 0), strict=True):
            assert np.array_equal(one.test, other.test)
            assert np.array_equal(one.tuning[1], other.tuning[1])

    def test_every_row_is_tested_once(self):
        tests = np.concatenate([split.test for split in nested().splits("d", Y, 0)])
        assert sorted(tests) == list(range(len(Y)))

    def test_the_ratio_is_that_of_a_fold_and_the_rows_fitted_on(self):
        assert nested().test_train_ratio == pytest.approx(0.2 / 0.64)
        assert nested(refit=True).test_train_ratio == pytest.approx(0.25)


class TestThreeWay:
    @pytest.mark.parametrize("n", [120, 121, 122])
    def test_thirds_with_the_remainder_in_training(self, n):
        (split,) = ThreeWay(10, stratified=False, refit=False, seed=0).splits("d", np.arange(n) % 2, 3)
        assert (len(split.train), len(split.tuning[1]), len(split.test)) == (n - 2 * (n // 3), n // 3, n // 3)

    def test_ratio(self):
        assert ThreeWay(10, stratified=False, refit=False, seed=0).test_train_ratio == 1.0
        assert ThreeWay(10, stratified=False, refit=True, seed=0).test_train_ratio == 0.5


class TestHoldout:
    @pytest.mark.parametrize(("n", "tested"), [(62, 21), (72, 24), (102, 34), (74, 25)])
    def test_two_to_one(self, n, tested):
        protocol = Holdout(10, 1 / 3, 10, stratified=True, seed=0)
        (split,) = protocol.splits("d", np.arange(n) % 2, 0)
        assert (len(split.train), len(split.test)) == (n - tested, tested)
        assert protocol.test_train_ratio == pytest.approx(0.5)


class TestTiming:
    def test_smaller_parts_lie_within_larger_ones(self):
        protocol = Timing(2, 4, seed=0)
        splits = protocol.splits("d", Y, 1)
        assert [len(split.train) for split in splits] == [12, 24, 48, 96, 96, 96, 96]
        for small, large in itertools.pairwise(splits[:4]):
            assert set(small.train) <= set(large.train)
        assert all(np.array_equal(split.test, splits[0].test) for split in splits)
        features = [split.features(20) for split in splits]
        assert features[:4] == [None] * 4
        assert [len(found) for found in features[4:]] == [10, 5, 3]
        assert set(features[6]) <= set(features[5]) <= set(features[4])

    def test_repeats_have_other_rows_and_other_features(self):
        one, other = (Timing(2, 3, seed=0).splits("d", Y, repeat) for repeat in (0, 1))
        assert not np.array_equal(one[0].train, other[0].train)
        assert not np.array_equal(one[3].features(40), other[3].features(40))


def test_shares_round_to_the_nearest_or_up():
    assert [shares(n, 1 / 3) for n in (62, 63, 64, 65)] == [21, 21, 21, 22]
    assert shares(10, 0.3) == shares(10, 0.3, up=True) == 3
    assert shares(5, 0.5) == 3
