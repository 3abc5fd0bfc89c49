"""Nested cross-validation: the sizes that the paper prints, and what refitting changes."""

import csv
from pathlib import Path

import numpy as np
import pytest

import mfbench
from mfbench_protocols.splits import NestedCV

TABLE_1 = Path(mfbench.__file__).parents[1] / "suites" / "published" / "relief_similarity_table1_datasets.csv"
ROWS = list(csv.DictReader(TABLE_1.read_text(encoding="utf-8").splitlines()))
Y = np.repeat([0, 1, 2], [60, 45, 15])


def nested(**changes):
    keys = {"folds": 5, "repeats": 1, "validation_share": 0.2, "stratified": False, "refit": False, "seed": 0}
    return NestedCV(**{**keys, "decisions": "one-vs-rest", **changes})


class TestNestedCV:
    def test_sizes_are_those_the_paper_prints(self):
        for row in ROWS:
            n = int(row["n_total"])
            sizes = {
                (len(s.tuning[0]), len(s.tuning[1]), len(s.test)) for s in nested().splits("d", np.arange(n) % 2, 0)
            }
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
