"""Stored splits: all rows come back, and training rows that are all other rows take no space."""

import numpy as np

from mfbench.run.store.formats import pack_split, unpack_split
from mfbench.suite.protocols import Split


def test_training_rows_that_are_all_other_rows_are_not_written():
    stored = unpack_split(*pack_split(Split(np.array([0, 2, 3]), np.array([1])), (4, 7)))
    assert stored.train is None
    assert (stored.test.tolist(), stored.validation, stored.n_train, stored.n_features) == ([1], None, 3, 7)


def test_other_training_rows_a_validation_part_and_a_share_of_the_features_come_back():
    split = Split(np.array([4, 2]), np.array([0]), (np.array([4]), np.array([2])), feature_share=0.5)
    stored = unpack_split(*pack_split(split, (9, 7)))
    assert stored.train.tolist() == [4, 2]
    assert (stored.validation.tolist(), stored.n_train, stored.n_features) == ([2], 2, 4)
