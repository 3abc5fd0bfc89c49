"""The content hash depends on content alone; tests/data/test_files.py has a golden value."""

from dataclasses import replace

import numpy as np

from mfbench.data.lookup import content_hash


def test_names_and_origin_do_not_count(dataset):
    same = replace(dataset, name="other", source="", license="", citation="", relevant=None, interactions=None)
    assert content_hash(same) == content_hash(dataset)
    assert content_hash(replace(dataset, X=dataset.X + 0.0)) == content_hash(dataset), "one form of zero"


def test_everything_that_changes_a_result_counts(subtests, dataset):
    for change in [
        lambda data: {"X": data.X[:, ::-1]},
        lambda data: {"y": 1 - data.y},
        lambda data: {"class_names": ("no", "yes")},
        lambda data: {"feature_names": ("a", "b", "c")},
        lambda data: {"categorical": np.array([True, False, True])},
        lambda data: {"encoding": "one-hot"},
        lambda data: {"response": np.arange(4.0)},
    ]:
        with subtests.test(change=change):
            assert content_hash(replace(dataset, **change(dataset))) != content_hash(dataset)
