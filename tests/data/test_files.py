"""Reading the user's own files: what columns become, and one clear sentence for every hostile file."""

import gzip
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from mfbench.data.files import read_file
from mfbench.data.lookup import content_hash
from mfbench.errors import DataError, UsageError

CSV = "size,colour,wet,kind\n1.5,red,True,b\n-2,?,False,a\n,blue,True,b\n1e3,red,,a\n"
ARFF = """% a comment
@RELATION 'a b'

@attribute 'the size' REAL
@ATTRIBUTE colour {red, 'light blue', "it's", '?'}
@attribute rank {10,9,2}
@attribute note string
@attribute class {yes , no}
@data
1.5,red,10,'x, y',yes
?,'light blue',2,"z",no
% another
-3 , 'it\\'s', ? , w, yes
2.5, '?', 9, ?, no
"""

# The hash of the table above.
GOLDEN = "5c6cb43968537c05da07a44734eba10a664aaf09cbba408d408120b6f22c6af1"


@pytest.fixture
def write(tmp_path):
    def to(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to


def numbers(n, label=lambda i: "ab"[i % 2], cell=lambda i: str(i)):
    return "x,class\n" + "".join(f"{cell(i)},{label(i)}\n" for i in range(n))


def check_small_table(dataset):
    expected = [[1.5, 1, 1], [-2, np.nan, 0], [np.nan, 0, 1], [1000, 1, np.nan]]
    np.testing.assert_array_equal(dataset.X, expected)
    assert dataset.X.dtype == np.float64 and dataset.y.dtype == np.int64
    assert dataset.y.tolist() == [1, 0, 1, 0] and dataset.class_names == ("a", "b")
    assert dataset.feature_names == ("size", "colour", "wet")
    assert dataset.categorical.tolist() == [False, True, True]
    assert dataset.categories == {"colour": ("blue", "red"), "wet": ("False", "True")}


def test_csv(write):
    dataset = read_file(write("t.csv", CSV))
    check_small_table(dataset)
    assert dataset.name == "t" and read_file(write("t.csv", CSV), name="mine").name == "mine"


def test_variants_of_text_files(write):
    check_small_table(read_file(write("t.CSV.GZ", gzip.compress(CSV.encode()))))
    check_small_table(read_file(str(write("t.tsv", CSV.replace(",", "\t")))))
    check_small_table(read_file(write("t.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode() + b"\r\n\r\n")))
    check_small_table(read_file(write("t.csv", CSV.replace(",", " , ").replace("?", '"?"'))))


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "size": [1.5, -2, None, 1000],
            "colour": pd.Categorical(["red", None, "blue", "red"], categories=["red", "blue", "never"]),
            "wet": pd.array([True, False, True, None], dtype="boolean"),
            "kind": ["b", "a", "b", "a"],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    check_small_table(read_file(tmp_path / "t.parquet"))
    frame.assign(size=pd.array([1, None, 3, 4], dtype="Int64"), colour=frame["colour"].astype(object)).to_parquet(
        tmp_path / "u.parquet"
    )
    dataset = read_file(tmp_path / "u.parquet", categorical=["size"])
    assert dataset.categories["size"] == ("1", "3", "4") and dataset.categories["colour"] == ("blue", "red")


def test_arff(write):
    dataset = read_file(write("t.arff", ARFF))
    nan = np.nan
    expected = [[1.5, 3, 2, 1], [nan, 2, 0, 2], [-3, 1, nan, 0], [2.5, 0, 1, nan]]
    np.testing.assert_array_equal(dataset.X, expected)
    assert dataset.feature_names == ("the size", "colour", "rank", "note")
    assert dataset.categories == {
        "colour": ("?", "it's", "light blue", "red"),
        "rank": ("2", "9", "10"),
        "note": ("w", "x, y", "z"),
    }
    assert dataset.class_names == ("no", "yes") and dataset.y.tolist() == [1, 0, 1, 0]


def test_target_and_categories_by_name(write):
    path = write("t.csv", "y,a,b\n10,1,x\n9,2.0,y\n10,2,x\n9.0,?,x\n")
    dataset = read_file(path, target="y", categorical=["a"])
    assert dataset.class_names == ("9", "10") and dataset.y.tolist() == [1, 0, 1, 0], "sorted as numbers"
    np.testing.assert_array_equal(dataset.X, [[0, 0], [1, 1], [1, 0], [np.nan, 0]])
    assert dataset.categories == {"a": ("1", "2"), "b": ("x", "y")}
    assert read_file(path, target="y", categorical="a").categorical.tolist() == [True, True]


def test_numbers_come_back_to_the_last_bit(write):
    values = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.arange(-100, 100)
    dataset = read_file(write("t.csv", numbers(200, cell=lambda i: repr(float(values[i])))))
    assert dataset.X[:, 0].tolist() == values.tolist()


def test_quoted_cells_and_names_that_look_like_numbers(write):
    dataset = read_file(write("t.csv", '"0","1","2"\n"a, ""b""\nc",1,1\nd,2,2\n'))
    assert dataset.feature_names == ("0", "1") and dataset.categories == {"0": ('a, "b"\nc', "d")}


def test_a_listed_or_short_mixture_is_categorical(write):
    identifiers = numbers(80, cell=lambda i: f"id{i}")
    assert len(read_file(write("t.csv", identifiers), categorical=["x"]).categories["x"]) == 80
    assert read_file(write("t.csv", "x,y\n1,a\n2,b\nmany,a\n")).categories == {"x": ("1", "2", "many")}
    assert read_file(write("t.csv", numbers(9, cell=lambda i: ""))).categorical.tolist() == [False]


HOSTILE = {
    "empty.csv": ("", "empty"),
    "blank.csv": ("\n\n", "empty"),
    "header.csv": ("a,class\n", "no rows"),
    "one.csv": ("class\na\nb\n", "single column 'class'"),
    "semicolon.csv": ("a;class\n1;x\n2;y\n", "separate the values by commas"),
    "comma.tsv": ("a,class\n1,x\n2,y\n", "separate the values by tabs"),
    "ragged.csv": ("a,b,class\n1,2,x\n1,y\n", "line 3: 2 values, but the header names 3"),
    "long.csv": ("a,class\n1,2,x\n", "line 2: 3 values"),
    "twice.csv": ("a,a ,class\n1,2,x\n1,2,y\n", "two columns named 'a'"),
    "nameless.csv": (",a,class\n0,2,x\n1,2,y\n", "column 1 of .* has no name"),
    "headless.csv": ("5.1,3.5,setosa\n4.9,3.0,setosa\n7.0,3.2,versicolor\n", "no header"),
    "infinite.csv": ("a,class\n1,x\ninf,y\n", "'a' of .* infinite in row 2"),
    "overflow.csv": ("a,class\n1,x\n-1e999,y\n", "'a' of .* infinite in row 2"),
    "unlabelled.csv": ("a,class\n1,x\n2,\n3,?\n4,y\n", "missing in 2 rows, first in row 2"),
    "gap.csv": ("a,class\n1,x\n2,\n4,y\n", "missing in 1 row, first in row 2"),
    "alone.csv": ("a,class\n1,x\n2,x\n", "single value 'x'"),
    "latin.csv": ("a,class\n1,caf\xe9\n2,x\n".encode("latin-1"), "not UTF-8"),
    "wide.csv": ("a,class\n1,x\n2,y\n".encode("utf-16-le"), "NUL"),
    "binary.csv": (b"PAR1\x00\xff\xfe\x80", "not UTF-8"),
    "typo.csv": (numbers(40, cell=lambda i: "1O" if i == 6 else str(i)), "'x' of .* numbers, but '1O' in row 7"),
    "na.csv": (numbers(40, cell=lambda i: "NA" if i % 5 == 4 else str(i)), "'NA' in row 5"),
    "underscore.csv": (numbers(40, cell=lambda i: "1_0" if i == 6 else str(i)), "'1_0' in row 7"),
    "text.csv": (numbers(80, cell=lambda i: f"id{i}"), "'x' of .* 80 distinct values.*'categorical'"),
    "huge.csv": ("a,class\n" + "9" * 200_000 + ",x\n", "field larger than field limit"),
    "plain.csv.gz": (CSV, "gzip"),
    "cut.csv.gz": (gzip.compress(CSV.encode() * 50)[:-20], "truncated"),
    "text.parquet": (CSV, "Parquet"),
    "cut.parquet": (b"PAR1" + b"\0" * 40 + b"PAR1", "Parquet|cannot be read"),
    "empty.parquet": ("", "Parquet"),
    "empty.arff": ("", "no @data"),
    "csv.arff": (CSV, "line 1: expected @relation"),
    "type.arff": ("@relation r\n@attribute when date\n@data\n", "'when' is of type 'date'"),
    "sparse.arff": ("@attribute a real\n@attribute c {x,y}\n@data\n{0 1}\n", "line 4: sparse"),
    "short.arff": ("@attribute a real\n@attribute c {x,y}\n@data\n1\n", "line 4: 1 values.* 2 attributes"),
    "word.arff": ("@attribute a real\n@attribute c {x,y}\n@data\none,x\n", "line 4: 'one' is not a number .*'a'"),
    "level.arff": ("@attribute a real\n@attribute c {x,y}\n@data\n1,z\n", "'z' is not one of the declared .*'c'"),
    "quote.arff": ("@attribute a string\n@attribute c {x,y}\n@data\n'1,x\n", "line 4: unbalanced quotes"),
    "levels.arff": ("@attribute a {'x,y}\n@data\n", "line 1: unbalanced quotes"),
    "twice.arff": ("@attribute a real\n@attribute a {x,y}\n@data\n1,x\n", "two columns named 'a'"),
    "none.arff": ("@relation r\n@data\n1,x\n", "line 3: 2 values.* 0 attributes"),
    "rows.arff": ("@attribute a real\n@attribute c {x,y}\n@data\n", "no rows"),
}


def test_hostile_files(subtests, write):
    for name in HOSTILE:
        with subtests.test(name=name):
            content, message = HOSTILE[name]
            with pytest.raises(DataError, match=message) as caught:
                read_file(write(name, content))
            assert name in str(caught.value), "the sentence names the file"
            assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_parquet_columns_of_no_use(subtests, tmp_path):
    for values in [pd.to_datetime(["2020-01-01", "2021-01-01"]), [[1], [2]], [b"a", b"b"]]:
        with subtests.test(values=values):
            pd.DataFrame({"odd": values, "class": ["x", "y"]}).to_parquet(tmp_path / "t.parquet")
            with pytest.raises(DataError, match=r"column 'odd' of .* holds"):
                read_file(tmp_path / "t.parquet")


def test_wrong_requests(write, tmp_path):
    path = write("t.csv", CSV)
    for request, message in [
        ({"target": "kinds"}, "unknown target column 'kinds': did you mean 'kind'?"),
        ({"categorical": ["color"]}, "unknown categorical column 'color': did you mean 'colour'?"),
    ]:
        with pytest.raises(UsageError) as caught:
            read_file(path, **request)
        assert message in str(caught.value) and "t.csv" in str(caught.value)
    with pytest.raises(UsageError, match="does not exist, or is not a file"):
        read_file(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="does not exist, or is not a file"):
        read_file(tmp_path)
    with pytest.raises(UsageError, match=r"unknown type: use a file that ends in \.csv, "):
        read_file(write("t.pickle", b"\x80\x04."))


cells = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
labels = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(cells, labels), min_size=2, max_size=12))
def test_csv_round_trip(tmp_path, rows):
    """Whatever numbers and labels pandas writes are read back: same values, same partition into classes."""
    rows = [(x, f"l{label}") for x, label in rows]
    if len({label for _, label in rows}) < 2:
        rows.append((0.0, "other"))
    frame = pd.DataFrame(rows, columns=["x", "class"])
    frame.to_csv(tmp_path / "t.csv", index=False, encoding="utf-8")
    dataset = read_file(tmp_path / "t.csv")
    np.testing.assert_array_equal(dataset.X[:, 0], [np.nan if x is None else x for x, _ in rows])
    assert [dataset.class_names[code] for code in dataset.y] == [label for _, label in rows]


def test_content_hash_depends_on_content_alone(write):
    dataset = read_file(write("t.csv", CSV))
    digest = content_hash(dataset)
    assert digest == GOLDEN, "must never change: stored results are found by it"
    other_nan = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    same = [
        replace(dataset, name="other", source="elsewhere", citation="none", relevant=(0,)),
        replace(dataset, X=np.asfortranarray(dataset.X), y=dataset.y.astype(np.int32)),
        replace(dataset, X=np.where(np.isnan(dataset.X), other_nan, dataset.X)),
        replace(dataset, X=np.where(dataset.X == 0, -0.0, dataset.X)),
        replace(dataset, X=dataset.X.astype(">f8")),
    ]
    assert {content_hash(copy) for copy in same} == {digest}
    assert np.isnan(dataset.X).any(), "hashing left the data alone"
    different = [
        replace(dataset, X=dataset.X[:, ::-1]),
        replace(dataset, X=dataset.X.reshape(3, 4)),
        replace(dataset, y=1 - dataset.y),
        replace(dataset, class_names=("b", "a")),
        replace(dataset, feature_names=("size,", "colour", "wet")),
        replace(dataset, categorical=~dataset.categorical),
        replace(dataset, encoding="ordinal"),
    ]
    assert len({content_hash(copy) for copy in different} | {digest}) == len(different) + 1


def test_a_name_that_no_file_can_have(tmp_path):
    for name in ("x" * 300, "x" * 300 + ".csv", "\0.csv", "a/" * 5000 + "t.csv"):
        with pytest.raises(UsageError) as caught:
            read_file(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_wrong_metadata_of_pandas(subtests, tmp_path):
    for metadata in [
        b'{"index_columns": ["gone"], "column_indexes": [], "columns": []}',
        b'{"index_columns": [{"kind": "range"}], "columns": []}',
        b'{"columns": [{"name": "a"}]}',
        b'{"index_columns": 7}',
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
    ]:
        with subtests.test(metadata=metadata):
            table = pa.table({"a": [1.0, 2.0], "class": ["x", "y"]}).replace_schema_metadata({b"pandas": metadata})
            parquet.write_table(table, tmp_path / "t.parquet")
            try:
                assert read_file(tmp_path / "t.parquet").n_samples == 2
            except DataError as error:
                assert "t.parquet" in str(error) and "\n" not in str(error) and len(str(error)) < 500


def test_an_index_of_pandas_is_not_a_feature(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0], "class": ["x", "y"]}, index=pd.Index(["first", "second"], name="row"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_file(tmp_path / "t.parquet").feature_names == ("a",)
    frame = pd.DataFrame({0: ["u", "v"], 1: ["x", "y"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_file(tmp_path / "t.parquet").categories == {"0": ("u", "v")}
