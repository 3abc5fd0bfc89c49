"""From a repository's version of a dataset to the one that a description promises."""

from dataclasses import replace

import numpy as np
import pytest

from mfbench import Dataset, DatasetSpec
from mfbench.data.columns import check_size, conform, drop_columns, keep_classes, set_categorical
from mfbench.data.lookup import content_hash
from mfbench.errors import DataError

RAW = Dataset(
    name="raw",
    X=np.array([[1.0, 0.0, 3.0], [2.0, 1.0, np.nan], [3.0, 0.0, 7.0], [4.0, np.nan, 3.0]]),
    y=np.array([2, 0, 1, 2]),
    class_names=("a", "b", "c"),
    feature_names=("id", "grade", "kind"),
    categorical=np.array([False, True, False]),
    categories={"grade": ("10", "20")},
)


def spec(**fields):
    return DatasetSpec(name="thing", summary="", **fields)


def test_nothing_to_do_changes_nothing_but_name_and_provenance():
    data = conform(replace(RAW, source="there", license="theirs"), spec(license="ours"))
    assert content_hash(data) == content_hash(RAW)
    assert (data.name, data.source, data.license) == ("thing", "there", "ours")


def test_columns_are_dropped():
    data = drop_columns(RAW, ["id", "not there"])
    assert data.feature_names == ("grade", "kind")
    assert data.X.flags.c_contiguous
    assert drop_columns(RAW, ["grade"]).categories == {}


def test_classes_are_kept_and_renumbered():
    data = keep_classes(RAW, ["c", "a"], "it")
    assert (data.class_names, data.y.tolist(), data.n_samples) == (("a", "c"), [1, 0, 1], 3)
    with pytest.raises(DataError, match=r"it has no class 'd'; its classes: 'a', 'b', 'c'"):
        keep_classes(RAW, ["a", "d"], "it")


def test_columns_become_categories_and_numbers():
    data = set_categorical(RAW, ["kind"], "it")
    assert data.categorical.tolist() == [False, False, True]
    np.testing.assert_array_equal(data.X[:, 1], [10, 20, 10, np.nan])
    np.testing.assert_array_equal(data.X[:, 2], [0, np.nan, 1, 0])
    assert data.categories == {"kind": ("3", "7")}
    assert RAW.X[0, 2] == 3.0, "the original stays"


def test_words_stay_categories():
    words = replace(RAW, categories={"grade": ("low", "high")})
    assert set_categorical(words, [], "it").categorical.tolist() == [False, True, False]


def test_an_unknown_categorical_column():
    with pytest.raises(DataError, match=r"it has no column 'kid'.*id, grade, kind"):
        set_categorical(RAW, ["kid"], "it")


def test_the_shape_is_checked_after_the_preparation():
    right = spec(drop=["id"], keep_classes=["a", "c"], n_samples=3, n_features=2, n_classes=2)
    assert conform(RAW, right).X.shape == (3, 2)
    with pytest.raises(
        DataError,
        match=r"'thing' from uci:1 has 4 rows, 3 features and 3 classes; its description says 3, any number and 2",
    ):
        conform(RAW, spec(n_samples=3, n_classes=2), "uci:1")


def test_class_counts():
    check_size(RAW, spec(class_counts={"a": 1, "b": 1, "c": 2}))
    check_size(RAW, spec(class_counts={"x": 2, "y": 1, "z": 1}))  # another copy's labels
    for counts in ({"a": 2, "b": 1, "c": 1}, {"x": 2, "y": 2, "z": 0}):
        with pytest.raises(DataError, match=r"has the class counts .*'c': 2.*; its description says"):
            check_size(RAW, spec(class_counts=counts))
