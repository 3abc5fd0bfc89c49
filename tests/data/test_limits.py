"""Small files with large tables: refused before they are decoded, by a sentence that names the limit."""

import gzip
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from mfbench.data.cache import LIMIT_VARIABLE, table_limit
from mfbench.data.files import read_file
from mfbench.errors import DataError, UsageError

MIB = 1 / 1024


@pytest.fixture
def limited(monkeypatch):
    """Set the limit to 1 MiB: 131,072 values."""
    monkeypatch.setenv(LIMIT_VARIABLE, str(MIB))


def bomb(head, piece, times):
    return gzip.compress(head + piece * times)


ARFF = b"@attribute a real\n@attribute class {x,y}\n@data\n"
BOMBS = {
    "rows.csv.gz": (bomb(b"a,class\n", b"1,x\n", 70_000), "0.1311 million values"),
    "newlines.csv.gz": (bomb(b"a,class\n", b"\n", 200_000), "0.1311 million values"),
    "returns.csv.gz": (bomb(b"a,class\n", b"\r", 200_000), "0.1311 million values"),
    "cell.csv.gz": (bomb(b"a,class\n", b"1", 1 << 21), "0.0009766 GiB of data when decompressed"),
    "cell.tsv.gz": (bomb(b"a\tclass\n", b"1", 1 << 21), "0.0009766 GiB of data when decompressed"),
    "tabs.tsv.gz": (bomb(b"a\tclass\n", b"\t", 200_000), "0.1311 million values"),
    "rows.arff.gz": (bomb(ARFF, b"1,x\n", 70_000), "0.1311 million values"),
    "columns.csv": (b"a," * 200_000, "0.1311 million values"),
    "members.csv.gz": (bomb(b"a,class\n", b"1,x\n", 40_000) * 2, "0.1311 million values"),
}


def test_text_beyond_the_limit(subtests, tmp_path, limited):
    for name in BOMBS:
        with subtests.test(name=name):
            content, excess = BOMBS[name]
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(DataError, match=rf"{name} holds more than ({excess}).*set {LIMIT_VARIABLE} to more"):
                read_file(path)


def test_only_the_beginning_is_decompressed(tmp_path, limited):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    beginning = packer.compress(b"a,class\n" + b"1,x\n" * 10**6) + packer.flush(zlib.Z_FULL_FLUSH)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(beginning + b"\xff" * 1000)  # to decompress the rest would be an error
    with pytest.raises(DataError, match="million values"):
        read_file(path)


def test_parquet_beyond_the_limit(tmp_path, limited):
    rows = pa.table({"a": np.zeros(100_000), "class": pa.array(["x", "y"] * 50_000)})
    parquet.write_table(rows, tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet holds more than 0\.1311 million values"):
        read_file(tmp_path / "rows.parquet")
    noise = pa.table({"a": pa.array(["z" * 10**6 + str(i) for i in range(4)]), "class": ["x", "y"] * 2})
    parquet.write_table(noise, tmp_path / "text.parquet", compression="zstd")
    with pytest.raises(DataError, match=r"text\.parquet holds more than 0\.0009766 GiB"):
        read_file(tmp_path / "text.parquet")
    deep = pa.table({"a": pa.array([[0.0] * 200_000, []]), "class": ["x", "y"]})
    parquet.write_table(deep, tmp_path / "list.parquet")
    with pytest.raises(DataError, match=r"column 'a' of .* holds list<"):
        read_file(tmp_path / "list.parquet")


def test_a_long_text_in_every_row_is_kept_once(tmp_path):
    """A hundred gigabytes when every row has a copy; the file has ten kilobytes."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.arange(10**5, dtype=np.int32) % 2), ["q" * 10**6, "r" * 10**6])
    table = pa.table({"a": words, "class": pa.array(["x", "y"] * 50_000)})
    parquet.write_table(
        table, tmp_path / "t.parquet", compression="zstd", store_schema=False, dictionary_pagesize_limit=1 << 30
    )
    dataset = read_file(tmp_path / "t.parquet")
    assert dataset.n_samples == 10**5 and len(dataset.categories["a"]) == 2


def test_a_cell_that_is_too_long_is_located(subtests, tmp_path):
    for name, line in [("long", "x" * 140_000 + ",p\n"), ("open quotation", '"x,p\n' + "1,q\n" * 40_000)]:
        with subtests.test(name):
            (tmp_path / "t.csv").write_text(f"a,class\n1,p\n{line}1,q\n")
            sentence = r"t\.csv, line \d+: field larger than field limit .*close an open quotation mark"
            with pytest.raises(DataError, match=sentence):
                read_file(tmp_path / "t.csv")


def test_the_limit_can_be_raised_and_must_be_a_number(tmp_path, monkeypatch, limited):
    frame = pd.DataFrame({"a": np.arange(70_000) % 7, "class": ["x", "y"] * 35_000})
    frame.to_csv(tmp_path / "t.csv.gz", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv.gz", "t.parquet"):
        with pytest.raises(DataError, match=LIMIT_VARIABLE):
            read_file(tmp_path / name)
    monkeypatch.setenv(LIMIT_VARIABLE, str(2 * MIB))
    assert read_file(tmp_path / "t.csv.gz").n_samples == read_file(tmp_path / "t.parquet").n_samples == 70_000
    for text in ("much", "0", "-1", "nan"):
        monkeypatch.setenv(LIMIT_VARIABLE, text)
        with pytest.raises(UsageError, match=f"{LIMIT_VARIABLE} is '{text}': set it to a number of GiB"):
            read_file(tmp_path / "t.csv.gz")
    monkeypatch.setenv(LIMIT_VARIABLE, "inf")
    assert table_limit() > 2**59
    monkeypatch.delenv(LIMIT_VARIABLE)
    assert table_limit() == 2**30


def test_a_table_that_fits_the_limit_exactly(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,class\n1,x\n2,y\n")
    monkeypatch.setenv(LIMIT_VARIABLE, repr(6 * 8 / 2**30))
    assert read_file(path).n_samples == 2
    monkeypatch.setenv(LIMIT_VARIABLE, repr((6 * 8 - 1) / 2**30))
    with pytest.raises(DataError, match="million values"):
        read_file(path)
