"""Columns of a file: what counts as missing, as a number, and which names are refused."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from mfbench.data.columns import check_names, label_codes, open_text, to_number, to_numbers, to_words
from mfbench.errors import DataError


def test_missing_cells():
    assert to_words([" a ", "", "?", "NaN", "none"]) == ["a", None, None, None, "none"]


def test_numbers():
    assert [to_number(word) for word in ("1e3", "-2", "1_000", "x")] == [1000.0, -2.0, None, None]
    np.testing.assert_array_equal(to_numbers(["1", None, "x"]), [1.0, np.nan, np.nan])


def test_labels_are_sorted_by_size_if_all_are_numbers():
    assert label_codes(["b", "a", "b"])[1] == ("a", "b")
    codes, labels = label_codes(np.array([10.0, 2.5, np.nan]))
    assert labels == ("2.5", "10")
    np.testing.assert_array_equal(codes, [1.0, 0.0, np.nan])


def test_odd_names(subtests):
    for names, reason in [
        (["a", ""], "column 2 of t has no name"),
        (["a", "a"], "two columns named 'a'"),
        (["a\0"], "is not text"),
    ]:
        with subtests.test(names=names, reason=reason), pytest.raises(DataError, match=reason):
            check_names(Path("t"), names)


def test_compressed_text(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress("ä".encode()))
    with open_text(tmp_path / "a.csv.gz", ",") as file:
        assert file.read() == "ä"
