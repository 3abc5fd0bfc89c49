"""ARFF files; tests/data/test_files.py reads whole datasets and damaged files."""

import numpy as np
import pytest

from mfbench.data.files import read_arff
from mfbench.errors import DataError

HEAD = "@relation r\n@attribute size real\n@attribute 'the colour' {red, 'light blue'}\n@attribute note string\n@data\n"


@pytest.fixture
def read(tmp_path):
    def read(rows, head=HEAD):
        path = tmp_path / "t.arff"
        path.write_text(head + rows)
        return read_arff(path)

    return read


def test_columns_have_the_declared_kinds(read):
    size, colour, note = read("1.5, red, 'x, y'\n?, 'light blue', ?\n")
    assert (size.name, colour.name, note.name) == ("size", "the colour", "note")
    np.testing.assert_array_equal(size.values, [1.5, np.nan])
    assert (colour.values, colour.nominal) == (["red", "light blue"], True)
    assert (note.values, note.nominal) == (["x, y", None], False)


def test_a_wrong_row_is_named(subtests, read):
    for rows, reason in [
        ("x, red, a\n", "line 6: 'x' is not a number of attribute 'size'"),
        ("1, green, a\n", "'green' is not one of the declared values of attribute 'the colour'"),
        ("1, red\n", "2 values, but the header declares 3 attributes"),
        ("{0 1}\n", "sparse ARFF is not supported"),
        ("1,red,'a\n", "unbalanced quotes"),
    ]:
        with subtests.test(rows=rows, reason=reason), pytest.raises(DataError, match=reason):
            read(rows)


def test_a_header_without_data_is_refused(read):
    with pytest.raises(DataError, match="has no @data line"):
        read("", "@relation r\n@attribute a real\n")
    with pytest.raises(DataError, match="expected @relation, @attribute or @data"):
        read("", "a,b\n")
